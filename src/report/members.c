/* Members of result rows, as JSON and as CSV. */
#include "report/members.h"

#include <stdint.h>

static void put_json(lg_json_writer *w, const lg_member *m, const void *row, bool has_text) {
    const char *at = (const char *)row + m->offset;
    lg_json_put_key(w, m->name);
    switch (m->kind) {
    case LG_MEMBER_NUMBER:
        lg_json_put_double(w, *(const double *)at); /* NAN: null */
        return;
    case LG_MEMBER_TEXT:
        lg_json_put_text(w, *(const char *const *)at);
        return;
    case LG_MEMBER_TRUTH:
        if (*(const int *)at < 0) lg_json_put_null(w);
        else lg_json_put_bool(w, *(const int *)at != 0);
        return;
    case LG_MEMBER_BYTES:
        if (!has_text) {
            lg_json_put_null(w);
            return;
        } /* fall through */
    case LG_MEMBER_COUNT:
        lg_json_put_unsigned(w, *(const uint64_t *)at);
    }
}

static void put_field(lg_csv *csv, const lg_member *m, const void *row, bool has_text) {
    const char *at = (const char *)row + m->offset;
    switch (m->kind) {
    case LG_MEMBER_NUMBER:
        lg_csv_put_double(csv, *(const double *)at);
        return;
    case LG_MEMBER_TEXT:
        lg_csv_put(csv, *(const char *const *)at);
        return;
    case LG_MEMBER_TRUTH:
        lg_csv_put(csv, *(const int *)at < 0 ? NULL : *(const int *)at ? "true" : "false");
        return;
    case LG_MEMBER_BYTES:
        if (!has_text) {
            lg_csv_put(csv, NULL);
            return;
        } /* fall through */
    case LG_MEMBER_COUNT:
        lg_csv_put_unsigned(csv, *(const uint64_t *)at);
    }
}

void lg_members_json(const lg_members *m, const void *row, bool has_text, lg_json_writer *w) {
    for (size_t p = 0; p < LG_MEMBER_PARTS; p++)
        for (size_t i = 0; i < m->parts[p].n; i++) put_json(w, &m->parts[p].list[i], row, has_text);
}

void lg_members_csv(const lg_members *m, const void *row, bool has_text, lg_csv *csv) {
    for (size_t p = 0; p < LG_MEMBER_PARTS; p++)
        for (size_t i = 0; i < m->parts[p].n; i++) put_field(csv, &m->parts[p].list[i], row, has_text);
}

void lg_members_heads(const lg_members *m, lg_csv *csv) {
    for (size_t p = 0; p < LG_MEMBER_PARTS; p++)
        for (size_t i = 0; i < m->parts[p].n; i++) lg_csv_put(csv, m->parts[p].list[i].name);
}
