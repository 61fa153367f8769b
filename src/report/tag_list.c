/* What tags there are: columns and their levels; families, their classes, and the tags that belong to each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/report.h"

enum { INDENT = 26, WIDTH = 110 };

/* Words of a list, wrapped and indented. */
typedef struct paragraph {
    lg_text *out;
    size_t column;
} paragraph;

static void begin(paragraph *p, const char *head) {
    lg_text_printf(p->out, "  %-*s", INDENT - 2, head);
    p->column = 0;
}

static void put(paragraph *p, const char *word) {
    size_t length = strlen(word);
    if (p->column && INDENT + p->column + 1 + length > WIDTH) {
        lg_text_printf(p->out, "\n%*s", INDENT, "");
        p->column = 0;
    }
    if (p->column) lg_text_puts(p->out, " ");
    lg_text_puts(p->out, word);
    p->column += length + 1;
}

static lg_status finish(lg_text *out, char **text, size_t *length, lg_error *error) {
    if (out->failed) return lg_text_free(out), lg_fail_memory(error);
    *text = out->data;
    *length = out->length;
    return LG_OK;
}

/* Levels that are listed with the column; those of tags are listed by family. */
static bool has_short_list(const lg_tag_view_column *c) {
    return c->levels && !c->families && strcmp(c->name, "tag") != 0 && !strstr(c->name, "family");
}

lg_status lg_tag_list_table(const lg_tag_view *view, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    paragraph p = {.out = &out};
    const char *group = "";
    lg_text_puts(&out, "COLUMNS: one value a token\n");
    for (size_t i = 0; i < lg_tag_view_n_columns(view); i++) {
        const lg_tag_view_column *c = lg_tag_view_at(view, i);
        if (strcmp(group, c->group) != 0) lg_text_printf(&out, "\n%s: %s\n", c->group, c->group_help);
        group = c->group;
        begin(&p, c->name);
        lg_text_puts(&out, c->help ? c->help : c->levels ? "the tag" : "");
        if (has_short_list(c)) {
            lg_text_printf(&out, "\n%*s", INDENT, "");
            for (size_t l = 0; l < c->n_levels; l++) put(&p, c->levels[l]);
        }
        lg_text_puts(&out, "\n");
    }
    size_t n;
    const lg_tag_family *families = lg_tag_families(&n);
    lg_text_puts(&out, "\nFAMILIES: bit in family_bits, name, class; + an open class; tags of each tagset\n");
    for (size_t f = 0; f < n; f++) {
        lg_text_printf(
            &out, "\n%2zu %s%s%s%s\n", f, families[f].name, strcmp(families[f].class, "none") ? ", " : "",
            strcmp(families[f].class, "none") ? families[f].class : "", families[f].open ? " +" : "");
        for (size_t i = 0; i < lg_tag_view_n_columns(view); i++) {
            const lg_tag_view_column *c = lg_tag_view_at(view, i);
            bool any = false;
            for (size_t l = 2; c->families && l < c->n_levels; l++) { /* after none and white space */
                if (c->families[l] != f) continue;
                if (!any) begin(&p, c->name);
                any = true;
                put(&p, c->levels[l]);
            }
            if (any) lg_text_puts(&out, "\n");
        }
    }
    return finish(&out, text, length, error);
}

lg_status lg_tag_list_json(const lg_tag_view *view, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    lg_json_writer w = {.out = &out, .indent = 1};
    size_t n;
    const lg_tag_family *families = lg_tag_families(&n);
    lg_json_put_object(&w);
    lg_json_put_key(&w, "columns");
    lg_json_put_array(&w);
    for (size_t i = 0; i < lg_tag_view_n_columns(view); i++) {
        const lg_tag_view_column *c = lg_tag_view_at(view, i);
        lg_json_put_object(&w);
        lg_json_put_key(&w, "name");
        lg_json_put_text(&w, c->name);
        lg_json_put_key(&w, "group");
        lg_json_put_text(&w, c->group);
        lg_json_put_key(&w, "help");
        lg_json_put_text(&w, c->help ? c->help : c->group_help);
        lg_json_put_key(&w, "type");
        lg_json_put_text(&w, lg_dtype_name(c->dtype));
        lg_json_put_key(&w, "levels");
        if (c->levels) {
            lg_json_put_array(&w);
            for (size_t l = 0; l < c->n_levels; l++) lg_json_put_text(&w, c->levels[l]);
            lg_json_end_array(&w);
        } else {
            lg_json_put_null(&w);
        }
        if (c->families) {
            lg_json_put_key(&w, "families");
            lg_json_put_array(&w);
            for (size_t l = 0; l < c->n_levels; l++) lg_json_put_text(&w, families[c->families[l]].name);
            lg_json_end_array(&w);
        }
        lg_json_end_object(&w);
    }
    lg_json_end_array(&w);
    lg_json_put_key(&w, "families");
    lg_json_put_array(&w);
    for (size_t f = 0; f < n; f++) {
        lg_json_put_object(&w);
        lg_json_put_key(&w, "name");
        lg_json_put_text(&w, families[f].name);
        lg_json_put_key(&w, "bit");
        lg_json_put_unsigned(&w, f);
        lg_json_put_key(&w, "class");
        lg_json_put_text(&w, families[f].class);
        lg_json_put_key(&w, "open");
        lg_json_put_bool(&w, families[f].open);
        lg_json_end_object(&w);
    }
    lg_json_end_array(&w);
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return finish(&out, text, length, error);
}
