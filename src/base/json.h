/* JSON: a pull parser for what is large, a tree over it for what is small, and a writer.
   Strings carry lengths (U+0000 is a character like any other); integers are exact to 64 bits; a lone
   surrogate becomes U+FFFD and is counted; nesting is limited to LG_JSON_DEPTH. */
#ifndef LG_BASE_JSON_H
#define LG_BASE_JSON_H

#include "base/memory.h"
#include "base/text.h"
#include "lossgap/base.h"

#define LG_JSON_DEPTH 128

typedef enum lg_json_type {
    LG_JSON_NULL,
    LG_JSON_BOOL,
    LG_JSON_INTEGER, /* written without fraction and exponent, and within int64 or uint64 */
    LG_JSON_NUMBER,
    LG_JSON_STRING,
    LG_JSON_ARRAY,
    LG_JSON_OBJECT,
    LG_JSON_END, /* nothing left, or an error: see `failed` */
} lg_json_type;

/* Reads TEXT front to back: for a member call lg_json_key and then exactly one reader (or lg_json_skip) for
   its value, for an element lg_json_element and then one reader. Strict RFC 8259, but bytes in strings need
   not be UTF-8 (the consumers decide) and one leading byte order mark is passed over. Copy the struct to
   remember a place and come back to it. Errors stick: after one, every call does nothing and returns false /
   LG_JSON_END; check `failed` once at the end, or use lg_json_done. */
typedef struct lg_json {
    const char *at, *begin, *end;
    const char *name; /* the file, for errors */
    unsigned depth;
    bool entered; /* a container was entered and no member or element read yet */
    bool failed;
    lg_status status;       /* LG_OK, LG_BAD_INPUT, or LG_FAILED for lack of memory */
    lg_error *error;        /* filled at the first error with NAME and the byte (from 0); may be NULL */
    size_t lone_surrogates; /* in the strings read so far (those skipped are not counted) */
    lg_text *scratch;       /* caller's; holds the unescaped form of the last string that had escapes */
} lg_json;

typedef struct lg_string {
    /* Not NUL-terminated. Points into the text, or into scratch until the next string is read. */
    const char *data;
    size_t length;
} lg_string;

void lg_json_start(lg_json *json, const char *text, size_t length, const char *name, lg_text *scratch,
                   lg_error *error);

lg_json_type lg_json_peek(lg_json *json); /* what comes next, not consumed */
bool lg_json_object(lg_json *json);       /* enters '{'; a type mismatch is an error here and below */
/* The next member's key. false: the object ended (and is consumed), or an error. */
bool lg_json_key(lg_json *json, lg_string *key);
bool lg_json_array(lg_json *json); /* enters '[' */
/* true: one more element follows. false: the array ended (and is consumed), or an error. */
bool lg_json_element(lg_json *json);
bool lg_json_string(lg_json *json, lg_string *value);
bool lg_json_integer(lg_json *json, int64_t *value); /* 1e3 or 1.0 is no integer; out of range is an error */
bool lg_json_unsigned(lg_json *json, uint64_t *value);
bool lg_json_number(lg_json *json, double *value); /* integers too; overflow to infinity is an error */
bool lg_json_bool(lg_json *json, bool *value);
bool lg_json_null(lg_json *json);
bool lg_json_skip(lg_json *json);      /* one whole value, checked as strictly as if read */
lg_status lg_json_done(lg_json *json); /* LG_OK if all was read and only white space is left */
bool lg_string_is(lg_string string, const char *literal);
/* The double nearest to the decimal number [BEGIN, END): digits with at most one point, perhaps a '-' before
   and an exponent behind, which the caller has made sure of. In the C locale, always. false: no memory. */
bool lg_decimal_to_double(const char *begin, const char *end, double *value);
/* Records an error of the caller's at the current place, in the same form. Returns false. */
bool lg_json_complain(lg_json *json, const char *format, ...) LG_PRINTF(2, 3);

/* Small documents as a tree in an arena. Duplicate keys are an error. */
typedef struct lg_json_value lg_json_value;
struct lg_json_value {
    lg_json_type type;
    bool boolean;
    int64_t integer;    /* LG_JSON_INTEGER; in a tree, integers beyond int64 are LG_JSON_NUMBER */
    double number;      /* LG_JSON_INTEGER and LG_JSON_NUMBER */
    const char *string; /* NUL-terminated copy */
    size_t length;      /* of string; members or elements */
    const char *key;    /* this value's key in its object, NUL-terminated; else NULL */
    size_t key_length;
    lg_json_value *first, *next; /* children in order */
};

lg_status lg_json_parse(lg_arena *arena, const char *text, size_t length, const char *name,
                        lg_json_value **value, lg_error *error);
/* Member KEY of an object; NULL: none, or VALUE is NULL or no object. Takes time in the number of members. */
const lg_json_value *lg_json_get(const lg_json_value *value, const char *key);

/* Writing: commas and escapes are its business. Floats have the fewest digits that read back the same; NaN
   and infinity become null. */
typedef struct lg_json_writer {
    lg_text *out;
    bool comma, after_key;
    unsigned indent, depth; /* indent 0: one line */
} lg_json_writer;

void lg_json_put_object(lg_json_writer *w);
void lg_json_end_object(lg_json_writer *w);
void lg_json_put_array(lg_json_writer *w);
void lg_json_end_array(lg_json_writer *w);
void lg_json_put_key(lg_json_writer *w, const char *key);
/* Bytes that are not UTF-8 become U+FFFD, each. */
void lg_json_put_string(lg_json_writer *w, const char *value, size_t length);
void lg_json_put_text(lg_json_writer *w, const char *value); /* NUL-terminated; NULL: null */
void lg_json_put_unsigned(lg_json_writer *w, uint64_t value);
void lg_json_put_integer(lg_json_writer *w, int64_t value);
void lg_json_put_double(lg_json_writer *w, double value);
void lg_json_put_float(lg_json_writer *w, float value); /* fewest digits that give the same float */
void lg_json_put_bool(lg_json_writer *w, bool value);
void lg_json_put_null(lg_json_writer *w);
void lg_json_put_raw(lg_json_writer *w, const char *json, size_t length); /* text that is JSON already */

#endif
