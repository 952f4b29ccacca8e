//! The text tokens of a CTranslate2 model, as the bytes they stand for.
//!
//! The files write bytes in GPT-2's alphabet: printable Latin-1 characters stand for
//! themselves, the other bytes for characters from U+0100 on, in order.

use std::fs;
use std::path::Path;

use super::bytes;
use super::error::{Fault, ModelFileError};

/// The token after the last one that stands for text.
const END_OF_TEXT: &str = "<|endoftext|>";
/// A vocabulary file is about 1 MB; a larger one is another file.
const MAX_SIZE_BYTES: u64 = 16 * 1024 * 1024;
/// Longer than any token of Whisper (128 spaces).
pub(super) const MAX_TOKEN_BYTES: u32 = 512;

/// Reads `vocabulary.json` or `vocabulary.txt` of `folder`: the tokens below `end_of_text`.
pub(super) fn read(folder: &Path, end_of_text: u32) -> Result<Vec<Vec<u8>>, ModelFileError> {
    let json = folder.join("vocabulary.json");
    let (path, is_json) = if json.exists() { (json, true) } else { (folder.join("vocabulary.txt"), false) };
    let size_bytes = fs::metadata(&path).map_err(|error| ModelFileError::io(&path, error))?.len();
    if size_bytes > MAX_SIZE_BYTES {
        return Err(ModelFileError::fault(&path, vocabulary(format!("the file has {size_bytes} bytes"))));
    }
    let text = bytes::text(&path, MAX_SIZE_BYTES).map_err(|error| ModelFileError::io(&path, error))?;
    let tokens = if is_json { split_json(&text) } else { Ok(split_lines(&text)) };
    tokens
        .and_then(|tokens| text_tokens(&tokens, end_of_text))
        .map_err(|fault| ModelFileError::fault(&path, fault))
}

fn split_json(text: &str) -> Result<Vec<String>, Fault> {
    serde_json::from_str(text).map_err(|error| vocabulary(format!("not a JSON list of texts ({error})")))
}

fn split_lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

fn text_tokens(tokens: &[String], end_of_text: u32) -> Result<Vec<Vec<u8>>, Fault> {
    let count = end_of_text as usize;
    match tokens.get(count) {
        Some(token) if token == END_OF_TEXT => {}
        Some(_) => return Err(vocabulary(format!("token {count} is not {END_OF_TEXT}"))),
        None => return Err(vocabulary(format!("it has {} tokens", tokens.len()))),
    }
    tokens[..count].iter().enumerate().map(|(id, token)| bytes_of(id, token)).collect()
}

fn bytes_of(id: usize, token: &str) -> Result<Vec<u8>, Fault> {
    let bytes = token.chars().map(byte_of).collect::<Option<Vec<u8>>>();
    match bytes {
        Some(bytes) if bytes.len() <= MAX_TOKEN_BYTES as usize => Ok(bytes),
        Some(bytes) => Err(vocabulary(format!("token {id} has {} bytes", bytes.len()))),
        None => Err(vocabulary(format!("token {id} is not written in GPT-2's alphabet"))),
    }
}

/// The byte that a character of GPT-2's alphabet stands for.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => u8::try_from(code).ok(),
        0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        0x121..=0x142 => u8::try_from(code - 0x121 + 0x7f).ok(),
        0x143 => Some(0xad),
        _ => None,
    }
}

fn vocabulary(problem: String) -> Fault {
    Fault::Vocabulary { problem }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn alphabet_covers_each_byte_once() {
        let bytes = ('\0'..='\u{200}').filter_map(byte_of).collect::<Vec<_>>();
        assert_eq!((bytes.len(), bytes.iter().collect::<HashSet<_>>().len()), (256, 256));
        assert_eq!(byte_of('Ġ'), Some(b' '));
        assert_eq!(byte_of('Ċ'), Some(b'\n'));
        assert_eq!(byte_of(' '), None);
    }

    #[test]
    fn tokens_end_before_the_special_ones() {
        let tokens = ["a", "Ġb", "", END_OF_TEXT, "<|en|>"].map(str::to_owned);
        let expected = vec![b"a".to_vec(), b" b".to_vec(), Vec::new()];
        assert_eq!(text_tokens(&tokens, 3).expect("valid"), expected);
        assert!(text_tokens(&tokens, 2).is_err());
        assert!(text_tokens(&tokens, 50257).is_err());
        assert!(text_tokens(&["東".to_owned(), END_OF_TEXT.to_owned()], 1).is_err());
    }
}
