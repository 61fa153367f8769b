/* One line of a JSONL corpus: an object with "text" or "input_ids", and what it says of the document. */
#include "corpus/jsonl.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { TEXT, ID, SOURCE, LABEL, REST }; /* places in `scratch`: strings that live side by side */

bool lg_jsonl_is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n') return false;
    return true;
}

/* Reads a string whose bytes stay until the next line. */
static bool keep_string(lg_json *json, lg_text *scratch, lg_string *value) {
    lg_text *before = json->scratch;
    json->scratch = scratch;
    bool good = lg_json_string(json, value);
    json->scratch = before;
    if (good && !value->data) value->data = "";
    return good;
}

static bool read_ids(lg_json *json, lg_jsonl_line *line, bool *out_of_memory) {
    if (!lg_json_array(json)) return false;
    line->n_ids = 0;
    while (lg_json_element(json)) {
        int64_t id;
        if (!lg_json_integer(json, &id)) return false;
        if (id < 0 || id > INT32_MAX)
            return lg_json_complain(json, "token id %lld is not in 0 to 2147483647", (long long)id);
        if (!lg_reserve(&line->ids, &line->ids_capacity, line->n_ids + 1, sizeof *line->ids)) {
            *out_of_memory = true;
            return false;
        }
        line->ids[line->n_ids++] = (uint32_t)id;
    }
    return !json->failed;
}

/* A name for the document: a string, or an integer of any size as its digits; other values name nothing. */
static bool read_id(lg_json *json, lg_jsonl_line *line) {
    lg_json_type type = lg_json_peek(json);
    if (type == LG_JSON_STRING) return keep_string(json, &line->scratch[ID], &line->id);
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n'))
        json->at++;
    const char *begin = json->at;
    if (!lg_json_skip(json)) return false;
    size_t digits = begin < json->at && *begin == '-', length = (size_t)(json->at - begin);
    while (digits < length && begin[digits] >= '0' && begin[digits] <= '9') digits++;
    if (length && digits == length) line->id = (lg_string){begin, length};
    return true;
}

static bool read_label(lg_json *json, const char *key, lg_text *scratch, lg_string *label) {
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
    if (lg_json_peek(json) != LG_JSON_STRING) return lg_json_complain(json, "\"%s\" is no string", key);
    if (!keep_string(json, scratch, label)) return false;
    if (label->length && memchr(label->data, 0, label->length))
        return lg_json_complain(json, "\"%s\" holds U+0000, which no label can", key);
    if (label->length == 0) label->data = NULL;
    return true;
}

static bool read_kind(lg_json *json, lg_jsonl_line *line) {
    if (lg_json_peek(json) != LG_JSON_STRING) return lg_json_skip(json);
    lg_string name;
    if (!lg_json_string(json, &name)) return false;
    for (unsigned i = 0; i < LG_N_KINDS; i++)
        if (lg_string_is(name, lg_kind_name((lg_kind)i))) {
            line->kind = (lg_kind)i;
            line->has_kind = true;
        }
    return true; /* another value is somebody else's field */
}

static bool read_text(lg_json *json, lg_jsonl_line *line) {
    if (lg_json_peek(json) != LG_JSON_STRING) return lg_json_complain(json, "\"text\" is no string");
    size_t before = json->lone_surrogates;
    bool good = keep_string(json, &line->scratch[TEXT], &line->text);
    line->lone_surrogates = json->lone_surrogates - before;
    return good;
}

static bool read_object(lg_json *json, bool input_ids, lg_jsonl_line *line, bool *out_of_memory) {
    static const char *const keys[] = {"text", "id", "source", "domain", "kind", "input_ids"};
    enum { N = sizeof keys / sizeof *keys, CONTENT_TEXT = 0, CONTENT_IDS = N - 1 };
    bool seen[N] = {false};
    lg_string source = {0}, key;
    if (lg_json_peek(json) != LG_JSON_OBJECT && !json->failed)
        return lg_json_complain(json, "the line is no JSON object");
    if (!lg_json_object(json)) return false;
    while (lg_json_key(json, &key)) {
        size_t k = 0;
        while (k < N && !lg_string_is(key, keys[k])) k++;
        if (k < N && seen[k]) return lg_json_complain(json, "\"%s\" comes twice", keys[k]);
        if (k < N) seen[k] = true;
        bool good;
        switch (k) {
        case CONTENT_TEXT:
            good = input_ids ? lg_json_skip(json) : read_text(json, line);
            break;
        case 1:
            good = read_id(json, line);
            break;
        case 2:
            good = read_label(json, "source", &line->scratch[SOURCE], &source);
            break;
        case 3:
            good = read_label(json, "domain", &line->scratch[LABEL], &line->domain);
            break;
        case 4:
            good = read_kind(json, line);
            break;
        case CONTENT_IDS:
            good = input_ids ? read_ids(json, line, out_of_memory) : lg_json_skip(json);
            break;
        default:
            good = lg_json_skip(json);
        }
        if (!good) return false;
    }
    if (json->failed) return false;
    if (!seen[input_ids ? CONTENT_IDS : CONTENT_TEXT])
        return lg_json_complain(json, "the object has no \"%s\"",
                                keys[input_ids ? CONTENT_IDS : CONTENT_TEXT]);
    if (!line->domain.data) line->domain = source;
    return true;
}

lg_status lg_jsonl_read(const char *text, size_t length, const char *name, bool input_ids,
                        lg_jsonl_line *line, lg_error *error) {
    lg_json json;
    bool out_of_memory = false;
    line->text = line->id = line->domain = (lg_string){0};
    line->n_ids = line->lone_surrogates = 0;
    line->has_kind = false;
    lg_json_start(&json, text, length, name, &line->scratch[REST], error);
    if (read_object(&json, input_ids, line, &out_of_memory) || !out_of_memory) return lg_json_done(&json);
    return lg_fail_memory(error);
}

void lg_jsonl_free(lg_jsonl_line *line) {
    free(line->ids);
    for (size_t i = 0; i < sizeof line->scratch / sizeof *line->scratch; i++) lg_text_free(&line->scratch[i]);
    *line = (lg_jsonl_line){0};
}
