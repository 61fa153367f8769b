/* An opened checkpoint: what it computes and where each tensor lies. */
#ifndef LG_MODEL_CHECKPOINT_H
#define LG_MODEL_CHECKPOINT_H

#include "base/file.h"
#include "lossgap/model.h"
#include "model/spec.h"
#include "store/safetensors.h"

struct lg_model {
    lg_model_info info; /* strings in arena */
    lg_spec spec;
    lg_safetensors **files;
    size_t n_files;
    const lg_tensor *globals[LG_N_GLOBAL_SLOTS]; /* the head of a tied model is its embedding */
    const lg_tensor *(*layers)[LG_N_SLOTS];      /* [n_layers]; NULL where a layer has no such slot */
    lg_arena arena;
};

/* identity.c: 32 hex digits over config.json and the files. Data hashes of large files are kept in the user's
   cache folder by path, size and times; blobs of a hub cache go by their name. */
lg_status lg_model_identify(const lg_mapping *config, lg_safetensors *const *files, size_t n_files,
                            const lg_monitor *monitor, char hex[33], lg_error *error);

/* The cache folder itself: $XDG_CACHE_HOME/lossgap or ~/.cache/lossgap. free(); NULL: there is none. */
char *lg_cache_folder(void);

#endif
