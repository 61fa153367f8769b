/* A session: a document's way through added tokens, normalisation, pre-tokenizers and merges. */
#include <stdlib.h>

#include "base/error.h"
#include "tokenizer/tokenizer_internal.h"

struct lg_tokenizer_session {
    const lg_tokenizer *tokenizer;
    lg_pieces pieces;
    lg_nfc nfc;
};

lg_status lg_tokenizer_session_create(const lg_tokenizer *t, lg_tokenizer_session **session,
                                      lg_error *error) {
    lg_tokenizer_session *s = *session = calloc(1, sizeof *s);
    if (!s) return lg_fail_memory(error);
    s->tokenizer = t;
    s->pieces = (lg_pieces){
        .steps = t->steps, .count = t->step_count, .classes = t->classes, .bpe = &t->bpe, .name = t->name};
    if (t->step_count) s->pieces.scratch = calloc(t->step_count, sizeof *s->pieces.scratch);
    if (t->uses_patterns) s->pieces.matcher = lg_matcher_create();
    if ((t->step_count && !s->pieces.scratch) || (t->uses_patterns && !s->pieces.matcher)) {
        lg_tokenizer_session_free(s);
        *session = NULL;
        return lg_fail_memory(error);
    }
    return LG_OK;
}

void lg_tokenizer_session_free(lg_tokenizer_session *s) {
    if (!s) return;
    for (size_t i = 0; s->pieces.scratch && i < s->pieces.count; i++) {
        lg_subject_free(&s->pieces.scratch[i].subject);
        lg_text_free(&s->pieces.scratch[i].prefixed);
    }
    free(s->pieces.scratch);
    lg_matcher_free(s->pieces.matcher);
    lg_bpe_scratch_free(&s->pieces.merge);
    lg_nfc_free(&s->nfc);
    free(s);
}

static lg_status put_added(lg_tokenizer_session *s, const lg_added *token, size_t end) {
    lg_tokens *tokens = s->pieces.tokens;
    if (!lg_tokens_reserve(tokens, 1)) return lg_fail_memory(s->pieces.error);
    tokens->ids[tokens->count] = token->id;
    tokens->ends[tokens->count++] = end;
    return LG_OK;
}

/* Text in its normalised form. ORIGIN: of its first byte. */
static lg_status encode_normalized(lg_tokenizer_session *s, const char *text, size_t length, size_t origin,
                                   bool skip_special) {
    lg_added_scan scan = {.set = &s->tokenizer->normalized,
                          .classes = s->tokenizer->classes,
                          .text = (const unsigned char *)text,
                          .length = length,
                          .skip_special = skip_special};
    lg_status status = LG_OK;
    size_t at = 0, start, stop;
    for (const lg_added *token; !status && (token = lg_added_next(&scan, &start, &stop)) != NULL; at = stop) {
        status = lg_pieces_run(&s->pieces, text + at, start - at, origin + at);
        if (!status) status = put_added(s, token, origin + stop);
    }
    return status ? status : lg_pieces_run(&s->pieces, text + at, length - at, origin + at);
}

/* Ends from FIRST on are bytes of the normalised text; makes them bytes of the original, which begins at
 * ORIGIN. */
static void map_ends(const lg_nfc *nfc, lg_tokens *tokens, size_t first, size_t origin) {
    const lg_change *change = nfc->changes, *last = change + nfc->count;
    size_t from = 0, to = 0; /* where the two texts run in step again */
    for (size_t i = first; i < tokens->count; i++) {
        size_t end = tokens->ends[i];
        for (; change < last && change->to_end <= end; change++) {
            from = change->from_end;
            to = change->to_end;
        }
        bool inside = change < last && end > change->to;
        tokens->ends[i] = origin + (inside ? change->from : from + (end - to));
    }
}

/* Text in which no added token was found before normalisation. */
static lg_status encode_text(lg_tokenizer_session *s, const char *text, size_t length, size_t origin,
                             bool skip_special) {
    if (!length) return LG_OK;
    bool failed = false;
    if (!s->tokenizer->nfc || !lg_nfc_apply(&s->nfc, s->tokenizer->classes, text, length, &failed))
        return failed ? lg_fail_memory(s->pieces.error)
                      : encode_normalized(s, text, length, origin, skip_special);
    lg_tokens *tokens = s->pieces.tokens;
    size_t first = tokens->count;
    lg_status status = encode_normalized(s, s->nfc.text.data, s->nfc.text.length, 0, skip_special);
    map_ends(&s->nfc, tokens, first, origin);
    return status;
}

lg_status lg_tokenize(lg_tokenizer_session *s, const char *text, size_t length, bool parse_special,
                      lg_tokens *tokens, lg_error *error) {
    const lg_tokenizer *t = s->tokenizer;
    if (!length) text = "";
    tokens->count = 0;
    s->pieces.tokens = tokens;
    s->pieces.error = error;
    s->pieces.plain = t->uses_patterns && lg_subject_is_plain(t->classes, text, length);
    lg_added_scan scan = {.set = &t->raw,
                          .classes = t->classes,
                          .text = (const unsigned char *)text,
                          .length = length,
                          .skip_special = !parse_special};
    lg_status status = LG_OK;
    size_t at = 0, start, stop;
    for (const lg_added *token; !status && (token = lg_added_next(&scan, &start, &stop)) != NULL; at = stop) {
        status = encode_text(s, text + at, start - at, at, !parse_special);
        if (!status) status = put_added(s, token, stop);
    }
    if (!status) status = encode_text(s, text + at, length - at, at, !parse_special);
    if (status) tokens->count = 0;
    else if (tokens->count)
        tokens->ends[tokens->count - 1] = length; /* nor is text lost that a step removed */
    return status;
}
