/* Discourse state: a story in which characters, objects and places come up as it goes; moves, transfers and
   new names change what holds; then a question about what holds now.

   Four questions: where a character is; who has an object; where an object is that somebody carries about
   (the text never says so: it follows from who has it and where they went); who is where an object lies
   (neither does it say that). What is asked for changes a given number of times; the change that counts is
   the binding. In half of the items the character that matters gets another name, which has to be known to
   answer. After the binding come distractors, in the midst of the filler: others of the answer's type are
   mentioned, one, two or three of them in equal shares, so that the answer is never what was mentioned last,
   nor always the last but one. Drawing goes on until two other copies, of what is mentioned first or most
   often, are right as often as chance. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "probe/generate.h"

enum {
    MOST = 12,
    SPARE = 5,
    LOCATION = 0,
    HOLDER,
    OBJECT_PLACE,
    COMPANION,
    N_QUESTIONS,
    NOWHERE = -1,
    NOBODY = -1
};

static const char *const questions[N_QUESTIONS] = {"location", "holder", "object-place", "companion"};

typedef struct story {
    const lg_words *names, *places, *objects;
    size_t n;                                 /* of characters, places and objects, each */
    size_t name[MOST], spare[SPARE], n_spare; /* what they are called now (words), and names to come */
    size_t place_word[MOST], object_word[MOST];
    int place[MOST];              /* of characters; NOWHERE: not come up yet */
    int holder[MOST], lies[MOST]; /* of objects; both NOWHERE: not come up yet */
    bool renamed[MOST];
    bool mentioned[MOST]; /* of the answer's type, since the binding */
    unsigned question;
    size_t hero, thing; /* what is asked about: a character (LOCATION) or an object (the others) */
    int spot;           /* COMPANION: where the thing lies, once it does */
    int last_companion;
    lg_maker *maker;
    lg_random *random;
    lg_draft *draft;
    lg_text *aside; /* where sentences go instead, if not NULL */
} story;

/* ---- telling ---- */

static size_t below(story *s, size_t n) {
    return lg_random_below(s->random, n);
}

static const char *one_of(story *s, const char *const *words, size_t n) {
    return words[below(s, n)];
}

static const char *name(const story *s, size_t c) {
    return s->names->words[s->name[c]];
}

static const char *place(const story *s, int p) {
    return s->places->words[s->place_word[p]];
}

static const char *object(const story *s, size_t o) {
    return s->objects->words[s->object_word[o]];
}

#define TELL(s, ...)                                                                                         \
    do {                                                                                                     \
        if ((s)->aside) lg_text_printf((s)->aside, " " __VA_ARGS__);                                         \
        else {                                                                                               \
            if ((s)->draft->prompt.length) lg_draft_put((s)->draft, " ");                                    \
            lg_draft_put((s)->draft, __VA_ARGS__);                                                           \
        }                                                                                                    \
    } while (0)

static void come_up(story *s, size_t c, int where) {
    TELL(s, "%s was in the %s.", name(s, c), place(s, where));
    s->place[c] = where;
}

static void lay(story *s, size_t o, int where) {
    TELL(s, "There was a %s in the %s.", object(s, o), place(s, where));
    s->lies[o] = where;
}

static void move(story *s, size_t c, int where) {
    static const char *const went[] = {"went", "walked", "moved", "hurried"};
    TELL(s, "%s %s to the %s.", name(s, c), one_of(s, went, 4), place(s, where));
    s->place[c] = where;
}

static void take(story *s, size_t c, size_t o) {
    static const char *const took[] = {"took", "picked up", "grabbed"};
    TELL(s, "%s %s the %s.", name(s, c), one_of(s, took, 3), object(s, o));
    s->holder[o] = (int)c;
    s->lies[o] = NOWHERE;
}

static void give(story *s, size_t c, size_t o, size_t to) {
    static const char *const gave[] = {"gave", "handed", "passed"};
    TELL(s, "%s %s the %s to %s.", name(s, c), one_of(s, gave, 3), object(s, o), name(s, to));
    s->holder[o] = (int)to;
}

static void leave(story *s, size_t c, size_t o) {
    static const char *const left[] = {"left", "put down"};
    TELL(s, "%s %s the %s in the %s.", name(s, c), one_of(s, left, 2), object(s, o), place(s, s->place[c]));
    s->holder[o] = NOBODY;
    s->lies[o] = s->place[c];
}

static void rename_to(story *s, size_t c) {
    const char *before = name(s, c);
    s->name[c] = s->spare[--s->n_spare];
    s->renamed[c] = true;
    TELL(s, "From then on everyone called %s %s.", before, name(s, c));
}

static bool asks_for_place(const story *s) {
    return s->question == LOCATION || s->question == OBJECT_PLACE;
}

/* ---- what may happen without changing the answer ---- */

static bool is_known(const story *s, size_t o) {
    return s->holder[o] != NOBODY || s->lies[o] != NOWHERE;
}

static int elsewhere(story *s, int here, int also_not) {
    int where;
    do where = (int)below(s, s->n);
    while (where == here || where == also_not);
    return where;
}

static bool may_move(const story *s, size_t c) {
    if (s->place[c] == NOWHERE) return false;
    if (s->question == LOCATION) return c != s->hero;
    if (s->question == OBJECT_PLACE) return s->holder[s->thing] != (int)c;
    return s->question != COMPANION || s->spot == NOWHERE || s->place[c] != s->spot;
}

static bool is_asked_about(const story *s, size_t o) {
    return s->question != LOCATION && o == s->thing;
}

/* Something that does not bear on the answer. false: it could not happen now. */
static bool happen(story *s, bool may_rename) {
    size_t c = below(s, s->n), o = below(s, s->n), d = below(s, s->n);
    switch (below(s, 8)) {
    case 0:
    case 1: { /* somebody, or something, comes up */
        bool thing = below(s, 2);
        int where = elsewhere(s, s->spot, NOWHERE);
        if (thing && !is_known(s, o) && !is_asked_about(s, o)) lay(s, o, where);
        else if (!thing && s->place[c] == NOWHERE) come_up(s, c, where);
        else return false;
        return true;
    }
    case 2:
    case 3:
    case 4:
        if (!may_move(s, c)) return false;
        move(s, c, elsewhere(s, s->place[c], s->spot));
        return true;
    case 5:
        if (is_asked_about(s, o) || s->place[c] == NOWHERE || s->lies[o] != s->place[c]) return false;
        take(s, c, o);
        return true;
    case 6:
        if (is_asked_about(s, o) || s->holder[o] != (int)c) return false;
        if (d == c || s->place[d] != s->place[c]) leave(s, c, o);
        else give(s, c, o, d);
        return true;
    default:
        if (!may_rename || s->n_spare < SPARE || s->place[c] == NOWHERE ||
            (s->question == LOCATION && c == s->hero) || below(s, 2))
            return false;
        rename_to(s, c); /* once; the other names are kept for who matters, and for distractors */
        return true;
    }
}

static bool make_happen(story *s, bool may_rename) {
    for (size_t try = 0; try < 64; try++)
        if (happen(s, may_rename)) return true;
    return false;
}

/* ---- what changes the answer ---- */

static void mark(story *s, size_t begin, const char *role) {
    begin += begin > 0; /* the space before the sentence is not part of it */
    lg_draft_close(s->draft, role, begin);
}

/* A character other than NOT (and NOR) that has come up; NOBODY: there is none. */
static int somebody(story *s, int not, int nor) {
    size_t from = below(s, s->n);
    for (size_t i = 0; i < s->n; i++) {
        int c = (int)((from + i) % s->n);
        if (c != not &&c != nor && s->place[c] != NOWHERE) return c;
    }
    return NOBODY;
}

/* The thing lies somewhere, where (for companions) nobody is. */
static bool place_thing(story *s) {
    if (is_known(s, s->thing)) return true;
    for (size_t try = 0; try < 64; try++) {
        int where = (int)below(s, s->n);
        bool taken = false;
        for (size_t c = 0; c < s->n; c++) taken |= s->place[c] == where;
        if (taken && s->question == COMPANION) continue;
        lay(s, s->thing, where);
        if (s->question == COMPANION) s->spot = where;
        return true;
    }
    return false;
}

/* Somebody takes the thing, or who has it hands it on: the holder is another one then. */
static bool change_holder(story *s) {
    int from = s->holder[s->thing], to = somebody(s, from, NOBODY);
    if (to == NOBODY) return false;
    int where = from == NOBODY ? s->lies[s->thing] : s->place[from];
    if (s->place[to] != where) move(s, (size_t)to, where);
    size_t begin = lg_draft_open(s->draft);
    if (from != NOBODY && below(s, 4)) give(s, (size_t)from, s->thing, (size_t)to);
    else {
        if (from != NOBODY) leave(s, (size_t)from, s->thing);
        begin = lg_draft_open(s->draft);
        take(s, (size_t)to, s->thing);
    }
    mark(s, begin, "update");
    return true;
}

/* One change of the answer. The last one is left as the last span, "update". */
static bool change_answer(story *s) {
    size_t begin;
    switch (s->question) {
    case LOCATION:
        if (s->place[s->hero] == NOWHERE) {
            begin = lg_draft_open(s->draft);
            come_up(s, s->hero, (int)below(s, s->n));
            mark(s, begin, "setting");
        }
        begin = lg_draft_open(s->draft);
        move(s, s->hero, elsewhere(s, s->place[s->hero], NOWHERE));
        break;
    case HOLDER:
        return place_thing(s) && change_holder(s);
    case OBJECT_PLACE:
        if (!place_thing(s)) return false;
        if ((s->holder[s->thing] == NOBODY || below(s, 3) == 0) && !change_holder(s)) return false;
        begin = lg_draft_open(s->draft);
        move(s, (size_t)s->holder[s->thing], elsewhere(s, s->place[s->holder[s->thing]], NOWHERE));
        break;
    default: {
        if (!place_thing(s)) return false;
        int before = s->last_companion, next = somebody(s, before, NOBODY);
        if (next == NOBODY) return false;
        if (before != NOBODY) {
            begin = lg_draft_open(s->draft);
            move(s, (size_t)before, elsewhere(s, s->spot, NOWHERE));
            mark(s, begin, "update");
        }
        begin = lg_draft_open(s->draft);
        move(s, (size_t)next, s->spot);
        s->last_companion = next;
    }
    }
    mark(s, begin, "update");
    return true;
}

/* Who matters: the character whose name the answer depends on. */
static size_t who(const story *s) {
    return s->question == LOCATION    ? s->hero
           : s->question == COMPANION ? (size_t)s->last_companion
                                      : (size_t)s->holder[s->thing];
}

/* Filler now and then, so that its beginning does not give the binding away. */
static void digress(story *s) {
    if (s->draft->prompt.length && below(s, 4) == 0) lg_maker_put_aside(s->maker, s->random, s->draft);
}

/* All but the last change, with as much going on around others, until everybody and everything has come up.
 */
static bool tell_body(story *s, size_t updates) {
    size_t mine = updates - 1, others = (s->n - 1) * updates + below(s, 3);
    come_up(s, below(s, s->n), elsewhere(s, NOWHERE, NOWHERE));
    while (mine + others) {
        bool own = below(s, mine + others) < mine;
        digress(s);
        if (own ? !change_answer(s) : !make_happen(s, true)) return false;
        if (own) mine--;
        else others--;
    }
    size_t order[2 * MOST];
    lg_random_order(s->random, order, 2 * s->n);
    for (size_t i = 0; i < 2 * s->n; i++) {
        size_t which = order[i] / 2;
        digress(s);
        if (order[i] % 2 == 0 && s->place[which] == NOWHERE) {
            size_t begin = lg_draft_open(s->draft);
            come_up(s, which, elsewhere(s, s->spot, NOWHERE));
            if (s->question == LOCATION && which == s->hero) mark(s, begin, "setting");
        }
        if (order[i] % 2 && !is_known(s, which) && !is_asked_about(s, which))
            lay(s, which, elsewhere(s, s->spot, NOWHERE));
    }
    return true;
}

/* The last change, which binds, and the name that comes with it. */
static bool bind(story *s, bool renamed) {
    size_t begin;
    lg_draft *d = s->draft;
    if (s->question == OBJECT_PLACE && renamed) { /* in between, so that the name links taking and going */
        if (!place_thing(s) || (s->holder[s->thing] == NOBODY && !change_holder(s))) return false;
        if (s->renamed[who(s)]) return false;
        begin = lg_draft_open(d);
        rename_to(s, who(s));
        mark(s, begin, "rename");
        begin = lg_draft_open(d);
        move(s, who(s), elsewhere(s, s->place[who(s)], NOWHERE));
        mark(s, begin, "binding");
        return true;
    }
    if (!change_answer(s) || d->failed) return false;
    d->spans[d->n_spans - 1].role = "binding";
    if (s->renamed[who(s)]) return false; /* that is another cell */
    if (renamed) {
        begin = lg_draft_open(d);
        rename_to(s, who(s));
        mark(s, begin, "rename");
    }
    return true;
}

/* Something changes with another of the answer's type, which is mentioned for the first time since the
   binding; the answer stays. RENAME: that one gets another name. */
static bool distract(story *s, bool rename) {
    bool of_places = asks_for_place(s);
    int answer = s->place[who(s)];
    for (size_t try = 0; try < 256; try++) {
        size_t c = below(s, s->n), o = below(s, s->n), where = below(s, s->n);
        if (c == who(s) || s->mentioned[of_places ? where : c]) continue;
        bool lies_here = !is_asked_about(s, o) && s->lies[o] != NOWHERE && s->lies[o] == s->place[c];
        if (rename) {
            if (s->renamed[c]) continue;
            rename_to(s, c);
        } else if (!of_places && lies_here && below(s, 2)) take(s, c, o);
        else if (may_move(s, c) && (int)where != answer && (int)where != s->place[c]) move(s, c, (int)where);
        else continue;
        s->mentioned[of_places ? where : c] = true;
        return true;
    }
    return false;
}

/* ---- copies without understanding ---- */

static bool is_letter(char c) {
    return isalpha((unsigned char)c);
}

typedef struct mentions {
    size_t count[MOST];
    /* Which word comes last, most often (of several the one that comes last) and first; -1: none does. */
    int recent, frequent, first;
} mentions;

static mentions count_mentions(const char *text, size_t length, const char *const *words, size_t n) {
    mentions m = {.recent = -1, .frequent = -1, .first = -1};
    size_t last[MOST] = {0};
    for (size_t i = 0; i < length;) {
        size_t begin = i;
        while (i < length && is_letter(text[i])) i++;
        for (size_t w = 0; w < n && i > begin; w++) {
            if (strlen(words[w]) != i - begin || memcmp(words[w], text + begin, i - begin) != 0) continue;
            m.count[w]++;
            last[w] = begin;
            m.recent = (int)w;
            if (m.first < 0) m.first = (int)w;
        }
        if (i == begin) i++;
    }
    for (size_t w = 0; w < n; w++) {
        if (!m.count[w]) continue;
        size_t most = m.frequent < 0 ? 0 : m.count[m.frequent];
        if (m.count[w] > most || (m.count[w] == most && last[w] > last[m.frequent])) m.frequent = (int)w;
    }
    return m;
}

/* ---- one item ---- */

static size_t n_entities(const lg_maker *m) {
    return m->options->entities ? m->options->entities : 4;
}

static size_t n_updates(const lg_maker *m) {
    return m->options->updates ? m->options->updates : 3;
}

static size_t n_distractors(const lg_maker *m) {
    size_t asked = m->options->distractors ? m->options->distractors : 3, others = n_entities(m) - 1;
    return asked < others ? asked : others;
}

static lg_recipe_settings settings(const lg_maker *m) {
    const lg_maker usual = {.options = &(const lg_probe_options)LG_PROBE_OPTIONS_INIT};
    return (lg_recipe_settings){{n_entities(m), n_updates(m), n_distractors(m)},
                                n_entities(m) == n_entities(&usual) && n_updates(m) == n_updates(&usual) &&
                                    n_distractors(m) == n_distractors(&usual)};
}

/* question × number of updates × plain or renamed */
static size_t set_size(const lg_maker *m) {
    return N_QUESTIONS * n_updates(m) * 2;
}

static lg_status start(lg_maker *m, story *s, bool *good) {
    size_t names[MOST + SPARE];
    /* men or women only, so that new names are plausible and "he" or "she" would tell nothing */
    lg_status status = lg_maker_words(m, below(s, 2) ? LG_NAMES_HE : LG_NAMES_SHE, &s->names);
    if (!status) status = lg_maker_words(m, LG_PLACES, &s->places);
    if (!status) status = lg_maker_words(m, LG_OBJECTS, &s->objects);
    if (status) return status;
    lg_maker_hinder(
        m, 0,
        "it cuts too few names, places or objects into the same number of tokens: ask for fewer entities");
    *good = lg_words_draw(s->names, s->random, 0, s->n + SPARE, names) &&
            lg_words_draw(s->places, s->random, 0, s->n, s->place_word) &&
            lg_words_draw(s->objects, s->random, 0, s->n, s->object_word);
    if (!*good) return LG_OK;
    memcpy(s->name, names, s->n * sizeof *names);
    memcpy(s->spare, names + s->n, SPARE * sizeof *names);
    s->n_spare = SPARE;
    for (size_t i = 0; i < MOST; i++) {
        s->place[i] = s->lies[i] = NOWHERE;
        s->holder[i] = NOBODY;
    }
    s->spot = NOWHERE;
    s->last_companion = NOBODY;
    s->hero = below(s, s->n);
    s->thing = below(s, s->n);
    return LG_OK;
}

/* What copies should give, so that over many items each is right as often as chance. */
typedef struct copies {
    size_t after;        /* so many other choices are mentioned after the answer is */
    int first, frequent; /* whether the copy is right; -1: no matter */
} copies;

/* The choices in random order, and what copying would choose. false: the item's copies are not those WANTED.
 */
static bool choose(story *s, lg_maker *m, const lg_text *tail, const copies *wanted) {
    lg_draft *d = s->draft;
    bool of_places = asks_for_place(s);
    size_t order[MOST], length = d->prompt.length, mentioned = 0;
    const char *words[MOST];
    mentions in_tail, in_all;
    lg_random_order(s->random, order, s->n);
    for (size_t i = 0; i < s->n; i++) {
        words[i] = of_places ? place(s, (int)order[i]) : name(s, order[i]);
        lg_draft_choice(d, -1, -1, " %s", words[i]);
        if (of_places ? (int)order[i] == s->place[who(s)] : order[i] == who(s)) d->answer = i;
    }
    in_tail = count_mentions(tail->data, tail->length, words, s->n);
    lg_text_put(&d->prompt, tail->data, tail->length); /* where it will come, but for the filler */
    d->failed |= d->prompt.failed;
    if (d->failed) return false;
    in_all = count_mentions(d->prompt.data, d->prompt.length, words, s->n);
    d->prompt.length = length;
    d->most_recent = in_all.recent;
    d->most_frequent = in_all.frequent;
    d->first_mention = in_all.first;
    for (size_t i = 0; i < s->n; i++) {
        mentioned += in_tail.count[i] > 0;
        if (!in_all.count[i]) return false;
    }
    lg_maker_hinder(m, 1, "no story with these entities, updates and distractors keeps the copies at chance");
    int answer = (int)d->answer;
    return !in_tail.count[answer] && mentioned == wanted->after && in_all.recent != answer &&
           (wanted->first < 0 || (in_all.first == answer) == wanted->first) &&
           (wanted->frequent < 0 || (in_all.frequent == answer) == wanted->frequent);
}

/* Draws filler for the tokens that TAIL leaves. */
static lg_status fill_up(lg_maker *m, story *s, const lg_text *tail, bool *good) {
    size_t taken;
    lg_status status = lg_maker_measure(m, tail->data, tail->length, &taken);
    if (status || (*good = lg_maker_fill(m, s->random, taken))) return status;
    lg_maker_hinder(
        m, 2, "the distractors do not fit into the distance, or the filler does not add up to the rest");
    return LG_OK;
}

/* Distractors in the midst of the filler: N sentences, which end at ENDS in TAIL. */
static void put_distance(lg_maker *m, story *s, const lg_text *tail, const size_t *ends, size_t n) {
    lg_draft *d = s->draft;
    size_t at[MOST];
    /* Sorted places among the pieces; one comes at once in half of the items, so that what stands before the
       long filler need not be the binding. */
    bool at_once = below(s, 2);
    for (size_t i = 0; i < n; i++) {
        size_t place = !i && at_once ? 0 : below(s, m->n_pieces + 1), k = i;
        for (; k && at[k - 1] > place; k--) at[k] = at[k - 1];
        at[k] = place;
    }
    for (size_t i = 0; i <= n; i++) {
        lg_maker_put_pieces(m, d, i ? at[i - 1] : 0, i < n ? at[i] : m->n_pieces);
        if (i == n) break;
        size_t begin = i ? ends[i - 1] : 0, open = lg_draft_open(d);
        lg_text_put(&d->prompt, tail->data + begin, ends[i] - begin);
        mark(s, open, "distractor");
    }
}

static void ask(story *s) {
    lg_draft *d = s->draft;
    lg_draft_put(d, " ");
    size_t begin = d->to = lg_draft_open(d);
    switch (s->question) {
    case LOCATION:
        lg_draft_put(d, "Q: Where is %s now? A: the", name(s, s->hero));
        break;
    case HOLDER:
        lg_draft_put(d, "Q: Who has the %s now? A:", object(s, s->thing));
        break;
    case OBJECT_PLACE:
        lg_draft_put(d, "Q: Where is the %s now? A: the", object(s, s->thing));
        break;
    default:
        lg_draft_put(d, "Q: Who is in the same place as the %s now? A:", object(s, s->thing));
    }
    lg_draft_close(d, "query", begin);
}

/* One try for CELL with so many DISTRACTORS. *FITS false: they, or the filler, did not fit into the distance.
 */
static lg_status make_item(lg_maker *m, size_t cell, const copies *wanted, lg_random *random, lg_draft *d,
                           bool *good, bool *fits) {
    size_t updates = cell / 2 % n_updates(m) + 1, ends[MOST], n_tail = 0;
    bool renamed = cell % 2;
    story s = {.maker = m,
               .n = n_entities(m),
               .question = (unsigned)(cell / 2 / n_updates(m)),
               .random = random,
               .draft = d};
    lg_text tail = {0};
    lg_status status = start(m, &s, good);
    if (status || !*good) return status;
    m->n_asides = 0;
    lg_maker_hinder(m, 1, "no story comes off with so many entities and updates");
    if (!(*good = tell_body(&s, updates) && bind(&s, renamed))) goto done;
    d->from = d->prompt.length;
    s.aside = &tail;
    /* New names among the distractors, so that the newest name is not the answer's. */
    size_t most = wanted->after < s.n_spare ? wanted->after : s.n_spare;
    size_t renames = asks_for_place(&s) ? 0 : lg_random_below(random, (most < 3 ? most : 3) + 1);
    while (*good && n_tail < wanted->after) {
        bool rename = lg_random_below(random, wanted->after - n_tail) < renames;
        renames -= rename;
        *good = distract(&s, rename) && !tail.failed;
        ends[n_tail++] = tail.length;
    }
    s.aside = NULL;
    d->failed |= tail.failed;
    if (!*good) goto done;
    status = fill_up(m, &s, &tail, fits);
    *good = !status && *fits && choose(&s, m, &tail, wanted);
    if (!*good) goto done;
    put_distance(m, &s, &tail, ends, n_tail);
    ask(&s);
    lg_text_printf(&d->cell, "%s/%zu/%s", questions[s.question], updates, renamed ? "renamed" : "plain");
    d->failed |= d->cell.failed;
done:
    lg_text_free(&tail);
    return status;
}

/* An item for CELL: tries until the copies are as they should be. Distractors that again and again do not fit
   become fewer. */
static lg_status make_cell(lg_maker *m, size_t set, size_t cell, uint64_t key, lg_draft *d, bool *good) {
    enum { TRIES = 8000, MISFITS = 12 };
    size_t n = n_entities(m), misfits = 0, question = cell / 2 / n_updates(m);
    /* The n-th part of the items has its answer mentioned first, and the n-th part most often: in each set,
       and in each cell over the sets. A character with a new name has been called so too seldom for either.
     */
    bool new_name = cell % 2 && (question == HOLDER || question == COMPANION);
    copies wanted = {.after = 1 + (set + cell / 2) % n_distractors(m),
                     .first = new_name ? -1 : (set + cell / 2) % n == 0,
                     .frequent = new_name ? -1 : (2 * set + set / n + cell / 2) % n == 0};
    *good = false;
    for (uint32_t try = 0; try < TRIES && !*good && !d->failed; try++) {
        bool fits = true;
        lg_random random = lg_random_at(key, (uint32_t)cell, try, 0);
        lg_draft_clear(d);
        lg_status status = make_item(m, cell, &wanted, &random, d, good, &fits);
        if (status) return status;
        misfits += !fits;
        if (misfits < MISFITS || wanted.after == 1) continue;
        wanted.after--;
        misfits = 0;
        m->n_curtailed++;
    }
    m->hopeless = !*good;
    return LG_OK;
}

static lg_status make(lg_maker *m, size_t set, lg_random random, lg_draft *drafts, bool *good) {
    uint64_t key = (uint64_t)lg_random_bits(&random) << 32 | lg_random_bits(&random);
    lg_status status = LG_OK;
    for (size_t cell = 0; cell < set_size(m) && *good && !status; cell++)
        status = make_cell(m, set, cell, key, &drafts[cell], good);
    return status;
}

const lg_recipe lg_recipe_discourse = {.set_size = set_size,
                                       .make = make,
                                       .settings = settings,
                                       .in_tokens = true,
                                       .equal_choices = true,
                                       .own_text = true};
