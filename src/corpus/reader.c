/* The documents of a corpus, one after the other: whole files, and lines of JSONL files. */
#include "corpus/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "corpus/jsonl.h"

enum { CHUNK = 1 << 17 };

struct lg_reader {
    const lg_corpus_files *files;
    int kind;
    bool input_ids;
    size_t file;       /* the one that is open or comes next */
    lg_stream *stream; /* NULL: not open */
    uint64_t consumed; /* of files done with */
    lg_text domain;    /* the caller's, as valid UTF-8; data NULL: none */

    /* JSONL: bytes that were read, and the part of them that is still to be parsed */
    lg_text buffer;
    size_t at;
    size_t searched; /* no line ends in [at, searched) */
    bool stream_ended;
    uint64_t line_number;
    lg_jsonl_line line;
    lg_text name; /* FILE:LINE */
    lg_text label;
};

/* Copies a label; what is no UTF-8 becomes U+FFFD, so that JSON can tell it. */
static void put_valid(lg_text *out, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        uint32_t c;
        bool valid;
        char utf8[4];
        i += lg_utf8_decode(text + i, length - i, &c, &valid);
        lg_text_put(out, utf8, lg_utf8_encode(c, utf8));
    }
}

lg_status lg_reader_create(const lg_corpus_files *files, int kind, const char *domain, bool input_ids,
                           lg_reader **result, lg_error *error) {
    lg_reader *reader = calloc(1, sizeof *reader);
    *result = NULL;
    if (!reader) return lg_fail_memory(error);
    *reader = (lg_reader){.files = files, .kind = kind, .input_ids = input_ids};
    if (domain) put_valid(&reader->domain, domain, strlen(domain));
    if (reader->domain.failed) {
        lg_reader_free(reader);
        return lg_fail_memory(error);
    }
    *result = reader;
    return LG_OK;
}

static lg_string string_of(const char *text) {
    return (lg_string){text, strlen(text)};
}

/* The label of a document that has none of its own. */
static lg_string label_of(const lg_reader *reader, lg_kind kind) {
    return reader->domain.data ? (lg_string){reader->domain.data, reader->domain.length}
                               : string_of(lg_kind_name(kind));
}

/* Reads into the room that TEXT has, or CHUNK bytes more where it has none. */
static lg_status read_more(lg_stream *stream, lg_text *text, size_t *got, lg_error *error) {
    if (text->capacity - text->length < 2 &&
        (text->length > SIZE_MAX / 2 || !lg_reserve(&text->data, &text->capacity, text->length + CHUNK, 1)))
        return lg_fail_memory(error);
    lg_status status =
        lg_stream_read(stream, text->data + text->length, text->capacity - text->length - 1, got, error);
    text->length += *got;
    text->data[text->length] = '\0';
    return status;
}

static void close_file(lg_reader *reader) {
    if (reader->stream) reader->consumed += lg_stream_consumed(reader->stream);
    lg_stream_close(reader->stream);
    reader->stream = NULL;
    reader->file++;
    reader->buffer.length = reader->at = reader->searched = 0;
}

static lg_status read_whole(lg_reader *reader, const lg_corpus_file *file, lg_text *content,
                            lg_document *document, lg_error *error) {
    size_t begin = content->length, got = 1;
    lg_status status = LG_OK;
    /* A plain file says how much room it needs, one byte more tells its end; the others grow. */
    if (file->packing == LG_PLAIN && file->regular &&
        (file->size > SIZE_MAX / 4 || begin > SIZE_MAX / 4 ||
         !lg_reserve(&content->data, &content->capacity, begin + (size_t)file->size + 2, 1)))
        return lg_fail_memory(error);
    while (!status && got) status = read_more(reader->stream, content, &got, error);
    if (status) return status;
    lg_kind kind = reader->kind >= 0 ? (lg_kind)reader->kind : file->kind;
    *document = (lg_document){.size = content->length - begin,
                              .name = string_of(file->name),
                              .domain = label_of(reader, kind),
                              .kind = kind};
    close_file(reader);
    return LG_OK;
}

/* The next line without its end; *MORE false after the last. The buffer holds one line and
   what was read with it. */
static lg_status next_line(lg_reader *reader, lg_string *line, bool *more, lg_error *error) {
    lg_text *buffer = &reader->buffer;
    for (;;) {
        const char *end = buffer->length > reader->searched ? memchr(buffer->data + reader->searched, '\n',
                                                                     buffer->length - reader->searched)
                                                            : NULL;
        if (end || (reader->stream_ended && reader->at < buffer->length)) {
            size_t stop = end ? (size_t)(end - buffer->data) : buffer->length;
            *line = (lg_string){buffer->data + reader->at, stop - reader->at};
            reader->at = reader->searched = stop + (end != NULL);
            reader->line_number++;
            *more = true;
            return LG_OK;
        }
        if (reader->stream_ended) {
            *more = false;
            return LG_OK;
        }
        if (reader->at) { /* keep only the line that is not whole yet */
            buffer->length -= reader->at;
            memmove(buffer->data, buffer->data + reader->at, buffer->length);
            reader->at = 0;
        }
        reader->searched = buffer->length;
        size_t got;
        lg_status status = read_more(reader->stream, buffer, &got, error);
        if (status) return status;
        reader->stream_ended = got == 0;
    }
}

static lg_status place_of(lg_reader *reader, const char *file, lg_error *error) {
    reader->name.length = 0;
    lg_text_printf(&reader->name, "%s:%llu", file, (unsigned long long)reader->line_number);
    return reader->name.failed ? lg_fail_memory(error) : LG_OK;
}

static lg_status read_line(lg_reader *reader, const lg_corpus_file *file, lg_text *content,
                           lg_document *document, bool *more, lg_error *error) {
    lg_jsonl_line *line = &reader->line;
    lg_string json = {0};
    lg_status status;
    do status = next_line(reader, &json, more, error);
    while (!status && *more && lg_jsonl_is_blank(json.data, json.length));
    if (status || !*more) return status;

    /* Errors name the file as the user gave it; documents are named without the place on this machine. */
    status = place_of(reader, file->path, error);
    if (!status)
        status = lg_jsonl_read(json.data, json.length, reader->name.data, reader->input_ids, line, error);
    if (!status && !line->id.data) status = place_of(reader, file->name, error);
    if (status) return status;

    lg_kind kind = reader->kind >= 0 ? (lg_kind)reader->kind : line->has_kind ? line->kind : LG_PROSE;
    *document =
        (lg_document){.size = reader->input_ids ? line->n_ids * sizeof *line->ids : line->text.length,
                      .name = line->id.data ? line->id : (lg_string){reader->name.data, reader->name.length},
                      .domain = label_of(reader, kind),
                      .kind = kind,
                      .lone_surrogates = line->lone_surrogates};
    if (line->domain.data) {
        reader->label.length = 0;
        put_valid(&reader->label, line->domain.data, line->domain.length);
        document->domain = (lg_string){reader->label.data, reader->label.length};
    }
    lg_text_put(content, reader->input_ids ? (const void *)line->ids : line->text.data, document->size);
    return content->failed || reader->label.failed ? lg_fail_memory(error) : LG_OK;
}

lg_status lg_reader_next(lg_reader *reader, lg_text *content, lg_document *document, bool *more,
                         lg_error *error) {
    for (; reader->file < reader->files->n; close_file(reader)) {
        const lg_corpus_file *file = &reader->files->files[reader->file];
        lg_status status = LG_OK;
        if (!reader->stream) {
            status = lg_stream_open(file->path, file->packing, &reader->stream, error);
            reader->stream_ended = false;
            reader->line_number = 0;
        }
        if (status) return status;
        *more = true;
        if (!file->jsonl) return read_whole(reader, file, content, document, error);
        status = read_line(reader, file, content, document, more, error);
        if (status || *more) return status;
    }
    *more = false;
    return LG_OK;
}

uint64_t lg_reader_consumed(const lg_reader *reader) {
    return reader->consumed + (reader->stream ? lg_stream_consumed(reader->stream) : 0);
}

void lg_reader_free(lg_reader *reader) {
    if (!reader) return;
    lg_stream_close(reader->stream);
    lg_jsonl_free(&reader->line);
    lg_text_free(&reader->domain);
    lg_text_free(&reader->buffer);
    lg_text_free(&reader->name);
    lg_text_free(&reader->label);
    free(reader);
}
