/* Pre-tokenizers, depth first: a piece of one step goes through the next before the step finds its following
   piece, so that nothing but the pieces in hand is kept. */
#include "tokenizer/pretokenize.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tokenizer/unicode.h"

typedef struct view {
    const unsigned char *text;
    size_t length;
    size_t origin;  /* of text[0] in the document */
    size_t made_up; /* 1: text[0] is a space that the document does not have */
} view;

static lg_status run(lg_pieces *p, size_t step, view v);

void lg_step_free(lg_step *step) {
    lg_pattern_free(step->pattern);
    free(step->literal);
    *step = (lg_step){0};
}

/* The part [begin, end) of V goes to the step after STEP. */
static inline lg_status hand_on(lg_pieces *p, size_t step, const view *v, size_t begin, size_t end) {
    if (begin == end) return LG_OK;
    size_t made_up = begin ? 0 : v->made_up;
    size_t origin = v->origin + begin - (begin ? v->made_up : 0);
    if (step + 1 < p->count) return run(p, step + 1, (view){v->text + begin, end - begin, origin, made_up});
    if (lg_bpe_encode(p->bpe, &p->merge, (const char *)v->text + begin, end - begin, v->length - begin,
                      origin, made_up, p->tokens))
        return LG_OK;
    return lg_fail_memory(p->error);
}

/* ---- what becomes of matches and gaps ---- */

typedef struct fold {
    lg_pieces *pieces;
    size_t step;
    const view *v;
    size_t begin, end; /* held back, as the next part may join it */
    bool held;
    bool was_match; /* the part before */
} fold;

static lg_status let_go(fold *f) {
    bool held = f->held;
    f->held = false;
    return held ? hand_on(f->pieces, f->step, f->v, f->begin, f->end) : LG_OK;
}

static lg_status hold(fold *f, size_t begin, size_t end) {
    lg_status status = let_go(f);
    f->begin = begin;
    f->end = end;
    f->held = true;
    return status;
}

/* Parts come in order and cover the text. */
static lg_status add_part(fold *f, size_t begin, size_t end, bool match) {
    const lg_step *step = &f->pieces->steps[f->step];
    match ^= step->invert;
    bool was_match = f->was_match;
    f->was_match = match;
    switch (step->behavior) {
    case LG_REMOVED:
        return match ? LG_OK : hand_on(f->pieces, f->step, f->v, begin, end);
    case LG_ISOLATED:
        return hand_on(f->pieces, f->step, f->v, begin, end);
    case LG_MERGED_WITH_PREVIOUS:
        if (!match || was_match || !f->held) return hold(f, begin, end);
        f->end = end;
        return LG_OK;
    case LG_MERGED_WITH_NEXT:
        if (match || !was_match || !f->held) return hold(f, begin, end);
        f->end = end;
        return LG_OK;
    case LG_CONTIGUOUS:
        if (match != was_match || !f->held) return hold(f, begin, end);
        f->end = end;
        return LG_OK;
    }
    return LG_OK;
}

/* ---- steps ---- */

/* The next match from FROM on. */
static bool next_literal(const lg_step *step, const view *v, size_t from, size_t *start, size_t *end) {
    const unsigned char *found =
        from < v->length ? memmem(v->text + from, v->length - from, step->literal, step->literal_length)
                         : NULL;
    if (!found) return false;
    *start = (size_t)(found - v->text);
    *end = *start + step->literal_length;
    return true;
}

static bool next_number(const lg_classes *classes, const view *v, size_t from, size_t *start, size_t *end) {
    for (size_t size; from < v->length; from += size) {
        if (!(lg_class_at(classes, v->text + from, v->text + v->length, &size) & LG_NUMBER)) continue;
        *start = from;
        *end = from + size;
        return true;
    }
    return false;
}

static lg_status split(lg_pieces *p, size_t step_index, const view *v) {
    const lg_step *step = &p->steps[step_index];
    lg_subject *subject = &p->scratch[step_index].subject;
    fold f = {.pieces = p, .step = step_index, .v = v};
    lg_match_state state = {0};
    if (step->kind == LG_STEP_PATTERN &&
        !lg_subject_set(subject, p->classes, (const char *)v->text, v->length, p->plain))
        return lg_fail_memory(p->error);
    size_t at = 0;
    lg_status status = LG_OK;
    while (!status) {
        size_t start = at, end = at;
        bool found = false;
        switch (step->kind) {
        case LG_STEP_SPLITTER:
            found = at < v->length;
            if (found) end = at + step->splitter->next(p->classes, v->text + at, v->text + v->length);
            break;
        case LG_STEP_LITERAL:
            found = next_literal(step, v, at, &start, &end);
            break;
        case LG_STEP_NUMBERS:
            found = next_number(p->classes, v, at, &start, &end);
            break;
        case LG_STEP_PATTERN: {
            lg_match match = lg_pattern_next(step->pattern, p->matcher, subject, &state, &start, &end);
            if (match == LG_MATCH_MEMORY) return lg_fail_memory(p->error);
            if (match == LG_MATCH_LIMIT)
                return lg_fail(
                    p->error, LG_BAD_INPUT,
                    "%s: pre_tokenizer: the pattern of step %zu needs too much backtracking on this "
                    "text, near byte %zu of the document; use another tokenizer.json",
                    p->name, step_index + 1, v->origin + lg_subject_original(subject, state.from));
            found = match == LG_MATCH_FOUND;
            if (found) {
                start = lg_subject_original(subject, start);
                end = lg_subject_original(subject, end);
            }
            break;
        }
        case LG_STEP_PREFIX:
            break;
        }
        if (!found) break;
        if (start > at) status = add_part(&f, at, start, false);
        if (!status) status = add_part(&f, start, end, true);
        at = end;
    }
    if (!status && at < v->length) status = add_part(&f, at, v->length, false);
    return status ? status : let_go(&f);
}

/* The hand-written patterns match everything, so the matches are the pieces. They are found a few at a time,
   so that the cache has them at hand when they are looked up. */
static lg_status run_splitter(lg_pieces *p, size_t step_index, const view *v) {
    enum { BATCH = 16 };
    size_t (*next)(const lg_classes *, const unsigned char *, const unsigned char *) =
        p->steps[step_index].splitter->next;
    bool last_step = step_index + 1 == p->count;
    lg_status status = LG_OK;
    for (size_t at = 0, begin = 0; at < v->length && !status;) {
        size_t ends[BATCH], n = 0;
        for (; n < BATCH && at < v->length; n++) {
            size_t size = next(p->classes, v->text + at, v->text + v->length);
            if (last_step) lg_bpe_prefetch(&p->merge, (const char *)v->text + at, size, v->length - at);
            ends[n] = at += size;
        }
        for (size_t i = 0; i < n && !status; begin = ends[i++])
            status = hand_on(p, step_index, v, begin, ends[i]);
    }
    return status;
}

static lg_status run(lg_pieces *p, size_t step_index, view v) {
    const lg_step *step = &p->steps[step_index];
    if (step->kind == LG_STEP_PREFIX) {
        view whole = v;
        if (v.text[0] != ' ') {
            lg_text *prefixed = &p->scratch[step_index].prefixed;
            prefixed->length = 0;
            lg_text_put(prefixed, " ", 1);
            lg_text_put(prefixed, v.text, v.length);
            if (prefixed->failed) return lg_fail_memory(p->error);
            whole = (view){(const unsigned char *)prefixed->data, prefixed->length, v.origin, 1};
        }
        return hand_on(p, step_index, &whole, 0, whole.length);
    }
    if (step->kind == LG_STEP_SPLITTER && step->behavior <= LG_ISOLATED &&
        step->invert == (step->behavior == LG_REMOVED))
        return run_splitter(p, step_index, &v);
    return split(p, step_index, &v);
}

lg_status lg_pieces_run(lg_pieces *p, const char *text, size_t length, size_t origin) {
    view v = {(const unsigned char *)text, length, origin, 0};
    if (!length) return LG_OK;
    if (p->count) return run(p, 0, v);
    if (lg_bpe_encode(p->bpe, &p->merge, text, length, length, origin, 0, p->tokens)) return LG_OK;
    return lg_fail_memory(p->error);
}
