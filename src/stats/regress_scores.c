/* The columns of two scores of a dataset and its tags, under the names that formulas know. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/comparable.h"
#include "stats/regress_frame.h"

/* What a definition needs of the tags. */
static const struct {
    const char *column, *name, *text;
} of_tags[] = {
    {"word_position", "wordpos", "word_position"},
    {"copy_len", "copy1", "copy_len >= 1"},
    {"copy_len", "copy2", "copy_len >= 2"},
    {"copy_len", "copy3", "copy_len >= 3"},
    {"copy_len", "copy4", "copy_len >= 4"},
    {"prev_distance", "log_prev_distance", "log(max(prev_distance, 1))"},
    {"prev_distance", "prev_missing", "prev_distance = 0"},
    {"frequency", "log_frequency", "log(frequency)"},
};

/* 'loss("NAME")' with what the language escapes. */
static void put_loss(lg_text *out, const char *name) {
    lg_text_puts(out, "loss(\"");
    for (; *name; name++) lg_text_printf(out, "%s%c", *name == '"' || *name == '\\' ? "\\" : "", *name);
    lg_text_puts(out, "\")");
}

/* gap and difficulty, by the models' names: further models may be there. */
static lg_status define_losses(lg_frame *frame, const char *const *models, size_t n, const char *difficulty,
                               lg_error *error) {
    lg_text text = {0};
    put_loss(&text, models[0]);
    lg_text_puts(&text, " - ");
    put_loss(&text, models[1]);
    lg_status status = text.failed ? lg_fail_memory(error) : LG_OK;
    if (!status) status = lg_frame_put_definition(frame, "gap", text.data, true, error);
    lg_text_free(&text);
    if (status) return status;
    if (!difficulty || strcmp(difficulty, "mean") == 0) {
        lg_text_puts(&text, "(");
        put_loss(&text, models[0]);
        lg_text_puts(&text, " + ");
        put_loss(&text, models[1]);
        lg_text_puts(&text, ") / 2");
    } else {
        bool known = false;
        for (size_t i = 0; i < n; i++) known = known || strcmp(models[i], difficulty) == 0;
        if (!known) {
            lg_text names = {0};
            for (size_t i = 0; i < n; i++) lg_text_printf(&names, ", %s", models[i]);
            status = names.failed
                         ? lg_fail_memory(error)
                         : lg_fail(error, LG_USAGE,
                                   "there are no scores of '%s' to measure difficulty by; there are mean%s",
                                   difficulty, names.data);
            lg_text_free(&names);
            return status;
        }
        put_loss(&text, difficulty);
    }
    status = text.failed ? lg_fail_memory(error)
                         : lg_frame_put_definition(frame, "difficulty", text.data, true, error);
    lg_text_free(&text);
    return status;
}

static lg_status note_inputs(lg_frame *frame, const lg_dataset *data, const lg_scores *scores,
                             const char *const *models, size_t n, const lg_table *tags, lg_error *error) {
    lg_status status =
        lg_frame_put_input(frame, "dataset", lg_table_provenance(data->table)->identity, error);
    if (!status && tags)
        status = lg_frame_put_input(frame, "tags", lg_table_provenance(tags)->identity, error);
    for (size_t i = 0; i < n && !status; i++) {
        char name[300];
        snprintf(name, sizeof name, "scores(%s)", models[i]);
        status = lg_frame_put_input(frame, name, lg_table_provenance(scores[i].table)->identity, error);
    }
    return status;
}

lg_status lg_frame_add_scores(lg_frame *frame, const lg_dataset *data, const lg_scores *scores,
                              size_t n_scores, const char *tags_path, const char *difficulty,
                              lg_error *error) {
    lg_table *tags = NULL;
    if (n_scores < 2) return lg_fail(error, LG_USAGE, "a gap needs the scores of two models");
    const char *const *models = lg_name_models(&frame->arena, scores, n_scores);
    if (!models ||
        !lg_reserve(&frame->tables, &frame->tables_room, frame->n_tables + 1, sizeof *frame->tables))
        return lg_fail_memory(error);
    lg_status status = tags_path ? lg_table_open(tags_path, "tags", &tags, error) : LG_OK;
    if (tags) frame->tables[frame->n_tables++] = tags;
    if (!status && tags) status = lg_check_tags(data, tags, error);
    if (!status) status = lg_check_scores(data, scores, n_scores, models, error);
    if (!status)
        status = lg_token_source_open(data, scores, models, n_scores, tags, &frame->token_source, error);
    if (!status) status = note_inputs(frame, data, scores, models, n_scores, tags, error);
    if (!status) status = define_losses(frame, models, n_scores, difficulty, error);
    for (size_t i = 0; i < sizeof of_tags / sizeof *of_tags && tags && !status; i++)
        if (lg_table_find(tags, of_tags[i].column))
            status = lg_frame_put_definition(frame, of_tags[i].name, of_tags[i].text, true, error);
    if (status) return status;
    frame->tokens = lg_token_source_columns(frame->token_source);
    frame->n_tokens = data->n_tokens;
    frame->spans = data->spans;
    frame->model_a = models[0];
    frame->model_b = models[1];
    return LG_OK;
}

static uint8_t class_of_family(const char *family) {
    static const char *const content[] = {"noun",         "verb",      "adjective", "adverb",
                                          "interjection", "qualifier", NULL};
    static const char *const function[] = {"existential", "pronoun", "determiner", "preposition",
                                           "conjunction", "aux_be",  "aux_have",   "aux_do",
                                           "modal",       "to",      "wh",         NULL};
    for (size_t i = 0; content[i]; i++)
        if (strcmp(family, content[i]) == 0) return LG_CLASS_CONTENT;
    for (size_t i = 0; function[i]; i++)
        if (strcmp(family, function[i]) == 0) return LG_CLASS_FUNCTION;
    if (strcmp(family, "open_bracket") == 0 || strcmp(family, "open") == 0) return LG_CLASS_OPENING;
    if (strcmp(family, "close_bracket") == 0 || strcmp(family, "close") == 0) return LG_CLASS_CLOSING;
    return LG_CLASS_NEITHER;
}

lg_status lg_frame_classes(const lg_frame *frame, lg_arena *arena, const lg_column *c,
                           const uint8_t **classes, lg_error *error) {
    enum { STEP = 256 };
    uint32_t levels[STEP], families[STEP];
    *classes = NULL;
    if (!frame->tokens || (strcmp(c->name, "tag") != 0 && strcmp(c->name, "brown") != 0)) return LG_OK;
    const lg_column *family;
    bool found;
    lg_query_column unused;
    lg_status status = frame->tokens->find(frame->tokens->context, "family", NULL, &unused, &found, error);
    if (!status && found) status = lg_frame_find(frame, "family", arena, &family, error);
    if (status || !found || !family->levels) return status;
    uint8_t *of = lg_arena_alloc(arena, c->n_levels + 1);
    if (!of) return lg_fail_memory(error);
    memset(of, LG_CLASS_NEITHER, c->n_levels);
    for (size_t first = 0; first < c->count; first += STEP) {
        size_t n = c->count - first < STEP ? c->count - first : STEP;
        lg_column_levels(c, NULL, NULL, first, n, levels);
        lg_column_levels(family, NULL, NULL, first, n, families);
        for (size_t i = 0; i < n; i++)
            if (levels[i] < c->n_levels && families[i] < family->n_levels)
                of[levels[i]] = class_of_family(family->levels[families[i]]); /* a tag has one family */
    }
    *classes = of;
    return LG_OK;
}
