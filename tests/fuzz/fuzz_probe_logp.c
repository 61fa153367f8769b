/* Log-probabilities of choices: any bytes are an error or scores that can be evaluated, written and read
 * again. */
#include <stdlib.h>
#include <string.h>

#include "stats/probe_logp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static lg_probe_items *make_items(void) {
    lg_error error = {0};
    lg_probe_items *items;
    static const char *const ids[] = {"1", "\"a\"", "3"};
    if (lg_probe_items_create(&items, &error)) abort();
    for (size_t i = 0; i < 3; i++) {
        lg_probe_choice choices[] = {{"x", 1, 0, 1}, {"y", 1, 1, 0}, {"z", 1, 2, 2}};
        lg_probe_item item = {.id = ids[i],
                              .probe = "p",
                              .cell = i ? "a" : "b",
                              .distance = 8,
                              .prompt = "P",
                              .prompt_length = 1,
                              .choices = choices,
                              .n_choices = i == 1 ? 3 : 2,
                              .most_recent = 1,
                              .most_frequent = 0,
                              .first_mention = -1};
        if (lg_probe_items_add(items, &item, &error)) abort();
    }
    return items;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lg_error error = {0};
    lg_probe_scores *scores;
    size_t n;
    lg_probe_items *items = make_items();
    lg_status status = lg_probe_logp_parse((const char *)data, size, "file", items, &scores, &n, &error);
    if (!status == !!error.message[0] || !status == !n) abort();
    if (!status) {
        lg_probe_results *results;
        lg_probe_evaluate_options options = {.command = "fuzz"};
        if (lg_probe_evaluate(items, scores, n, &options, &results, &error)) abort();
        lg_probe_results_free(results);
        lg_probe_logp_free(scores, n);
    }
    lg_probe_items_free(items);
    return 0;
}
