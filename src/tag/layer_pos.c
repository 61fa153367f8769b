/* Parts of speech in prose: a layer and a column for each of the tagsets Brown, UPOS and Penn. White space is
   a span of its own, so that a layer covers the whole text of a prose document; other documents have no
   spans. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tag/prose.h"
#include "tag/tag_internal.h"
#include "tag/tagsets.h"

typedef struct state {
    lg_pos_model *model;
    const char **tags; /* "whitespace" and the model's */
    uint8_t *families; /* [tags] */
    const char *family_names[LG_N_FAMILIES + 1];
} state;

static void close_state(void *opened) {
    state *s = opened;
    lg_pos_model_close(s->model);
    free(s->tags);
    free(s->families);
    free(s);
}

/* The file among the options that holds a model of TAGSET, else the program's own. */
static lg_status open_model(const lg_tag_options *options, const char *tagset, lg_pos_model **model,
                            lg_error *error) {
    *model = NULL;
    for (size_t i = 0; i < LG_N_TAGSETS && options->tagger[i]; i++) {
        lg_pos_model *one;
        lg_status status = lg_pos_model_open(options->tagger[i], &one, error);
        if (!status && strcmp(lg_pos_model_tagset(one), tagset) != 0) {
            lg_pos_model_close(one);
            continue;
        }
        if (!status && *model) {
            lg_pos_model_close(one);
            status = lg_fail(error, LG_USAGE, "%s is a second tagger for %s: give one", options->tagger[i],
                             tagset);
        }
        if (status) {
            lg_pos_model_close(*model);
            *model = NULL;
            return status;
        }
        *model = one;
    }
    return *model ? LG_OK : lg_pos_model_builtin(tagset, model, error);
}

static lg_status open_tagset(const lg_tag_maker *self, const lg_tag_context *context, void **opened,
                             lg_error *error) {
    state *s = calloc(1, sizeof *s);
    if (!s) return lg_fail_memory(error);
    *opened = s;
    lg_status status = open_model(context->options, self->name, &s->model, error);
    if (status) return status;
    const char *const *tags = lg_pos_model_tags(s->model);
    size_t n = 0;
    while (tags[n]) n++;
    s->tags = lg_alloc(n + 2, sizeof *s->tags);
    s->families = lg_alloc(n + 1, sizeof *s->families);
    if (!s->tags || !s->families) return lg_fail_memory(error);
    s->tags[0] = "whitespace";
    s->families[0] = LG_FAMILY_WHITESPACE;
    for (size_t i = 0; i < n; i++) s->families[i + 1] = (uint8_t)lg_family_of_tag(self->name, tags[i]);
    memcpy(s->tags + 1, tags, (n + 1) * sizeof *tags);
    for (size_t f = 0; f < LG_N_FAMILIES; f++) s->family_names[f] = lg_families[f].name;
    return LG_OK;
}

static const char *const *tags_of(const void *opened) {
    return ((const state *)opened)->tags;
}

static const char *const *levels_of(const void *opened, const char *column) {
    (void)column;
    return ((const state *)opened)->family_names;
}

static void describe(const void *opened, lg_json_writer *settings) {
    const lg_pos_model *model = ((const state *)opened)->model;
    lg_json_put_key(settings, lg_pos_model_tagset(model));
    lg_json_put_text(settings, lg_pos_model_identity(model));
}

/* What a thread needs: the tagger's scratch, and a document's words. */
typedef struct scratch {
    lg_pos_scratch *pos;
    lg_spans words;
    uint16_t *tags;
    size_t tags_room;
} scratch;

static void stop(void *started) {
    scratch *own = started;
    if (!own) return;
    lg_pos_scratch_free(own->pos);
    lg_spans_free(&own->words);
    free(own->tags);
    free(own);
}

static void *start(const void *opened) {
    scratch *own = calloc(1, sizeof *own);
    if (own) own->pos = lg_pos_scratch_create(((const state *)opened)->model);
    if (own && own->pos) return own;
    stop(own);
    return NULL;
}

static bool make_spans(const lg_tag_maker *self, const lg_tag_document *d, lg_spans *spans) {
    if (d->kind != LG_PROSE) return true;
    const state *s = lg_tag_state(d->context, self);
    scratch *own = d->scratch;
    own->words.count = 0;
    if (!lg_split_prose(d->text, d->classes, d->n_bytes, lg_pos_model_split(s->model), &own->words) ||
        !lg_reserve(&own->tags, &own->tags_room, own->words.count, sizeof *own->tags) ||
        !lg_pos_tag(s->model, own->pos, d->text, &own->words, own->tags))
        return false;
    uint64_t at = 0;
    for (size_t i = 0; i < own->words.count; i++) {
        uint64_t begin = own->words.begin[i], end = own->words.end[i];
        if (begin > at && !lg_spans_add(spans, at, begin, LG_TAG_BLANK)) return false;
        if (!lg_spans_add(spans, begin, end, (uint16_t)(own->tags[i] + 1))) return false;
        at = end;
    }
    return at == d->n_bytes || lg_spans_add(spans, at, d->n_bytes, LG_TAG_BLANK);
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    const state *s = lg_tag_state(d->context, self);
    uint16_t *tags = columns[0];
    uint8_t *families = columns[1];
    lg_tag_fill(d, spans, true, tags);
    for (size_t i = 0; families && i < d->n_tokens; i++)
        families[i] = tags[i] ? s->families[tags[i] - 1] : LG_FAMILY_NONE;
    return true;
}

#define POS(tagset, what, ...)                                                                               \
    {                                                                                                        \
        .name = tagset, .help = what, .needs_text = true, .columns = {__VA_ARGS__}, .open = open_tagset,     \
        .close = close_state, .state_tags = tags_of, .levels = levels_of, .describe = describe,              \
        .start = start, .stop = stop, .make_spans = make_spans, .fill = fill                                 \
    }

const lg_tag_maker lg_maker_brown =
    POS("brown", "part of speech in prose, Brown tags", {.name = "brown", .dtype = LG_U16, .tags = true});
const lg_tag_maker lg_maker_upos =
    POS("upos", "part of speech in prose, Universal tags, and its family",
        {.name = "upos", .dtype = LG_U16, .tags = true},
        {.name = "upos_family", .help = "family of the Universal tag", .dtype = LG_U8});
const lg_tag_maker lg_maker_penn =
    POS("penn", "part of speech in prose, Penn tags, and its family",
        {.name = "penn", .dtype = LG_U16, .tags = true},
        {.name = "penn_family", .help = "family of the Penn tag", .dtype = LG_U8});
