//! Two or three sentences in each of the 99 languages come apart where they should.

use tympan_plugin_sentences::sentences;
use tympan_sdk::{Transcript, Utterance, Word};

/// A language and its sentences, `|` between them. In scripts without spaces `·` divides words.
const SENTENCES: [(&str, &str); 99] = [
    ("af", "Goeie dag, mnr. Botha.|Hoe gaan dit?|Goed, dankie!"),
    ("am", "ሰላም ነው።|እንዴት ነህ?|ደህና ነኝ።"),
    ("ar", "مرحبا بكم.|كيف حالك؟|أنا بخير، شكرا."),
    ("as", "নমস্কাৰ।|আপুনি কেনে আছে?|ভালে আছোঁ।"),
    ("az", "Salam, Prof. Əliyev.|Necəsən?|Yaxşıyam."),
    ("ba", "Һаумыһығыҙ.|Хәлдәр нисек?|Яҡшы."),
    ("be", "Добры дзень, праф. Іваноў.|Як справы?|Добра."),
    ("bg", "Добър ден, г-н. Иванов.|Как сте?|Добре."),
    ("bn", "নমস্কার।|আপনি কেমন আছেন?|ভালো আছি।"),
    ("bo", "བཀྲ་ཤིས་བདེ་ལེགས།|ཁྱེད་རང་གི་མཚན་ལ་ག་རེ་ཞུ་གི་ཡོད།"),
    ("br", "Demat deoc'h.|Mont a ra?|Mat eo."),
    ("bs", "Dobar dan, g. Hadžić.|Kako ste?|Dobro, 3. maja."),
    ("ca", "Bon dia, Sr. Puig.|Com està?|Molt bé!"),
    ("cs", "Dobrý den, Ing. Nováku.|Jak se máte?|Dobře, od 5. Května."),
    ("cy", "Bore da, Dr. Jones.|Sut wyt ti?|Iawn."),
    ("da", "Goddag, hr. Jensen.|Hvordan går det?|Godt, den 3. Maj."),
    ("de", "Guten Tag, Hr. Dr. Weiß.|Wie geht's?|Gut, z. B. am 3. Mai."),
    ("el", "Καλημέρα, κ. Παππά.|Τι κάνετε;|Καλά, ευχαριστώ."),
    ("en", "Good day, Mr. Smith.|How are you?|Fine, at 3.5 percent."),
    ("es", "Buenos días, Sr. García.|¿Cómo está?|¡Muy bien!"),
    ("et", "Tere, hr. Tamm.|Kuidas läheb?|Hästi, 3. Mail."),
    ("eu", "Egun on, jn. Etxeberria.|Zer moduz?|Ondo."),
    ("fa", "سلام.|حال شما چطور است؟|خوبم، ممنون."),
    ("fi", "Hyvää päivää, esim. Virtanen.|Mitä kuuluu?|Hyvää."),
    ("fo", "Góðan dag, hr. Joensen.|Hvussu gongur?|Gott."),
    ("fr", "Bonjour, M. Dupont.|Comment allez-vous ?|Très bien !"),
    ("gl", "Bo día, Sr. Souto.|Como está?|Moi ben."),
    ("gu", "નમસ્તે, ડૉ. પટેલ.|તમે કેમ છો?|મજામાં."),
    ("ha", "Sannu.|Ina kwana?|Lafiya lau."),
    ("haw", "Aloha kakahiaka.|Pehea ʻoe?|Maikaʻi."),
    ("he", "שלום לכולם.|מה שלומך?|טוב, תודה."),
    ("hi", "नमस्ते, डॉ. शर्मा।|आप कैसे हैं?|मैं ठीक हूँ।"),
    ("hr", "Dobar dan, dr. Horvat.|Kako ste?|Dobro."),
    ("ht", "Bonjou.|Kijan ou ye?|Mwen byen."),
    ("hu", "Jó napot, Dr. Nagy.|Hogy van?|Jól, 3. Május óta."),
    ("hy", "Բարև ձեզ։|Ինչպե՞ս եք։|Լավ եմ:|Շնորհակալություն։"),
    ("id", "Selamat pagi, Drs. Budi.|Apa kabar?|Baik."),
    ("is", "Góðan dag, hr. Jónsson.|Hvernig líður þér?|Vel."),
    ("it", "Buongiorno, Sig. Rossi.|Come sta?|Bene!"),
    ("ja", "こんにちは·。|お·元気·です·か·？|はい·、·元気·です·。"),
    ("jw", "Sugeng enjang.|Piye kabare?|Apik."),
    ("ka", "გამარჯობა.|როგორ ხარ?|კარგად."),
    ("kk", "Сәлеметсіз бе.|Қалыңыз қалай?|Жақсы."),
    ("km", "សួស្តី·។|សុខសប្បាយ·ទេ·?|បាទ·។"),
    ("kn", "ನಮಸ್ಕಾರ, ಡಾ. ರಾವ್.|ಹೇಗಿದ್ದೀರಿ?|ಚೆನ್ನಾಗಿದ್ದೇನೆ."),
    ("ko", "안녕하세요.|잘 지내세요?|네, 잘 지내요."),
    ("la", "Salve, amice.|Quid agis?|Bene valeo."),
    ("lb", "Moien, Här. Weber.|Wéi geet et?|Gutt."),
    ("ln", "Mbote na yo.|Ozali malamu?|Malamu."),
    ("lo", "ສະບາຍດີ|_ເຈົ້າ·ສະບາຍດີ·ບໍ່|_ສະບາຍດີ"),
    ("lt", "Laba diena, p. Kazlauskai.|Kaip sekasi?|Gerai."),
    ("lv", "Labdien, prof. Ozols.|Kā klājas?|Labi."),
    ("mg", "Manao ahoana.|Inona no vaovao?|Tsara."),
    ("mi", "Kia ora.|Kei te pēhea koe?|Kei te pai."),
    ("mk", "Добар ден, проф. Петров.|Како сте?|Добро."),
    ("ml", "നമസ്കാരം, ഡോ. നായർ.|സുഖമാണോ?|സുഖം."),
    ("mn", "Сайн байна уу?|Та яаж байна?|Сайн."),
    ("mr", "नमस्कार, डॉ. पाटील.|तुम्ही कसे आहात?|मी बरा आहे."),
    ("ms", "Selamat pagi, Dr. Ali.|Apa khabar?|Baik."),
    ("mt", "Bonġu, Dr. Borg.|Kif int?|Tajjeb."),
    ("my", "မင်္ဂလာပါ·။|နေကောင်း·လား·။|ကောင်းပါတယ်·။"),
    ("ne", "नमस्ते, डा. थापा।|तपाईंलाई कस्तो छ?|ठीक छ।"),
    ("nl", "Goedendag, dhr. Jansen.|Hoe gaat het?|Goed!"),
    ("nn", "God dag, hr. Hansen.|Korleis går det?|Bra, 3. Mai."),
    ("no", "God dag, hr. Hansen.|Hvordan går det?|Bra, 3. Mai."),
    ("oc", "Bonjorn, Dr. Martin.|Cossí va?|Plan."),
    ("pa", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ।|ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?|ਮੈਂ ਠੀਕ ਹਾਂ।"),
    ("pl", "Dzień dobry, prof. Nowak.|Jak się masz?|Dobrze, 3. Maja."),
    ("ps", "سلام.|څنګه یاست؟|زه ښه یم."),
    ("pt", "Bom dia, Sr. Silva.|Como está?|Muito bem!"),
    ("ro", "Bună ziua, dl. Popescu.|Ce mai faceți?|Bine."),
    ("ru", "Здравствуйте, проф. Иванов.|Как дела?|Хорошо."),
    ("sa", "नमस्ते।|भवान् कथम् अस्ति?|अहं कुशली।"),
    ("sd", "سلام.|توهان ڪيئن آهيو؟|مان ٺيڪ آهيان۔"),
    ("si", "ආයුබෝවන්.|කොහොමද?|හොඳින්."),
    ("sk", "Dobrý deň, Ing. Kováč.|Ako sa máte?|Dobre, 5. Mája."),
    ("sl", "Dober dan, g. Novak.|Kako ste?|Dobro."),
    ("sn", "Mhoro.|Makadini?|Ndiripo."),
    ("so", "Salaan.|Sidee tahay?|Waan fiicanahay."),
    ("sq", "Mirëdita, dr. Hoxha.|Si jeni?|Mirë."),
    ("sr", "Добар дан, проф. Јовановић.|Како сте?|Добро."),
    ("su", "Wilujeng énjing.|Kumaha damang?|Saé."),
    ("sv", "God dag, hr. Svensson.|Hur mår du?|Bra."),
    ("sw", "Habari, Dk. Juma.|Hujambo?|Nzuri."),
    ("ta", "வணக்கம், திரு. குமார்.|எப்படி இருக்கிறீர்கள்?|நலம்."),
    ("te", "నమస్కారం, డా. రావు.|మీరు ఎలా ఉన్నారు?|బాగున్నాను."),
    ("tg", "Салом.|Шумо чӣ хел?|Хуб."),
    ("th", "สวัสดี·ครับ|_สบายดี·ไหม|_สบายดี·ครับ"),
    ("tk", "Salam.|Ýagdaýlar nähili?|Gowy."),
    ("tl", "Magandang araw, Gng. Reyes.|Kumusta ka?|Mabuti."),
    ("tr", "Merhaba, Prof. Dr. Yılmaz.|Nasılsınız?|İyiyim."),
    ("tt", "Исәнмесез.|Хәлләр ничек?|Яхшы."),
    ("uk", "Добрий день, проф. Шевченко.|Як справи?|Добре."),
    ("ur", "السلام علیکم۔|آپ کیسے ہیں؟|میں ٹھیک ہوں۔"),
    ("uz", "Assalomu alaykum.|Qalaysiz?|Yaxshiman."),
    ("vi", "Xin chào, TS. Nguyễn.|Bạn khỏe không?|Tôi khỏe."),
    ("yi", "שלום עליכם.|וואָס מאַכט איר?|גוט."),
    ("yo", "Ẹ káàárọ̀.|Ṣé dáadáa ni?|Dáadáa ni."),
    ("zh", "你好·。|你·好·吗·？|很·好·！"),
];

/// Words of 0.3 s without pauses, but one second of silence before a word with `_`.
fn transcript(language: &str, text: &str) -> Transcript {
    let is_spaced = !text.contains('·');
    let mut at = 0.0;
    let mut words = Vec::new();
    for word in text.split(['|', '·', ' ']) {
        let space = if is_spaced && !words.is_empty() { " " } else { "" };
        at += if word.starts_with('_') { 1.0 } else { 0.0 };
        let text = format!("{space}{}", word.trim_start_matches('_'));
        words.push(Word { text, start: at, end: at + 0.3, confidence: 1.0 });
        at += 0.3;
    }
    let mut utterance = Utterance::new(0, words);
    utterance.language = Some(language.to_owned());
    Transcript { utterances: vec![utterance], ..Default::default() }
}

#[test]
fn every_language_is_cut_into_its_sentences() {
    for (language, text) in SENTENCES {
        let plain = |sentence: &str| sentence.replace(['·', '_'], "");
        let expected: Vec<String> = text.split('|').map(plain).collect();
        let found: Vec<String> =
            sentences(&transcript(language, text)).into_iter().map(|s| s.sentence).collect();
        assert_eq!(found, expected, "{language}");
    }
}
