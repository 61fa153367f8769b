/* Reads probe items: a file of one JSON object a line, that people edit and share. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "probe/items.h"

enum {
    ID,
    PROBE,
    DISTANCE,
    CELL,
    GROUP,
    TOKENIZER,
    PROMPT,
    CHOICES,
    ANSWER,
    BOUND,
    LISTED,
    SPANS,
    MOST_RECENT,
    MOST_FREQUENT,
    FIRST_MENTION,
    N_FIELDS
};

static const char *const fields[N_FIELDS] = {
    "id",     "probe", "distance", "cell",  "group",       "tokenizer",     "prompt",       "choices",
    "answer", "bound", "listed",   "spans", "most_recent", "most_frequent", "first_mention"};

typedef struct ranks {
    int *data; /* [count] */
    size_t count, capacity;
} ranks;

/* What one line is read with; the buffers are used again for the next. */
typedef struct reader {
    lg_json json;
    lg_probe_items *items;
    lg_probe_item item;
    lg_probe_choice *choices;
    lg_probe_span *spans;
    size_t choices_capacity, spans_capacity;
    ranks bound, listed;
    lg_text scratch;
    bool no_memory;
} reader;

static bool lacks_memory(reader *r) {
    r->no_memory = true;
    return false;
}

static bool read_string(reader *r, const char *key, const char **text, size_t *length) {
    lg_string string;
    if (lg_json_peek(&r->json) != LG_JSON_STRING && !r->json.failed)
        return lg_json_complain(&r->json, "\"%s\" is no string", key);
    if (!lg_json_string(&r->json, &string)) return false;
    if (r->json.lone_surrogates)
        return lg_json_complain(&r->json, "\"%s\" holds half a surrogate pair, which is no character", key);
    *text = lg_arena_copy(&r->items->arena, string.data, string.length);
    *length = string.length;
    return *text ? true : lacks_memory(r);
}

static bool read_label(reader *r, const char *key, const char **label) {
    size_t length;
    if (lg_json_peek(&r->json) == LG_JSON_NULL) return lg_json_null(&r->json);
    if (!read_string(r, key, label, &length)) return false;
    if (strlen(*label) != length)
        return lg_json_complain(&r->json, "\"%s\" holds U+0000, which no label can", key);
    return true;
}

/* As the JSON text that is written out again; strings in the writer's spelling, so that the same id looks the
   same. */
static bool read_id(reader *r) {
    lg_json_type type = lg_json_peek(&r->json);
    if (type == LG_JSON_STRING) {
        const char *string;
        size_t length;
        lg_text quoted = {0};
        lg_json_writer w = {.out = &quoted};
        if (!read_string(r, "id", &string, &length)) return false;
        if (!lg_probe_is_utf8(string, length))
            return lg_json_complain(&r->json, "the id is not UTF-8: convert the file");
        lg_json_put_string(&w, string, length);
        r->item.id = quoted.failed ? NULL : lg_arena_copy(&r->items->arena, quoted.data, quoted.length);
        lg_text_free(&quoted);
        return r->item.id ? true : lacks_memory(r);
    }
    /* lg_json_peek stops before a value's first byte */
    const char *begin = r->json.at;
    if (!lg_json_skip(&r->json)) return false;
    while (begin < r->json.at && strchr(" \t\r\n", *begin)) begin++;
    const char *digits = begin + (*begin == '-');
    size_t length = (size_t)(r->json.at - digits), n = 0;
    while (n < length && digits[n] >= '0' && digits[n] <= '9') n++;
    if (!n || n < length)
        return lg_json_complain(&r->json, "the id is neither a whole number nor a string: write it as one");
    r->item.id = lg_arena_copy(&r->items->arena, begin, (size_t)(r->json.at - begin));
    return r->item.id ? true : lacks_memory(r);
}

static bool read_choices(reader *r) {
    r->item.n_choices = 0;
    if (!lg_json_array(&r->json)) return false;
    while (lg_json_element(&r->json)) {
        if (!lg_reserve(&r->choices, &r->choices_capacity, r->item.n_choices + 1, sizeof *r->choices))
            return lacks_memory(r);
        lg_probe_choice *c = &r->choices[r->item.n_choices];
        *c = (lg_probe_choice){.bound = -1, .listed = -1};
        if (!read_string(r, "choices", &c->text, &c->length)) return false;
        r->item.n_choices++;
    }
    return !r->json.failed;
}

static bool read_index(reader *r, const char *key, int *index) {
    int64_t value;
    if (lg_json_peek(&r->json) == LG_JSON_NULL) {
        *index = -1;
        return lg_json_null(&r->json);
    }
    if (!lg_json_integer(&r->json, &value)) return false;
    if (value < 0 || value > INT_MAX)
        return lg_json_complain(&r->json, "%lld in \"%s\" is not in 0 to %d", (long long)value, key, INT_MAX);
    *index = (int)value;
    return true;
}

static bool read_ranks(reader *r, const char *key, ranks *list) {
    list->count = 0;
    if (!lg_json_array(&r->json)) return false;
    while (lg_json_element(&r->json)) {
        if (!lg_reserve(&list->data, &list->capacity, list->count + 1, sizeof *list->data))
            return lacks_memory(r);
        if (!read_index(r, key, &list->data[list->count])) return false;
        list->count++;
    }
    return !r->json.failed;
}

static bool read_size(reader *r, size_t *size) {
    uint64_t value;
    if (!lg_json_unsigned(&r->json, &value)) return false;
    if (value > SIZE_MAX) return lg_json_complain(&r->json, "a number beyond this machine's sizes");
    *size = (size_t)value;
    return true;
}

static bool read_span(reader *r, lg_probe_span *span) {
    bool seen[3] = {false};
    lg_string key;
    if (!lg_json_object(&r->json)) return false;
    while (lg_json_key(&r->json, &key)) {
        static const char *const keys[] = {"role", "begin", "end"};
        size_t k = 0;
        while (k < 3 && !lg_string_is(key, keys[k])) k++;
        if (k < 3 && seen[k]) return lg_json_complain(&r->json, "\"%s\" comes twice", keys[k]);
        if (k < 3) seen[k] = true;
        if (k == 0   ? !read_label(r, "role", &span->role)
            : k == 1 ? !read_size(r, &span->begin)
            : k == 2 ? !read_size(r, &span->end)
                     : !lg_json_skip(&r->json))
            return false;
    }
    if (r->json.failed) return false;
    if (!span->role || !seen[1] || !seen[2])
        return lg_json_complain(&r->json, "a span needs \"role\", \"begin\" and \"end\"");
    return true;
}

static bool read_spans(reader *r) {
    r->item.n_spans = 0;
    if (!lg_json_array(&r->json)) return false;
    while (lg_json_element(&r->json)) {
        if (!lg_reserve(&r->spans, &r->spans_capacity, r->item.n_spans + 1, sizeof *r->spans))
            return lacks_memory(r);
        r->spans[r->item.n_spans] = (lg_probe_span){0};
        if (!read_span(r, &r->spans[r->item.n_spans])) return false;
        r->item.n_spans++;
    }
    return !r->json.failed;
}

static bool read_field(reader *r, size_t field) {
    lg_probe_item *item = &r->item;
    switch (field) {
    case ID:
        return read_id(r);
    case PROBE:
        return read_label(r, "probe", &item->probe);
    case DISTANCE:
        return lg_json_unsigned(&r->json, &item->distance);
    case CELL:
        return read_label(r, "cell", &item->cell);
    case GROUP:
        return read_label(r, "group", &item->group);
    case TOKENIZER:
        return read_label(r, "tokenizer", &item->tokenizer);
    case PROMPT:
        return read_string(r, "prompt", &item->prompt, &item->prompt_length);
    case CHOICES:
        return read_choices(r);
    case ANSWER:
        return read_size(r, &item->answer);
    case BOUND:
        return read_ranks(r, "bound", &r->bound);
    case LISTED:
        return read_ranks(r, "listed", &r->listed);
    case SPANS:
        return read_spans(r);
    case MOST_RECENT:
        return read_index(r, "most_recent", &item->most_recent);
    case MOST_FREQUENT:
        return read_index(r, "most_frequent", &item->most_frequent);
    case FIRST_MENTION:
        return read_index(r, "first_mention", &item->first_mention);
    default:
        return lg_json_skip(&r->json);
    }
}

static bool read_object(reader *r) {
    bool seen[N_FIELDS] = {false};
    lg_string key;
    if (lg_json_peek(&r->json) != LG_JSON_OBJECT && !r->json.failed)
        return lg_json_complain(&r->json, "the line is no JSON object");
    if (!lg_json_object(&r->json)) return false;
    while (lg_json_key(&r->json, &key)) {
        size_t k = 0;
        while (k < N_FIELDS && !lg_string_is(key, fields[k])) k++;
        if (k < N_FIELDS && seen[k]) return lg_json_complain(&r->json, "\"%s\" comes twice", fields[k]);
        if (k < N_FIELDS) seen[k] = true;
        if (!read_field(r, k)) return false;
    }
    if (r->json.failed) return false;
    static const unsigned char needed[] = {PROBE, PROMPT, CHOICES, ANSWER};
    for (size_t i = 0; i < sizeof needed; i++)
        if (!seen[needed[i]])
            return lg_json_complain(&r->json, "the item has no \"%s\", which every item needs",
                                    fields[needed[i]]);
    const ranks *lists[2] = {&r->bound, &r->listed};
    for (size_t i = 0; i < 2; i++)
        if (seen[BOUND + i] && lists[i]->count != r->item.n_choices)
            return lg_json_complain(&r->json,
                                    "\"%s\" has %zu entries, but there are %zu choices: one for each",
                                    fields[BOUND + i], lists[i]->count, r->item.n_choices);
    for (size_t i = 0; i < r->item.n_choices; i++) {
        if (seen[BOUND]) r->choices[i].bound = r->bound.data[i];
        if (seen[LISTED]) r->choices[i].listed = r->listed.data[i];
    }
    return true;
}

/* Moves the arrays of the item just read to where they stay. */
static bool keep_arrays(reader *r) {
    lg_probe_item *item = &r->item;
    size_t choices, spans;
    if (!lg_multiply(item->n_choices, sizeof *r->choices, &choices) ||
        !lg_multiply(item->n_spans, sizeof *r->spans, &spans))
        return false;
    void *kept_choices = lg_arena_alloc(&r->items->arena, choices);
    void *kept_spans = lg_arena_alloc(&r->items->arena, spans);
    if (!kept_choices || !kept_spans) return false;
    if (choices) memcpy(kept_choices, r->choices, choices);
    if (spans) memcpy(kept_spans, r->spans, spans);
    item->choices = kept_choices;
    item->spans = kept_spans;
    return true;
}

static lg_status read_line(reader *r, const char *text, size_t length, const char *path, size_t line,
                           const char *name, lg_error *error) {
    char problem[256], number[32];
    r->item = (lg_probe_item){.cell = "", .most_recent = -1, .most_frequent = -1, .first_mention = -1};
    lg_json_start(&r->json, text, length, name, &r->scratch, error);
    if (!read_object(r)) {
        if (r->no_memory) return lg_fail_memory(error);
        return lg_json_done(&r->json);
    }
    lg_status status = lg_json_done(&r->json);
    if (status) return status;
    snprintf(number, sizeof number, "%zu", line);
    if (!r->item.id) r->item.id = lg_arena_copy(&r->items->arena, number, strlen(number));
    if (!r->item.probe) r->item.probe = "";
    if (!r->item.cell) r->item.cell = "";
    if (!r->item.id || !keep_arrays(r)) return lg_fail_memory(error);
    if (lg_probe_items_append(r->items, &r->item, line, problem)) return LG_OK;
    if (!problem[0]) return lg_fail_memory(error);
    return lg_fail(error, LG_BAD_INPUT, "%s:%zu: %s", path, line, problem);
}

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", text[i]) || !text[i]) return false;
    return true;
}

lg_status lg_probe_items_parse(const char *text, size_t length, const char *name, lg_probe_items **items,
                               lg_error *error) {
    reader r = {0};
    lg_text place = {0};
    lg_status status = lg_probe_items_create(items, error);
    r.items = *items;
    const char *end = length ? text + length : text;
    size_t line = 0;
    for (const char *at = text; !status && at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        line++;
        if (!is_blank(at, n)) {
            place.length = 0;
            lg_text_printf(&place, "%s:%zu", name, line);
            status =
                place.failed ? lg_fail_memory(error) : read_line(&r, at, n, name, line, place.data, error);
        }
        at += n + 1;
    }
    if (!status && !r.items->count)
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s: no items: write one JSON object a line (docs/formats/probe-items.md)", name);
    free(r.choices);
    free(r.spans);
    free(r.bound.data);
    free(r.listed.data);
    lg_text_free(&r.scratch);
    lg_text_free(&place);
    if (status) {
        lg_probe_items_free(*items);
        *items = NULL;
    }
    return status;
}

lg_status lg_probe_items_read(const char *path, lg_probe_items **items, lg_error *error) {
    lg_mapping file;
    *items = NULL;
    lg_status status = lg_map(path, &file, error);
    if (status) return status;
    status = lg_probe_items_parse((const char *)file.data, file.size, path, items, error);
    lg_unmap(&file);
    return status;
}
