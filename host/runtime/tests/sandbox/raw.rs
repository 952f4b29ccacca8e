//! Components written by hand in the text format, for what no compiler would produce:
//! lists that alias, tables that grow, instances that spin before anybody calls them.
//! They need no toolchain for guests.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The contract.
const WIT: &str = include_str!("../../../../wit/0.1.0/addon.wit");

/// Where the descriptor lies in memory.
const DESCRIPTOR_AT: u32 = 1024;

/// Where memory is handed out from.
const HEAP_AT: u32 = 64 << 10;

/// A component, honest unless a part of it is replaced. It answers `describe`, takes
/// every config, and returns the transcript as it was.
#[derive(Clone)]
pub struct Raw {
    /// Name and request flag.
    pub name: String,
    /// Slot.
    pub slot: String,
    /// Version of the contract.
    pub contract: String,
    /// Interfaces added to the contract and imported, each as name and one function.
    pub imports: Vec<(String, String)>,
    /// Items of the module.
    pub items: String,
    /// Body of `describe` before it returns.
    pub describe: String,
    /// Body of `validate-config` before it returns the config.
    pub validate: String,
    /// Body of `process`; must leave the address of the answer, or never end.
    pub process: String,
}

impl Default for Raw {
    fn default() -> Raw {
        Raw {
            name: "raw".to_owned(),
            slot: "transcript".to_owned(),
            contract: "0.1.0".to_owned(),
            imports: Vec::new(),
            items: String::new(),
            describe: String::new(),
            validate: String::new(),
            process: "i32.const 8".to_owned(),
        }
    }
}

impl Raw {
    /// The file.
    pub fn component(&self) -> Vec<u8> {
        let mut module = wat::parse_str(self.module()).expect("the text is a module");
        let mut resolve = Resolve::default();
        let package = resolve.push_str("addon.wit", &self.wit()).expect("the contract parses");
        let world = resolve.select_world(&[package], Some("pure-addon")).expect("the world is there");
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)
            .expect("it embeds");
        let mut encoder = ComponentEncoder::default();
        let encoder = encoder.validate(true).module(&module).expect("the module fits");
        encoder.encode().expect("the component is valid")
    }

    fn wit(&self) -> String {
        let mut wit = WIT.replace("addon@0.1.0", &format!("addon@{}", self.contract));
        for (interface, function) in &self.imports {
            wit =
                wit.replace("    import runtime;", &format!("    import runtime;\n    import {interface};"));
            wit.push_str(&format!("interface {interface} {{ {function}: func(); }}\n"));
        }
        wit
    }

    fn module(&self) -> String {
        let Raw { contract, items, describe, validate, process, .. } = self;
        let import = |(interface, function): &(String, String)| {
            format!("(import \"tympan:addon/{interface}@{contract}\" \"{function}\" (func))\n")
        };
        let imports: String = self.imports.iter().map(import).collect();
        let descriptor: String = self.descriptor().iter().map(|byte| format!("\\{byte:02x}")).collect();
        format!(
            r#"(module
                {imports}
                (memory (export "memory") 4)
                (global $heap (mut i32) (i32.const {HEAP_AT}))
                (data (i32.const {DESCRIPTOR_AT}) "{descriptor}")
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
                    (global.set $heap (i32.add (local.get $at) (local.get 3)))
                    (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
                        (then (drop (memory.grow
                            (i32.add (i32.div_u (local.get 3) (i32.const 65536)) (i32.const 1))))))
                    (local.get $at))
                (func (export "tympan:addon/manifest@{contract}#describe") (result i32)
                    {describe}
                    (i32.const {DESCRIPTOR_AT}))
                (func (export "tympan:addon/manifest@{contract}#validate-config") (param i32 i32) (result i32)
                    {validate}
                    (i32.store (i32.const 512) (i32.const 0))
                    (i32.store (i32.const 516) (local.get 0))
                    (i32.store (i32.const 520) (local.get 1))
                    (i32.const 512))
                (func (export "tympan:addon/transform@{contract}#process") (param i32) (result i32)
                    {process})
                {items})"#
        )
    }

    /// The record `descriptor` as it lies in memory, texts behind it.
    fn descriptor(&self) -> Vec<u8> {
        let mut image = Image::default();
        image.text(&self.name);
        image.text("1.0.0");
        image.text("Written by hand");
        image.text(&self.name);
        image.words(&[0, 0, 0]);
        image.text(r#"{"type": "object"}"#);
        image.words(&[0, 0, 0]);
        image.text(&self.slot);
        // The one mode stands behind the 30 words of the record.
        image.words(&[DESCRIPTOR_AT + 4 * 30, 1]);
        image.words(&[0; 8]);
        image.text("{}");
        image.text("pre-recorded");
        image.finish(DESCRIPTOR_AT)
    }
}

/// A record of pointers and the texts that they point to.
#[derive(Default)]
struct Image {
    words: Vec<Word>,
    texts: Vec<u8>,
}

enum Word {
    Plain(u32),
    /// Offset in the texts.
    Pointer(u32),
}

impl Image {
    fn words(&mut self, words: &[u32]) {
        self.words.extend(words.iter().map(|word| Word::Plain(*word)));
    }

    fn text(&mut self, text: &str) {
        self.words.push(Word::Pointer(self.texts.len() as u32));
        self.words.push(Word::Plain(text.len() as u32));
        self.texts.extend(text.bytes());
    }

    fn finish(self, at: u32) -> Vec<u8> {
        let texts_at = at + 4 * self.words.len() as u32;
        let word = |word: &Word| match *word {
            Word::Plain(value) => value,
            Word::Pointer(offset) => texts_at + offset,
        };
        let record = self.words.iter().flat_map(|each| word(each).to_le_bytes());
        record.chain(self.texts.iter().copied()).collect()
    }
}
