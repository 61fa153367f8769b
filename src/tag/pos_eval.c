/* Measuring a tagger: on the words as given, and from raw text by the splitter's words. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lossgap/tagger.h"
#include "tag/pos_corpus.h"
#include "tag/pos_model.h"
#include "tag/tagsets.h"

/* What the names of a report lie in. */
struct lg_tagger_memory {
    lg_pos_names names;
};

/* A measurement in work. */
typedef struct measurement {
    const lg_pos_model *model;
    const lg_pos_corpus *corpus;
    lg_pos_scratch *scratch;
    lg_tagger_report *report;
    lg_pos_names names; /* the model's tags, then those that only the text has */
    uint16_t *gold;     /* [words] index into names */
    uint64_t *counts;   /* [names, names] gold, predicted */
} measurement;

static const char *family_of(const measurement *m, size_t tag) {
    return lg_families[lg_family_of_tag(m->report->tagset, m->names.names[tag])].name;
}

/* ---- words as given ---- */

static bool name_tags(measurement *m) {
    for (size_t i = 0; i < m->model->n_tags; i++)
        if (lg_pos_names_add(&m->names, m->model->tags[i], strlen(m->model->tags[i])) == SIZE_MAX)
            return false;
    size_t index[LG_POS_MAX_TAGS] = {0};
    for (size_t i = 0; i < m->corpus->tags.count; i++) {
        const char *name = m->corpus->tags.names[i];
        if ((index[i] = lg_pos_names_add(&m->names, name, strlen(name))) == SIZE_MAX) return false;
    }
    const size_t n = m->corpus->words.count;
    if (!(m->gold = lg_alloc(n, sizeof *m->gold))) return false;
    for (size_t i = 0; i < n; i++) m->gold[i] = (uint16_t)index[m->corpus->gold[i]];
    m->counts = calloc(m->names.count * m->names.count, sizeof *m->counts);
    return m->counts != NULL;
}

static bool measure_given(measurement *m) {
    const lg_pos_corpus *c = m->corpus;
    lg_tagger_report *r = m->report;
    uint16_t *tags = lg_alloc(c->words.count, sizeof *tags);
    if (!tags || !lg_pos_tag(m->model, m->scratch, c->given.data, &c->words, tags)) {
        free(tags);
        return false;
    }
    lg_pos_sentence state = {0};
    for (size_t i = 0; i < c->words.count; i++) {
        lg_pos_token token;
        lg_pos_form form;
        if (c->words.tag[i] & LG_BEGINS_SENTENCE) {
            state = (lg_pos_sentence){0};
            r->sentences++;
        }
        lg_pos_spell(&token, &form, &state, c->given.data, &c->words, i);
        const bool unknown = !lg_pos_find_any(m->model, token.folded, token.lower).own,
                   correct = tags[i] == m->gold[i];
        r->words++;
        r->correct += correct;
        r->unknown += unknown;
        r->unknown_correct += unknown && correct;
        r->family_correct += correct || strcmp(family_of(m, tags[i]), family_of(m, m->gold[i])) == 0;
        m->counts[m->gold[i] * m->names.count + tags[i]]++;
    }
    free(tags);
    return true;
}

static int by_count(const void *a, const void *b) {
    const lg_tagger_confusion *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    int order = strcmp(x->gold, y->gold);
    return order ? order : strcmp(x->predicted, y->predicted);
}

static int by_gold(const void *a, const void *b) {
    const lg_tagger_tag *x = a, *y = b;
    if (x->gold != y->gold) return x->gold > y->gold ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool fill_tables(measurement *m) {
    lg_tagger_report *r = m->report;
    const size_t n = m->names.count;
    size_t capacity = 0;
    if (!(r->tags = calloc(n, sizeof *r->tags))) return false;
    for (size_t i = 0; i < n; i++) {
        lg_tagger_tag *t = &r->tags[r->n_tags];
        *t = (lg_tagger_tag){
            .name = m->names.names[i], .family = family_of(m, i), .correct = m->counts[i * n + i]};
        for (size_t k = 0; k < n; k++) {
            t->gold += m->counts[i * n + k];
            t->predicted += m->counts[k * n + i];
            if (k == i || !m->counts[i * n + k]) continue;
            if (!lg_reserve(&r->confusions, &capacity, r->n_confusions + 1, sizeof *r->confusions))
                return false;
            r->confusions[r->n_confusions++] =
                (lg_tagger_confusion){m->names.names[i], m->names.names[k], m->counts[i * n + k]};
        }
        r->n_tags += t->gold || t->predicted;
    }
    if (r->n_tags) qsort(r->tags, r->n_tags, sizeof *r->tags, by_gold);
    if (r->n_confusions) qsort(r->confusions, r->n_confusions, sizeof *r->confusions, by_count);
    return true;
}

/* ---- from raw text ---- */

/* Compares the splitter's words with the gold ones by where they lie. White space at the ends of a sentence
   or word is in neither. The parts of a multiword token that do not spell its surface share its span: they
   count if the splitter cut just that span into as many words, in their order. */
static void compare_raw(measurement *m, const lg_spans *words, const uint16_t *tags) {
    const lg_pos_corpus *c = m->corpus;
    lg_tagger_report *r = m->report;
    r->raw_words = words->count;
    for (size_t g = 0, p = 0; g < c->words.count; g += c->parts[g]) {
        while (p < words->count && words->begin[p] < c->raw_begin[g]) p++;
        const size_t parts = c->parts[g];
        bool same = p + parts <= words->count && words->begin[p] == c->raw_begin[g] &&
                    words->end[p + parts - 1] == c->raw_end[g];
        if (!same) continue;
        r->raw_same += parts;
        for (size_t k = 0; k < parts; k++) r->raw_correct += tags[p + k] == m->gold[g + k];
    }
    /* sentences: from the first word to the last */
    for (size_t p = 0; p < words->count; p++) r->raw_sentences += words->tag[p] & LG_BEGINS_SENTENCE;
    for (size_t g = 0, p = 0, g_end, p_end; g < c->words.count; g = g_end) {
        for (g_end = g + 1; g_end < c->words.count && !(c->words.tag[g_end] & LG_BEGINS_SENTENCE);) g_end++;
        while (p < words->count && words->begin[p] < c->raw_begin[g]) p++;
        if (p == words->count || words->begin[p] != c->raw_begin[g] || !(words->tag[p] & LG_BEGINS_SENTENCE))
            continue;
        for (p_end = p + 1; p_end < words->count && !(words->tag[p_end] & LG_BEGINS_SENTENCE);) p_end++;
        r->raw_sentences_same += words->end[p_end - 1] == c->raw_end[g_end - 1];
    }
}

static bool measure_raw(measurement *m) {
    const lg_text *raw = &m->corpus->raw;
    lg_spans words = {0};
    uint8_t *classes = lg_alloc(raw->length, 1);
    uint16_t *tags = NULL;
    bool good = classes != NULL;
    if (good) {
        lg_classify(raw->data, raw->length, classes);
        good = lg_split_prose(raw->data, classes, raw->length, lg_pos_model_split(m->model), &words);
    }
    good = good && (tags = lg_alloc(words.count, sizeof *tags)) != NULL &&
           lg_pos_tag(m->model, m->scratch, raw->data, &words, tags);
    if (good) compare_raw(m, &words, tags);
    lg_spans_free(&words);
    free(classes);
    free(tags);
    return good;
}

/* ---- the whole ---- */

static lg_status measure(measurement *m, lg_error *error) {
    lg_tagger_report *r = m->report;
    bool good = (m->scratch = lg_pos_scratch_create(m->model)) != NULL && name_tags(m) && measure_given(m) &&
                fill_tables(m) && (!r->raw || measure_raw(m)) &&
                (r->memory = calloc(1, sizeof *r->memory)) != NULL;
    if (good) {
        r->memory->names = m->names;
        m->names = (lg_pos_names){0};
    }
    lg_pos_scratch_free(m->scratch);
    lg_pos_names_free(&m->names);
    free(m->gold);
    free(m->counts);
    return good ? LG_OK : lg_fail_memory(error);
}

lg_status lg_tagger_eval(const char *const *files, size_t n_files, const lg_tagger_eval_options *options,
                         lg_tagger_report *report, lg_error *error) {
    lg_pos_corpus corpus = {0};
    lg_pos_model *model = NULL;
    *report = (lg_tagger_report){.raw = options->raw};
    for (size_t i = 0; lg_pos_tagsets[i]; i++)
        if (strcmp(options->tagset, lg_pos_tagsets[i]) == 0) report->tagset = lg_pos_tagsets[i];
    if (!report->tagset)
        return lg_fail(error, LG_USAGE, "there is no tagset '%s': brown, upos and penn are there",
                       options->tagset);
    if (options->raw && strcmp(options->tagset, "brown") == 0)
        return lg_fail(error, LG_USAGE, "word/tag lines have no raw text to measure on: use upos or penn");
    lg_status status = options->model ? lg_pos_model_open(options->model, &model, error)
                                      : lg_pos_model_builtin(options->tagset, &model, error);
    if (!status && strcmp(lg_pos_model_tagset(model), options->tagset) != 0)
        status = lg_fail(error, LG_USAGE, "%s is a model of the tagset %s, not %s", options->model,
                         lg_pos_model_tagset(model), options->tagset);
    for (size_t i = 0; i < n_files && !status; i++)
        status = lg_pos_corpus_read(&corpus, files[i], options->tagset, error);
    if (!status && !corpus.words.count) status = lg_fail(error, LG_USAGE, "no text to measure on");
    if (!status) {
        measurement m = {.model = model, .corpus = &corpus, .report = report};
        status = measure(&m, error);
    }
    if (status) lg_tagger_report_free(report);
    lg_pos_corpus_free(&corpus);
    lg_pos_model_close(model);
    return status;
}

void lg_tagger_report_free(lg_tagger_report *report) {
    if (report->memory) lg_pos_names_free(&report->memory->names);
    free(report->memory);
    free(report->tags);
    free(report->confusions);
    *report = (lg_tagger_report){0};
}
