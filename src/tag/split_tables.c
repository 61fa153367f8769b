/* What the splitter knows of English: abbreviations, units, endings of names, contractions. Every list is
 * sorted. */
#include <string.h>

#include "tag/split_internal.h"

static const char *const abbreviation[] = {
    "a.m",  "al",   "ala",  "approx", "appt", "apt",  "ariz",   "ark",  "arrv", "assn",  "attn",   "aug",
    "av",   "ave",  "b.sc", "bbl",    "bbls", "bldg", "blvd",   "bros", "ca",   "calif", "cf",     "cm",
    "co",   "colo", "comm", "conf",   "conn", "corp", "d.c",    "dba",  "dec",  "dept",  "dia",    "dist",
    "div",  "doz",  "e.g",  "ed",     "eds",  "eg",   "encl",   "eqn",  "esp",  "esq",   "est",    "et.al",
    "etc",  "excl", "ext",  "feb",    "fla",  "ft",   "fwd",    "ga",   "gal",  "gm",    "gms",    "govt",
    "hr",   "hrs",  "i.e",  "ibid",   "ie",   "ill",  "inc",    "incl", "intl", "jan",   "jr",     "kan",
    "kg",   "km",   "ky",   "la",     "lb",   "lbs",  "ltd",    "m.d",  "m.sc", "md",    "messrs", "mg",
    "mich", "minn", "mins", "misc",   "ml",   "mlle", "mm",     "mme",  "mo",   "mont",  "mph",    "mt",
    "natl", "neb",  "nev",  "nov",    "oct",  "okla", "op.cit", "ore",  "oz",   "p.m",   "pa",     "penn",
    "ph",   "ph.d", "pty",  "qt",     "rd",   "repr", "rpm",    "sep",  "sept", "ser",   "sp",     "spp",
    "sq",   "sr",   "ssp",  "st",     "tech", "tel",  "tenn",   "tex",  "thur", "thurs", "trans",  "tues",
    "univ", "va",   "var",  "viz",    "vs",   "vt",   "wash",   "wis",  "wyo",  "yrs"};
static const char *const title[] = {"adm",  "br",   "capt", "cmdr", "col",  "cpl",  "cpt",  "dr",
                                    "fr",   "gen",  "gov",  "hon",  "insp", "lt",   "maj",  "messrs",
                                    "mlle", "mme",  "mr",   "mrs",  "ms",   "pres", "prof", "pvt",
                                    "rep",  "reps", "rev",  "sen",  "sgt",  "supt"};
static const char *const before_number[] = {
    "app", "apr",  "art", "aug", "c",    "ca",  "ch",   "chap", "cir", "ed",  "eq",  "eqs",  "feb",
    "fig", "figs", "jan", "jul", "jun",  "mar", "no",   "nos",  "nr",  "op",  "p",   "para", "pl",
    "pp",  "pt",   "pts", "ref", "refs", "sec", "sect", "sep",  "ser", "ver", "vol", "vols"};
static const char *const capitalised[] = {"apr", "atty", "chas", "del",  "ed",   "fri", "geo", "jas", "jos",
                                          "jul", "jun",  "mar",  "mass", "miss", "mon", "ont", "que", "sat",
                                          "sec", "stat", "sun",  "thos", "tue",  "wed", "wm"};
static const char *const prefix[] = {"a",     "agro",    "ante",   "anti",  "arch",  "be",    "bi",   "bio",
                                     "co",    "counter", "cross",  "cyber", "de",    "e",     "ex",   "extra",
                                     "hyper", "hypo",    "inter",  "intra", "iso",   "macro", "mega", "meta",
                                     "micro", "mid",     "mini",   "mono",  "multi", "nano",  "neo",  "non",
                                     "omni",  "over",    "para",   "peri",  "poly",  "post",  "pre",  "pro",
                                     "proto", "pseudo",  "psycho", "quasi", "re",    "retro", "semi", "socio",
                                     "sub",   "super",   "tri",    "u",     "ultra", "un",    "uni",  "x"};
static const char *const suffix[] = {"e", "esque", "ette", "gate", "itis", "less", "rama", "wise"};
static const char *const unit[] = {
    "a.m",  "am",      "b",      "bhp",   "bn",     "c",       "cc",      "cm",    "day",  "days",  "dpi",
    "f",    "feet",    "ft",     "gb",    "ghz",    "hh",      "hour",    "hours", "hp",   "hr",    "hrs",
    "hz",   "inch",    "inches", "k",     "kb",     "kbs",     "kg",      "khz",   "km",   "kph",   "kw",
    "kwh",  "lb",      "lbs",    "m",     "mah",    "mb",      "mg",      "mhz",   "mile", "miles", "min",
    "mins", "minutes", "ml",     "mm",    "mn",     "month",   "months",  "mph",   "ms",   "mw",    "mwh",
    "ns",   "oz",      "p.m",    "pct",   "people", "percent", "persons", "pm",    "ppm",  "rpm",   "sec",
    "secs", "sq",      "tb",     "times", "v",      "w",       "watt",    "watts", "week", "weeks", "x",
    "yd",   "yds",     "year",   "years", "yr",     "yrs"};
static const char *const domain[] = {"au",   "be",  "biz", "br", "ca", "ch",  "cn",  "com", "de",
                                     "dk",   "edu", "es",  "eu", "fi", "fr",  "gov", "ie",  "in",
                                     "info", "int", "io",  "it", "jp", "mil", "mx",  "net", "nl",
                                     "nz",   "org", "ru",  "se", "tv", "uk",  "us"};
static const char *const file[] = {
    "asp",  "aspx",        "avi",  "bat",   "bib", "bmp",  "bz2",   "cfg", "cgi",  "conf",  "cpp", "css",
    "csv",  "dat",         "deb",  "dll",   "dmg", "doc",  "docx",  "eps", "epub", "exe",   "flv", "gif",
    "gz",   "hpp",         "htm",  "html",  "ico", "ini",  "ipynb", "iso", "java", "jpeg",  "jpg", "js",
    "json", "jsonl",       "jsp",  "log",   "md",  "mkv",  "mov",   "mp3", "mp4",  "npy",   "npz", "ogg",
    "pdf",  "php",         "pl",   "png",   "ppt", "pptx", "ps",    "py",  "rar",  "rb",    "rpm", "rst",
    "rtf",  "safetensors", "sh",   "shtml", "so",  "sql",  "svg",   "tar", "tex",  "tgz",   "tif", "tiff",
    "toml", "ts",          "tsv",  "ttf",   "txt", "url",  "wav",   "wmv", "wpd",  "xhtml", "xls", "xlsx",
    "xml",  "xz",          "yaml", "yml",   "zip", "zst"};
static const char *const newsgroup[] = {"alt", "ba",  "comp", "humanities", "misc", "news",
                                        "rec", "sci", "soc",  "talk",       "uk"};
static const char *const after_its[] = {
    "a",          "about",   "actually", "all",       "almost",     "already",   "also",      "always",
    "an",         "anyone",  "as",       "at",        "bad",        "basically", "because",   "been",
    "better",     "between", "called",   "currently", "definitely", "easy",      "for",       "from",
    "getting",    "going",   "gonna",    "good",      "great",      "greatly",   "hard",      "important",
    "impossible", "in",      "just",     "less",      "like",       "more",      "necessary", "never",
    "nice",       "no",      "not",      "nothing",   "now",        "ok",        "okay",      "only",
    "possible",   "pretty",  "probably", "prolly",    "quite",      "really",    "simply",    "so",
    "still",      "such",    "the",      "time",      "to",         "too",       "true",      "very",
    "worth"};
static const char *const coordinator[] = {"and", "or", "to"};
static const char *const elided[] = {"an", "ha", "lil", "mo", "o", "ol", "th", "wi"};
static const char *const currency[] = {"aud", "cad", "chf", "cny", "eur", "gbp", "hkd",
                                       "inr", "irr", "jpy", "nzd", "rs",  "sgd", "usd"};
static const char *const sign_off[] = {"best",      "cheers", "regards", "respectfully",
                                       "sincerely", "thank",  "thanks",  "yours"};
static const char *const starter[] = {
    "a",     "after",   "all",    "also",   "although", "an",       "and",   "another", "are",    "as",
    "at",    "because", "before", "both",   "but",      "by",       "can",   "could",   "did",    "do",
    "does",  "during",  "each",   "every",  "for",      "from",     "had",   "has",     "have",   "he",
    "her",   "here",    "his",    "how",    "however",  "i",        "if",    "in",      "is",     "it",
    "its",   "let",     "many",   "may",    "might",    "moreover", "most",  "must",    "my",     "no",
    "not",   "on",      "one",    "or",     "our",      "please",   "see",   "she",     "should", "since",
    "so",    "some",    "thank",  "thanks", "that",     "the",      "their", "then",    "there",  "therefore",
    "these", "they",    "this",   "those",  "though",   "thus",     "to",    "two",     "under",  "was",
    "we",    "were",    "what",   "when",   "where",    "which",    "while", "who",     "why",    "will",
    "with",  "without", "would",  "yes",    "yet",      "you",      "your"};

static const struct {
    const char *const *words;
    size_t count;
} lists[LG_N_LISTS] = {
    [LG_LIST_ABBREVIATION] = {abbreviation, sizeof abbreviation / sizeof *abbreviation},
    [LG_LIST_TITLE] = {title, sizeof title / sizeof *title},
    [LG_LIST_BEFORE_NUMBER] = {before_number, sizeof before_number / sizeof *before_number},
    [LG_LIST_CAPITALISED] = {capitalised, sizeof capitalised / sizeof *capitalised},
    [LG_LIST_PREFIX] = {prefix, sizeof prefix / sizeof *prefix},
    [LG_LIST_SUFFIX] = {suffix, sizeof suffix / sizeof *suffix},
    [LG_LIST_UNIT] = {unit, sizeof unit / sizeof *unit},
    [LG_LIST_DOMAIN] = {domain, sizeof domain / sizeof *domain},
    [LG_LIST_FILE] = {file, sizeof file / sizeof *file},
    [LG_LIST_NEWSGROUP] = {newsgroup, sizeof newsgroup / sizeof *newsgroup},
    [LG_LIST_AFTER_ITS] = {after_its, sizeof after_its / sizeof *after_its},
    [LG_LIST_COORDINATOR] = {coordinator, sizeof coordinator / sizeof *coordinator},
    [LG_LIST_ELIDED] = {elided, sizeof elided / sizeof *elided},
    [LG_LIST_CURRENCY] = {currency, sizeof currency / sizeof *currency},
    [LG_LIST_SIGN_OFF] = {sign_off, sizeof sign_off / sizeof *sign_off},
    [LG_LIST_STARTER] = {starter, sizeof starter / sizeof *starter},
};

bool lg_listed(lg_word_list list, const char *word, size_t n_bytes) {
    char lower[LG_LONGEST_LISTED + 1];
    if (n_bytes > LG_LONGEST_LISTED) return false;
    for (size_t i = 0; i < n_bytes; i++)
        lower[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] | 0x20 : word[i]);
    lower[n_bytes] = '\0';
    if (strlen(lower) != n_bytes) return false; /* U+0000 inside */
    size_t low = 0, high = lists[list].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(lists[list].words[middle], lower);
        if (!order) return true;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return false;
}

/* Cut after the given number of letters. "its", "were", "well", "ill" are words of their own. */
static const struct {
    char word[9];
    uint8_t length, first, second;
} contractions[] = {
    {"aint", 4, 2, 0},   {"alot", 4, 1, 0},    {"arent", 5, 3, 0},    {"cannot", 6, 3, 0},
    {"cant", 4, 2, 0},   {"couldnt", 7, 5, 0}, {"didnt", 5, 3, 0},    {"doesnt", 6, 4, 0},
    {"dont", 4, 2, 0},   {"dunno", 5, 2, 1},   {"gimme", 5, 3, 0},    {"gonna", 5, 3, 0},
    {"gotta", 5, 3, 0},  {"hadnt", 5, 3, 0},   {"hasnt", 5, 3, 0},    {"havent", 6, 4, 0},
    {"heres", 5, 4, 0},  {"hes", 3, 2, 0},     {"im", 2, 1, 0},       {"isnt", 4, 2, 0},
    {"itll", 4, 2, 0},   {"ive", 3, 1, 0},     {"lemme", 5, 3, 0},    {"lets", 4, 3, 0},
    {"outta", 5, 3, 0},  {"shes", 4, 3, 0},    {"shouldnt", 8, 6, 0}, {"thats", 5, 4, 0},
    {"theres", 6, 5, 0}, {"theyll", 6, 4, 0},  {"theyre", 6, 4, 0},   {"theyve", 6, 4, 0},
    {"wanna", 5, 3, 0},  {"wasnt", 5, 3, 0},   {"werent", 6, 4, 0},   {"whats", 5, 4, 0},
    {"wheres", 6, 5, 0}, {"wont", 4, 2, 0},    {"wouldnt", 7, 5, 0},  {"youll", 5, 3, 0},
    {"youre", 5, 3, 0},  {"youve", 5, 3, 0},
};

size_t lg_contraction(const char *word, size_t n_bytes, size_t cuts[2]) {
    if (n_bytes < 2 || n_bytes > 8) return 0;
    char lower[8];
    for (size_t i = 0; i < n_bytes; i++) lower[i] = (char)(word[i] | 0x20);
    for (size_t c = 0; c < sizeof contractions / sizeof *contractions; c++) {
        if (contractions[c].length != n_bytes || memcmp(contractions[c].word, lower, n_bytes) != 0) continue;
        cuts[0] = contractions[c].first;
        cuts[1] = contractions[c].second;
        return cuts[1] ? 3 : 2;
    }
    return 0;
}
