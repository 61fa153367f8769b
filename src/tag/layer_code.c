/* Code and markup: a layer of leaves that covers the whole text of Python, HTML and LaTeX documents; prose
   has no spans. */
#include "tag/code.h"
#include "base/error.h"
#include "base/memory.h"
#include "tag/tag_internal.h"
#include <stdlib.h>

static lg_status open_tags(const lg_tag_maker *self, const lg_tag_context *context, void **state,
                           lg_error *error) {
    (void)self, (void)context;
    size_t n = 0;
    while (lg_code_tags[n].name) n++;
    const char **names = lg_alloc(n + 1, sizeof *names);
    if (!names) return lg_fail_memory(error);
    for (size_t i = 0; i <= n; i++) names[i] = lg_code_tags[i].name;
    *state = names;
    return LG_OK;
}

static const char *const *tags_of(const void *state) {
    return (const char *const *)state;
}

static void *start(const void *state) {
    (void)state;
    return lg_code_create();
}

static void stop(void *scratch) {
    lg_code_free(scratch);
}

static bool make_spans(const lg_tag_maker *self, const lg_tag_document *d, lg_spans *spans) {
    (void)self;
    return d->kind == LG_PROSE || lg_code_leaves(d->scratch, d->kind, d->text, d->classes, d->n_bytes, spans);
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)self;
    lg_tag_fill(d, spans, true, columns[0]);
    return true;
}

const lg_tag_maker lg_maker_code = {
    .name = "code",
    .help = "syntax in Python, HTML (with JavaScript and CSS) and LaTeX",
    .needs_text = true,
    .columns = {{.name = "code", .dtype = LG_U16, .tags = true}},
    .open = open_tags,
    .close = free,
    .state_tags = tags_of,
    .start = start,
    .stop = stop,
    .make_spans = make_spans,
    .fill = fill,
};
