/* Scores a dataset with a checkpoint and prints the mean loss of each document:
       cc -o example library_example.c $(pkg-config --cflags --libs lossgap)
       ./example MODEL DATA SCORES */
#include <lossgap/dataset.h>
#include <lossgap/model.h>
#include <lossgap/score.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: example MODEL DATA SCORES\n"), LG_USAGE;
    lg_error error = {0};
    lg_dataset data = {0};
    lg_scores scores = {0};
    lg_model *model = NULL;
    lg_score_options options = {.prefix = LG_PREFIX_AUTO, .model_name = "example"};

    lg_status status = lg_dataset_open(argv[2], &data, &error);
    if (!status) status = lg_model_open(argv[1], &model, NULL, &error);
    if (!status) status = lg_score_run(model, &data, &options, argv[3], NULL, &error);
    if (!status) status = lg_scores_open(argv[3], &data, &scores, &error);
    for (size_t doc = 0; doc < data.n_docs && !status; doc++) {
        double sum = 0;
        size_t scored = 0, name = (size_t)lg_begin_of(data.doc_name_end, doc);
        for (size_t i = (size_t)lg_begin_of(data.doc_token_end, doc); i < data.doc_token_end[doc]; i++) {
            if (isnan(scores.nll[i])) continue; /* nothing stood before it */
            sum += (double)scores.nll[i];
            scored++;
        }
        printf("%.*s\t%zu tokens\t%.4f nats\n", (int)(data.doc_name_end[doc] - name), data.doc_name + name,
               scored, scored ? sum / (double)scored : NAN);
    }
    if (status) fprintf(stderr, "example: %s\n", error.message);
    lg_scores_close(&scores);
    lg_model_close(model);
    lg_dataset_close(&data);
    return (int)status;
}
