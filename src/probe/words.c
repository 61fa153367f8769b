/* Lists of words, written for these probes; cutting them with a tokenizer, and drawing words of equal length.
 */
#include "probe/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define COUNT(list) (sizeof list / sizeof *list)

static const char *const names_he[] = {
    "Aaron",    "Adam",    "Albert",    "Alfred",   "Andrew",    "Anthony", "Arthur",      "Benjamin",
    "Bernard",  "Brian",   "Bruno",     "Calvin",   "Carl",      "Charles", "Christopher", "Clifford",
    "Colin",    "Conrad",  "Daniel",    "David",    "Dennis",    "Derek",   "Dominic",     "Donald",
    "Douglas",  "Duncan",  "Edgar",     "Edmund",   "Edward",    "Edwin",   "Eric",        "Ernest",
    "Eugene",   "Felix",   "Ferdinand", "Frank",    "Frederick", "Gabriel", "Gavin",       "Geoffrey",
    "George",   "Gerald",  "Gilbert",   "Gordon",   "Graham",    "Gregory", "Harold",      "Harry",
    "Henry",    "Herbert", "Howard",    "Hubert",   "Hugo",      "Ian",     "Isaac",       "Ivan",
    "Jack",     "Jacob",   "James",     "Jason",    "Jeremy",    "John",    "Jonathan",    "Joseph",
    "Joshua",   "Keith",   "Kenneth",   "Kevin",    "Lawrence",  "Leo",     "Leonard",     "Liam",
    "Louis",    "Lucas",   "Luke",      "Malcolm",  "Marcus",    "Martin",  "Matthew",     "Maurice",
    "Michael",  "Nathan",  "Neil",      "Nicholas", "Norman",    "Oliver",  "Oscar",       "Patrick",
    "Paul",     "Peter",   "Philip",    "Ralph",    "Raymond",   "Richard", "Robert",      "Roger",
    "Roland",   "Ronald",  "Samuel",    "Simon",    "Stanley",   "Stephen", "Steven",      "Stuart",
    "Theodore", "Thomas",  "Timothy",   "Tobias",   "Victor",    "Vincent", "Walter",      "Wesley",
    "William",
};

static const char *const names_she[] = {
    "Abigail",  "Ada",       "Adelaide",  "Agnes",     "Alice",   "Amanda",    "Amelia",    "Amy",
    "Andrea",   "Angela",    "Anna",      "Annabel",   "Anne",    "Audrey",    "Barbara",   "Beatrice",
    "Bertha",   "Betty",     "Brenda",    "Bridget",   "Camilla", "Carla",     "Caroline",  "Catherine",
    "Cecilia",  "Charlotte", "Christine", "Clara",     "Claudia", "Constance", "Cora",      "Cynthia",
    "Daphne",   "Deborah",   "Diana",     "Dorothy",   "Edith",   "Eleanor",   "Elena",     "Elizabeth",
    "Ella",     "Ellen",     "Elsa",      "Emily",     "Emma",    "Esther",    "Eva",       "Evelyn",
    "Fiona",    "Florence",  "Frances",   "Gertrude",  "Gloria",  "Greta",     "Hannah",    "Harriet",
    "Heather",  "Helen",     "Helga",     "Henrietta", "Hilda",   "Ida",       "Ingrid",    "Irene",
    "Isabel",   "Jane",      "Janet",     "Jennifer",  "Jessica", "Joan",      "Josephine", "Joyce",
    "Judith",   "Julia",     "Karen",     "Laura",     "Linda",   "Lisa",      "Louise",    "Lucy",
    "Lydia",    "Mabel",     "Margaret",  "Maria",     "Marian",  "Marianne",  "Marie",     "Martha",
    "Mary",     "Matilda",   "Mildred",   "Miriam",    "Molly",   "Monica",    "Muriel",    "Nancy",
    "Naomi",    "Natalie",   "Nina",      "Nora",      "Olga",    "Olivia",    "Pamela",    "Patricia",
    "Paula",    "Penelope",  "Phyllis",   "Rachel",    "Rebecca", "Regina",    "Rita",      "Rosa",
    "Rosalind", "Ruth",      "Sally",     "Sandra",    "Sarah",   "Sharon",    "Sophia",    "Stella",
    "Susan",    "Sylvia",    "Teresa",    "Ursula",    "Valerie", "Vera",      "Veronica",  "Victoria",
    "Wilma",    "Winifred",  "Yvonne",    "Zoe",
};

static const char *const roles[] = {
    "accountant",   "archer",     "architect",   "astronomer", "baker",    "banker",     "barber",
    "biologist",    "bookseller", "botanist",    "builder",    "butcher",  "captain",    "carpenter",
    "chemist",      "cleaner",    "clerk",       "coach",      "composer", "cook",       "critic",
    "dancer",       "dentist",    "designer",    "detective",  "doctor",   "driver",     "economist",
    "editor",       "engineer",   "farmer",      "florist",    "gardener", "geologist",  "guide",
    "hunter",       "inspector",  "interpreter", "inventor",   "jeweller", "journalist", "judge",
    "lawyer",       "lecturer",   "librarian",   "manager",    "mason",    "mayor",      "mechanic",
    "musician",     "novelist",   "nurse",       "optician",   "organist", "painter",    "pharmacist",
    "photographer", "physicist",  "pianist",     "pilot",      "plumber",  "poet",       "porter",
    "potter",       "printer",    "professor",   "publisher",  "ranger",   "reporter",   "sailor",
    "scholar",      "sculptor",   "secretary",   "senator",    "singer",   "soldier",    "surgeon",
    "surveyor",     "tailor",     "teacher",     "technician", "trainer",  "translator", "typist",
    "violinist",    "weaver",     "writer",
};

static const char *const objects[] = {
    "basket",  "blanket",  "book",    "bottle", "bowl",   "box",     "brush",    "bucket",  "button",
    "camera",  "candle",   "carpet",  "chair",  "clock",  "coin",    "comb",     "compass", "cup",
    "cushion", "dagger",   "dish",    "doll",   "drum",   "feather", "flute",    "folder",  "fork",
    "glove",   "hammer",   "hat",     "helmet", "jar",    "jug",     "kettle",   "key",     "knife",
    "ladder",  "lamp",     "lantern", "letter", "magnet", "map",     "medal",    "mirror",  "mug",
    "needle",  "notebook", "pan",     "parcel", "pen",    "pencil",  "pillow",   "plate",   "pot",
    "purse",   "rake",     "razor",   "ribbon", "ring",   "rope",    "ruler",    "sack",    "saddle",
    "scarf",   "shawl",    "shield",  "shovel", "spoon",  "stick",   "suitcase", "sword",   "teapot",
    "ticket",  "torch",    "towel",   "toy",    "tray",   "trumpet", "vase",     "violin",  "wallet",
    "wheel",   "whistle",
};

static const char *const colours[] = {
    "black",  "blue", "brown", "golden", "green", "grey",  "heavy",  "large", "new",   "old",
    "orange", "pink", "plain", "purple", "red",   "round", "silver", "small", "white", "yellow",
};

static const char *const places[] = {
    "attic",      "bakery",  "bank",       "barn",    "basement",  "cabin",    "castle",    "cave",
    "cellar",     "chapel",  "church",     "closet",  "corridor",  "cottage",  "courtyard", "forest",
    "garage",     "garden",  "greenhouse", "hall",    "harbour",   "hospital", "hotel",     "kitchen",
    "laboratory", "laundry", "library",    "lobby",   "lounge",    "mill",     "museum",    "nursery",
    "office",     "orchard", "pantry",     "park",    "parlour",   "pavilion", "quarry",    "school",
    "shed",       "shop",    "stable",     "stadium", "station",   "studio",   "tavern",    "temple",
    "tent",       "theatre", "tower",      "vault",   "warehouse", "workshop", "yard",
};

const char *const lg_predicates[] = {
    "answered the call",   "changed the plan",  "checked the list",   "closed the window",
    "counted the votes",   "finished the work", "joined the meeting", "left the building",
    "locked the gate",     "made the decision", "missed the bus",     "opened the door",
    "ordered the lunch",   "paid the bill",     "read the statement", "refused the offer",
    "reviewed the report", "signed the form",   "started the engine", "took the train",
    "watched the film",    "wrote the summary",
};
const size_t lg_n_predicates = COUNT(lg_predicates);

const char *const lg_deeds[] = {
    "borrowed", "bought", "brought", "carried", "chose",   "cleaned",  "found", "hid",
    "kept",     "lost",   "ordered", "packed",  "praised", "repaired", "sold",  "wanted",
};
const size_t lg_n_deeds = COUNT(lg_deeds);

const char *const lg_tags[] = {
    "article", "aside",  "body",    "button", "caption", "code",  "details", "div",    "em",
    "figure",  "footer", "form",    "h1",     "h2",      "head",  "header",  "label",  "li",
    "main",    "nav",    "ol",      "option", "p",       "pre",   "section", "select", "small",
    "span",    "strong", "summary", "table",  "td",      "title", "tr",      "ul",
};
const size_t lg_n_tags = COUNT(lg_tags);

const char *const lg_environments[] = {
    "abstract",  "align",     "appendix",   "array",       "axiom",    "case",      "center",
    "claim",     "corollary", "definition", "description", "document", "enumerate", "equation",
    "example",   "exercise",  "figure",     "flushleft",   "frame",    "gather",    "itemize",
    "lemma",     "list",      "matrix",     "minipage",    "multline", "proof",     "proposition",
    "quotation", "quote",     "remark",     "split",       "tabular",  "theorem",   "verse",
};
const size_t lg_n_environments = COUNT(lg_environments);

/* None of them a person, a thing to carry, a place of the lists, or a pronoun of a person. */
const char *const lg_common_words[] = {
    "about",   "above",    "across",  "after",    "again",   "against",   "air",      "almost",    "alone",
    "along",   "already",  "also",    "always",   "amount",  "answer",    "area",     "around",    "autumn",
    "away",    "because",  "become",  "before",   "begin",   "below",     "better",   "between",   "beyond",
    "bright",  "business", "carry",   "cause",    "centre",  "certain",   "chance",   "change",    "circle",
    "clear",   "close",    "cloud",   "cold",     "common",  "company",   "complete", "corner",    "cost",
    "could",   "country",  "course",  "dark",     "day",     "deep",      "detail",   "different", "distance",
    "down",    "early",    "earth",   "easy",     "effect",  "either",    "end",      "enough",    "even",
    "evening", "event",    "every",   "example",  "fact",    "fair",      "far",      "fast",      "few",
    "field",   "figure",   "final",   "fine",     "fire",    "first",     "flat",     "follow",    "force",
    "form",    "forward",  "free",    "fresh",    "full",    "future",    "general",  "give",      "good",
    "grass",   "great",    "ground",  "group",    "grow",    "growth",    "half",     "hard",      "heat",
    "here",    "high",     "history", "hour",     "idea",    "important", "inside",   "interest",  "island",
    "just",    "kind",     "land",    "language", "late",    "later",     "law",      "learn",     "least",
    "leave",   "length",   "less",    "level",    "light",   "likely",    "line",     "little",    "local",
    "long",    "low",      "many",    "material", "matter",  "maybe",     "mean",     "measure",   "middle",
    "minute",  "moment",   "money",   "month",    "moon",    "morning",   "most",     "motion",    "mountain",
    "move",    "much",     "music",   "narrow",   "nature",  "near",      "never",    "next",      "night",
    "noise",   "north",    "nothing", "notice",   "number",  "ocean",     "often",    "once",      "only",
    "open",    "order",    "other",   "outside",  "over",    "part",      "past",     "pattern",   "pay",
    "perhaps", "period",   "picture", "piece",    "point",   "power",     "present",  "price",     "problem",
    "public",  "quick",    "quiet",   "quite",    "rain",    "rate",      "rather",   "reach",     "real",
    "reason",  "record",   "region",  "rest",     "result",  "rise",      "river",    "road",      "rule",
    "run",     "same",     "season",  "second",   "seem",    "sense",     "shape",    "short",     "side",
    "simple",  "since",    "single",  "size",     "sky",     "slow",      "snow",     "soft",      "some",
    "song",    "soon",     "sound",   "south",    "space",   "speed",     "spring",   "stage",     "star",
    "start",   "state",    "step",    "still",    "stone",   "storm",     "story",    "street",    "strong",
    "such",    "summer",   "sun",     "sure",     "surface", "system",    "table",    "tall",      "term",
    "then",    "there",    "thick",   "thin",     "time",    "together",  "total",    "toward",    "town",
    "trade",   "travel",   "tree",    "true",     "turn",    "under",     "until",    "upper",     "usual",
    "value",   "very",     "view",    "village",  "voice",   "wait",      "walk",     "wall",      "warm",
    "water",   "wave",     "way",     "weather",  "week",    "weight",    "well",     "west",      "wide",
    "wind",    "winter",   "wood",    "word",     "work",    "world",     "year",
};
const size_t lg_n_common_words = COUNT(lg_common_words);

const char *const *lg_word_list_of(lg_word_list list, size_t *count) {
    static const struct {
        const char *const *words;
        size_t count;
    } lists[LG_N_WORD_LISTS] = {
        [LG_NAMES_HE] = {names_he, COUNT(names_he)}, [LG_NAMES_SHE] = {names_she, COUNT(names_she)},
        [LG_ROLES] = {roles, COUNT(roles)},          [LG_OBJECTS] = {objects, COUNT(objects)},
        [LG_THINGS] = {colours, COUNT(colours)},     [LG_PLACES] = {places, COUNT(places)},
    };
    *count = lists[list].count;
    return lists[list].words;
}

/* ---- cutting ---- */

static bool put_words(lg_words *words, lg_word_list list) {
    size_t n, more = 0;
    const char *const *from = lg_word_list_of(list == LG_NAMES ? LG_NAMES_HE : list, &n);
    if (list != LG_NAMES && list != LG_THINGS) {
        if (!(words->words = lg_alloc(n, sizeof *words->words))) return false;
        memcpy(words->words, from, n * sizeof *from);
        words->count = n;
        return true;
    }
    const char *const *others = lg_word_list_of(list == LG_NAMES ? LG_NAMES_SHE : LG_OBJECTS, &more);
    if (list == LG_NAMES) {
        if (!(words->words = lg_alloc(n + more, sizeof *words->words))) return false;
        memcpy(words->words, from, n * sizeof *from);
        memcpy(words->words + n, others, more * sizeof *from);
        words->count = n + more;
        return true;
    }
    enum { LONGEST = 32 }; /* of a colour, a space and an object */
    words->words = lg_alloc(n * more, sizeof *words->words);
    words->storage = lg_alloc(n * more, LONGEST);
    if (!words->words || !words->storage) return false;
    for (size_t i = 0; i < n * more; i++) {
        char *word = words->storage + i * LONGEST;
        snprintf(word, LONGEST, "%s %s", from[i % n], others[i / n]);
        words->words[i] = word;
    }
    words->count = n * more;
    return true;
}

lg_status lg_words_measure(lg_words *words, lg_word_list list, lg_tokenizer_session *session,
                           lg_tokens *tokens, lg_error *error) {
    *words = (lg_words){0};
    if (!put_words(words, list) || !(words->cuts = lg_alloc(words->count, sizeof *words->cuts)) ||
        !(words->firsts = lg_alloc(words->count, sizeof *words->firsts)))
        return lg_fail_memory(error);
    for (size_t i = 0; i < words->count; i++) {
        char spaced[64];
        int length = snprintf(spaced, sizeof spaced, " %s", words->words[i]);
        lg_status status = lg_tokenize(session, spaced + 1, (size_t)length - 1, false, tokens, error);
        if (status) return status;
        words->cuts[i] = (uint32_t)tokens->count << 16;
        if ((status = lg_tokenize(session, spaced, (size_t)length, false, tokens, error))) return status;
        words->cuts[i] |= (uint32_t)tokens->count;
        size_t first = tokens->count > 1 && tokens->ends[0] == 1; /* not a space that stands alone */
        words->firsts[i] = tokens->count ? tokens->ids[first] : 0;
    }
    return LG_OK;
}

void lg_words_free(lg_words *words) {
    free(words->words);
    free(words->storage);
    free(words->cuts);
    free(words->firsts);
    *words = (lg_words){0};
}

/* ---- drawing ---- */

static bool fits(const lg_words *words, uint32_t cut, bool same_first, const size_t *chosen, size_t n,
                 size_t candidate) {
    if (words->cuts[candidate] != cut) return false;
    for (size_t i = 0; i < n; i++)
        if (chosen[i] == candidate || (!same_first && words->firsts[chosen[i]] == words->firsts[candidate]))
            return false;
    return true;
}

/* Different first tokens make the choices differ where the model decides; with tokens as small as letters
   there may be none. */
bool lg_words_draw(const lg_words *words, lg_random *random, uint32_t cut, size_t n, size_t *chosen) {
    enum { TRIES = 64 };
    for (size_t try = 0; try < TRIES; try++) {
        size_t first = lg_random_below(random, words->count), found = 0;
        uint32_t wanted = cut ? cut : words->cuts[first];
        bool same_first = try >= TRIES / 2;
        for (size_t draw = 0; draw < TRIES && found < n; draw++) {
            size_t candidate = draw ? lg_random_below(random, words->count) : first;
            if (fits(words, wanted, same_first, chosen, found, candidate)) chosen[found++] = candidate;
        }
        /* rare cuts: whatever fits, from a random place on */
        for (size_t i = 0; i < words->count && found < n; i++) {
            size_t candidate = (first + i) % words->count;
            if (fits(words, wanted, same_first, chosen, found, candidate)) chosen[found++] = candidate;
        }
        if (found == n) return true;
    }
    return false;
}
