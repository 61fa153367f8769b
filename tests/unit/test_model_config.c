/* config.json: what each family reads, what it refuses and with which words. */
#include <math.h>

#include "../model_helper.h"
#include "model/checkpoint.h"

/* Reads JSON (single quotes stand for double ones) as the config of its family; false: ERROR says why. */
static bool read_config(const char *json, lg_spec *spec, lg_error *error) {
    lg_arena arena = {0};
    lg_json_value *root;
    char text[4096];
    snprintf(text, sizeof text, "%s", json);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    *spec = (lg_spec){0};
    *error = (lg_error){0};
    if (lg_json_parse(&arena, text, strlen(text), "config.json", &root, error))
        fail_msg("%s", error->message);
    lg_config config = {root, "config.json", LG_OK, error};
    const lg_family *family = lg_family_find(lg_config_member(&config, "model_type")->string);
    assert_non_null(family);
    family->read(&config, spec);
    lg_arena_free(&arena);
    return config.status == LG_OK;
}

static void refuses(const char *json, const char *const *parts) {
    lg_spec spec;
    lg_error error;
    if (read_config(json, &spec, &error)) fail_msg("accepted: %s", json);
    assert_int_equal(error.status, LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "config.json: "));
    for (; *parts; parts++)
        if (!strstr(error.message, *parts))
            fail_msg("%s\n  gives \"%s\"\n  without \"%s\"", json, error.message, *parts);
    lg_spec_free(&spec);
}
#define REFUSES(json, ...) refuses(json, (const char *const[]){__VA_ARGS__, NULL})

static lg_spec reads(const char *json) {
    lg_spec spec;
    lg_error error;
    if (!read_config(json, &spec, &error)) fail_msg("%s\n  gives %s", json, error.message);
    return spec;
}

#define LLAMA                                                                                                \
    "'model_type':'llama','hidden_size':64,'num_hidden_layers':2,'num_attention_heads':4,'vocab_size':100"
#define OLMO3                                                                                                \
    "'model_type':'olmo3','hidden_size':64,'num_hidden_layers':8,'num_attention_heads':2,'vocab_size':100,"  \
    "'rope_theta':500000"
#define HYBRID                                                                                               \
    "'model_type':'olmo_hybrid','hidden_size':48,'num_hidden_layers':4,'num_attention_heads':3,'vocab_size'" \
    ":100"
#define FLA "'model_type':'gated_deltanet','hidden_size':48,'num_hidden_layers':2,'num_heads':3,'head_dim':16"

static void test_defaults(void **state) {
    (void)state;
    lg_spec s = reads("{'model_type':'olmo2'}");
    assert_int_equal(s.vocab_size, 50304);
    assert_int_equal(s.d_model, 4096);
    assert_int_equal(s.d_ff, 11008);
    assert_int_equal(s.n_layers, 32);
    assert_int_equal(s.n_kv_heads, 32);
    assert_int_equal(s.head_dim, 128);
    assert_int_equal(s.max_positions, 2048);
    assert_true(s.norm_eps == 1e-5f && s.qk_norm && !s.tied && !s.has_bos);
    assert_true(s.full.frequencies[1] == pow(10000, -2.0 / 128) && s.full.factor == 1);
    assert_false(s.layers[31].pre_norm);
    lg_spec_free(&s);

    s = reads("{'model_type':'olmo_hybrid'}"); /* the class defaults are the 7B model */
    assert_int_equal(s.vocab_size, 100352);
    assert_int_equal(s.d_model, 3840);
    assert_int_equal(s.n_key_heads, 30);
    assert_int_equal(s.key_dim, 96);
    assert_int_equal(s.value_dim, 192);
    assert_int_equal(s.head_dim, 128);
    assert_true(s.doubled && s.delta_norm_eps == 1e-5f && s.norm_eps == 1e-6f);
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(s.layers[i].mixer, i % 4 == 3 ? LG_ATTENTION : LG_DELTA);
        assert_int_equal(s.layers[i].pre_norm, i % 4 != 3);
        assert_null(s.layers[i].rotary);
    }
    lg_spec_free(&s);

    s = reads("{'model_type':'gated_deltanet'}");
    assert_int_equal(s.d_model, 2048);
    assert_int_equal(s.n_layers, 21);
    assert_int_equal(s.key_dim, 256);
    assert_int_equal(s.value_dim, 512);
    assert_int_equal(s.n_value_heads, 6);
    assert_int_equal(s.d_ff, 5632); /* int(2048 * 4 * 2 / 3) = 5461, to a multiple of 256 */
    assert_true(!s.doubled && s.delta_norm_eps == 1e-6f);
    lg_spec_free(&s);
}

static void test_layer_types(void **state) {
    (void)state;
    lg_spec s = reads("{" OLMO3 ",'sliding_window':16}");
    for (size_t i = 0; i < 8; i++) assert_int_equal(s.layers[i].window, i % 4 == 3 ? 0 : 16);
    lg_spec_free(&s);
    s = reads(
        "{'model_type':'olmo3','num_hidden_layers':2,'layer_types':['full_attention','sliding_attention']}");
    assert_int_equal(s.layers[0].window, 0);
    assert_int_equal(s.layers[1].window, 4096);
    lg_spec_free(&s);
    s = reads("{'model_type':'olmo_hybrid','num_hidden_layers':2,'layer_types':['linear_attention','linear_"
              "attention']}");
    assert_int_equal(s.layers[1].mixer, LG_DELTA);
    lg_spec_free(&s);
    s = reads("{'model_type':'olmo_hybrid','num_hidden_layers':3}"); /* none would be full: the last one is */
    assert_int_equal(s.layers[1].mixer, LG_DELTA);
    assert_int_equal(s.layers[2].mixer, LG_ATTENTION);
    lg_spec_free(&s);
    REFUSES("{'model_type':'olmo3','num_hidden_layers':1,'layer_types':['linear_attention']}",
            "layer_types[0]", "linear_attention", "sliding_attention, full_attention");
    REFUSES("{'model_type':'olmo3','num_hidden_layers':2,'layer_types':['full_attention']}", "1 entries",
            "is 2");
    REFUSES("{'model_type':'olmo3','num_hidden_layers':1,'layer_types':[7]}", "layer_types[0]");
    REFUSES("{'model_type':'olmo3','layer_types':'full_attention'}", "layer_types", "list");
    REFUSES("{" LLAMA ",'layer_types':['full_attention','sliding_attention']}", "layer_types[1]");
    REFUSES("{" LLAMA ",'sliding_window':128}", "sliding_window is 128");
}

/* spec/models.md 16: theta 5e5, head_dim 128, 8192 positions, factor 8. */
#define YARN                                                                                                 \
    "'rope_type':'yarn','factor':8.0,'original_max_position_embeddings':8192,'attention_factor':1."          \
    "2079441541679836,"                                                                                      \
    "'beta_fast':32,'beta_slow':1"
#define OLMO3_7B "'model_type':'olmo3','rope_theta':500000"

static void near(double value, double right) {
    if (!(fabs(value - right) <= 2e-9 * fabs(right))) fail_msg("%.12g is not %.12g", value, right);
}

static void check_yarn(const char *json) {
    lg_spec s = reads(json);
    static const struct {
        size_t i;
        double full, sliding;
    } known[] = {{0, 1, 1},
                 {17, 0.0306345209, 0.0306345209},
                 {18, 0.0249554087, 0.0249554087},
                 {20, 0.0148556889, 0.0165604401},
                 {26, 0.00284671844, 0.00483942135},
                 {34, 1.65613036e-4, 9.38473870e-4},
                 {35, 9.55621235e-5, 7.64496988e-4},
                 {63, 3.06892599e-7, 2.45514079e-6}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        near(s.layers[3].rotary->frequencies[known[k].i], known[k].full);
        near(s.layers[0].rotary->frequencies[known[k].i], known[k].sliding);
    }
    near(s.layers[3].rotary->factor, 1.2079441541679836);
    near(s.layers[0].rotary->factor, 1);
    lg_spec_free(&s);
}

static void test_yarn(void **state) {
    (void)state;
    check_yarn("{" OLMO3_7B ",'rope_scaling':{" YARN "}}");
    check_yarn("{'model_type':'olmo3','rope_parameters':{" YARN ",'rope_theta':500000}}");
    check_yarn("{'model_type':'olmo3','rope_parameters':{'full_attention':{" YARN ",'rope_theta':500000.0},"
               "'sliding_attention':{'rope_type':'default','rope_theta':500000.0}}}");
    /* what is left out has its default */
    check_yarn("{" OLMO3_7B
               ",'rope_scaling':{'rope_type':'yarn','factor':8,'original_max_position_embeddings':8192}}");
    check_yarn("{" OLMO3_7B
               ",'rope_scaling':{'type':'yarn','factor':8,'original_max_position_embeddings':8192}}");

    lg_spec s = reads("{" OLMO3_7B ",'rope_scaling':null}");
    near(s.layers[3].rotary->frequencies[63], 2.45514079e-6);
    lg_spec_free(&s);
    REFUSES("{" OLMO3_7B ",'rope_scaling':{'rope_type':'yarn','original_max_position_embeddings':8192}}",
            "rope_scaling.factor is missing");
    REFUSES("{" OLMO3_7B ",'rope_scaling':{" YARN ",'mscale':1.0}}", "rope_scaling.mscale is 1");
    REFUSES("{" OLMO3_7B ",'rope_scaling':{" YARN ",'truncate':false}}", "rope_scaling.truncate is false");
    REFUSES("{" OLMO3_7B ",'rope_scaling':{" YARN "},'rope_parameters':{" YARN "}}", "both given");
    REFUSES("{" OLMO3_7B ",'rope_parameters':{" YARN ",'rope_theta':10000}}",
            "rope_parameters.rope_theta is 10000");
    REFUSES("{" OLMO3_7B ",'rope_parameters':{'full_attention':{" YARN "}}}", "sliding_attention is missing");
    REFUSES("{" OLMO3_7B ",'rope_parameters':{'full_attention':{" YARN
            "},'sliding_attention':{},'rope_theta':1}}",
            "rope_parameters.rope_theta");
    REFUSES("{" OLMO3_7B ",'rope_scaling':'yarn'}", "rope_scaling is \"yarn\"", "object");
}

static void test_rope(void **state) {
    (void)state;
    static const char *const other[] = {"linear", "dynamic", "longrope", "su", "proportional"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char json[512], said[64];
        snprintf(json, sizeof json, "{" LLAMA ",'rope_scaling':{'type':'%s','factor':2}}", other[i]);
        snprintf(said, sizeof said, "rope_scaling.type is \"%s\"", other[i]);
        REFUSES(json, said, "\"default\", \"yarn\", \"llama3\"");
    }
    REFUSES("{" OLMO3 ",'rope_scaling':{'rope_type':'llama3','factor':8}}", "llama3",
            "\"default\", \"yarn\"");
    REFUSES("{" LLAMA ",'rope_scaling':{'factor':2}}", "rope_scaling.factor is 2");
    REFUSES("{" LLAMA ",'rope_theta':'many'}", "rope_theta is \"many\"");
    REFUSES("{" LLAMA ",'rope_theta':-1}", "rope_theta is -1");
    REFUSES("{" LLAMA ",'partial_rotary_factor':0.5}", "partial_rotary_factor is 0.5");
    REFUSES("{" LLAMA ",'rope_parameters':{'partial_rotary_factor':0.5}}",
            "rope_parameters.partial_rotary_factor");
    REFUSES("{" LLAMA ",'head_dim':15}", "head_dim is 15", "even");
    REFUSES("{" LLAMA
            ",'rope_scaling':{'rope_type':'llama3','factor':8,'low_freq_factor':4,'high_freq_factor':4,"
            "'original_max_position_embeddings':64}}",
            "high_freq_factor");

    /* Llama-3 scaling against its definition by wavelengths */
    lg_spec s =
        reads("{" LLAMA ",'rope_theta':500000,'head_dim':32,'rope_scaling':{'rope_type':'llama3','factor':8,"
              "'low_freq_factor':1,'high_freq_factor':4,'original_max_position_embeddings':64}}");
    size_t kept = 0, divided = 0, between = 0;
    for (size_t i = 0; i < 16; i++) {
        double w = pow(500000, -(double)i / 16), wavelength = 2 * 3.14159265358979323846 / w, right;
        if (wavelength < 64.0 / 4) right = w, kept++;
        else if (wavelength > 64.0) right = w / 8, divided++;
        else {
            double smooth = (64 / wavelength - 1) / 3;
            right = (1 - smooth) * w / 8 + smooth * w, between++;
        }
        near(s.full.frequencies[i], right);
    }
    assert_true(kept && divided && between);
    lg_spec_free(&s);
}

static void test_hybrid_rope(void **state) {
    (void)state;
    static const char *const nope[] = {"", ",'rope_parameters':null",
                                       ",'rope_parameters':{'rope_theta':null}",
                                       ",'rope_parameters':{'rope_type':'default'}", ",'rope_theta':null"};
    char json[512];
    for (size_t i = 0; i < sizeof nope / sizeof *nope; i++) {
        snprintf(json, sizeof json, "{" HYBRID "%s}", nope[i]);
        lg_spec s = reads(json);
        assert_null(s.layers[3].rotary);
        lg_spec_free(&s);
    }
    lg_spec s = reads("{" HYBRID ",'rope_parameters':{'rope_theta':500000.0,'rope_type':'default'}}");
    assert_non_null(s.layers[3].rotary);
    near(s.layers[3].rotary->frequencies[1], pow(500000, -2.0 / 16));
    lg_spec_free(&s);
    REFUSES("{" HYBRID ",'rope_theta':500000}", "rope_theta is 500000", "rope_parameters");
    REFUSES("{" HYBRID ",'rope_scaling':{'type':'yarn'}}", "rope_scaling");
    REFUSES("{" HYBRID ",'rope_parameters':{'full_attention':{'rope_theta':500000}}}",
            "rope_parameters.full_attention");
    REFUSES("{" HYBRID ",'rope_parameters':{'rope_theta':500000,'rope_type':'yarn','factor':8}}",
            "rope_parameters.rope_type is \"yarn\"");
}

static void test_delta(void **state) {
    (void)state;
    lg_spec s = reads("{" HYBRID "}");
    assert_int_equal(s.key_dim, 12); /* int(0.75 * 48 / 3) */
    assert_int_equal(s.value_dim, 24);
    lg_spec_free(&s);
    s = reads("{" HYBRID ",'linear_num_key_heads':2,'linear_num_value_heads':4,'linear_use_gate':true}");
    assert_int_equal(s.key_dim, 18);
    assert_int_equal(s.value_dim, 36);
    lg_spec_free(&s);
    REFUSES("{" HYBRID ",'linear_num_key_heads':2,'linear_num_value_heads':3}", "3 value heads",
            "2 key heads");
    REFUSES("{" HYBRID ",'linear_use_gate':false}", "linear_use_gate is false");
    REFUSES("{" HYBRID ",'linear_conv_kernel_dim':9}", "linear_conv_kernel_dim is 9", "from 1 to 8");
    REFUSES("{" HYBRID ",'linear_num_key_heads':600}", "linear_key_head_dim would be 0");

    s = reads("{" FLA ",'expand_v':1.5,'num_v_heads':6,'allow_neg_eigval':true,'norm_eps':1e-5}");
    assert_int_equal(s.value_dim, 24);
    assert_int_equal(s.n_value_heads, 6);
    assert_true(s.doubled && s.delta_norm_eps == 1e-5f && s.norm_eps == 1e-5f);
    assert_int_equal(s.d_ff, 256);
    lg_spec_free(&s);
    REFUSES("{" FLA ",'attn':{'layers':[1]}}", "attn is an object", "only null");
    REFUSES("{" FLA ",'attn':{}}", "attn is an object");
    REFUSES("{" FLA ",'use_gate':false}", "use_gate is false");
    REFUSES("{" FLA ",'use_short_conv':false}", "use_short_conv is false");
    REFUSES("{" FLA ",'expand_v':1.3}", "expand_v", "whole number");
    REFUSES("{" FLA ",'expand_v':-2}", "expand_v is -2");
    REFUSES("{" FLA ",'hidden_ratio':'4'}", "hidden_ratio is \"4\"");
}

static void test_not_computed(void **state) {
    (void)state;
    static const struct {
        const char *member, *said;
    } cases[] = {
        {"'hidden_act':'gelu'", "hidden_act is \"gelu\"; only \"silu\""},
        {"'hidden_act':'relu'", "hidden_act is \"relu\""},
        {"'hidden_act':3", "hidden_act is 3"},
        {"'attention_bias':true", "attention_bias is true"},
        {"'mlp_bias':true", "mlp_bias is true"},
        {"'pretraining_tp':2", "pretraining_tp is 2"},
        {"'clip_qkv':8.0", "clip_qkv is 8"},
        {"'logit_scale':0.0625", "logit_scale is 0.0625"},
        {"'logits_scaling':8", "logits_scaling is 8"},
        {"'residual_multiplier':0.22", "residual_multiplier"},
        {"'embedding_multiplier':12", "embedding_multiplier is 12"},
        {"'final_logit_softcapping':30.0", "final_logit_softcapping is 30"},
        {"'quantization_config':{'bits':4}", "quantization_config is an object"},
        {"'num_local_experts':8", "num_local_experts is 8"},
        {"'tie_word_embeddings':1", "tie_word_embeddings is 1"},
        {"'eos_token_id':'</s>'", "eos_token_id is \"</s>\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        snprintf(json, sizeof json, "{" LLAMA ",%s}", cases[i].member);
        REFUSES(json, cases[i].said);
    }
    lg_spec s =
        reads("{" LLAMA ",'hidden_act':'swish','attention_bias':false,'mlp_bias':false,'pretraining_tp':1,"
              "'clip_qkv':null,'logit_scale':1.0,'quantization_config':null,'rope_scaling':null,"
              "'tie_word_embeddings':true,'bos_token_id':1,'eos_token_id':[2,3],'pad_token_id':-1}");
    assert_true(s.tied && s.has_bos && s.bos == 1 && s.has_eos && s.eos == 2);
    lg_spec_free(&s);
}

static void test_hostile(void **state) {
    (void)state;
    static const struct {
        const char *member, *said;
    } cases[] = {
        {"'num_hidden_layers':1000000000", "num_hidden_layers is 1000000000"},
        {"'num_hidden_layers':0", "num_hidden_layers is 0"},
        {"'num_hidden_layers':2.0", "num_hidden_layers is 2; it must be a whole number"},
        {"'num_hidden_layers':'2'", "num_hidden_layers is \"2\""},
        {"'num_hidden_layers':[2]", "num_hidden_layers is a list"},
        {"'num_hidden_layers':true", "num_hidden_layers is true"},
        {"'num_attention_heads':0", "num_attention_heads is 0"},
        {"'num_attention_heads':-4", "num_attention_heads is -4"},
        {"'num_attention_heads':5", "hidden_size is 64, which num_attention_heads, 5, does not divide"},
        {"'num_key_value_heads':3", "num_attention_heads is 4, which num_key_value_heads, 3"},
        {"'num_key_value_heads':0", "num_key_value_heads is 0"},
        {"'hidden_size':9223372036854775807", "hidden_size is 9223372036854775807"},
        {"'hidden_size':0", "hidden_size is 0"},
        {"'vocab_size':4294967296", "vocab_size is 4294967296"},
        {"'intermediate_size':1e9", "intermediate_size is 1000000000"},
        {"'head_dim':1000000", "head_dim is 1000000"},
        {"'rms_norm_eps':-1", "rms_norm_eps is -1"},
        {"'rms_norm_eps':'1e-5'", "rms_norm_eps is \"1e-5\""},
        {"'max_position_embeddings':-1", "max_position_embeddings is -1"},
        {"'num_attention_heads':1048576,'head_dim':4096", "too wide"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512]; /* each member once: duplicates are refused before anybody looks */
        snprintf(json, sizeof json, "{'model_type':'llama'%s%s%s%s,%s}",
                 strstr(cases[i].member, "'hidden_size'") ? "" : ",'hidden_size':64",
                 strstr(cases[i].member, "'num_hidden_layers'") ? "" : ",'num_hidden_layers':2",
                 strstr(cases[i].member, "'num_attention_heads'") ? "" : ",'num_attention_heads':4",
                 strstr(cases[i].member, "'vocab_size'") ? "" : ",'vocab_size':100", cases[i].member);
        REFUSES(json, cases[i].said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_layer_types),  cmocka_unit_test(test_yarn),
        cmocka_unit_test(test_rope),     cmocka_unit_test(test_hybrid_rope),  cmocka_unit_test(test_delta),
        cmocka_unit_test(test_hostile),  cmocka_unit_test(test_not_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
