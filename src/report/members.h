/* The members of result rows by name, kind and place: one list for JSON and for CSV. */
#ifndef LG_REPORT_MEMBERS_H
#define LG_REPORT_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "report/csv.h"

typedef enum lg_member_kind {
    LG_MEMBER_COUNT,  /* uint64_t */
    LG_MEMBER_BYTES,  /* a count that only data with text have */
    LG_MEMBER_NUMBER, /* double; NAN: null */
    LG_MEMBER_TEXT,   /* const char *; NULL: null */
    LG_MEMBER_TRUTH,  /* int; below 0: null */
} lg_member_kind;

typedef struct lg_member {
    const char *name;
    lg_member_kind kind;
    size_t offset;
} lg_member;

/* Lists, one after another. */
enum { LG_MEMBER_PARTS = 8 };
typedef struct lg_members {
    struct {
        const lg_member *list;
        size_t n;
    } parts[LG_MEMBER_PARTS];
} lg_members;

#define LG_MEMBER_PART(list)                                                                                 \
    { list, sizeof list / sizeof *list }

/* The members of ROW, which offsets count from, into the open object of W, or as fields of CSV. */
void lg_members_json(const lg_members *members, const void *row, bool has_text, lg_json_writer *w);
void lg_members_csv(const lg_members *members, const void *row, bool has_text, lg_csv *csv);
void lg_members_heads(const lg_members *members, lg_csv *csv);

#endif
