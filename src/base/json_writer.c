/* Writing JSON. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static void new_line(lg_json_writer *w) {
    if (!w->indent) return;
    lg_text_put(w->out, "\n", 1);
    for (size_t i = 0; i < (size_t)w->indent * w->depth; i++) lg_text_put(w->out, " ", 1);
}

/* What stands before a value or a key. */
static void separate(lg_json_writer *w) {
    if (!w->after_key) {
        if (w->comma) lg_text_put(w->out, ",", 1);
        if (w->depth) new_line(w);
    }
    w->after_key = false;
    w->comma = true;
}

static void open_container(lg_json_writer *w, const char *bracket) {
    separate(w);
    lg_text_put(w->out, bracket, 1);
    w->depth++;
    w->comma = false;
}

static void close_container(lg_json_writer *w, const char *bracket) {
    w->depth--;
    if (w->comma) new_line(w);
    lg_text_put(w->out, bracket, 1);
    w->comma = true;
}

void lg_json_put_object(lg_json_writer *w) {
    open_container(w, "{");
}

void lg_json_end_object(lg_json_writer *w) {
    close_container(w, "}");
}

void lg_json_put_array(lg_json_writer *w) {
    open_container(w, "[");
}

void lg_json_end_array(lg_json_writer *w) {
    close_container(w, "]");
}

static void put_quoted(lg_text *out, const char *value, size_t length) {
    static const char escaped[7] = "\"\\\b\f\n\r\t", letters[7] = "\"\\bfnrt";
    lg_text_put(out, "\"", 1);
    size_t begin = 0; /* of the run that can be put as it is */
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)value[i];
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        if (c >= 0x80) {
            uint32_t code;
            bool valid;
            size_t n = lg_utf8_decode(value + i, length - i, &code, &valid);
            if (valid) {
                i += n;
                continue;
            }
        }
        lg_text_put(out, value + begin, i - begin);
        const char *place = memchr(escaped, c, sizeof escaped);
        if (place) lg_text_put(out, &(char[2]){'\\', letters[place - escaped]}, 2);
        else if (c >= 0x80) lg_text_puts(out, "\xEF\xBF\xBD");
        else lg_text_printf(out, "\\u%04x", c);
        begin = ++i;
    }
    lg_text_put(out, value + begin, length - begin);
    lg_text_put(out, "\"", 1);
}

void lg_json_put_key(lg_json_writer *w, const char *key) {
    separate(w);
    put_quoted(w->out, key, strlen(key));
    lg_text_puts(w->out, w->indent ? ": " : ":");
    w->after_key = true;
}

void lg_json_put_string(lg_json_writer *w, const char *value, size_t length) {
    separate(w);
    put_quoted(w->out, value, length);
}

void lg_json_put_text(lg_json_writer *w, const char *value) {
    if (value) lg_json_put_string(w, value, strlen(value));
    else lg_json_put_null(w);
}

void lg_json_put_unsigned(lg_json_writer *w, uint64_t value) {
    separate(w);
    lg_text_printf(w->out, "%llu", (unsigned long long)value);
}

void lg_json_put_integer(lg_json_writer *w, int64_t value) {
    separate(w);
    lg_text_printf(w->out, "%lld", (long long)value);
}

/* printf and strtod agree on the locale, so the round trip is a fair test in any; what is put has a point. */
static void put_number(lg_json_writer *w, char *digits) {
    char *to = digits;
    for (const char *c = digits; *c; c++) {
        bool ours = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        if (ours) *to++ = *c;
        else if (to == digits || to[-1] != '.') *to++ = '.';
    }
    *to = '\0';
    separate(w);
    lg_text_puts(w->out, digits);
}

/* Subnormal numbers may need fewer digits than the 15 (float: 6) that every other decimal survives. */
void lg_json_put_double(lg_json_writer *w, double value) {
    char digits[64];
    if (!isfinite(value)) {
        lg_json_put_null(w);
        return;
    }
    for (int n = fabs(value) < DBL_MIN ? 1 : 15; n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, value);
        if (n == 17 || strtod(digits, NULL) == value) break;
    }
    put_number(w, digits);
}

void lg_json_put_float(lg_json_writer *w, float value) {
    char digits[64];
    if (!isfinite(value)) {
        lg_json_put_null(w);
        return;
    }
    for (int n = fabsf(value) < FLT_MIN ? 1 : 6; n <= 9; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, (double)value);
        if (n == 9 || strtof(digits, NULL) == value) break;
    }
    put_number(w, digits);
}

void lg_json_put_bool(lg_json_writer *w, bool value) {
    separate(w);
    lg_text_puts(w->out, value ? "true" : "false");
}

void lg_json_put_null(lg_json_writer *w) {
    separate(w);
    lg_text_puts(w->out, "null");
}

void lg_json_put_raw(lg_json_writer *w, const char *json, size_t length) {
    separate(w);
    lg_text_put(w->out, json, length);
}
