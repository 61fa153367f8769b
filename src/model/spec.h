/* What a model computes, as numbers: dimensions, layer kinds, rotary frequencies; and which tensor has which
   name and shape. A family file turns config.json into this; the forward pass knows nothing else. */
#ifndef LG_MODEL_SPEC_H
#define LG_MODEL_SPEC_H

#include "base/memory.h"
#include "model/config.h"

/* What a hostile config.json may ask for at most: far above any real model, far below overflow. */
#define LG_MAX_LAYERS     4096
#define LG_MAX_WIDTH      ((size_t)1 << 20) /* of activations: d_model, heads x head_dim … */
#define LG_MAX_FF         ((size_t)1 << 22)
#define LG_MAX_VOCABULARY ((size_t)1 << 26)
#define LG_MAX_HEAD_DIM   ((size_t)1 << 12)
#define LG_MAX_POSITIONS  ((size_t)1 << 40)

/* Rotary embedding: the head_dim/2 frequencies, scaling included; NULL: none ("NoPE"). */
typedef struct lg_rotary {
    double *frequencies;
    double factor; /* of cosines and sines: YaRN's attention factor, else 1 */
} lg_rotary;

typedef enum lg_mixer { LG_ATTENTION, LG_DELTA } lg_mixer;

typedef struct lg_layer_spec {
    lg_mixer mixer;
    bool pre_norm;           /* norms before mixer and MLP; else after both, inside the residual branch */
    size_t window;           /* attention: keys seen, the own one included; 0: all */
    const lg_rotary *rotary; /* attention; NULL: not rotated */
} lg_layer_spec;

typedef struct lg_spec {
    const char *family;
    size_t d_model, d_ff, n_layers, vocab_size, max_positions;
    bool tied; /* the head is the embedding */
    float norm_eps;
    /* attention */
    size_t n_heads, n_kv_heads, head_dim, window; /* window: of sliding layers */
    bool qk_norm;                                 /* over the full projection width */
    /* gated delta rule */
    size_t n_key_heads, n_value_heads, key_dim, value_dim, conv_size; /* dims: per head */
    bool doubled;                                                     /* beta in [0, 2] */
    float delta_norm_eps;
    bool has_bos, has_eos;
    uint32_t bos, eos;
    lg_rotary full, sliding; /* what the layers' rotary points to */
    lg_layer_spec *layers;   /* [n_layers] */
    lg_arena arena;          /* owns layers and frequencies */
} lg_spec;

void lg_spec_free(lg_spec *spec);

/* ---- tensors ---- */

typedef enum lg_slot {
    LG_EMBEDDING,
    LG_FINAL_NORM,
    LG_HEAD,
    LG_N_GLOBAL_SLOTS,
    LG_MIXER_NORM = LG_N_GLOBAL_SLOTS,
    LG_MLP_NORM,
    LG_MLP_GATE,
    LG_MLP_UP,
    LG_MLP_DOWN,
    LG_Q,
    LG_K,
    LG_V,
    LG_O,
    LG_Q_NORM,
    LG_K_NORM, /* attention */
    LG_GATE,
    LG_A,
    LG_B, /* delta rule: projections */
    LG_Q_CONV,
    LG_K_CONV,
    LG_V_CONV,
    LG_CONV, /* three, or one that holds them in this order */
    LG_A_LOG,
    LG_DT_BIAS,
    LG_O_NORM,
    LG_N_SLOTS
} lg_slot;

/* Where a slot exists. */
enum { LG_IN_MODEL = 1, LG_IN_ATTENTION = 2, LG_IN_DELTA = 4, LG_IN_LAYERS = LG_IN_ATTENTION | LG_IN_DELTA };

/* The names that a slot goes by, the usual one first, a space between; '#' stands for the layer's number. A
   name that starts with "model." is also found without it. */
typedef struct lg_tensor_rule {
    lg_slot slot;
    unsigned where;
    const char *names;
} lg_tensor_rule;

/* The shape of SLOT (which exists in a layer of MIXER) into SHAPE; its number of dimensions. */
unsigned lg_slot_shape(const lg_spec *spec, lg_mixer mixer, lg_slot slot, size_t shape[3]);

/* ---- families ---- */

typedef struct lg_family {
    const char *model_type;
    void (*read)(lg_config *config, lg_spec *spec); /* a failure stays in CONFIG */
    const lg_tensor_rule *const *rules; /* NULL-terminated list of tables, each ended by names == NULL */
} lg_family;

const lg_family *lg_family_find(const char *model_type); /* NULL: unknown */
void lg_family_list(char *text, size_t size);            /* "olmo2, olmo3, …" for messages */

extern const lg_family lg_family_olmo2, lg_family_olmo3, lg_family_olmo_hybrid, lg_family_gated_deltanet,
    lg_family_llama;

/* ---- what family files share (family.c) ---- */

extern const lg_tensor_rule lg_rules_model[]; /* embedding, final norm, head */
extern const lg_tensor_rule lg_rules_mlp[];
extern const lg_tensor_rule lg_rules_attention[]; /* q, k, v, o */
extern const lg_tensor_rule lg_rules_qk_norm[];
extern const lg_tensor_rule lg_rules_delta[];     /* of olmo_hybrid and gated_deltanet */
extern const lg_tensor_rule lg_rules_post_norm[]; /* of the attention layers of the OLMo families */

/* Class defaults where a family has them. */
typedef struct lg_defaults {
    size_t vocab_size, d_model, d_ff, n_layers, n_heads, max_positions;
    double norm_eps;
} lg_defaults;

/* Vocabulary, widths, layers (allocated, of full attention without rotary), norm eps, tied head, bos and eos;
   and what no family computes is refused. NORM_EPS_KEY: "rms_norm_eps" … */
void lg_read_common(lg_config *config, lg_spec *spec, const lg_defaults *defaults, const char *norm_eps_key);
/* Heads, key/value heads, head_dim. */
void lg_read_heads(lg_config *config, lg_spec *spec, size_t default_heads);
/* sliding_window, where the family has none. */
void lg_refuse_window(lg_config *config);
/* That the delta rule's heads fit together and are not too wide. */
void lg_check_delta(lg_config *config, const lg_spec *spec);
/* layer_types: calls SET for each layer with its name (NULL: the member is missing, make it by rule). SET
   returns false for a name that it does not know; SUPPORTED lists those it does. */
void lg_read_layer_types(lg_config *config, lg_spec *spec,
                         bool (*set)(lg_spec *spec, size_t layer, const char *type), const char *supported);

/* rotary.c. The frequencies of one rope dictionary. TYPES: which kinds of scaling the family allows. */
enum { LG_ROPE_DEFAULT = 1, LG_ROPE_YARN = 2, LG_ROPE_LLAMA3 = 4 };
/* OBJECT: the dictionary (rope_parameters, rope_scaling, or one per layer type), NULL: no scaling; NAME: what
   to call it. THETA: used unless OBJECT has its own. */
void lg_read_rotary(lg_config *config, lg_spec *spec, const lg_json_value *object, const char *name,
                    double theta, unsigned types, lg_rotary *rotary);
/* rope_theta, rope_scaling and flat or nested rope_parameters into spec->full and spec->sliding:
   SLIDING_PLAIN: scaling belongs to full layers only. */
void lg_read_rotaries(lg_config *config, lg_spec *spec, double default_theta, unsigned types,
                      bool sliding_plain);

#endif
