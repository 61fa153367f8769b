/* The member "model" of tokenizer.json: vocabulary and merges of byte-level BPE. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tokenizer/read_internal.h"
#include "tokenizer/unicode.h"

/* ---- the byte-level alphabet ---- */

/* GPT-2's: printable bytes are themselves, the others U+0100 onwards in their order. */
static void make_alphabet(lg_reader *r) {
    uint32_t next = 256;
    for (unsigned b = 0; b < 256; b++) {
        bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        uint32_t c = printable ? b : next++;
        r->byte_of[c] = (char)b;
        r->is_byte[c] = true;
    }
}

/* Puts the bytes that NAME stands for; false: it has characters outside the alphabet, nothing is put. */
static bool put_bytes(const lg_reader *r, const char *name, size_t length, lg_text *out) {
    const unsigned char *s = (const unsigned char *)name, *end = s + length;
    size_t before = out->length;
    while (s < end) {
        uint32_t c;
        size_t size = lg_decode(s, end, &c);
        if (c >= 512 || !r->is_byte[c]) {
            out->length = before;
            return false;
        }
        lg_text_put(out, &r->byte_of[c], 1);
        s += size;
    }
    return true;
}

/* ---- vocabulary ---- */

static bool read_vocabulary(lg_reader *r, lg_json *json) {
    lg_string key;
    lg_text copy = {0}; /* the key, which may lie in scratch */
    bool good = lg_json_object(json);
    while (good && lg_json_key(json, &key)) {
        if (key.length > INT32_MAX) good = lg_json_complain(json, "a token of 2 GiB or more");
        uint64_t id = 0;
        copy.length = 0;
        lg_text_put(&copy, key.data, key.length);
        if (!good || !lg_json_unsigned(json, &id)) break;
        if (id > INT32_MAX)
            good = lg_json_complain(json, "the id %llu is above 2^31 - 1", (unsigned long long)id);
        if (!good) break;
        if (copy.failed) {
            lg_read_stop(json, lg_fail_memory(json->error));
            break;
        }
        switch (lg_strings_add(&r->names, copy.data, key.length, (uint32_t)id)) {
        case LG_STRINGS_NEW:
            break;
        case LG_STRINGS_KNOWN:
            lg_json_complain(json, "model.vocab has \"%.*s\" twice", key.length > 100 ? 100 : (int)key.length,
                             copy.data);
            break;
        case LG_STRINGS_NO_MEMORY:
            lg_read_stop(json, lg_fail_memory(json->error));
            break;
        }
    }
    lg_text_free(&copy);
    return !json->failed;
}

/* ---- merges ---- */

/* The two sides, in one string: LEFT bytes, then the right one. */
typedef struct merge {
    lg_text text;
    size_t left;
} merge;

static bool read_merge(lg_json *json, merge *m) {
    lg_string part;
    m->text.length = 0;
    if (lg_json_peek(json) == LG_JSON_STRING) {
        if (!lg_json_string(json, &part)) return false;
        const char *space = memchr(part.data, ' ', part.length);
        const char *after = space ? space + 1 : NULL;
        const char *end = part.data + part.length;
        if (!space || space == part.data || after == end || memchr(after, ' ', (size_t)(end - after)))
            return lg_json_complain(json, "the merge \"%.*s\" is not two tokens with one space between",
                                    part.length > 100 ? 100 : (int)part.length, part.data);
        m->left = (size_t)(space - part.data);
        lg_text_put(&m->text, part.data, m->left);
        lg_text_put(&m->text, after, (size_t)(end - after));
    } else {
        size_t count = 0;
        if (!lg_json_array(json)) return false;
        for (; lg_json_element(json); count++) {
            if (!lg_json_string(json, &part)) return false;
            if (count == 0) m->left = part.length;
            if (count < 2) lg_text_put(&m->text, part.data, part.length);
        }
        if (json->failed) return false;
        if (count != 2) return lg_json_complain(json, "a merge of %zu tokens, where two are joined", count);
    }
    return !m->text.failed || lg_read_stop(json, lg_fail_memory(json->error));
}

/* How many elements the array has; its form is checked later. */
static size_t count_elements(lg_json json) {
    size_t count = 0;
    lg_error ignored = {0};
    json.error = &ignored;
    if (!lg_json_array(&json)) return 0;
    while (lg_json_element(&json) && lg_json_skip(&json)) count++;
    return count;
}

static bool read_merges(lg_reader *r, lg_json *json) {
    lg_bpe *bpe = &r->tokenizer->bpe;
    if (!lg_bpe_reserve(bpe, count_elements(*json))) return lg_read_stop(json, lg_fail_memory(json->error));
    merge m = {0};
    bool good = lg_json_array(json);
    for (uint32_t rank = 0; good && lg_json_element(json); rank++) {
        if (rank == LG_NO_RANK) good = lg_json_complain(json, "too many merges");
        if (!good || !(good = read_merge(json, &m))) break;
        const char *text = m.text.data;
        size_t right = m.text.length - m.left;
        const char *unknown = NULL;
        uint32_t ids[3];
        if (!lg_strings_find(&r->names, text, m.left, &ids[0])) unknown = "its left side";
        else if (!lg_strings_find(&r->names, text + m.left, right, &ids[1])) unknown = "its right side";
        else if (!lg_strings_find(&r->names, text, m.text.length, &ids[2])) unknown = "what it makes";
        if (unknown)
            good = lg_json_complain(
                json, "model.merges: %s of the merge \"%.*s\" + \"%.*s\" is not in model.vocab", unknown,
                m.left > 100 ? 100 : (int)m.left, text, right > 100 ? 100 : (int)right, text + m.left);
        else lg_bpe_add(bpe, ids[0], ids[1], rank, ids[2]);
    }
    lg_text_free(&m.text);
    return !json->failed;
}

/* ---- the model ---- */

typedef struct model_members {
    lg_json merges; /* the place, for when the vocabulary is known */
    bool has_vocab, has_merges, has_unk, byte_fallback, fuse_unk;
    lg_text unk; /* unk_token */
} model_members;

/* A prefix or suffix that HF would put around tokens: null and "" do nothing. */
static bool read_affix(lg_json *json, const char *key) {
    lg_string value;
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
    if (!lg_json_string(json, &value)) return false;
    if (!value.length) return true;
    return lg_json_complain(json, "model.%s is \"%.*s\"; only \"\" or null is supported", key,
                            value.length > 40 ? 40 : (int)value.length, value.data);
}

static bool read_member(lg_reader *r, lg_json *json, model_members *m, lg_string key) {
    lg_string text;
    if (lg_string_is(key, "type")) {
        if (!lg_json_string(json, &text)) return false;
        if (lg_string_is(text, "BPE")) return true;
        return lg_json_complain(json, "model.type is \"%.*s\"; only byte-level BPE is supported",
                                text.length > 40 ? 40 : (int)text.length, text.data);
    }
    if (lg_string_is(key, "vocab")) {
        if (m->has_vocab) return lg_json_complain(json, "model.vocab is there twice");
        m->has_vocab = true;
        if (lg_json_peek(json) == LG_JSON_ARRAY)
            return lg_json_complain(json,
                                    "model.vocab is a list, as Unigram models have it; only byte-level BPE "
                                    "is supported");
        return read_vocabulary(r, json);
    }
    if (lg_string_is(key, "merges")) {
        if (m->has_merges) return lg_json_complain(json, "model.merges is there twice");
        m->has_merges = true;
        m->merges = *json;
        if (m->has_vocab) return read_merges(r, json);
        return lg_json_skip(json);
    }
    if (lg_string_is(key, "dropout")) {
        double dropout = 0;
        if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
        if (!lg_json_number(json, &dropout)) return false;
        return dropout == 0 || lg_json_complain(json,
                                                "model.dropout is %g; only null or 0 is supported, as losses "
                                                "must not depend on chance",
                                                dropout);
    }
    if (lg_string_is(key, "continuing_subword_prefix")) return read_affix(json, "continuing_subword_prefix");
    if (lg_string_is(key, "end_of_word_suffix")) return read_affix(json, "end_of_word_suffix");
    if (lg_string_is(key, "byte_fallback")) return lg_json_bool(json, &m->byte_fallback);
    if (lg_string_is(key, "ignore_merges")) return lg_json_bool(json, &r->tokenizer->bpe.ignore_merges);
    if (lg_string_is(key, "fuse_unk")) return lg_json_bool(json, &m->fuse_unk);
    if (lg_string_is(key, "unk_token")) {
        m->unk.length = 0;
        m->has_unk = lg_json_peek(json) != LG_JSON_NULL;
        if (!m->has_unk) return lg_json_null(json);
        if (!lg_json_string(json, &text)) return false;
        lg_text_put(&m->unk, text.data, text.length);
        return !m->unk.failed || lg_read_stop(json, lg_fail_memory(json->error));
    }
    return lg_json_skip(json);
}

/* Bytes become tokens. Those that the vocabulary lacks (SmolLM2's has no token for some control characters
   and for bytes that UTF-8 never has) are the unknown token, or nothing, as Hugging Face has it. */
static lg_status read_bytes(lg_reader *r, const model_members *m) {
    lg_bpe *bpe = &r->tokenizer->bpe;
    uint32_t unknown = LG_NO_ID;
    if (m->has_unk && !lg_strings_find(&r->names, m->unk.data, m->unk.length, &unknown)) unknown = LG_NO_ID;
    for (uint32_t c = 0; c < 512; c++) {
        char name[4];
        if (!r->is_byte[c]) continue;
        unsigned char byte = (unsigned char)r->byte_of[c];
        if (lg_strings_find(&r->names, name, lg_utf8_encode(c, name), &bpe->byte_id[byte])) continue;
        bpe->byte_id[byte] = unknown;
        r->tokenizer->missing_bytes++;
        const char *problem = m->byte_fallback                    ? "byte_fallback is true"
                              : m->has_unk && m->fuse_unk         ? "fuse_unk is true"
                              : m->has_unk && unknown == LG_NO_ID ? "unk_token is not in model.vocab"
                                                                  : NULL;
        if (problem)
            return lg_reader_refuse(r, "model",
                                    "%s, and no token stands for the byte 0x%02x: only byte-level BPE "
                                    "is supported, where bytes without a token are unk_token or nothing",
                                    problem, byte);
    }
    if (r->tokenizer->missing_bytes == 256)
        return lg_reader_refuse(r, "model.vocab",
                                "no token stands for any byte; only byte-level BPE is supported");
    return lg_bpe_finish(bpe) ? LG_OK : lg_fail_memory(r->error);
}

lg_status lg_read_model(lg_reader *r, lg_json *json) {
    model_members m = {0};
    lg_string key;
    lg_status status = LG_OK;
    if (lg_json_object(json))
        while (lg_json_key(json, &key))
            if (!read_member(r, json, &m, key)) break;
    if (json->failed) status = json->status;
    else if (!m.has_vocab) status = lg_reader_refuse(r, "model", "it has no vocab");
    else if (!m.has_merges)
        status = lg_reader_refuse(r, "model", "it has no merges; only byte-level BPE is supported");
    else if (!r->tokenizer->bpe.pairs && !read_merges(r, &m.merges)) status = m.merges.status;
    if (!status) {
        make_alphabet(r);
        status = read_bytes(r, &m);
    }
    lg_text_free(&m.unk);
    return status;
}

/* ---- bytes of tokens ---- */

static int compare_tokens(const void *a, const void *b) {
    const lg_token *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Files list tokens by id, nearly always. */
static void sort_tokens(lg_token *tokens, size_t count) {
    size_t i = 1;
    while (i < count && tokens[i - 1].id <= tokens[i].id) i++;
    if (i < count) qsort(tokens, count, sizeof *tokens, compare_tokens);
}

lg_status lg_read_finish_vocabulary(lg_reader *r) {
    lg_tokenizer *t = r->tokenizer;
    if (!lg_reserve(&t->tokens, &t->token_capacity, r->names.count + t->added_count + 1, sizeof *t->tokens))
        return lg_fail_memory(r->error);
    for (size_t i = 0; i < r->names.count; i++) {
        const lg_strings_entry *e = &r->names.entries[i];
        const char *name = r->names.blob.data + e->begin;
        size_t begin = t->bytes.length;
        bool mapped = put_bytes(r, name, e->length, &t->bytes);
        if (mapped && t->bpe.ignore_merges && !t->bytes.failed &&
            lg_strings_add(&t->bpe.whole, t->bytes.data + begin, t->bytes.length - begin, e->value) ==
                LG_STRINGS_NO_MEMORY)
            return lg_fail_memory(r->error);
        if (!mapped)
            lg_text_put(&t->bytes, name, e->length); /* no merge makes it: an added token's content */
        t->tokens[t->token_count++] = (lg_token){begin, e->value, (uint32_t)(t->bytes.length - begin)};
    }
    if (t->bytes.failed) return lg_fail_memory(r->error);
    sort_tokens(t->tokens, t->token_count);
    for (size_t i = 1; i < t->token_count; i++)
        if (t->tokens[i].id == t->tokens[i - 1].id)
            return lg_reader_refuse(r, "model.vocab", "the id %u is given to two tokens", t->tokens[i].id);

    size_t known = t->token_count; /* added tokens stand for their content, in the vocabulary or beside it */
    for (size_t i = 0; i < t->added_count; i++) {
        const lg_added *a = &t->added[i];
        uint32_t id;
        bool named = lg_strings_find(&r->names, a->content, a->length, &id);
        if (named && id != a->id)
            return lg_reader_refuse(r, "added_tokens", "\"%.100s\" has the id %u here and %u in model.vocab",
                                    a->content, a->id, id);
        lg_token probe = {.id = a->id};
        lg_token *token = known ? bsearch(&probe, t->tokens, known, sizeof probe, compare_tokens) : NULL;
        if (token && !named)
            return lg_reader_refuse(r, "added_tokens",
                                    "the id %u of \"%.100s\" is that of another token in model.vocab", a->id,
                                    a->content);
        if (!token) token = &t->tokens[t->token_count++];
        *token = (lg_token){t->bytes.length, a->id, (uint32_t)a->length};
        lg_text_put(&t->bytes, a->content, a->length);
    }
    if (t->bytes.failed) return lg_fail_memory(r->error);
    sort_tokens(t->tokens, t->token_count);
    return LG_OK;
}
