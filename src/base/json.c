/* The JSON pull parser. Strings are the bulk of what it reads: they are scanned 16 bytes at a time. */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/error.h"

/* ---- errors ---- */

static bool fail_memory(lg_json *json) {
    if (!json->failed) json->status = lg_fail_memory(json->error);
    json->failed = true;
    return false;
}

bool lg_json_complain(lg_json *json, const char *format, ...) {
    if (json->failed) return false;
    json->failed = true;
    json->status = LG_BAD_INPUT;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    lg_fail(json->error, LG_BAD_INPUT, "%s: byte %zu: %s", json->name, (size_t)(json->at - json->begin),
            message);
    return false;
}

static bool expected(lg_json *json, const char *what) {
    if (json->at == json->end) return lg_json_complain(json, "expected %s, found the end of the text", what);
    unsigned char c = (unsigned char)*json->at;
    if (c == 't' || c == 'f' || c == 'n') {
        static const char *const words[] = {"true", "false", "null"};
        for (size_t i = 0; i < 3; i++) {
            size_t length = strlen(words[i]);
            if ((size_t)(json->end - json->at) >= length && memcmp(json->at, words[i], length) == 0)
                return lg_json_complain(json, "expected %s, found %s", what, words[i]);
        }
        return lg_json_complain(json, "a misspelt word: there are only true, false and null");
    }
    const char *found = c == '"'                             ? "a string"
                        : c == '{'                           ? "an object"
                        : c == '['                           ? "an array"
                        : c == '-' || (c >= '0' && c <= '9') ? "a number"
                                                             : NULL;
    if (found) return lg_json_complain(json, "expected %s, found %s", what, found);
    if (c > 0x20 && c < 0x7f) return lg_json_complain(json, "expected %s, found '%c'", what, c);
    return lg_json_complain(json, "expected %s, found the byte 0x%02x", what, c);
}

/* ---- white space and structure ---- */

void lg_json_start(lg_json *json, const char *text, size_t length, const char *name, lg_text *scratch,
                   lg_error *error) {
    if (!length) text = ""; /* so that every pointer may be compared */
    *json = (lg_json){
        .at = text, .begin = text, .end = text + length, .name = name, .error = error, .scratch = scratch};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) json->at += 3;
}

static inline void skip_space(lg_json *json) {
    const char *p = json->at;
    while (p < json->end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
    json->at = p;
}

static inline bool next_is(const lg_json *json, char c) {
    return json->at < json->end && *json->at == c;
}

/* Enters a container that OPEN begins. */
static bool enter(lg_json *json, char open, const char *what) {
    if (json->failed) return false;
    skip_space(json);
    if (!next_is(json, open)) return expected(json, what);
    if (json->depth == LG_JSON_DEPTH)
        return lg_json_complain(json, "nested more than %d deep", LG_JSON_DEPTH);
    json->at++;
    json->depth++;
    json->entered = true;
    return true;
}

bool lg_json_object(lg_json *json) {
    return enter(json, '{', "an object");
}

bool lg_json_array(lg_json *json) {
    return enter(json, '[', "an array");
}

/* Passes over what stands between members: nothing before the first, a comma before the others. false: CLOSE
   was there and is consumed, or an error. */
static bool next_member(lg_json *json, char close, const char *first, const char *later) {
    if (json->failed) return false;
    skip_space(json);
    bool entered = json->entered;
    json->entered = false;
    if (next_is(json, close)) {
        json->at++;
        json->depth--;
        return false;
    }
    if (entered) return json->at < json->end ? true : expected(json, first);
    if (!next_is(json, ',')) return expected(json, later);
    json->at++;
    skip_space(json);
    if (next_is(json, close)) return lg_json_complain(json, "a comma before '%c'", close);
    return true;
}

bool lg_json_element(lg_json *json) {
    return next_member(json, ']', "an element or ']'", "',' or ']'");
}

/* ---- strings ---- */

/* The first quote, backslash or control byte at or after P. */
static inline const char *scan_plain(const char *p, const char *end) {
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                   _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask) return p + __builtin_ctz(mask);
    }
#else
    /* A byte is zero where (x - 1) & ~x has its top bit set; bits above the first hit may be wrong, those
       below not, so the byte loop finds the place. */
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        uint64_t q = v ^ ones * '"', b = v ^ ones * '\\';
        if ((((q - ones) & ~q) | ((b - ones) & ~b) | ((v - ones * 0x20) & ~v)) & tops) break;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) p++;
    return p;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static unsigned hex4(const char *p) {
    return (unsigned)(hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 | hex_digit(p[3]));
}

/* Passes over a string and checks its escapes, so that unescape can trust them. BEGIN and END are those of
   the raw content. */
static bool pass_string(lg_json *json, const char **begin, const char **end, bool *escaped) {
    const char *p = json->at + 1, *stop = json->end;
    *begin = p;
    *escaped = false;
    for (;;) {
        p = scan_plain(p, stop);
        if (p == stop) return lg_json_complain(json, "a string without its closing quote");
        if (*p == '"') break;
        if (*p != '\\') {
            json->at = p;
            return lg_json_complain(json, "the control character 0x%02x in a string", (unsigned char)*p);
        }
        *escaped = true;
        size_t length = stop - p > 1 && p[1] == 'u' ? 6 : 2;
        bool good = (size_t)(stop - p) >= length && memchr("\"\\/bfnrtu", p[1], 9);
        for (size_t i = 2; good && i < length; i++) good = hex_digit(p[i]) >= 0;
        if (!good) {
            json->at = p;
            return lg_json_complain(json, "a broken escape in a string");
        }
        p += length;
    }
    *end = p;
    json->at = p + 1;
    return true;
}

/* Writes the content [P, END), which pass_string has checked, to OUT and returns the end of what it wrote. No
   escape is shorter than what it stands for, so the result fits in END - P bytes, and so does every block
   stored on the way. */
static char *unescape(const char *p, const char *end, char *out, size_t *lone_surrogates) {
    while (p < end) {
#ifdef __SSE2__
        while (end - p >= 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
            _mm_storeu_si128((__m128i *)(void *)out, v);
            unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
            unsigned n = mask ? (unsigned)__builtin_ctz(mask) : 16;
            p += n;
            out += n;
            if (mask) break;
        }
#endif
        while (p < end && *p != '\\') *out++ = *p++;
        if (p == end) break;
        char c = p[1];
        p += 2;
        if (c != 'u') {
            *out++ = c == 'n'   ? '\n'
                     : c == 't' ? '\t'
                     : c == 'r' ? '\r'
                     : c == 'b' ? '\b'
                     : c == 'f' ? '\f'
                                : c;
            continue;
        }
        uint32_t code = hex4(p);
        p += 4;
        if (code >= 0xD800 && code < 0xE000) {
            unsigned low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : 0;
            if (code < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                p += 6;
            } else {
                code = 0xFFFD;
                ++*lone_surrogates;
            }
        }
        out += lg_utf8_encode(code, out);
    }
    return out;
}

/* Reads a string that starts here. */
static bool read_string(lg_json *json, lg_string *value) {
    const char *begin, *end;
    bool escaped;
    if (!pass_string(json, &begin, &end, &escaped)) return false;
    *value = (lg_string){begin, (size_t)(end - begin)};
    if (!escaped) return true;
    lg_text *scratch = json->scratch;
    if (!lg_reserve(&scratch->data, &scratch->capacity, value->length + 1, 1)) return fail_memory(json);
    char *stop = unescape(begin, end, scratch->data, &json->lone_surrogates);
    *stop = '\0';
    scratch->length = (size_t)(stop - scratch->data);
    *value = (lg_string){scratch->data, scratch->length};
    return true;
}

bool lg_json_string(lg_json *json, lg_string *value) {
    *value = (lg_string){"", 0};
    if (json->failed) return false;
    skip_space(json);
    return next_is(json, '"') ? read_string(json, value) : expected(json, "a string");
}

static bool pass_colon(lg_json *json) {
    skip_space(json);
    if (!next_is(json, ':')) return expected(json, "':'");
    json->at++;
    return true;
}

bool lg_json_key(lg_json *json, lg_string *key) {
    *key = (lg_string){"", 0};
    if (!next_member(json, '}', "a key or '}'", "',' or '}'")) return false;
    if (!next_is(json, '"')) return expected(json, "a key");
    return read_string(json, key) && pass_colon(json);
}

bool lg_string_is(lg_string string, const char *literal) {
    return strlen(literal) == string.length && memcmp(string.data, literal, string.length) == 0;
}

/* ---- numbers ---- */

typedef struct number {
    const char *end;
    uint64_t magnitude;           /* of the digits before any fraction */
    bool negative, integer, fits; /* written as an integer; its magnitude fits 64 bits */
} number;

static inline bool is_digit(const char *p, const char *end) {
    return p < end && *p >= '0' && *p <= '9';
}

/* Parses the number's grammar without consuming it. END is NULL if it is none. */
static number scan_number(const char *p, const char *end) {
    number n = {.integer = true, .fits = true};
    if (p < end && *p == '-') {
        n.negative = true;
        p++;
    }
    if (!is_digit(p, end)) return n;
    if (*p == '0') {
        p++;
    } else {
        for (; is_digit(p, end); p++)
            n.fits = n.fits && !__builtin_mul_overflow(n.magnitude, UINT64_C(10), &n.magnitude) &&
                     !__builtin_add_overflow(n.magnitude, (uint64_t)(*p - '0'), &n.magnitude);
    }
    if (p < end && *p == '.') {
        n.integer = false;
        if (!is_digit(++p, end)) return n;
        while (is_digit(p, end)) p++;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        n.integer = false;
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        if (!is_digit(p, end)) return n;
        while (is_digit(p, end)) p++;
    }
    n.end = p;
    return n;
}

static bool begin_number(lg_json *json, const char *what, number *n) {
    if (json->failed) return false;
    skip_space(json);
    if (json->at == json->end || (*json->at != '-' && !is_digit(json->at, json->end)))
        return expected(json, what);
    *n = scan_number(json->at, json->end);
    return n->end ? true : lg_json_complain(json, "a malformed number");
}

static bool fits_signed(const number *n) {
    return n->integer && n->fits && n->magnitude <= (uint64_t)INT64_MAX + n->negative;
}

static bool fits_unsigned(const number *n) {
    return n->integer && n->fits && (!n->negative || n->magnitude == 0);
}

static int64_t signed_value(const number *n) {
    return (int64_t)(n->negative ? 0 - n->magnitude : n->magnitude);
}

bool lg_json_integer(lg_json *json, int64_t *value) {
    number n;
    *value = 0;
    if (!begin_number(json, "an integer", &n)) return false;
    if (!n.integer)
        return lg_json_complain(json, "expected an integer, found a number with a fraction or exponent");
    if (!fits_signed(&n)) return lg_json_complain(json, "an integer that does not fit 64 bits");
    *value = signed_value(&n);
    json->at = n.end;
    return true;
}

bool lg_json_unsigned(lg_json *json, uint64_t *value) {
    number n;
    *value = 0;
    if (!begin_number(json, "an integer", &n)) return false;
    if (!n.integer)
        return lg_json_complain(json, "expected an integer, found a number with a fraction or exponent");
    if (!fits_unsigned(&n))
        return lg_json_complain(json, n.negative ? "an integer that must not be negative"
                                                 : "an integer that does not fit 64 bits");
    *value = n.magnitude;
    json->at = n.end;
    return true;
}

/* The double nearest to the number [BEGIN, END). Most have at most 15 digits and a small power of ten, and
   are one exact integer times or over one exact power: correctly rounded by a single operation (Clinger
   1990). The rest goes to strtod, always in the C locale. false: no memory. */
bool lg_decimal_to_double(const char *begin, const char *end, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (end - begin < 64) {
        const char *p = begin + (*begin == '-');
        uint64_t digits = 0;
        int n_digits = 0, exponent = 0;
        for (bool fraction = false; p < end && (*p == '.' || (*p >= '0' && *p <= '9')); p++) {
            if (*p == '.') {
                fraction = true;
                continue;
            }
            if (digits || *p != '0') n_digits++;
            if (n_digits > 15) break;
            digits = digits * 10 + (uint64_t)(*p - '0');
            exponent -= fraction;
        }
        if (n_digits <= 15) {
            if (p < end) { /* an exponent */
                bool negative = p[1] == '-';
                p += 1 + (p[1] == '-' || p[1] == '+');
                int e = 0;
                for (; p < end && e < 1000; p++) e = e * 10 + (*p - '0');
                exponent += negative ? -e : e;
            }
            if (exponent >= -22 && exponent <= 22) {
                double d = (double)digits;
                d = exponent < 0 ? d / powers[-exponent] : d * powers[exponent];
                *value = *begin == '-' ? -d : d;
                return true;
            }
        }
    }
    char small[64], *copy = small;
    size_t length = (size_t)(end - begin);
    if (length >= sizeof small && !(copy = malloc(length + 1))) return false;
    memcpy(copy, begin, length);
    copy[length] = '\0';
    locale_t c_locale =
        newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a constant of the C library, not an allocation */
    if (c_locale) {
        *value = strtod_l(copy, NULL, c_locale);
        freelocale(c_locale);
    }
    if (copy != small) free(copy);
    return c_locale;
}

bool lg_json_number(lg_json *json, double *value) {
    number n;
    *value = 0;
    if (!begin_number(json, "a number", &n)) return false;
    if (!lg_decimal_to_double(json->at, n.end, value)) return fail_memory(json);
    if (isinf(*value)) {
        *value = 0;
        return lg_json_complain(json, "a number too large for a double");
    }
    json->at = n.end;
    return true;
}

/* ---- literals ---- */

static bool pass_literal(lg_json *json, const char *literal) {
    size_t length = strlen(literal);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, literal, length) != 0) return false;
    json->at += length;
    return true;
}

bool lg_json_bool(lg_json *json, bool *value) {
    *value = false;
    if (json->failed) return false;
    skip_space(json);
    if (pass_literal(json, "true")) return *value = true;
    return pass_literal(json, "false") || expected(json, "true or false");
}

bool lg_json_null(lg_json *json) {
    if (json->failed) return false;
    skip_space(json);
    return pass_literal(json, "null") || expected(json, "null");
}

/* ---- any value ---- */

lg_json_type lg_json_peek(lg_json *json) {
    if (json->failed) return LG_JSON_END;
    skip_space(json);
    if (json->at == json->end) {
        if (json->depth) expected(json, "a value");
        return LG_JSON_END;
    }
    switch (*json->at) {
    case '"':
        return LG_JSON_STRING;
    case '{':
        return LG_JSON_OBJECT;
    case '[':
        return LG_JSON_ARRAY;
    case 't':
    case 'f':
        return LG_JSON_BOOL;
    case 'n':
        return LG_JSON_NULL;
    }
    number n;
    if (!begin_number(json, "a value", &n)) return LG_JSON_END;
    return fits_signed(&n) || fits_unsigned(&n) ? LG_JSON_INTEGER : LG_JSON_NUMBER;
}

/* Converts a number only where it might overflow: an integer of up to 300 digits cannot. */
static bool skip_number(lg_json *json) {
    number n;
    if (!begin_number(json, "a value", &n)) return false;
    double ignored;
    if (!n.integer || n.end - json->at > 300) return lg_json_number(json, &ignored);
    json->at = n.end;
    return true;
}

bool lg_json_skip(lg_json *json) {
    bool in_object[LG_JSON_DEPTH + 1]; /* the kind of each container entered here, by depth */
    const unsigned outside = json->depth;
    const char *begin, *end;
    bool escaped, ignored;
    for (;;) {
        switch (json->failed ? LG_JSON_END : lg_json_peek(json)) {
        case LG_JSON_NULL:
            lg_json_null(json);
            break;
        case LG_JSON_BOOL:
            lg_json_bool(json, &ignored);
            break;
        case LG_JSON_INTEGER:
        case LG_JSON_NUMBER:
            skip_number(json);
            break;
        case LG_JSON_STRING:
            pass_string(json, &begin, &end, &escaped);
            break;
        case LG_JSON_ARRAY:
            if (lg_json_array(json)) in_object[json->depth] = false;
            break;
        case LG_JSON_OBJECT:
            if (lg_json_object(json)) in_object[json->depth] = true;
            break;
        case LG_JSON_END:
            return json->failed ? false : expected(json, "a value");
        }
        /* On to the next value inside, closing what ends. */
        for (;;) {
            if (json->failed) return false;
            if (json->depth == outside) return true;
            if (!in_object[json->depth]) {
                if (lg_json_element(json)) break;
            } else if (next_member(json, '}', "a key or '}'", "',' or '}'")) {
                if (!next_is(json, '"')) return expected(json, "a key");
                if (!pass_string(json, &begin, &end, &escaped) || !pass_colon(json)) return false;
                break;
            }
        }
    }
}

lg_status lg_json_done(lg_json *json) {
    if (!json->failed) {
        skip_space(json);
        if (json->at < json->end) lg_json_complain(json, "more text after the end of the JSON value");
        else if (json->depth) lg_json_complain(json, "the text ends inside an object or array");
    }
    return json->status;
}
