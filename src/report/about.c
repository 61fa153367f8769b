/* What tables say of the tokens that they are about. */
#include "report/about.h"

#include "report/grid.h"

void lg_about_counted(lg_text *out, uint64_t n, const char *what) {
    lg_grid count = {.n_columns = 1};
    lg_grid_count(&count, n);
    if (count.count) lg_text_printf(out, "%s %s%s", count.cells[0].text, what, n == 1 ? "" : "s");
    out->failed |= count.failed;
    lg_grid_free(&count);
}

void lg_about_tokens(const lg_gap_about *about, uint64_t tokens, uint64_t documents, lg_text *out) {
    const char *unit = about->spans ? "span" : "token";
    lg_about_counted(out, tokens, unit);
    lg_text_puts(out, " in ");
    lg_about_counted(out, documents, "document");
    if (about->unscorable)
        lg_text_printf(out, "; %llu without a loss left out", (unsigned long long)about->unscorable);
    for (size_t i = 0; i < about->n_definitions; i++)
        lg_text_printf(out, "\ndefined: %s", about->definitions[i]);
    if (!about->where) return;
    lg_text_printf(out, "\nwhere %s: ", about->where);
    lg_about_counted(out, about->kept, unit);
    lg_text_puts(out, " of ");
    lg_about_counted(out, about->tokens - about->unscorable, unit);
    lg_text_puts(out, " with a loss");
    if (about->unknown) {
        lg_text_puts(out, "; it cannot be told of ");
        lg_about_counted(out, about->unknown, unit);
    }
}
