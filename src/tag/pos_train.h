/* Learning a tagger's weights, and writing them down as a model. */
#ifndef LG_TAG_POS_TRAIN_H
#define LG_TAG_POS_TRAIN_H

#include "lossgap/base.h"
#include "tag/pos_corpus.h"
#include "tag/pos_lexicon.h"

/* A feature with its averaged, rounded weights: model.weights[begin … begin + count). */
typedef struct lg_pos_learned_feature {
    uint64_t hash;
    size_t begin, count;
} lg_pos_learned_feature;

typedef struct lg_pos_learned {
    lg_pos_learned_feature *features; /* [n_features] */
    size_t n_features;
    uint16_t *weights; /* as in the model: tag, and from bit 8 on the weight */
    size_t n_weights;
} lg_pos_learned;

/* Learns from CORPUS. OTHER may be empty. The same input gives the same weights on every machine. */
lg_status lg_pos_learn(const lg_pos_corpus *corpus, const char *tagset, const lg_pos_lexicon *own,
                       const lg_pos_lexicon *other, unsigned epochs, lg_pos_learned *learned,
                       const lg_monitor *monitor, lg_error *error);
void lg_pos_learned_free(lg_pos_learned *learned);

/* Which part of the training text (LG_POS_PARTS of them) each sentence lies in: documents by turns, or runs
   of sentences where there are few documents. SENTENCES: the first word of each. */
void lg_pos_cut_parts(const lg_pos_corpus *corpus, const size_t *sentences, size_t n_sentences,
                      uint8_t *parts);
/* The first word of each sentence and, at the end, the number of words; free(). NULL: no memory. */
size_t *lg_pos_sentences(const lg_pos_corpus *corpus, size_t *n_sentences);

/* Adds the forms of CORPUS to LEXICON, each with its part. false: no memory. */
bool lg_pos_count_forms(const lg_pos_corpus *corpus, lg_pos_lexicon *lexicon);

#endif
