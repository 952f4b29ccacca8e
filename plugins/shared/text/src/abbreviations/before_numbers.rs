//! Words before a number.

/// Words that only before a number do not end a sentence, in whatever language: "No. 5", but "No. I won't."
pub const BEFORE_NUMBERS: &str = "no nos nr núm num n nº fig figs vol pp p s art abs ext approx ca kl klo sz č čís br \
    pág pag pàg páx hlm bls lk str стр ст арт гл с бр кв рис табл tel tél ph αρ σελ ver vers sec kap kol rm д кв jan feb apr aug sept \
    oct nov dec";

/// Further ones, by language: elsewhere they are common words or abbreviate something else.
pub const BEFORE_NUMBERS_OF: &[(&str, &str)] = &[
    ("ar", "ص ج م ط"),
    ("be", "гл рыс табл вып кн ч т ок п"),
    ("bg", "гл фиг табл чл ал т ок"),
    ("bn", "পৃ"),
    ("bs", "čl gl sl tab st pog sv"),
    ("ca", "pàg pàgs cap vol núm fig art t"),
    ("cs", "kap obr tab odst čl písm sv roč"),
    ("da", "kap bd tab afsn fig stk pkt"),
    ("de", "bd bde kap abb tab ziff anm rn aufl jg fn hs z lfd ziffer bl"),
    ("el", "σ σελ κεφ τόμ εικ πίν άρθ παρ τηλ"),
    (
        "en",
        "ch chs chap chaps vols eq eqs ed par para sect pt pts bk op app apt bldg hwy rte c est max min mar jun jul v",
    ),
    ("es", "págs cap caps núms nro párr inc t aprox s siglo"),
    ("et", "ptk joon tab"),
    ("fa", "ص ج"),
    ("fi", "nro kuv taul luk n"),
    ("fr", "chap t al éd liv par ch vol tél fasc sect"),
    ("gl", "páxs cap núms t"),
    ("hi", "पृ"),
    ("hr", "čl gl sl tab st pog sv"),
    ("id", "hal jil gbr"),
    ("it", "pagg cap capp tav nn artt sez lett sec par vv"),
    ("lb", "bd kap abb"),
    ("lt", "psl pav lent t sk"),
    ("lv", "lpp nod att tab p"),
    ("mk", "чл гл сл таб"),
    ("ms", "hal jil"),
    ("nl", "blz hfst afb par dl jg lid hst"),
    ("nn", "kap bd tab avsn fig"),
    ("no", "kap bd tab avsn fig"),
    ("pl", "godz ok poz rozdz t ust rys tab ryc par zob wyd"),
    ("pt", "págs cap caps séc núm inc t aprox"),
    ("ro", "pag alin cap fig tab sec"),
    ("ru", "т ч кн вып изд илл прил разд пп п ок эт оф корп тт пер"),
    ("sk", "kap obr tab ods čl písm roč"),
    ("sl", "čl pogl sl tab pog"),
    ("sr", "čl gl sl tab чл гл сл таб"),
    ("sv", "sid kap bd tab avsn fig bil"),
    ("tr", "sf md c bl şek"),
    ("uk", "т ч кн вип мал п пп ок розд"),
    ("vi", "tr t q"),
];
