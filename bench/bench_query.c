/* Conditions and derived values: rows a second on one thread, the bytes of columns that this reads, and how
   near that is to what the machine reads at best (the sum of an array, measured here too). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tests/query_table.h"

enum { ROWS = 16 << 20, WORDS = 20000 };

static const char *const families[] = {"noun",    "verb",       "adjective", "adverb",
                                       "pronoun", "determiner", "none"};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static uint64_t random_state = 1;

static uint32_t draw(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

/* Bytes a second of one thread that only reads. */
static double read_rate(const void *memory, size_t bytes) {
    const uint64_t *v = memory;
    double best = 0;
    volatile uint64_t keep;
    for (int round = 0; round < 5; round++) {
        double start = seconds();
        uint64_t sum[8] = {0};
        for (size_t i = 0; i < bytes / 8; i += 8)
            for (size_t k = 0; k < 8; k++) sum[k] += v[i + k];
        keep = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
        double rate = (double)bytes / (seconds() - start);
        if (rate > best) best = rate;
    }
    (void)keep;
    return best;
}

static void measure(const lg_query_source *source, const char *text, lg_query_want want, double bytes,
                    double best) {
    lg_error error = {0};
    lg_query *query;
    lg_query_item item = {"bench", NULL, text, want};
    if (lg_query_compile(&item, 1, source, &query, &error)) stop(error.message);
    double time = 1e9;
    size_t kept = 0;
    for (int round = 0; round < 3; round++) {
        lg_query_session *session = lg_query_session_create(query);
        if (!session) stop("out of memory");
        kept = 0;
        double start = seconds();
        for (size_t first = 0; first < ROWS; first += LG_QUERY_BLOCK) {
            if (lg_query_run(session, first, LG_QUERY_BLOCK, &error)) stop(error.message);
            if (want != LG_QUERY_CONDITION) continue;
            const uint8_t *truth = lg_query_truth(session, 0);
            for (size_t i = 0; i < LG_QUERY_BLOCK; i++) kept += truth[i] == LG_QUERY_TRUE;
        }
        double taken = seconds() - start;
        if (taken < time) time = taken;
        lg_query_session_free(session);
    }
    printf("%-58s %8.0f M rows/s  %5.1f GB/s, %3.0f %% of reading", text, ROWS / time * 1e-6,
           ROWS * bytes / time * 1e-9, 100 * ROWS * bytes / time / best);
    if (want == LG_QUERY_CONDITION) printf("; keeps %.1f %%", 100. * (double)kept / ROWS);
    printf("\n");
    lg_query_free(query);
}

int main(void) {
    uint8_t *family = malloc(ROWS);
    uint16_t *copy_len = malloc(ROWS * sizeof *copy_len);
    uint32_t *distance = malloc(ROWS * sizeof *distance);
    float *loss[2] = {malloc(ROWS * sizeof(float)), malloc(ROWS * sizeof(float))};
    double *frequency = malloc(ROWS * sizeof *frequency);
    lg_string *word = malloc(ROWS * sizeof *word);
    static char words[WORDS][12];
    if (!family || !copy_len || !distance || !loss[0] || !loss[1] || !frequency || !word)
        stop("out of memory");
    for (size_t i = 0; i < WORDS; i++)
        snprintf(words[i], sizeof words[i], "%c%x", i % 5 ? 'w' : 'W', draw(1u << 28));
    for (size_t i = 0; i < ROWS; i++) {
        family[i] = (uint8_t)draw(7);
        copy_len[i] = (uint16_t)(draw(3) ? 0 : draw(20));
        distance[i] = draw(2) ? 0 : draw(2000);
        for (size_t m = 0; m < 2; m++) loss[m][i] = (float)draw(100000) * 1e-4f;
        frequency[i] = 1e-6 * (1 + draw(10000));
        const char *w = words[draw(draw(WORDS) + 1)];
        word[i] = (lg_string){w, strlen(w)};
    }
    const query_table_column columns[] = {
        {"family", NULL, LG_QUERY_CATEGORY, LG_U8, family, families, 7, QUERY_TABLE_PLAIN},
        {"copy_len", NULL, LG_QUERY_NUMBER, LG_U16, copy_len, NULL, 0, QUERY_TABLE_PLAIN},
        {"prev_distance", NULL, LG_QUERY_NUMBER, LG_U32, distance, NULL, 0, QUERY_TABLE_PLAIN},
        {"loss", "a", LG_QUERY_NUMBER, LG_F32, loss[0], NULL, 0, QUERY_TABLE_PLAIN},
        {"loss", "b", LG_QUERY_NUMBER, LG_F32, loss[1], NULL, 0, QUERY_TABLE_PLAIN},
        {"frequency", NULL, LG_QUERY_NUMBER, LG_F64, frequency, NULL, 0, QUERY_TABLE_PLAIN},
        {"word", NULL, LG_QUERY_TEXT, LG_U8, word, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    };
    query_table table = {columns, sizeof columns / sizeof *columns, 0};
    lg_query_source source = query_table_source(&table);
    double best = read_rate(frequency, ROWS * sizeof *frequency);
    printf("reading %.1f GB/s, one thread\n", best * 1e-9);
    static const struct {
        const char *text;
        lg_query_want want;
        double bytes; /* of columns, a row */
    } cases[] = {
        {"family = noun", LG_QUERY_CONDITION, 1},
        {"family in (noun, adverb, none)", LG_QUERY_CONDITION, 1},
        {"copy_len = 0", LG_QUERY_CONDITION, 2},
        {"family = noun and copy_len = 0", LG_QUERY_CONDITION, 3},
        {"prev_distance in (1..9, 100..199, 1000..)", LG_QUERY_CONDITION, 4},
        {"loss(a) > 2", LG_QUERY_CONDITION, 4},
        {"frequency < 1e-3", LG_QUERY_CONDITION, 8},
        {"loss(a) > 2 and not (family = noun or copy_len in (1..4))", LG_QUERY_CONDITION, 7},
        {"loss(a) - loss(b) > 0.5", LG_QUERY_CONDITION, 8},
        {"loss(a) - loss(b)", LG_QUERY_NUMERIC, 8},
        {"prev_distance = 0", LG_QUERY_NUMERIC, 4},
        {"log(max(prev_distance,1))", LG_QUERY_NUMERIC, 4},
        {"log(frequency)", LG_QUERY_NUMERIC, 8},
        {"word ~ /^[A-Z]/", LG_QUERY_CONDITION, 16},
        {"word in (the, of, and)", LG_QUERY_CONDITION, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        measure(&source, cases[i].text, cases[i].want, cases[i].bytes, best);
    free(family);
    free(copy_len);
    free(distance);
    free(loss[0]);
    free(loss[1]);
    free(frequency);
    free(word);
    return 0;
}
