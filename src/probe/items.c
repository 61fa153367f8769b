/* Probe items in memory: adding, checking, writing. */
#include "probe/items.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

lg_status lg_probe_items_create(lg_probe_items **items, lg_error *error) {
    *items = calloc(1, sizeof **items);
    return *items ? LG_OK : lg_fail_memory(error);
}

void lg_probe_items_free(lg_probe_items *items) {
    if (!items) return;
    lg_arena_free(&items->arena);
    free(items->items);
    free(items->lines);
    free(items->slots);
    free(items);
}

size_t lg_probe_n_items(const lg_probe_items *items) {
    return items->count;
}

const lg_probe_item *lg_probe_item_at(const lg_probe_items *items, size_t i) {
    return &items->items[i];
}

/* ---- checking ---- */

bool lg_probe_is_utf8(const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        uint32_t code;
        bool valid = true;
        i += (unsigned char)text[i] < 0x80 ? 1 : lg_utf8_decode(text + i, length - i, &code, &valid);
        if (!valid) return false;
    }
    return true;
}

static bool is_text(const char *label) {
    return lg_probe_is_utf8(label, strlen(label));
}

static bool is_id(const char *id) {
    if (id[0] == '"') { /* one JSON string and nothing behind it */
        lg_text scratch = {0};
        lg_json json;
        lg_string string;
        lg_json_start(&json, id, strlen(id), "id", &scratch, NULL);
        bool good = lg_json_string(&json, &string) && lg_json_done(&json) == LG_OK;
        lg_text_free(&scratch);
        return good && is_text(id);
    }
    const char *digits = id + (id[0] == '-');
    return digits[0] && strspn(digits, "0123456789") == strlen(digits) && (digits[0] != '0' || !digits[1]);
}

static int compare_choices(const void *a, const void *b) {
    const lg_probe_choice *x = *(const lg_probe_choice *const *)a, *y = *(const lg_probe_choice *const *)b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* false: no memory. *FOUND: two choices are the same text. */
static bool find_same_choices(const lg_probe_item *item, bool *found) {
    const lg_probe_choice *few[8], **sorted = few;
    *found = false;
    if (item->n_choices > 8 && !(sorted = lg_alloc(item->n_choices, sizeof *sorted))) return false;
    for (size_t i = 0; i < item->n_choices; i++) sorted[i] = &item->choices[i];
    qsort(sorted, item->n_choices, sizeof *sorted, compare_choices);
    for (size_t i = 1; i < item->n_choices; i++)
        if (compare_choices(&sorted[i - 1], &sorted[i]) == 0) *found = true;
    if (sorted != few) free(sorted);
    return true;
}

static bool is_choice(const lg_probe_item *item, int index) {
    return index >= -1 && (index < 0 || (size_t)index < item->n_choices);
}

enum { PROBLEM = 256 };

static bool check(const lg_probe_item *item, char problem[PROBLEM]) {
    bool same = false;
    if (!is_id(item->id))
        snprintf(problem, PROBLEM, "the id is neither a whole number nor a string: write it as one");
    else if (!item->probe[0] || !is_text(item->probe))
        snprintf(problem, PROBLEM, "\"probe\" is empty or not UTF-8: name the probe that the item is of");
    else if (!is_text(item->cell) || !is_text(item->group) || (item->tokenizer && !is_text(item->tokenizer)))
        snprintf(problem, PROBLEM, "a label is not UTF-8: convert the file");
    else if (!item->prompt_length)
        snprintf(problem, PROBLEM, "the prompt is empty: give the model something to go by");
    else if (!lg_probe_is_utf8(item->prompt, item->prompt_length))
        snprintf(problem, PROBLEM, "the prompt is not UTF-8: convert the file");
    else if (item->n_choices < 2)
        snprintf(problem, PROBLEM, "%zu choice%s: a probe needs two or more", item->n_choices,
                 item->n_choices == 1 ? "" : "s");
    else if (item->answer >= item->n_choices)
        snprintf(problem, PROBLEM, "the answer %zu is no index of its %zu choices: count them from 0",
                 item->answer, item->n_choices);
    else if (!is_choice(item, item->most_recent) || !is_choice(item, item->most_frequent) ||
             !is_choice(item, item->first_mention))
        snprintf(
            problem, PROBLEM,
            "most_recent, most_frequent or first_mention is no index of its %zu choices: count them from 0",
            item->n_choices);
    for (size_t i = 0; i < item->n_choices && !problem[0]; i++) {
        const lg_probe_choice *c = &item->choices[i];
        if (!c->length)
            snprintf(problem, PROBLEM, "choice %zu is empty: write the text that would follow the prompt", i);
        else if (!lg_probe_is_utf8(c->text, c->length))
            snprintf(problem, PROBLEM, "choice %zu is not UTF-8: convert the file", i);
        else if (c->bound < -1 || c->listed < -1)
            snprintf(problem, PROBLEM, "choice %zu has a negative rank", i);
    }
    for (size_t i = 0; i < item->n_spans && !problem[0]; i++) {
        const lg_probe_span *s = &item->spans[i];
        if (!is_text(s->role))
            snprintf(problem, PROBLEM, "the role of span %zu is not UTF-8: convert the file", i);
        else if (s->begin > s->end || s->end > item->prompt_length)
            snprintf(problem, PROBLEM, "span %zu (%zu to %zu) does not lie in the prompt's %zu bytes", i,
                     s->begin, s->end, item->prompt_length);
    }
    if (problem[0]) return false;
    if (!find_same_choices(item, &same)) return false;
    if (same)
        snprintf(problem, PROBLEM, "two choices are the same text, so that neither can be the better one");
    return !same;
}

/* ---- adding ---- */

/* The slot that holds ID, or the free one where it would be. */
static size_t *find_slot(const lg_probe_items *items, const char *id) {
    size_t mask = items->n_slots - 1;
    for (size_t at = (size_t)lg_hash_of(id, strlen(id)).low & mask;; at = (at + 1) & mask)
        if (!items->slots[at] || strcmp(items->items[items->slots[at] - 1].id, id) == 0)
            return &items->slots[at];
}

static bool grow_slots(lg_probe_items *items) {
    size_t n = items->n_slots ? 2 * items->n_slots : 64;
    if (n < items->n_slots) return false;
    size_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(items->slots);
    items->slots = slots;
    items->n_slots = n;
    for (size_t i = 0; i < items->count; i++) *find_slot(items, items->items[i].id) = i + 1;
    return true;
}

bool lg_probe_items_append(lg_probe_items *items, const lg_probe_item *item, size_t line,
                           char problem[PROBLEM]) {
    lg_probe_item checked = *item;
    problem[0] = '\0';
    if (!checked.group) checked.group = checked.id;
    if (!check(&checked, problem)) return false;
    if (items->count >= items->n_slots / 2 && !grow_slots(items)) return false;
    size_t *slot = find_slot(items, item->id);
    if (*slot) {
        size_t there = items->lines[*slot - 1];
        if (there)
            snprintf(problem, PROBLEM, "the id %.60s is that of line %zu already: give each item its own",
                     item->id, there);
        else snprintf(problem, PROBLEM, "the id %.60s is there already: give each item its own", item->id);
        return false;
    }
    if (!lg_reserve(&items->items, &items->capacity, items->count + 1, sizeof *items->items) ||
        !lg_reserve(&items->lines, &items->lines_capacity, items->count + 1, sizeof *items->lines))
        return false;
    items->items[items->count] = checked;
    items->lines[items->count++] = line;
    *slot = items->count;
    return true;
}

void lg_probe_items_truncate(lg_probe_items *items, size_t count) {
    if (count >= items->count) return;
    items->count = count;
    memset(items->slots, 0, items->n_slots * sizeof *items->slots);
    for (size_t i = 0; i < count; i++) *find_slot(items, items->items[i].id) = i + 1;
}

static const char *copy(lg_probe_items *items, const char *text, bool *failed) {
    if (!text) return NULL;
    char *kept = lg_arena_copy(&items->arena, text, strlen(text));
    if (!kept) *failed = true;
    return kept;
}

static void *room(lg_probe_items *items, size_t count, size_t size, bool *failed) {
    size_t bytes;
    void *data = lg_multiply(count, size, &bytes) ? lg_arena_alloc(&items->arena, bytes) : NULL;
    if (!data) *failed = true;
    return data;
}

lg_status lg_probe_items_add(lg_probe_items *items, const lg_probe_item *item, lg_error *error) {
    bool failed = false;
    char problem[PROBLEM];
    lg_probe_item kept = *item;
    kept.id = copy(items, item->id, &failed);
    kept.probe = copy(items, item->probe, &failed);
    kept.cell = copy(items, item->cell, &failed);
    kept.group = copy(items, item->group, &failed);
    kept.tokenizer = copy(items, item->tokenizer, &failed);
    kept.prompt = lg_arena_copy(&items->arena, item->prompt, item->prompt_length);
    lg_probe_choice *choices = room(items, item->n_choices, sizeof *choices, &failed);
    lg_probe_span *spans = room(items, item->n_spans, sizeof *spans, &failed);
    if (failed || !kept.prompt) return lg_fail_memory(error);
    for (size_t i = 0; i < item->n_choices; i++) {
        choices[i] = item->choices[i];
        choices[i].text = lg_arena_copy(&items->arena, item->choices[i].text, item->choices[i].length);
        failed |= !choices[i].text;
    }
    for (size_t i = 0; i < item->n_spans; i++) {
        spans[i] = item->spans[i];
        spans[i].role = copy(items, item->spans[i].role, &failed);
    }
    if (failed) return lg_fail_memory(error);
    kept.choices = choices;
    kept.spans = spans;
    if (lg_probe_items_append(items, &kept, 0, problem)) return LG_OK;
    if (!problem[0]) return lg_fail_memory(error);
    return lg_fail(error, LG_USAGE, "probe item %.60s: %s", kept.id, problem);
}

/* ---- writing ---- */

static void put_member(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

static void put_index(lg_json_writer *w, const char *key, int index) {
    if (index < 0) return;
    lg_json_put_key(w, key);
    lg_json_put_integer(w, index);
}

static void put_ranks(lg_json_writer *w, const char *key, const lg_probe_item *item, bool listed) {
    bool said = false;
    for (size_t i = 0; i < item->n_choices; i++)
        said |= (listed ? item->choices[i].listed : item->choices[i].bound) >= 0;
    if (!said) return;
    lg_json_put_key(w, key);
    lg_json_put_array(w);
    for (size_t i = 0; i < item->n_choices; i++) {
        int rank = listed ? item->choices[i].listed : item->choices[i].bound;
        if (rank < 0) lg_json_put_null(w);
        else lg_json_put_integer(w, rank);
    }
    lg_json_end_array(w);
}

void lg_probe_put_item(lg_text *out, const lg_probe_item *item) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "id");
    lg_json_put_raw(&w, item->id, strlen(item->id));
    put_member(&w, "probe", item->probe);
    lg_json_put_key(&w, "distance");
    lg_json_put_unsigned(&w, item->distance);
    if (item->cell[0]) put_member(&w, "cell", item->cell);
    if (strcmp(item->group, item->id) != 0) put_member(&w, "group", item->group);
    if (item->tokenizer) put_member(&w, "tokenizer", item->tokenizer);
    lg_json_put_key(&w, "prompt");
    lg_json_put_string(&w, item->prompt, item->prompt_length);
    lg_json_put_key(&w, "choices");
    lg_json_put_array(&w);
    for (size_t i = 0; i < item->n_choices; i++)
        lg_json_put_string(&w, item->choices[i].text, item->choices[i].length);
    lg_json_end_array(&w);
    lg_json_put_key(&w, "answer");
    lg_json_put_unsigned(&w, item->answer);
    put_ranks(&w, "bound", item, false);
    put_ranks(&w, "listed", item, true);
    put_index(&w, "most_recent", item->most_recent);
    put_index(&w, "most_frequent", item->most_frequent);
    put_index(&w, "first_mention", item->first_mention);
    if (item->n_spans) {
        lg_json_put_key(&w, "spans");
        lg_json_put_array(&w);
        for (size_t i = 0; i < item->n_spans; i++) {
            lg_json_put_object(&w);
            put_member(&w, "role", item->spans[i].role);
            lg_json_put_key(&w, "begin");
            lg_json_put_unsigned(&w, item->spans[i].begin);
            lg_json_put_key(&w, "end");
            lg_json_put_unsigned(&w, item->spans[i].end);
            lg_json_end_object(&w);
        }
        lg_json_end_array(&w);
    }
    lg_json_end_object(&w);
}

lg_status lg_probe_items_write(const lg_probe_items *items, const char *path, lg_error *error) {
    lg_text line = {0};
    lg_output output;
    lg_status status = lg_output_open(path, &output, error);
    if (status) return status;
    for (size_t i = 0; i < items->count && !line.failed; i++) {
        line.length = 0;
        lg_probe_put_item(&line, &items->items[i]);
        lg_text_puts(&line, "\n");
        if (!line.failed) fwrite(line.data, 1, line.length, output.stream);
    }
    status = line.failed ? lg_fail_memory(error) : lg_output_commit(&output, error);
    lg_output_discard(&output);
    lg_text_free(&line);
    return status;
}

lg_status lg_probe_items_identity(const lg_probe_items *items, char identity[33], lg_error *error) {
    lg_text line = {0};
    lg_hasher *hasher = lg_hasher_create();
    bool failed = !hasher;
    for (size_t i = 0; i < items->count && !failed; i++) {
        line.length = 0;
        lg_probe_put_item(&line, &items->items[i]);
        lg_text_puts(&line, "\n");
        failed = line.failed;
        if (!failed) lg_hasher_add(hasher, line.data, line.length);
    }
    if (!failed) lg_hash_hex(lg_hasher_value(hasher), identity);
    lg_hasher_free(hasher);
    lg_text_free(&line);
    return failed ? lg_fail_memory(error) : LG_OK;
}
