/* Writing tables. A column's bytes go to its buffer, and from there to its spool file once the buffer is
   full; the hash of its data runs along, so commit reads each byte only once, to copy it. */
#include "store/table_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/identity.h"

enum { BUFFER = 256 * 1024, ALIGNMENT = 64 };

typedef struct column {
    char *name;
    lg_dtype dtype;
    unsigned n_dims;
    size_t width, shape[2];
    size_t bytes;          /* so far */
    unsigned char *buffer; /* [BUFFER] the last `buffered` bytes; NULL until the first append */
    size_t buffered;
    int spool; /* the bytes before them; -1: none yet */
    lg_hasher *hasher;
} column;

struct lg_table_writer {
    char *path;
    column *columns;
    size_t n_columns, capacity;
};

/* ---- spooling ---- */

/* A file without a name, in the folder of PATH: it vanishes with the process. */
static lg_status open_spool(const char *path, int *fd, lg_error *error) {
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = NULL;
    if (asprintf(&name, "%.*s%s", (int)n, path, n ? "." : "./.") < 0) return lg_fail_memory(error);
    *fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(name);
    if (*fd >= 0) return LG_OK;
    /* Not every file system has O_TMPFILE. */
    if (asprintf(&name, "%s.XXXXXX.spool", path) < 0) return lg_fail_memory(error);
    *fd = mkostemps(name, 6, O_CLOEXEC);
    if (*fd >= 0) unlink(name);
    free(name);
    return *fd >= 0 ? LG_OK : lg_fail_write(error, "create a file beside", path);
}

static lg_status spill(lg_table_writer *writer, column *c, lg_error *error) {
    if (c->spool < 0) {
        lg_status status = open_spool(writer->path, &c->spool, error);
        if (status) return status;
    }
    for (size_t done = 0; done < c->buffered;) {
        ssize_t n = write(c->spool, c->buffer + done, c->buffered - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return lg_fail_write(error, "write", writer->path);
        done += (size_t)n;
    }
    c->buffered = 0;
    return LG_OK;
}

/* ---- the writer ---- */

lg_status lg_table_may_replace(const char *path, const char *format, lg_error *error) {
    struct stat info;
    lg_status status = lg_check_output(path, error);
    if (status || stat(path, &info) != 0 || !info.st_size) return status;
    lg_table *there;
    lg_error why = {0};
    status = lg_table_open(path, format, &there, &why);
    lg_table_close(there);
    if (!status) return LG_OK;
    return lg_fail(error, status, "%.700s%s", why.message,
                   status == LG_BAD_INPUT ? " (it would be overwritten: remove it, or write elsewhere)" : "");
}

lg_status lg_table_writer_create(const char *path, lg_table_writer **result, lg_error *error) {
    *result = NULL;
    lg_status status = lg_check_output(path, error);
    if (status) return status;
    int fd; /* a folder that cannot be written to is known now, not after the work */
    status = open_spool(path, &fd, error);
    if (status) return status;
    close(fd);
    lg_table_writer *writer = calloc(1, sizeof *writer);
    if (writer) writer->path = strdup(path);
    if (!writer || !writer->path) {
        lg_table_writer_discard(writer);
        return lg_fail_memory(error);
    }
    *result = writer;
    return LG_OK;
}

static bool is_name(const char *name) {
    uint32_t code;
    bool valid = *name && strcmp(name, "__metadata__") != 0;
    for (size_t i = 0, n = strlen(name); valid && i < n;) i += lg_utf8_decode(name + i, n - i, &code, &valid);
    return valid;
}

lg_status lg_table_writer_add(lg_table_writer *writer, const char *name, lg_dtype dtype, size_t width,
                              size_t *index, lg_error *error) {
    if (!is_name(name) || !width || !lg_dtype_size(dtype))
        return lg_fail(error, LG_USAGE,
                       "%s: \"%s\" cannot be a column's name, or its dtype or width is not possible",
                       writer->path, name);
    for (size_t i = 0; i < writer->n_columns; i++)
        if (strcmp(writer->columns[i].name, name) == 0)
            return lg_fail(error, LG_USAGE, "%s: a second column \"%s\"", writer->path, name);
    if (!lg_reserve(&writer->columns, &writer->capacity, writer->n_columns + 1, sizeof *writer->columns))
        return lg_fail_memory(error);
    column c = {
        .name = strdup(name), .dtype = dtype, .width = width, .spool = -1, .hasher = lg_hasher_create()};
    if (!c.name || !c.hasher) {
        free(c.name);
        lg_hasher_free(c.hasher);
        return lg_fail_memory(error);
    }
    writer->columns[writer->n_columns] = c;
    *index = writer->n_columns++;
    return LG_OK;
}

lg_status lg_table_writer_append(lg_table_writer *writer, size_t index, const void *values, size_t count,
                                 lg_error *error) {
    column *c = &writer->columns[index];
    size_t bytes, total;
    if (!lg_multiply(count, lg_dtype_size(c->dtype), &bytes) ||
        __builtin_add_overflow(c->bytes, bytes, &total))
        return lg_fail_memory(error);
    if (!c->buffer && !(c->buffer = malloc(BUFFER))) return lg_fail_memory(error);
    lg_hasher_add(c->hasher, values, bytes);
    c->bytes = total;
    for (const unsigned char *from = values; bytes;) {
        if (c->buffered == BUFFER) {
            lg_status status = spill(writer, c, error);
            if (status) return status;
        }
        size_t n = bytes < BUFFER - c->buffered ? bytes : BUFFER - c->buffered;
        memcpy(c->buffer + c->buffered, from, n);
        c->buffered += n;
        from += n;
        bytes -= n;
    }
    return LG_OK;
}

static void free_column(column *c) {
    if (c->spool >= 0) close(c->spool);
    c->spool = -1;
    free(c->buffer);
    c->buffer = NULL;
    lg_hasher_free(c->hasher);
    c->hasher = NULL;
    free(c->name);
    c->name = NULL;
}

void lg_table_writer_discard(lg_table_writer *writer) {
    if (!writer) return;
    for (size_t i = 0; i < writer->n_columns; i++) free_column(&writer->columns[i]);
    free(writer->columns);
    free(writer->path);
    free(writer);
}

/* ---- commit ---- */

/* Finds the JSON object in TEXT (NULL: {}), without the white space around it. */
static lg_status find_object(const char *text, const char *what, lg_string *object, lg_error *error) {
    *object = (lg_string){text ? text : "{}", text ? strlen(text) : 2};
    lg_json json;
    lg_json_start(&json, object->data, object->length, what, NULL, error); /* skips, so no scratch */
    if (lg_json_peek(&json) != LG_JSON_OBJECT) lg_json_object(&json);
    object->data = json.at;
    lg_json_skip(&json);
    object->length = (size_t)(json.at - object->data);
    lg_status status = lg_json_done(&json);
    uint32_t code;
    bool valid = true;
    for (size_t i = 0; !status && valid && i < object->length;)
        i += lg_utf8_decode(object->data + i, object->length - i, &code, &valid);
    if (!valid) status = lg_fail(error, LG_USAGE, "%s: not UTF-8", what);
    return status;
}

static void put_slice(lg_json_writer *w, const char *key, lg_string object) {
    lg_json_put_key(w, key);
    lg_json_put_raw(w, object.data, object.length);
}

static lg_status make_provenance(const lg_table_writer *writer, const lg_provenance *provenance,
                                 const char *about, lg_text *text, lg_error *error) {
    lg_string inputs, settings, about_object;
    lg_status status;
    if ((status = find_object(provenance->inputs, "inputs", &inputs, error))) return status;
    if ((status = find_object(provenance->settings, "settings", &settings, error))) return status;
    if ((status = find_object(about, "about", &about_object, error))) return status;

    lg_identity_column *columns = lg_alloc(writer->n_columns, sizeof *columns);
    if (!columns) return lg_fail_memory(error);
    for (size_t i = 0; i < writer->n_columns; i++) {
        const column *c = &writer->columns[i];
        columns[i] = (lg_identity_column){c->name, c->dtype, c->n_dims, c->shape, lg_hasher_value(c->hasher)};
    }
    char identity[33];
    status = lg_identity_of(provenance->format, provenance->version, settings.data, settings.length, columns,
                            writer->n_columns, identity, error);
    free(columns);
    if (status) return status;

    lg_json_writer w = {.out = text};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "format");
    lg_json_put_text(&w, provenance->format);
    lg_json_put_key(&w, "version");
    lg_json_put_unsigned(&w, provenance->version);
    lg_json_put_key(&w, "program");
    lg_json_put_text(&w, "lossgap " LG_VERSION);
    lg_json_put_key(&w, "command");
    lg_json_put_text(&w, provenance->command ? provenance->command : "");
    lg_json_put_key(&w, "identity");
    lg_json_put_text(&w, identity);
    put_slice(&w, "inputs", inputs);
    put_slice(&w, "settings", settings);
    if (about) put_slice(&w, "about", about_object);
    lg_json_end_object(&w);
    return text->failed ? lg_fail_memory(error) : LG_OK;
}

static int widest_first(const void *a, const void *b) {
    const column *x = a, *y = b;
    size_t m = lg_dtype_size(x->dtype), n = lg_dtype_size(y->dtype);
    return m != n ? (m < n ? 1 : -1) : strcmp(x->name, y->name);
}

/* The header with its length before it, padded so that the data begin at a multiple of ALIGNMENT. */
static lg_status make_header(const lg_table_writer *writer, const lg_text *provenance, lg_text *header,
                             lg_error *error) {
    lg_json_writer w = {.out = header};
    uint64_t length = 0, at = 0;
    lg_text_put(header, &length, sizeof length);
    lg_json_put_object(&w);
    lg_json_put_key(&w, "__metadata__");
    lg_json_put_object(&w);
    lg_json_put_key(&w, "lossgap");
    lg_json_put_string(&w, provenance->data, provenance->length);
    lg_json_end_object(&w);
    for (size_t i = 0; i < writer->n_columns; i++) {
        const column *c = &writer->columns[i];
        lg_json_put_key(&w, c->name);
        lg_json_put_object(&w);
        lg_json_put_key(&w, "dtype");
        lg_json_put_text(&w, lg_dtype_name(c->dtype));
        lg_json_put_key(&w, "shape");
        lg_json_put_array(&w);
        for (unsigned d = 0; d < c->n_dims; d++) lg_json_put_unsigned(&w, c->shape[d]);
        lg_json_end_array(&w);
        lg_json_put_key(&w, "data_offsets");
        lg_json_put_array(&w);
        lg_json_put_unsigned(&w, at);
        lg_json_put_unsigned(&w, at += c->bytes);
        lg_json_end_array(&w);
        lg_json_end_object(&w);
    }
    lg_json_end_object(&w);
    while (header->length % ALIGNMENT && !header->failed) lg_text_put(header, " ", 1);
    if (header->failed) return lg_fail_memory(error);
    length = header->length - sizeof length;
    memcpy(header->data, &length, sizeof length);
    return LG_OK;
}

/* Copies a column to the output. BLOCK is scratch. */
static lg_status copy_column(const lg_table_writer *writer, column *c, unsigned char *block, FILE *stream,
                             lg_error *error) {
    for (size_t at = 0, spooled = c->bytes - c->buffered; at < spooled;) {
        size_t wanted = spooled - at < BUFFER ? spooled - at : BUFFER;
        ssize_t n = pread(c->spool, block, wanted, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return lg_fail_write(error, "read back what was written for", writer->path);
        if (fwrite(block, 1, (size_t)n, stream) < (size_t)n)
            return lg_fail_write(error, "write", writer->path);
        at += (size_t)n;
    }
    if (c->buffered && fwrite(c->buffer, 1, c->buffered, stream) < c->buffered)
        return lg_fail_write(error, "write", writer->path);
    return LG_OK;
}

lg_status lg_table_writer_commit(lg_table_writer *writer, const lg_provenance *provenance, const char *about,
                                 lg_error *error) {
    lg_text text = {0}, header = {0};
    lg_output output = {0};
    unsigned char *block = malloc(BUFFER);
    lg_status status = block ? LG_OK : lg_fail_memory(error);
    if (status) goto done;
    for (size_t i = 0; i < writer->n_columns; i++) {
        column *c = &writer->columns[i];
        size_t values = c->bytes / lg_dtype_size(c->dtype);
        if (values % c->width) {
            status =
                lg_fail(error, LG_USAGE, "%s: column \"%s\" has %zu values, no whole number of rows of %zu",
                        writer->path, c->name, values, c->width);
            goto done;
        }
        c->n_dims = c->width == 1 ? 1 : 2;
        c->shape[0] = values / c->width;
        c->shape[1] = c->width;
    }
    if (writer->n_columns) qsort(writer->columns, writer->n_columns, sizeof *writer->columns, widest_first);
    if ((status = make_provenance(writer, provenance, about, &text, error))) goto done;
    if ((status = make_header(writer, &text, &header, error))) goto done;
    if ((status = lg_output_open(writer->path, &output, error))) goto done;
    fwrite(header.data, 1, header.length, output.stream);
    for (size_t i = 0; i < writer->n_columns && !status; i++) {
        status = copy_column(writer, &writer->columns[i], block, output.stream, error);
        free_column(&writer->columns[i]); /* gives its disk space back */
    }
    if (!status) status = lg_output_commit(&output, error);
done:
    lg_output_discard(&output);
    free(block);
    lg_text_free(&text);
    lg_text_free(&header);
    lg_table_writer_discard(writer);
    return status;
}
