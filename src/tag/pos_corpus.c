/* Reading tagged text: Brown's word/tag lines, CoNLL-U with its multiword tokens and its raw text. */
#include "tag/pos_corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "tag/prose.h"

/* ---- names ---- */

size_t lg_pos_names_find(const lg_pos_names *names, const char *name, size_t length) {
    for (size_t i = 0; i < names->count; i++)
        if (lg_text_is(name, length, names->names[i])) return i;
    return SIZE_MAX;
}

size_t lg_pos_names_add(lg_pos_names *names, const char *name, size_t length) {
    size_t at = lg_pos_names_find(names, name, length);
    if (at != SIZE_MAX) return at;
    if (!lg_reserve(&names->names, &names->capacity, names->count + 1, sizeof *names->names)) return SIZE_MAX;
    if (!(names->names[names->count] = strndup(name, length))) return SIZE_MAX;
    return names->count++;
}

void lg_pos_names_free(lg_pos_names *names) {
    for (size_t i = 0; i < names->count; i++) free(names->names[i]);
    free(names->names);
    *names = (lg_pos_names){0};
}

/* ---- what both formats do ---- */

typedef struct piece {
    const char *data;
    size_t length;
} piece;

/* A file being read, line by line. */
typedef struct reader {
    lg_pos_corpus *corpus;
    const char *name, *at, *end;
    size_t line_number;
    const char *tagset;
    bool new_sentence; /* the next word begins one */
    lg_error *error;

    /* CoNLL-U */
    piece text;     /* of this sentence's # text; length 0: none */
    size_t next_id; /* of the next word */
    size_t cover,
        cover_end;    /* ids of the first and last word of the multiword token read last; 0: none yet */
    bool space;       /* something separates the next word from the last */
    bool cover_space; /* … and what follows the multiword token from it */
    struct surface {  /* words or multiword tokens of this sentence, as they stand in the text */
        piece form;
        size_t first, count; /* the words that it holds */
        bool space_before;
    } * surfaces;
    size_t n_surfaces, surface_capacity;
    bool new_paragraph;
} reader;

static lg_status bad_line(const reader *r, const char *what) {
    return lg_fail(r->error, LG_BAD_INPUT, "%s:%zu: %s", r->name, r->line_number, what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool begins_with(piece line, const char *prefix) {
    size_t n = strlen(prefix);
    return line.length >= n && memcmp(line.data, prefix, n) == 0;
}

/* The next line without its end. false: there is none. */
static bool next_line(reader *r, piece *line) {
    if (r->at >= r->end) return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *stop = newline ? newline : r->end;
    *line = (piece){r->at, (size_t)(stop - r->at)};
    if (line->length && line->data[line->length - 1] == '\r') line->length--;
    r->at = newline ? newline + 1 : r->end;
    r->line_number++;
    return true;
}

static lg_status end_document(reader *r) {
    lg_pos_corpus *c = r->corpus;
    size_t begin = c->n_documents ? c->document_end[c->n_documents - 1] : 0;
    if (c->words.count == begin) return LG_OK;
    if (!lg_reserve(&c->document_end, &c->document_capacity, c->n_documents + 1, sizeof *c->document_end))
        return lg_fail_memory(r->error);
    c->document_end[c->n_documents++] = c->words.count;
    return LG_OK;
}

/* Adds a word to the given text; SPACE: something separates it from the word before. */
static lg_status add_word(reader *r, piece form, piece tag, bool space) {
    lg_pos_corpus *c = r->corpus;
    const size_t n = c->words.count;
    if (!tag.length || tag.length > LG_POS_MAX_TAG_BYTES)
        return bad_line(r, "a tag of no bytes, or of more than 31");
    for (size_t i = 0; i < tag.length; i++)
        if (tag.data[i] <= ' ' || tag.data[i] == 0x7F)
            return bad_line(r, "a tag with a control character in it");
    size_t index = lg_pos_names_add(&c->tags, tag.data, tag.length);
    if (index == SIZE_MAX) return lg_fail_memory(r->error);
    if (index >= LG_POS_MAX_TAGS)
        return bad_line(r, "more than 255 different tags: is this the right tagset?");
    if (n + 1 > c->capacity) {
        size_t a = c->capacity, b = a, d = a, e = a;
        if (!lg_reserve(&c->gold, &a, n + 1, sizeof *c->gold) ||
            !lg_reserve(&c->raw_begin, &b, n + 1, sizeof *c->raw_begin) ||
            !lg_reserve(&c->raw_end, &d, n + 1, sizeof *c->raw_end) ||
            !lg_reserve(&c->parts, &e, n + 1, sizeof *c->parts))
            return lg_fail_memory(r->error);
        c->capacity = a;
    }
    if (n) lg_text_put(&c->given, r->new_sentence ? "\n" : " ", r->new_sentence || space ? 1 : 0);
    const uint64_t begin = c->given.length;
    lg_text_put(&c->given, form.data, form.length);
    if (c->given.failed ||
        !lg_spans_add(&c->words, begin, c->given.length, r->new_sentence ? LG_BEGINS_SENTENCE : 0))
        return lg_fail_memory(r->error);
    c->gold[n] = (uint16_t)index;
    c->raw_begin[n] = c->raw_end[n] = 0;
    c->parts[n] = 1;
    r->new_sentence = false;
    return LG_OK;
}

/* ---- Brown ---- */

static lg_status read_brown_word(reader *r, piece item) {
    const char *slash = memrchr(item.data, '/', item.length);
    if (!slash || slash == item.data)
        return lg_fail(r->error, LG_BAD_INPUT, "%s:%zu: \"%.*s\" is no word/tag", r->name, r->line_number,
                       (int)(item.length < 40 ? item.length : 40), item.data);
    char tag[2 * LG_POS_MAX_TAG_BYTES];
    size_t length = (size_t)(item.data + item.length - slash - 1);
    if (length > sizeof tag) return bad_line(r, "a tag of more than 31 bytes");
    for (size_t i = 0; i < length; i++) {
        char c = slash[1 + i];
        tag[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    while (length > 3 && (memcmp(tag + length - 3, "-hl", 3) == 0 ||
                          memcmp(tag + length - 3, "-tl", 3) == 0 || memcmp(tag + length - 3, "-nc", 3) == 0))
        length -= 3;
    return add_word(r, (piece){item.data, (size_t)(slash - item.data)}, (piece){tag, length}, true);
}

static lg_status read_brown(reader *r) {
    piece line;
    while (next_line(r, &line)) {
        if (begins_with(line, "# ")) {
            lg_status status = begins_with(line, "# newdoc") ? end_document(r) : LG_OK;
            if (status) return status;
            continue;
        }
        r->new_sentence = true;
        for (size_t i = 0; i < line.length;) {
            size_t begin = i;
            while (i < line.length && !is_blank(line.data[i])) i++;
            lg_status status = i > begin ? read_brown_word(r, (piece){line.data + begin, i - begin}) : LG_OK;
            if (status) return status;
            while (i < line.length && is_blank(line.data[i])) i++;
        }
    }
    return end_document(r);
}

/* ---- CoNLL-U ---- */

enum { MAX_PARTS = 20 }; /* of a multiword token */

/* A word's number. false: none stands there. */
static bool read_number(piece *text, size_t *value) {
    size_t i = 0, v = 0;
    for (; i < text->length && text->data[i] >= '0' && text->data[i] <= '9'; i++) {
        if (i == 9) return false;
        v = v * 10 + (size_t)(text->data[i] - '0');
    }
    *text = (piece){text->data + i, text->length - i};
    *value = v;
    return i > 0;
}

/* Appends the sentence's surface forms to the raw text at where # TEXT has them; false: it does not. */
static bool place_in_text(reader *r, uint64_t base) {
    lg_pos_corpus *c = r->corpus;
    size_t at = 0;
    for (size_t i = 0; i < r->n_surfaces; i++) {
        const struct surface *s = &r->surfaces[i];
        while (at < r->text.length && is_blank(r->text.data[at])) at++;
        if (r->text.length - at < s->form.length ||
            memcmp(r->text.data + at, s->form.data, s->form.length) != 0)
            return false;
        for (size_t w = s->first; w < s->first + s->count; w++) {
            c->raw_begin[w] = base + at;
            c->raw_end[w] = base + at + s->form.length;
        }
        at += s->form.length;
    }
    while (at < r->text.length && is_blank(r->text.data[at])) at++;
    return at == r->text.length;
}

/* Gives the words of a multiword token their own spans if together they spell its surface, else says that
   they share it. */
static void place_parts(lg_pos_corpus *c, const struct surface *s) {
    size_t length = 0;
    bool spelled = true;
    for (size_t w = s->first; w < s->first + s->count && spelled; w++) {
        size_t n = (size_t)(c->words.end[w] - c->words.begin[w]);
        spelled = n <= s->form.length - length &&
                  memcmp(s->form.data + length, c->given.data + c->words.begin[w], n) == 0;
        length += n;
    }
    if (spelled && length == s->form.length) {
        uint64_t at = c->raw_begin[s->first];
        for (size_t w = s->first; w < s->first + s->count; w++) {
            c->raw_begin[w] = at;
            c->raw_end[w] = at += c->words.end[w] - c->words.begin[w];
        }
    } else {
        for (size_t w = s->first; w < s->first + s->count; w++) c->parts[w] = 0;
        c->parts[s->first] = (uint8_t)s->count;
    }
}

/* Joins the sentence to the raw text. */
static lg_status end_sentence(reader *r) {
    lg_pos_corpus *c = r->corpus;
    if (r->next_id > 1) {
        if (r->cover_end >= r->next_id) return bad_line(r, "the sentence ends within a multiword token");
        lg_text_puts(&c->raw, !c->raw.length                ? ""
                              : r->new_paragraph            ? "\n\n"
                              : r->surfaces[0].space_before ? " "
                                                            : "");
        const uint64_t base = c->raw.length;
        if (r->text.length && place_in_text(r, base)) {
            lg_text_put(&c->raw, r->text.data, r->text.length);
        } else { /* no # text, or another one: the forms spell it */
            for (size_t i = 0; i < r->n_surfaces; i++) {
                const struct surface *s = &r->surfaces[i];
                if (i && s->space_before) lg_text_puts(&c->raw, " ");
                for (size_t w = s->first; w < s->first + s->count; w++) {
                    c->raw_begin[w] = c->raw.length;
                    c->raw_end[w] = c->raw.length + s->form.length;
                }
                lg_text_put(&c->raw, s->form.data, s->form.length);
            }
        }
        if (c->raw.failed) return lg_fail_memory(r->error);
        for (size_t i = 0; i < r->n_surfaces; i++)
            if (r->surfaces[i].count > 1) place_parts(c, &r->surfaces[i]);
        r->new_paragraph = false;
    }
    r->text = (piece){NULL, 0};
    r->n_surfaces = 0;
    r->next_id = 1;
    r->cover = r->cover_end = 0;
    r->new_sentence = true;
    return LG_OK;
}

static bool says_no_space(piece misc) {
    static const char wanted[] = "SpaceAfter=No";
    for (size_t i = 0; i + sizeof wanted - 1 <= misc.length; i++) {
        size_t end = i + sizeof wanted - 1;
        if (memcmp(misc.data + i, wanted, sizeof wanted - 1) == 0 && (!i || misc.data[i - 1] == '|') &&
            (end == misc.length || misc.data[end] == '|'))
            return true;
    }
    return false;
}

static lg_status read_token(reader *r, piece line) {
    piece column[10];
    size_t n = 0, id, last;
    for (size_t i = 0;; n++) {
        const char *tab = i < line.length ? memchr(line.data + i, '\t', line.length - i) : NULL;
        size_t end = tab ? (size_t)(tab - line.data) : line.length;
        if (n < 10) column[n] = (piece){line.data + i, end - i};
        if (!tab) break;
        i = end + 1;
    }
    n++;
    if (n != 10)
        return lg_fail(r->error, LG_BAD_INPUT, "%s:%zu: %zu columns, where CoNLL-U has 10 with tabs between",
                       r->name, r->line_number, n);
    piece number = column[0], form = column[1];
    if (!read_number(&number, &id)) return bad_line(r, "the first column holds no number of a word");
    if (number.length && number.data[0] == '.') return LG_OK; /* an empty node is not in the text */
    if (id != r->next_id)
        return lg_fail(r->error, LG_BAD_INPUT, "%s:%zu: word %zu where word %zu is expected", r->name,
                       r->line_number, id, r->next_id);
    if (!form.length) return bad_line(r, "a word of no letters");
    const size_t first = r->corpus->words.count;
    const bool space_after = !says_no_space(column[9]);
    if (!lg_reserve(&r->surfaces, &r->surface_capacity, r->n_surfaces + 1, sizeof *r->surfaces))
        return lg_fail_memory(r->error);
    if (number.length) {
        const bool dash = number.data[0] == '-';
        number = (piece){number.data + 1, number.length - 1};
        if (!dash || !read_number(&number, &last) || number.length || last <= id || last - id >= MAX_PARTS ||
            r->cover_end >= id)
            return bad_line(r, "the first column holds no range of a multiword token");
        r->surfaces[r->n_surfaces++] = (struct surface){form, first, last - id + 1, r->space};
        r->cover = id;
        r->cover_end = last;
        r->cover_space = space_after;
        return LG_OK;
    }
    piece tag = column[strcmp(r->tagset, "penn") == 0 ? 4 : 3];
    if (tag.length == 1 && tag.data[0] == '_')
        return lg_fail(r->error, LG_BAD_INPUT, "%s:%zu: the word has no %s tag", r->name, r->line_number,
                       r->tagset);
    const bool part = id <= r->cover_end, space = r->space && (!part || id == r->cover);
    if (!part) r->surfaces[r->n_surfaces++] = (struct surface){form, first, 1, r->space};
    if (!part) r->space = space_after;
    else if (id == r->cover_end) r->space = r->cover_space;
    r->next_id++;
    return add_word(r, form, tag, space);
}

static lg_status read_conllu(reader *r) {
    static const char text_is[] = "# text =";
    piece line;
    lg_status status = LG_OK;
    r->next_id = 1;
    while (!status && next_line(r, &line)) {
        if (!line.length) {
            status = end_sentence(r);
        } else if (line.data[0] == '#' && r->next_id == 1 && !r->n_surfaces) {
            if (begins_with(line, "# newdoc")) {
                status = end_document(r);
                r->new_paragraph = true;
            } else if (begins_with(line, "# newpar")) {
                r->new_paragraph = true;
            } else if (begins_with(line, text_is)) {
                size_t skip = sizeof text_is - 1;
                while (skip < line.length && is_blank(line.data[skip])) skip++;
                r->text = (piece){line.data + skip, line.length - skip};
            }
        } else {
            status = read_token(r, line);
        }
    }
    if (!status) status = end_sentence(r);
    return status ? status : end_document(r);
}

/* ---- the whole ---- */

/* CoNLL-U has tabs in its first line that is no comment; word/tag lines have none. */
static bool looks_like_conllu(reader r) {
    piece line;
    while (next_line(&r, &line))
        if (line.length && !begins_with(line, "# ")) return memchr(line.data, '\t', line.length) != NULL;
    return false;
}

lg_status lg_pos_corpus_parse(lg_pos_corpus *corpus, const char *text, size_t size, const char *name,
                              const char *tagset, lg_error *error) {
    const size_t before = corpus->words.count;
    reader r = {.corpus = corpus,
                .name = name,
                .at = text,
                .end = text + size,
                .tagset = tagset,
                .new_sentence = true,
                .new_paragraph = true,
                .space = true,
                .error = error};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at += 3;
    const bool conllu = looks_like_conllu(r);
    if (!r.tagset) r.tagset = conllu ? "upos" : "brown";
    const bool brown = strcmp(r.tagset, "brown") == 0;
    lg_status status;
    if (conllu == brown)
        status = lg_fail(error, LG_BAD_INPUT, "%s holds %s, but the tagset %s is read from %s", name,
                         brown ? "CoNLL-U" : "no CoNLL-U", tagset, brown ? "word/tag lines" : "CoNLL-U");
    else status = brown ? read_brown(&r) : read_conllu(&r);
    if (!status && corpus->words.count == before)
        status = lg_fail(error, LG_BAD_INPUT, "%s holds no words", name);
    free(r.surfaces);
    return status;
}

lg_status lg_pos_corpus_read(lg_pos_corpus *corpus, const char *path, const char *tagset, lg_error *error) {
    lg_mapping mapping;
    lg_status status = lg_map(path, &mapping, error);
    if (status) return status;
    status = lg_pos_corpus_parse(corpus, mapping.size ? (const char *)mapping.data : "", mapping.size, path,
                                 tagset, error);
    lg_unmap(&mapping);
    return status;
}

void lg_pos_corpus_free(lg_pos_corpus *corpus) {
    lg_text_free(&corpus->given);
    lg_text_free(&corpus->raw);
    lg_spans_free(&corpus->words);
    lg_pos_names_free(&corpus->tags);
    free(corpus->gold);
    free(corpus->document_end);
    free(corpus->raw_begin);
    free(corpus->raw_end);
    free(corpus->parts);
    *corpus = (lg_pos_corpus){0};
}
