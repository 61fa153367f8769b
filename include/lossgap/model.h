/* Checkpoints in Hugging Face layout: found, checked, mapped; what they are. */
#ifndef LOSSGAP_MODEL_H
#define LOSSGAP_MODEL_H

#include "lossgap/base.h"
#include "lossgap/table.h"

typedef struct lg_model lg_model; /* immutable: weights stay in the mapped files */

typedef struct lg_model_info {
    const char *path;     /* the folder it was read from */
    const char *family;   /* model_type: "olmo3", "olmo_hybrid" … */
    const char *layers;   /* the layer pattern for people: "24 x (3 gated delta, 1 attention)" … */
    const char *dtype;    /* of most weights: "BF16" */
    const char *identity; /* 32 hex digits: config and safetensors headers and data */
    uint64_t parameters;  /* tied ones once */
    size_t n_layers, n_attention_layers, d_model, d_ff, vocab_size, n_heads, n_kv_heads, head_dim;
    size_t window;        /* of sliding layers, 0: none */
    size_t max_positions; /* max_position_embeddings */
    bool has_bos, has_eos;
    uint32_t bos, eos; /* first of a list */
    bool tied;
} lg_model_info;

/* WHERE: a folder, or a hub id (REPO or REPO@REVISION) in the local Hugging Face cache. Every tensor's
   presence, shape and dtype is checked here; notes (tensors passed over) go to MONITOR. */
LG_API lg_status lg_model_open(const char *where, lg_model **model, const lg_monitor *monitor,
                               lg_error *error);
LG_API void lg_model_close(lg_model *model);
LG_API const lg_model_info *lg_model_get_info(const lg_model *model);

/* The folder that WHERE means, into PATH [size]. */
LG_API lg_status lg_model_locate(const char *where, char *path, size_t size, lg_error *error);
#endif
