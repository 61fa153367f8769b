/* Files of probe items: any bytes are either items as the header describes them or an error, and what was
   read is written as bytes that read as the same. */
#include <stdlib.h>
#include <string.h>

#include "probe/items.h"

static void check(bool good) {
    if (!good) abort();
}

static lg_text text_of(const lg_probe_items *items) {
    lg_text text = {0};
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        lg_probe_put_item(&text, lg_probe_item_at(items, i));
        lg_text_puts(&text, "\n");
    }
    check(!text.failed);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lg_error error = {0};
    lg_probe_items *items;
    char *copy = malloc(size ? size : 1); /* so that reading past its end shows */
    check(copy);
    if (size) memcpy(copy, data, size);
    lg_status status = lg_probe_items_parse(copy, size, "file", &items, &error);
    free(copy);
    if (status) {
        check(status == LG_BAD_INPUT && error.status == status && !items &&
              strncmp(error.message, "file:", 5) == 0);
        return 0;
    }
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        check(item->id[0] && item->probe[0] && item->cell && item->group && item->prompt_length);
        check(item->n_choices >= 2 && item->answer < item->n_choices);
        for (size_t k = 0; k < item->n_choices; k++)
            check(item->choices[k].length && item->choices[k].bound >= -1);
        for (size_t k = 0; k < item->n_spans; k++)
            check(item->spans[k].begin <= item->spans[k].end && item->spans[k].end <= item->prompt_length);
    }
    lg_text text = text_of(items);
    lg_probe_items_free(items);
    check(lg_probe_items_parse(text.data, text.length, "again", &items, &error) == LG_OK);
    lg_text again = text_of(items);
    check(text.length == again.length && memcmp(text.data, again.data, text.length) == 0);
    lg_text_free(&text);
    lg_text_free(&again);
    lg_probe_items_free(items);
    return 0;
}
