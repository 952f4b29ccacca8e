//! Short words whose dot does not end a sentence, by language.
//!
//! Only those that speech recognition writes in running text. What may as well end a sentence
//! (etc., p.m., Inc.) is left to the Unicode rules, which look at the next letter.

/// Words that are followed by a name or a noun with a capital letter, in lower case and without
/// the last dot.
const BEFORE_NAMES: &[(&str, &str)] = &[
    ("af", "mnr mev mej me dr prof ds adv bv st"),
    ("az", "dr prof akad cən xan"),
    ("be", "праф акад вул св інж напр гл"),
    ("bg", "г-н г-жа д-р проф доц акад инж ул св напр бул"),
    ("bn", "ডা ডঃ ড মো মোঃ প্রফ"),
    ("br", "ao itr dr prof"),
    ("bs", "g gđa dr mr prof inž ul sv npr tj tzv"),
    ("ca", "sr sra srs dr dra prof st sta av ex p.ex"),
    ("cs", "p pí dr mgr ing prof doc mudr judr phdr rndr bc sv ul tzv např tj gen"),
    ("cy", "dr mr mrs parch prof st"),
    ("da", "hr fr dr prof ing skt f.eks bl.a ca dvs"),
    (
        "de",
        "hr fr dr prof st str bzw ca vgl inkl exkl evtl ggf dipl dipl.-ing ing geb art sog z.b d.h u.a v.a i.d.r h.c c gen med phil jur rer nat habil",
    ),
    ("el", "κ κα κκ δρ καθ αγ π.χ οδ λεωφ βλ δηλ αριθ"),
    (
        "en",
        "mr mrs ms mx dr prof st sr rev fr gen col capt cmdr lt sgt cpl maj adm sen rep gov pres hon messrs mt ft \
            vs approx dept e.g i.e cf viz ph",
    ),
    (
        "es",
        "ee sr sra srta sres srs dr dra dres prof profa lic ing arq d dña ud uds vd vds avda av cía ej p.ej gral cap sto sta",
    ),
    ("et", "hr pr dr prof nt lk st end kin"),
    ("eu", "jn and dr prof st adib"),
    ("fi", "esim hra rva nti tri prof ks st ts"),
    ("fo", "hr frú dr prof t.d"),
    ("fr", "m mm mme mmes mlle mlles me dr pr st ste av bd ex p.ex cf mgr env c.-à-d"),
    ("gl", "sr sra srs dr dra prof av ex p.ex sta sto"),
    ("gu", "ડો ડૉ શ્રી પ્રો"),
    ("haw", "dr mr mrs"),
    ("hi", "डॉ डा श्री प्रो पं सं कु"),
    ("hr", "g gđa gđica dr mr prof ing ul sv npr tj tzv gen"),
    ("hu", "dr prof ifj id özv st pl kb ún vö gr"),
    ("id", "dr prof drs dra ir h hj tn ny sdr yth jl st"),
    ("is", "dr prof hr sr sra t.d þ.e u.þ.b þ.e.a.s"),
    (
        "it",
        "sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa avv ing on geom rag arch egr gent spett mons s p.es ad",
    ),
    ("jw", "dr prof bp st"),
    ("kn", "ಡಾ ಶ್ರೀ ಪ್ರೊ"),
    ("lb", "här m mme dr prof st z.b d.h"),
    ("lt", "dr prof p g gen pvz vad šv t.y"),
    ("lv", "dr prof kgs st piem resp t.i sv"),
    ("mk", "г-н г-ѓа д-р проф инж ул св на.пр"),
    ("ml", "ഡോ ശ്രീ പ്രൊഫ"),
    ("mr", "डॉ डा श्री प्रा प्रो पं"),
    ("ms", "dr prof ir hj tn sdr jln en pn"),
    ("mt", "dr prof sur sra eż"),
    ("ne", "डा श्री प्रा पं"),
    ("nl", "dhr mevr mw mej dr drs prof ir ing mr ds st bijv bv d.w.z o.a m.b.t m.a.w ca jhr"),
    ("nn", "hr fr dr prof st f.eks bl.a ca dvs"),
    ("no", "hr fr dr prof st f.eks bl.a ca dvs"),
    ("oc", "sr sra dr prof st sta p.ex"),
    ("pa", "ਡਾ ਸ ਸ੍ਰੀ ਪ੍ਰੋ"),
    ("pl", "dr prof mgr inż hab lek św ul al pl np tzw tj m.in ks gen płk ppłk kpt mjr por abp bp red"),
    ("pt", "sr sra srs srta dr dra prof profa eng engª exmo exma d av ex p.ex sto sta gen"),
    ("ro", "dl dna d-l d-na dr prof ing st str sf ex gen"),
    ("ru", "г-н г-жа проф акад доц им ул пл просп пер св инж см напр тов гр т.е т.к т.н ген"),
    ("si", "ආචාර්ය මහා ගරු"),
    ("sk", "p dr mgr ing prof doc mudr judr phdr bc sv ul tzv napr tj gen"),
    ("sl", "g ga gdč dr mag prof doc inž ul sv npr oz tj t.i"),
    ("sq", "z znj dr prof sh p.sh"),
    ("sr", "g gđa dr mr prof inž ul sv npr tj tzv г гђа др мр проф инж ул св нпр тј тзв"),
    ("sv", "hr fr dr prof ing st t.ex bl.a d.v.s s.k ca"),
    ("sw", "bw bi dk prof mh"),
    ("ta", "டாக்டர் திரு திருமதி செல்வி பேரா"),
    ("te", "డా శ్రీ ప్రొ"),
    ("th", "ดร นพ พญ ศ รศ ผศ พล.อ พ.ต.อ ร.ต"),
    ("tl", "g gng bb dr dra atty engr prof sta sto"),
    ("tr", "dr prof doç av yrd sn bkz örn cad sok mah alb gen yzb hz"),
    ("uk", "п проф акад доц ім вул пл просп св інж див напр тов ген т.зв"),
    ("vi", "ts ths gs pgs bs ks tp ts.bs"),
];

/// Words that only before a number do not end a sentence: "No. 5", but "No. I won't."
const BEFORE_NUMBERS: &str = "no nos nr núm num n nº fig figs vol pp p s art abs ext approx ca kl klo sz č čís br \
    pág pag pàg páx hlm bls lk str стр ст арт гл с бр кв рис табл tel tél ph αρ σελ ver vers sec kap kol rm д кв jan feb apr aug sept \
    oct nov dec";

/// Languages in which a number with a dot is an ordinal: "am 3. Mai".
const ORDINALS_WITH_STOP: [&str; 20] = [
    "bs", "cs", "da", "de", "et", "eu", "fi", "fo", "hr", "hu", "is", "lb", "lv", "nn", "no", "pl", "sk",
    "sl", "sr", "tr",
];

/// English words that never stand inside a name: after an initial they begin a sentence, as in
/// "in the U.S. And then".
const ENGLISH_BEGINNINGS: &str = "a an and are but by can did do does he her here his how if in is it it's i'm my no \
    not now of on or she so that that's the their then there there's these they this those to was we we're well were \
    what when where which who why will yes you you're your";

/// What one language abbreviates.
#[derive(Debug, Clone, Copy)]
pub struct Abbreviations {
    before_names: &'static str,
    ordinals: bool,
    beginnings: &'static str,
}

impl Abbreviations {
    /// Those of a language code; none for a language that is not listed.
    pub fn of(language: Option<&str>) -> Self {
        let code = language.unwrap_or_default();
        let before_names = match BEFORE_NAMES.binary_search_by_key(&code, |(language, _)| *language) {
            Ok(at) => BEFORE_NAMES[at].1,
            Err(_) => "",
        };
        let beginnings = if code == "en" { ENGLISH_BEGINNINGS } else { "" };
        Self { before_names, ordinals: ORDINALS_WITH_STOP.contains(&code), beginnings }
    }

    /// Whether the word, given without its last dot, announces a name or a noun.
    pub fn stands_before_name(self, word: &str) -> bool {
        contains(self.before_names, without_article(word))
    }

    /// Whether the word, given without its last dot, announces a number.
    pub fn stands_before_number(self, word: &str) -> bool {
        contains(BEFORE_NUMBERS, without_article(word))
    }

    /// Whether the word cannot go on with a name that an initial began.
    pub fn begins_sentence(self, word: &str) -> bool {
        contains(self.beginnings, word.trim_end_matches(|c: char| !c.is_alphanumeric()))
    }

    /// Whether the language writes ordinals as a number with a dot.
    pub fn writes_ordinals_with_stop(self) -> bool {
        self.ordinals
    }
}

/// Some languages join an article or a preposition to a word: l'avv. Bianchi, dell'art. 5.
fn without_article(word: &str) -> &str {
    word.rsplit(['\'', '’']).next().unwrap_or(word)
}

fn contains(list: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    list.split_whitespace().any(|entry| entry == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_for_the_search() {
        assert!(BEFORE_NAMES.is_sorted_by_key(|(language, _)| *language));
        assert!(ORDINALS_WITH_STOP.is_sorted());
    }

    #[test]
    fn entries_are_lower_case_without_the_last_dot() {
        let lists = BEFORE_NAMES.iter().map(|(_, list)| *list).chain([BEFORE_NUMBERS]);
        for entry in lists.flat_map(str::split_whitespace) {
            assert_eq!(entry, entry.to_lowercase().trim_end_matches('.'));
        }
    }

    #[test]
    fn a_language_knows_its_own_only() {
        assert!(Abbreviations::of(Some("en")).stands_before_name("Dr"));
        assert!(Abbreviations::of(Some("de")).stands_before_name("bzw"));
        assert!(!Abbreviations::of(Some("en")).stands_before_name("bzw"));
        assert!(!Abbreviations::of(None).stands_before_name("Dr"));
        assert!(Abbreviations::of(None).stands_before_number("No"));
    }
}
