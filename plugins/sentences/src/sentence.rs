//! Makes the sentences of a transcript.

use tympan_sdk::prelude::*;
use tympan_text::{Chain, Voice, chains, sentence_begins, turns_by_voice};

/// One sentence; it lies in one channel and belongs to one speaker.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sentence {
    /// The text: its words concatenated.
    pub sentence: String,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Its words; the first one has no leading space.
    pub words: Vec<Word>,
    /// Mean of its words, 0.0 to 1.0.
    pub confidence: f64,
    /// Language code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Numbered from 0; only after a diarization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<u32>,
    /// Audio track, from 0.
    pub channel: u16,
}

/// All sentences, sorted by start, then channel. Every word of the transcript is in exactly one.
pub fn sentences(transcript: &Transcript) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for turns in turns_by_voice(transcript) {
        for chain in chains(&turns) {
            cut(chain, turns.voice, &mut sentences);
        }
    }
    sentences.sort_by(|a: &Sentence, b| a.start.total_cmp(&b.start).then(a.channel.cmp(&b.channel)));
    sentences
}

fn cut(mut chain: Chain, voice: Voice, sentences: &mut Vec<Sentence>) {
    let begins = sentence_begins(&chain);
    let first = sentences.len();
    for begin in begins.into_iter().rev() {
        let words = chain.words.split_off(begin);
        sentences.push(sentence(words, chain.language.clone(), voice));
    }
    sentences[first..].reverse();
}

fn sentence(mut words: Vec<Word>, language: Option<String>, voice: Voice) -> Sentence {
    if let Some(first) = words.first_mut() {
        first.text = first.text.trim_start().to_owned();
    }
    let confidence = words.iter().map(|word| word.confidence).sum::<f64>() / words.len() as f64;
    Sentence {
        sentence: words.iter().map(|word| word.text.as_str()).collect(),
        start: words.iter().map(|word| word.start).fold(f64::INFINITY, f64::min),
        end: words.iter().map(|word| word.end).fold(f64::NEG_INFINITY, f64::max),
        words,
        confidence,
        language,
        speaker: voice.speaker,
        channel: voice.channel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Sentences of one utterance, its words divided by spaces or else by `|`. Words of 0.3 s follow
    /// each other without a pause, `_` in a word stands for a second of silence before it.
    fn cut(language: &str, text: &str) -> Vec<String> {
        let transcript =
            Transcript { utterances: vec![utterance(language, 0, 0.0, text)], ..Default::default() };
        sentences(&transcript).into_iter().map(|s| s.sentence).collect()
    }

    fn utterance(language: &str, channel: u16, start: f64, text: &str) -> Utterance {
        let mut at = start;
        let mut words = Vec::new();
        let (separator, space) = if text.contains('|') { ('|', "") } else { (' ', " ") };
        for part in text.split(separator) {
            let pause_s = if part.contains('_') { 1.0 } else { 0.0 };
            let word = format!("{space}{}", part.replace('_', ""));
            words.push(Word { text: word, start: at + pause_s, end: at + pause_s + 0.3, confidence: 0.8 });
            at += pause_s + 0.3;
        }
        let mut utterance = Utterance::new(channel, words);
        utterance.language = Some(language.to_owned());
        utterance
    }

    fn assert_cut(language: &str, expected: &[&str]) {
        assert_eq!(cut(language, &expected.join(" ")), expected, "{language}");
    }

    #[test]
    fn stops_of_many_scripts_end_sentences() {
        assert_cut("en", &["Hello there.", "How are you?", "Fine!", "Good."]);
        assert_cut("es", &["¿Qué tal?", "¡Muy bien!", "Vale."]);
        assert_cut("ar", &["كيف حالك؟", "أنا بخير."]);
        assert_cut("ur", &["آپ کیسے ہیں؟", "میں ٹھیک ہوں۔", "شکریہ۔"]);
        assert_cut("hi", &["नमस्ते।", "आप कैसे हैं?", "मैं ठीक हूँ।"]);
        assert_cut("bn", &["আপনি কেমন আছেন?", "ভালো আছি।"]);
        assert_cut("hy", &["Բարև ձեզ։", "Ինչպես եք։", "Լավ եմ:", "Դուք:"]);
        assert_cut("am", &["ሰላም ነው።", "እንዴት ነህ፧", "ደህና።"]);
        assert_cut("ka", &["გამარჯობა.", "როგორ ხარ?", "კარგად."]);
        assert_cut("el", &["Τι κάνεις;", "Καλά είμαι.", "Εσύ;"]);
        assert_cut("ko", &["안녕하세요.", "잘 지내세요?", "네."]);
        assert_cut("he", &["שלום לכם.", "מה שלומך?", "טוב."]);
        assert_cut("bo", &["བཀྲ་ཤིས།", "བདེ་ལེགས།"]);
        assert_cut("ru", &["Привет.", "Как дела?", "Хорошо!"]);
    }

    #[test]
    fn stops_without_spaces_end_sentences() {
        assert_eq!(cut("zh", "你|好|。|你|好|吗|？|很|好|！"), ["你好。", "你好吗？", "很好！"]);
        assert_eq!(cut("zh", "你|去|吗|？|“|当|然|！|”|他|走|了|。"), ["你去吗？", "“当然！”", "他走了。"]);
        assert_eq!(cut("zh", "去|吗|？“|好|。”"), ["去吗？", "“好。”"]);
        assert_eq!(cut("ja", "「|はい|。|」|そう|です|。"), ["「はい。」", "そうです。"]);
        assert_eq!(
            cut("ja", "はい|。|「|いいえ|。|」|「いや|。」"),
            ["はい。", "「いいえ。」", "「いや。」"]
        );
        assert_eq!(cut("ja", "はい。「|い|い|え。」|そう"), ["はい。", "「いいえ。」", "そう"]);
        assert_eq!(cut("km", "សួស្តី|។|អរគុណ|។"), ["សួស្តី។", "អរគុណ។"]);
        assert_eq!(cut("my", "မင်္ဂလာပါ|။|ကျေးဇူး|။"), ["မင်္ဂလာပါ။", "ကျေးဇူး။"]);
    }

    #[test]
    fn dots_inside_a_sentence_do_not_end_it() {
        assert_cut("en", &["Dr. Smith paid 3.5 dollars to Mr. Jones, e.g. for tea.", "Then he left."]);
        assert_cut(
            "en",
            &["J. R. R. Tolkien met John F. Kennedy in the U.S. Army.", "It was at 5 p.m.", "Then tea."],
        );
        assert_cut("en", &["See No. 5 on www.example.com or version 2.0.1 today.", "No.", "I won't."]);
        assert_cut("de", &["Am 3. Mai kam z. B. Herr Dr. Müller bzw. Frau Prof. Weiß.", "Gut."]);
        assert_cut("fr", &["M. Dupont et Mme. Durand sont là.", "Bon."]);
        assert_cut("es", &["En EE. UU. vive el Sr. García y la Dra. López llegan.", "Sí."]);
        assert_cut("ru", &["Это проф. Иванов и А. С. Пушкин.", "Да."]);
        assert_cut("hi", &["डॉ. शर्मा आए हैं।", "ठीक है।"]);
        assert_cut("ar", &["وصل د. أحمد اليوم.", "شكرا."]);
        assert_cut("tr", &["Prof. Dr. Yılmaz geldi.", "Evet."]);
        assert_cut("de", &["Prof. Dr. med. Weiß kam.", "Gut."]);
        assert_cut("it", &["L'avv. Bianchi cita dell’art. 5 il resto.", "Bene."]);
        assert_cut("en", &["I live in the U.S.", "And you?", "Plan B.", "Then what on Jan. 5?"]);
        assert_eq!(cut("en", "Take vitamin C. _Then rest."), ["Take vitamin C.", "Then rest."]);
    }

    #[test]
    fn abbreviations_before_a_number_go_on_and_numbers_still_end_sentences() {
        assert_cut("en", &["See ch. 2.", "Read vol. 3.", "It is on p. 12.", "Take No. 5.", "In Fig. 4."]);
        assert_cut("en", &["Vol. II Is out.", "It was in 1990.", "Then he left.", "He was 5.", "Then 6."]);
        assert_cut("en", &["See p. 12.", "Then stop.", "I say no.", "I won't.", "He is on ch. 3.", "Good."]);
        assert_cut("de", &["Siehe S. 12.", "Danach Nr. 5.", "Dann Bd. II Und Kap. 3.", "Gut."]);
        assert_cut("fr", &["Voir p. 12.", "Puis chap. 3.", "C'est le t. II Bien.", "Bon."]);
        assert_cut(
            "es",
            &["Véase la pág. 4.", "Es el núm. 3.", "En el cap. 2.", "En el s. XX Murió.", "Sí."],
        );
        assert_cut("it", &["Vedi pag. 4.", "È il n. 3.", "Nel cap. 2.", "Bene."]);
        assert_cut("pt", &["Veja a pág. 4.", "No séc. XX Houve.", "No cap. 2.", "Bem."]);
        assert_cut("nl", &["Zie blz. 4.", "Zie hfst. 2.", "Goed."]);
        assert_cut("pl", &["Zob. str. 4.", "O godz. 5.", "Rozdz. 2.", "Dobrze."]);
        assert_cut("cs", &["Viz str. 4.", "Obr. 2.", "Kap. 3.", "Dobře."]);
        assert_cut("sv", &["Se s. 4.", "Kap. 2.", "Bra."]);
        assert_cut("ru", &["См. стр. 4.", "Это рис. 2.", "В т. 3.", "Да."]);
        assert_cut("uk", &["Див. с. 4.", "Це мал. 2.", "Так."]);
    }

    #[test]
    fn abbreviations_of_places_go_on_and_units_end_sentences() {
        assert_cut("ru", &["Он живёт в г. Москва на ул. Ленина.", "Там школа им. Пушкина."]);
        assert_cut("ru", &["Это было в 1990 г.", "Потом он уехал.", "Да."]);
        assert_cut("ru", &["Стоит 100 р.", "Потом дороже.", "За р. Волга лес."]);
        assert_cut("uk", &["Він живе у м. Київ на вул. Хрещатик.", "Так."]);
        assert_cut("bg", &["Живее в гр. София на ул. Раковски.", "Да."]);
        assert_cut("be", &["Жыве ў г. Мінск.", "Так."]);
    }

    #[test]
    fn abbreviations_of_several_words_go_on() {
        assert_cut("ru", &["Столица, т. е. Москва, и столы, стулья и т. д. стоят там.", "Да."]);
        assert_cut(
            "ru",
            &["Многие, в т. ч. Иванов, и и. о. Петров здесь.", "Есть столы и т. д.", "Потом всё."],
        );
        assert_cut("de", &["Es kamen u. a. Herr Weiß, d. h. Anna und i. d. R. Otto.", "Gut."]);
        assert_cut("de", &["Im Jahr 50 v. Chr. starb er.", "Er lebte bis 20 n. Chr.", "Dann war Ruhe."]);
        assert_cut("da", &["Det er f. eks. Oslo og bl. a. Bergen.", "Godt."]);
        assert_cut("pl", &["Był m. in. Nowak.", "Tak."]);
        assert_cut(
            "fr",
            &["J.-P. Dupont et M. Durand.", "En 50 av. J.-C. naquit Rome.", "En 20 av. J.-C.", "Rome dort."],
        );
        assert_cut("es", &["Nació en 50 a. C. en Roma.", "Murió en 20 a. C.", "Luego nada."]);
    }

    #[test]
    fn quotes_inside_a_sentence_go_on_in_korean_and_chinese() {
        assert_cut("ko", &["그는 \"가자.\" 라고 말했다.", "\"뭐?\" 하고 물었다.", "네."]);
        assert_cut("ko", &["“좋아!” 이라고 했다.", "“그래.”", "고마워요."]);
        assert_eq!(cut("ko", "그는| “가자.”|라고| 말했다.| 네."), ["그는 “가자.”라고 말했다.", "네."]);
        assert_eq!(cut("ko", "“가자.”|고| 했다.| 네."), ["“가자.”고 했다.", "네."]);
        assert_eq!(cut("zh", "“|走|吧|。”|他|说|。|好|。"), ["“走吧。”他说。", "好。"]);
        assert_eq!(
            cut("zh", "「|走|吧|。|」|媽媽|笑|著|說|，|他|走|了|。"),
            ["「走吧。」媽媽笑著說，他走了。"]
        );
        assert_eq!(cut("zh", "“|走|？”|老师|问道"), ["“走？”老师问道"]);
        assert_eq!(cut("zh", "“|走|？”|我|不|知道|。"), ["“走？”", "我不知道。"]);
        assert_eq!(cut("zh", "“|走|。”|她|问|：“|去|哪|？”"), ["“走。”", "她问：“去哪？”"]);
    }

    #[test]
    fn ellipses_end_a_sentence_before_a_capital_only() {
        assert_cut("en", &["Well… maybe not.", "So…", "Next one."]);
        assert_cut("en", &["Well... maybe not.", "So...", "Next one."]);
    }

    #[test]
    fn quotes_and_brackets_stay_with_their_sentence() {
        assert_cut("en", &["He said \"stop!\"", "(I did.)", "\"Why?\" he asked."]);
        assert_cut("fr", &["« Oui. »", "« Non ! »", "Il part."]);
        assert_cut("de", &["„Nein.“", "Er ging."]);
        assert_eq!(cut("ja", "「|行く|？」|と|聞い|た|。|はい|。"), ["「行く？」と聞いた。", "はい。"]);
        let joined = "Il| dit. «| Oui. »| Puis| il| part !| Bon.";
        assert_eq!(cut("fr", joined), ["Il dit.", "« Oui. »", "Puis il part !", "Bon."]);
    }

    #[test]
    fn without_stops_spaces_and_pauses_decide() {
        let thai = "สวัสดี|ครับ| _ผม|ชื่อ|สมชาย| ยินดี|ที่|ได้|รู้จัก|_ขอบคุณ|ครับ";
        assert_eq!(cut("th", thai), ["สวัสดีครับ", "ผมชื่อสมชาย ยินดีที่ได้รู้จัก", "ขอบคุณครับ"]);
        assert_eq!(cut("km", "សួស្តី|_អរគុណ"), ["សួស្តី", "អរគុណ"]);
    }

    fn of(utterances: Vec<Utterance>) -> Vec<(String, u16, Option<u32>)> {
        let transcript = Transcript { utterances, ..Default::default() };
        sentences(&transcript).into_iter().map(|s| (s.sentence, s.channel, s.speaker)).collect()
    }

    #[test]
    fn sentences_span_utterances_of_one_voice_after_a_short_pause_only() {
        let joined =
            of(vec![utterance("en", 0, 0.0, "I went to"), utterance("en", 0, 1.5, "the shop. Yes.")]);
        assert_eq!(joined[0].0, "I went to the shop.");
        let apart = of(vec![utterance("en", 0, 0.0, "I went to"), utterance("en", 0, 4.0, "the shop.")]);
        assert_eq!(apart.len(), 2);
        let stopped = of(vec![utterance("en", 0, 0.0, "I went."), utterance("en", 0, 1.0, "and so on")]);
        assert_eq!(stopped.len(), 2);
        let switched = of(vec![utterance("en", 0, 0.0, "I went"), utterance("fr", 0, 0.6, "au marché.")]);
        assert_eq!(switched.len(), 2);
    }

    #[test]
    fn voices_are_never_mixed() {
        let mut a = utterance("en", 0, 0.0, "I was");
        let mut b = utterance("en", 0, 0.3, "Mhm.");
        let mut c = utterance("en", 0, 0.7, "saying this.");
        (a.speaker, b.speaker, c.speaker) = (Some(0), Some(1), Some(0));
        let found = of(vec![a, b, c, utterance("en", 1, 0.1, "Hello.")]);
        let expected = [("I was saying this.", 0, Some(0)), ("Hello.", 1, None), ("Mhm.", 0, Some(1))];
        assert_eq!(found, expected.map(|(text, channel, speaker)| (text.to_owned(), channel, speaker)));
    }

    #[test]
    fn minutes_without_any_stop_are_cut_at_utterances() {
        let text = vec!["word"; 60].join(" ");
        let utterances = (0..6).map(|n| utterance("en", 0, f64::from(n) * 18.5, &text)).collect();
        assert_eq!(of(utterances).len(), 3);
    }

    #[test]
    fn an_item_has_everything_a_client_needs() {
        let mut utterance = utterance("en", 2, 1.0, "Hi there. Bye.");
        utterance.speaker = Some(3);
        let transcript = Transcript { utterances: vec![utterance], ..Default::default() };
        let items = serde_json::to_string(&sentences(&transcript)[1..]).unwrap();
        let words = r#"[{"word":"Bye.","start":1.6,"end":1.9000000000000001,"confidence":0.8}]"#;
        let expected = format!(
            r#"[{{"sentence":"Bye.","start":1.6,"end":1.9000000000000001,"words":{words},"confidence":0.8,"language":"en","speaker":3,"channel":2}}]"#
        );
        assert_eq!(items, expected);
        assert_eq!(json!(sentences(&Transcript::default())), json!([]));
    }
}
