/* Filler of exact length: sentences of a grammar of ours, words, or somebody's text, put together so that
   their tokens add up. */
#include "probe/filler.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "probe/items.h"
#include "probe/words.h"

/* ---- the grammar: no person, no thing to carry, no place of the lists, no bracket or quotation mark ---- */

#define SIZE 12
static const char *const when[] = {
    "",         "By then ",   "As a rule ", "That year ",   "In the end ",   "At times ",
    "Even so ", "Most days ", "For once ",  "Before long ", "All the same ", "Now and then "};
static const struct {
    const char *subjects[SIZE], *verbs[SIZE], *ends[SIZE];
} classes[] = {
    {{"the wind", "the rain", "the fog", "the snow", "the mist", "the storm", "the drizzle", "the frost",
      "the breeze", "the haze", "the thunder", "the cold air"},
     {"came from the north", "grew stronger", "faded slowly", "lasted for hours", "moved on", "stayed away",
      "returned", "came and went", "lost its force", "did not stop", "arrived late", "passed over the hills"},
     {" before dawn", " after noon", " in the evening", " that week", " as always", " for a while",
      " once again", " without a sound", " all day", " during the night", " by degrees", ""}},
    {{"the morning", "the afternoon", "the week", "the season", "the winter", "the month", "the night",
      "the spring", "the summer", "the holiday", "the autumn", "the weekend"},
     {"passed quietly", "went by", "seemed long", "felt short", "began slowly", "was like any other",
      "seemed endless", "was mild", "was nearly over", "was warmer than usual", "ended early",
      "brought little change"},
     {" that time", " as expected", " in most years", " after all", " for everyone", " on the coast",
      " in the valley", " along the river", " in the south", " as before", " more or less", ""}},
    {{"the news", "the music", "the talk", "the price of grain", "the cost of living", "the weather",
      "the plan", "the traffic", "the noise", "the debate", "the harvest", "the trade in wool"},
     {"was the same as ever", "changed little", "went on", "mattered little", "was hard to follow",
      "drew some attention", "caused no trouble", "took its usual course", "meant little",
      "was soon forgotten", "stayed as it was", "gave no cause for alarm"},
     {" for the most part", " at first", " in those days", " that spring", " to the end", " in many towns",
      " as usual", " year after year", " so far", " on the whole", " for some time", ""}},
    {{"nothing", "little", "not much", "hardly anything", "no sound", "no change", "some light",
      "a faint smell of smoke", "a thin layer of dust", "a pale sun", "a grey sky", "a long silence"},
     {"came of it", "was left", "could be noticed", "remained", "was there at all", "came through",
      "followed", "returned", "stood out", "lay over everything", "was to be expected", "held for long"},
     {" in the distance", " near the water", " beyond the fields", " over the roofs", " under the trees",
      " up the road", " for miles", " on the far side", " at that hour", " from then on", " past the bridge",
      ""}},
};
static const char *const short_sentences[] = {
    "It rained.",          "It snowed.",
    "Time passed.",        "Nothing changed.",
    "All was calm.",       "Nothing moved.",
    "Life went on.",       "It was late.",
    "Days went by.",       "It grew dark.",
    "It was early.",       "It got cold.",
    "The sun rose.",       "The sun set.",
    "Leaves fell.",        "Dogs barked.",
    "Birds sang.",         "Bells rang.",
    "It was quiet.",       "It went on.",
    "That was all.",       "So it was.",
    "It was warm.",        "It was so.",
    "Hours went by.",      "Years passed.",
    "It was spring.",      "It was autumn.",
    "It thawed.",          "Snow fell.",
    "It was a long day.",  "It was a short night.",
    "There was no hurry.", "It was hard to say why.",
};

/* ---- the store ---- */

static bool add_piece(lg_filler *f, const char *text, size_t length, uint32_t tokens) {
    if (!lg_reserve(&f->ends, &f->ends_capacity, f->count + 1, sizeof *f->ends) ||
        !lg_reserve(&f->tokens, &f->tokens_capacity, f->count + 1, sizeof *f->tokens))
        return false;
    lg_text_put(&f->text, text, length);
    if (f->text.failed) return false;
    f->ends[f->count] = f->text.length;
    f->tokens[f->count++] = tokens;
    return true;
}

typedef struct source {
    lg_tokenizer_session *session;
    lg_tokens *tokens;
    size_t before; /* tokens of the full stop that pieces are measured behind */
    lg_text line;
} source;

/* Adds " TEXT", measured as it stands behind a sentence. */
static lg_status measure_and_add(lg_filler *f, source *s, const char *text, size_t length, lg_error *error) {
    s->line.length = 0;
    lg_text_puts(&s->line, ". ");
    lg_text_put(&s->line, text, length);
    if (s->line.failed) return lg_fail_memory(error);
    lg_status status = lg_tokenize(s->session, s->line.data, s->line.length, false, s->tokens, error);
    if (status) return status;
    if (s->tokens->count <= s->before) return LG_OK; /* adds nothing that could be counted */
    return add_piece(f, s->line.data + 1, s->line.length - 1, (uint32_t)(s->tokens->count - s->before))
               ? LG_OK
               : lg_fail_memory(error);
}

static lg_status put_grammar(lg_filler *f, source *s, uint64_t seed, lg_error *error) {
    enum { SENTENCES = 4096 };
    lg_text sentence = {0};
    lg_status status = LG_OK;
    uint64_t key = lg_hash_of("filler", 6).low ^ seed;
    for (size_t i = 0; i < sizeof short_sentences / sizeof *short_sentences && !status; i++)
        status = measure_and_add(f, s, short_sentences[i], strlen(short_sentences[i]), error);
    /* Every sentence of the grammar is a number. A stride near the golden section of their count, without a
       common divisor, takes them from all over, none twice. */
    size_t n_classes = sizeof classes / sizeof *classes, n_when = sizeof when / sizeof *when;
    size_t total = n_when * n_classes * SIZE * SIZE * SIZE, stride = 51263;
    lg_random random = lg_random_at(key, 0, 0, 0);
    size_t number = lg_random_below(&random, total);
    for (size_t i = 0; i < SENTENCES && !status; i++, number = (number + stride) % total) {
        size_t n = number, w = n % n_when, c = (n /= n_when) % n_classes, a = (n /= n_classes) % SIZE,
               b = (n /= SIZE) % SIZE, e = n / SIZE;
        sentence.length = 0;
        lg_text_printf(&sentence, "%s%s %s%s.", when[w], classes[c].subjects[a], classes[c].verbs[b],
                       classes[c].ends[e]);
        if (sentence.failed) {
            status = lg_fail_memory(error);
            break;
        }
        sentence.data[0] = (char)toupper((unsigned char)sentence.data[0]);
        status = measure_and_add(f, s, sentence.data, sentence.length, error);
    }
    lg_text_free(&sentence);
    f->n_whole = f->count;
    return status;
}

static lg_status put_common_words(lg_filler *f, source *s, lg_error *error) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < lg_n_common_words && !status; i++)
        status = measure_and_add(f, s, lg_common_words[i], strlen(lg_common_words[i]), error);
    f->n_whole = f->count;
    f->repeats = true;
    return status;
}

/* ---- somebody's text ---- */

static int compare_words(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words that no sentence may hold, sorted. NULL: no memory. */
static const char **forbidden_words(size_t *count) {
    static const char *const pronouns[] = {"he", "she", "him", "her", "his", "hers", "himself", "herself"};
    static const lg_word_list lists[] = {LG_NAMES_HE, LG_NAMES_SHE, LG_ROLES, LG_OBJECTS, LG_PLACES};
    size_t total = sizeof pronouns / sizeof *pronouns, n;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lg_word_list_of(lists[i], &n);
        total += n;
    }
    const char **words = lg_alloc(total, sizeof *words);
    if (!words) return NULL;
    memcpy(words, pronouns, sizeof pronouns);
    size_t at = sizeof pronouns / sizeof *pronouns;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *const *list = lg_word_list_of(lists[i], &n);
        memcpy(words + at, list, n * sizeof *list);
        at += n;
    }
    qsort(words, total, sizeof *words, compare_words);
    *count = total;
    return words;
}

static bool is_forbidden(const char *text, size_t length, const char **words, size_t n_words) {
    char word[32];
    const char *key = word;
    if (length >= sizeof word) return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (bsearch(&key, words, n_words, sizeof *words, compare_words)) return true;
    word[0] = (char)tolower((unsigned char)word[0]);
    return bsearch(&key, words, n_words, sizeof *words, compare_words) != NULL;
}

static bool holds_forbidden(const char *text, size_t length, const char **words, size_t n_words) {
    for (size_t i = 0; i < length;) {
        size_t begin = i;
        while (i < length && isalpha((unsigned char)text[i])) i++;
        if (i == begin) {
            /* delimiters, and quotation marks beyond ASCII: U+2018 to U+201F, U+00AB, U+00BB */
            if (strchr("()[]{}<>\\\"`$", text[i])) return true;
            if (i + 2 < length && memcmp(text + i, "\xE2\x80", 2) == 0 &&
                (unsigned char)text[i + 2] >= 0x98 && (unsigned char)text[i + 2] <= 0x9F)
                return true;
            if (i + 1 < length &&
                (memcmp(text + i, "\xC2\xAB", 2) == 0 || memcmp(text + i, "\xC2\xBB", 2) == 0))
                return true;
            i++;
        } else if (is_forbidden(text + begin, i - begin, words, n_words)) return true;
    }
    return false;
}

typedef struct sentences {
    lg_text text; /* with single spaces */
    size_t *ends; /* [count] in text */
    size_t count, capacity, left_out;
} sentences;

/* Splits at a full stop, question or exclamation mark with white space behind it; what a blank line or the
   end of the text cuts off is no sentence. Those that hold a word of the probes, or are odd in length, are
   left out. */
static bool split_text(sentences *s, const char *text, size_t length, const char **words, size_t n_words) {
    enum { SHORTEST = 8, LONGEST = 400, MOST = 100000 };
    size_t begin = 0; /* of the sentence, in s->text */
    for (size_t i = 0; i < length && s->count < MOST; i++) {
        bool space = isspace((unsigned char)text[i]);
        if (!space) {
            lg_text_put(&s->text, text + i, 1);
            if (s->text.failed) return false;
            continue;
        }
        size_t had = s->text.length - begin;
        if (!had) continue;
        char last = s->text.data[s->text.length - 1];
        size_t lines = 0;
        for (; i < length && isspace((unsigned char)text[i]); i++) lines += text[i] == '\n';
        i--;
        if (!strchr(".?!", last) && lines < 2) {
            if (last != ' ') lg_text_put(&s->text, " ", 1);
            continue;
        }
        if (strchr(".?!", last) && had >= SHORTEST && had <= LONGEST &&
            lg_probe_is_utf8(s->text.data + begin, had) && !memchr(s->text.data + begin, 0, had) &&
            !holds_forbidden(s->text.data + begin, had, words, n_words)) {
            if (!lg_reserve(&s->ends, &s->capacity, s->count + 1, sizeof *s->ends)) return false;
            s->ends[s->count++] = begin = s->text.length;
        } else {
            s->left_out++;
            s->text.length = begin;
        }
    }
    return !s->text.failed;
}

/* Sentences in order, then some cut short behind a word: enough to fill up any length. */
static lg_status put_text(lg_filler *f, source *s, const char *path, const lg_monitor *monitor,
                          lg_error *error) {
    enum { CUT = 500 };
    sentences found = {0};
    lg_text cut = {0};
    lg_mapping file;
    size_t n_words;
    lg_status status = lg_map(path, &file, error);
    if (status) return status;
    const char **words = forbidden_words(&n_words);
    if (!words || !split_text(&found, (const char *)file.data, file.size, words, n_words)) {
        status = lg_fail_memory(error);
        goto done;
    }
    lg_note(monitor,
            "%s: %zu sentences as filler; %zu left out, which hold names, pronouns, brackets or other "
            "words of the probes, or are too short or too long",
            path, found.count, found.left_out);
    for (size_t i = 0; i < found.count && !status; i++) {
        size_t begin = i ? found.ends[i - 1] : 0;
        status = measure_and_add(f, s, found.text.data + begin, found.ends[i] - begin, error);
    }
    f->n_whole = f->count;
    f->in_order = true;
    for (size_t i = 0; i < found.count && i < CUT && !status; i++) {
        size_t begin = i ? found.ends[i - 1] : 0, spaces = 0;
        for (size_t at = begin; at < found.ends[i] && spaces < 12 && !status; at++) {
            if (found.text.data[at] != ' ' || !isalnum((unsigned char)found.text.data[at - 1]) ||
                spaces++ % 3 != i % 3)
                continue;
            cut.length = 0;
            lg_text_put(&cut, found.text.data + begin, at - begin);
            lg_text_puts(&cut, ".");
            status = cut.failed ? lg_fail_memory(error) : measure_and_add(f, s, cut.data, cut.length, error);
        }
    }
    if (!status && f->n_whole < 2)
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s: only %zu sentences that can be filler: take a longer text without brackets and "
                         "without words of the probes",
                         path, f->n_whole);
done:
    lg_unmap(&file);
    free(words);
    free(found.ends);
    lg_text_free(&found.text);
    lg_text_free(&cut);
    return status;
}

/* ---- opening ---- */

/* Which lengths some pieces add up to. */
static lg_status find_reachable(lg_filler *f, size_t farthest, lg_error *error) {
    f->n_reachable = farthest + 1;
    f->used = calloc(f->count + 1, sizeof *f->used);
    f->reachable = calloc(f->n_reachable, 1);
    unsigned char *lengths = calloc(f->n_reachable, 1);
    if (!f->used || !f->reachable || !lengths) {
        free(lengths);
        return lg_fail_memory(error);
    }
    size_t longest = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (f->tokens[i] > farthest) continue;
        lengths[f->tokens[i]] = 1;
        if (f->tokens[i] > longest) longest = f->tokens[i];
    }
    f->reachable[0] = 1;
    for (size_t n = 1; n <= farthest; n++)
        for (size_t l = 1; l <= longest && l <= n && !f->reachable[n]; l++)
            f->reachable[n] = lengths[l] && f->reachable[n - l];
    free(lengths);
    return LG_OK;
}

lg_status lg_filler_open(lg_filler *f, const char *kind, uint64_t seed, size_t farthest,
                         lg_tokenizer_session *session, lg_tokens *tokens, const lg_monitor *monitor,
                         lg_error *error) {
    *f = (lg_filler){0};
    source s = {.session = session, .tokens = tokens};
    lg_status status = lg_tokenize(session, ".", 1, false, tokens, error);
    if (status) return status;
    s.before = tokens->count;
    if (!(f->name = strdup(kind))) return lg_fail_memory(error);
    f->by_default = strcmp(kind, "grammar") == 0;
    if (f->by_default) status = put_grammar(f, &s, seed, error);
    else if (strcmp(kind, "words") == 0) status = put_common_words(f, &s, error);
    else if (strncmp(kind, "text:", 5) == 0 && kind[5]) status = put_text(f, &s, kind + 5, monitor, error);
    else status = lg_fail(error, LG_USAGE, "filler \"%s\": there are grammar, words and text:FILE", kind);
    if (!status) status = find_reachable(f, farthest, error);
    lg_text_free(&s.line);
    return status;
}

void lg_filler_close(lg_filler *f) {
    lg_text_free(&f->text);
    free(f->ends);
    free(f->tokens);
    free(f->used);
    free(f->reachable);
    free(f->name);
    *f = (lg_filler){0};
}

/* ---- drawing ---- */

const char *lg_filler_piece(const lg_filler *f, size_t piece, size_t *length) {
    size_t begin = piece ? f->ends[piece - 1] : 0;
    *length = f->ends[piece] - begin;
    return f->text.data + begin;
}

static bool may_take(const lg_filler *f, size_t piece, size_t left, bool again) {
    return f->tokens[piece] <= left && f->reachable[left - f->tokens[piece]] &&
           (again || f->used[piece] != f->draw);
}

/* The next piece of a filler that lacks LEFT tokens: any that leaves a length that can be filled. */
static bool next_piece(const lg_filler *f, lg_random *random, size_t left, size_t *next, size_t *piece) {
    enum { TRIES = 48 };
    for (size_t try = 0; try < TRIES; try++) {
        *piece = f->in_order ? (*next)++ % f->n_whole : lg_random_below(random, f->n_whole);
        if (may_take(f, *piece, left, f->repeats)) return true;
    }
    for (unsigned again = 0; again < 2; again++) {
        size_t from = lg_random_below(random, f->count);
        for (size_t i = 0; i < f->count; i++) {
            *piece = (from + i) % f->count;
            if (may_take(f, *piece, left, again)) return true;
        }
    }
    return false;
}

bool lg_filler_draw(lg_filler *f, lg_random *random, size_t n, const size_t *avoid, size_t n_avoid,
                    size_t *pieces, size_t *n_pieces) {
    *n_pieces = 0;
    if (n >= f->n_reachable || !f->reachable[n]) return false;
    f->draw++;
    for (size_t i = 0; i < n_avoid; i++) f->used[avoid[i]] = f->draw;
    size_t next = lg_random_below(random, f->n_whole);
    for (size_t left = n; left;) {
        size_t piece;
        if (!next_piece(f, random, left, &next, &piece)) return false;
        f->used[piece] = f->draw;
        pieces[(*n_pieces)++] = piece;
        left -= f->tokens[piece];
    }
    return true;
}
