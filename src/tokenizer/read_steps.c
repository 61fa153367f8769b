/* The members "normalizer" and "pre_tokenizer" of tokenizer.json. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tokenizer/read_internal.h"

/* The string member KEY; NULL (and *STATUS): it is missing or no string. */
static const char *text_member(lg_reader *r, const char *place, const lg_json_value *value, const char *key,
                               lg_status *status) {
    const lg_json_value *member = lg_json_get(value, key);
    if (member && member->type == LG_JSON_STRING) return member->string;
    *status = lg_reader_refuse(r, place, member ? "%s is not a string" : "it has no %s", key);
    return NULL;
}

enum { REQUIRED = 1, OPTIONAL = 0 };

static lg_status bool_member(lg_reader *r, const char *place, const lg_json_value *value, const char *key,
                             bool required, bool *out) {
    const lg_json_value *member = lg_json_get(value, key);
    if (!member && !required) return LG_OK;
    if (!member || member->type != LG_JSON_BOOL)
        return lg_reader_refuse(r, place, member ? "%s is neither true nor false" : "it has no %s", key);
    *out = member->boolean;
    return LG_OK;
}

/* Runs EACH over the elements of the array KEY. */
static lg_status for_elements(lg_reader *r, const char *place, const lg_json_value *value, const char *key,
                              lg_status (*each)(lg_reader *, const char *, const lg_json_value *)) {
    const lg_json_value *list = lg_json_get(value, key);
    if (!list || list->type != LG_JSON_ARRAY)
        return lg_reader_refuse(r, place, list ? "%s is not a list" : "it has no %s", key);
    lg_status status = LG_OK;
    size_t i = 0;
    for (const lg_json_value *v = list->first; v && !status; v = v->next) {
        char inner[128];
        snprintf(inner, sizeof inner, "%.80s.%s[%zu]", place, key, i++);
        status = each(r, inner, v);
    }
    return status;
}

/* ---- normalizer ---- */

static lg_status normalizer(lg_reader *r, const char *place, const lg_json_value *value) {
    if (value->type == LG_JSON_NULL) return LG_OK;
    lg_status status = LG_OK;
    const char *type = text_member(r, place, value, "type", &status);
    if (!type) return status;
    if (strcmp(type, "NFC") == 0) r->tokenizer->nfc = true;
    else if (strcmp(type, "Sequence") == 0) status = for_elements(r, place, value, "normalizers", normalizer);
    else
        status = lg_reader_refuse(r, place,
                                  "the type is \"%.60s\"; only NFC, Sequence and null are supported", type);
    return status;
}

lg_status lg_read_normalizer(lg_reader *r, const lg_json_value *value) {
    return normalizer(r, "normalizer", value);
}

/* ---- pre-tokenizers ---- */

/* A new step at the end; NULL: no memory. */
static lg_step *add_step(lg_reader *r, lg_step step) {
    lg_tokenizer *t = r->tokenizer;
    if (!lg_reserve(&t->steps, &t->step_capacity, t->step_count + 1, sizeof *t->steps)) {
        lg_fail_memory(r->error);
        return NULL;
    }
    t->steps[t->step_count] = step;
    return &t->steps[t->step_count++];
}

/* Gives STEP the pattern, hand-written or compiled. */
static lg_status set_pattern(lg_reader *r, lg_step *step, const char *pattern, size_t length) {
    step->splitter = r->no_splitters ? NULL : lg_splitter_find(pattern, length);
    step->kind = step->splitter ? LG_STEP_SPLITTER : LG_STEP_PATTERN;
    if (step->splitter) return LG_OK;
    r->tokenizer->uses_patterns = true;
    return lg_pattern_compile(pattern, length, r->name, &step->pattern, r->error);
}

static lg_status read_split(lg_reader *r, const char *place, const lg_json_value *value) {
    static const char *const behaviors[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                            "Contiguous"}; /* in the order of lg_behavior */
    lg_status status = LG_OK;
    const char *behavior = text_member(r, place, value, "behavior", &status);
    if (!behavior) return status;
    size_t b = 0;
    while (b < 5 && strcmp(behavior, behaviors[b]) != 0) b++;
    if (b == 5) return lg_reader_refuse(r, place, "the behavior \"%.60s\" is unknown", behavior);
    bool invert = false;
    status = bool_member(r, place, value, "invert", OPTIONAL, &invert);
    if (status) return status;

    const lg_json_value *pattern = lg_json_get(value, "pattern");
    const lg_json_value *regex = lg_json_get(pattern, "Regex"), *literal = lg_json_get(pattern, "String");
    const lg_json_value *text = regex ? regex : literal;
    if (!text || text->type != LG_JSON_STRING || (regex && literal))
        return lg_reader_refuse(r, place, "the pattern is neither {\"Regex\": …} nor {\"String\": …}");
    lg_step *step =
        add_step(r, (lg_step){.kind = LG_STEP_LITERAL, .behavior = (lg_behavior)b, .invert = invert});
    if (!step) return LG_FAILED;
    if (regex) return set_pattern(r, step, text->string, text->length);
    if (!text->length) return lg_reader_refuse(r, place, "the pattern is an empty string");
    step->literal = lg_alloc(text->length, 1);
    if (!step->literal) return lg_fail_memory(r->error);
    memcpy(step->literal, text->string, text->length);
    step->literal_length = text->length;
    return LG_OK;
}

static lg_status read_digits(lg_reader *r, const char *place, const lg_json_value *value) {
    bool individual = false;
    lg_status status = bool_member(r, place, value, "individual_digits", REQUIRED, &individual);
    if (status) return status;
    return add_step(r,
                    (lg_step){.kind = LG_STEP_NUMBERS, .behavior = individual ? LG_ISOLATED : LG_CONTIGUOUS})
               ? LG_OK
               : LG_FAILED;
}

static lg_status read_byte_level(lg_reader *r, const char *place, const lg_json_value *value) {
    bool prefix = false, use_regex = true;
    lg_status status = bool_member(r, place, value, "add_prefix_space", REQUIRED, &prefix);
    if (!status) status = bool_member(r, place, value, "use_regex", OPTIONAL, &use_regex);
    if (status) return status;
    if (prefix && !add_step(r, (lg_step){.kind = LG_STEP_PREFIX})) return LG_FAILED;
    if (!use_regex) return LG_OK;
    lg_step *step = add_step(r, (lg_step){.behavior = LG_ISOLATED});
    const char *pattern = lg_splitter_gpt2()->pattern;
    return step ? set_pattern(r, step, pattern, strlen(pattern)) : LG_FAILED;
}

static lg_status pre_tokenizer(lg_reader *r, const char *place, const lg_json_value *value) {
    lg_status status = LG_OK;
    const char *type = text_member(r, place, value, "type", &status);
    if (!type) return status;
    if (strcmp(type, "Sequence") == 0) return for_elements(r, place, value, "pretokenizers", pre_tokenizer);
    if (r->byte_level)
        return lg_reader_refuse(
            r, place, "\"%.60s\" comes after ByteLevel, which is supported in the last place only", type);
    if (strcmp(type, "Split") == 0) return read_split(r, place, value);
    if (strcmp(type, "Digits") == 0) return read_digits(r, place, value);
    if (strcmp(type, "ByteLevel") == 0) {
        r->byte_level = true;
        return read_byte_level(r, place, value);
    }
    return lg_reader_refuse(
        r, place, "the type is \"%.60s\"; only Split, Digits, ByteLevel and Sequence are supported", type);
}

lg_status lg_read_pre_tokenizer(lg_reader *r, const lg_json_value *value) {
    if (value->type == LG_JSON_NULL) return LG_OK; /* a text is one piece */
    lg_status status = pre_tokenizer(r, "pre_tokenizer", value);
    if (!status && !r->byte_level)
        return lg_reader_refuse(r, "pre_tokenizer",
                                "there is no ByteLevel in it; only byte-level BPE is supported");
    return status;
}
