/* Opening checkpoints: names, shapes, dtypes, shards; what is missing, surplus or doubled; identity; lack of
 * memory. */
#include "failing_malloc.h"

#include "../model_helper.h"

static const char config_llama[] =
    "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"vocab_size\":10}";
static const char config_tied[] =
    "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"vocab_size\":10,\"tie_word_embeddings\":true}";

enum { N_LLAMA = 12, HEAD = 2, Q = 3, GATE = 7, EXTRA = 12, MOST = 16 };
static const test_tensor llama[MOST] = {
    {"model.embed_tokens.weight", "BF16", {10, 8}, 0},
    {"model.norm.weight", NULL, {8}, 0},
    {"lm_head.weight", "BF16", {10, 8}, 0},
    {"model.layers.0.self_attn.q_proj.weight", "F16", {8, 8}, 0},
    {"model.layers.0.self_attn.k_proj.weight", "BF16", {4, 8}, 0},
    {"model.layers.0.self_attn.v_proj.weight", "BF16", {4, 8}, 0},
    {"model.layers.0.self_attn.o_proj.weight", "BF16", {8, 8}, 0},
    {"model.layers.0.mlp.gate_proj.weight", "BF16", {12, 8}, 0},
    {"model.layers.0.mlp.up_proj.weight", "BF16", {12, 8}, 0},
    {"model.layers.0.mlp.down_proj.weight", "BF16", {8, 12}, 0},
    {"model.layers.0.input_layernorm.weight", NULL, {8}, 0},
    {"model.layers.0.post_attention_layernorm.weight", NULL, {8}, 0},
};

static char notes[1024];

static void keep_note(void *context, const char *message) {
    (void)context;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", message);
}
static const lg_monitor monitor = {.note = keep_note};

static void opens(const char *folder, char identity[33]) {
    lg_error error = {0};
    lg_model *model;
    notes[0] = '\0';
    assert_ok(lg_model_open(folder, &model, &monitor, &error));
    if (identity) snprintf(identity, 33, "%s", lg_model_get_info(model)->identity);
    lg_model_close(model);
}

static void refuses(const char *folder, const char *const *parts) {
    lg_error error = {0};
    lg_model *model;
    assert_int_equal(lg_model_open(folder, &model, &monitor, &error), LG_BAD_INPUT);
    assert_int_equal(error.status, LG_BAD_INPUT);
    assert_null(model);
    for (; *parts; parts++)
        if (!strstr(error.message, *parts)) fail_msg("\"%s\" lacks \"%s\"", error.message, *parts);
}
#define REFUSES(folder, ...) refuses(folder, (const char *const[]){__VA_ARGS__, NULL})

/* A folder with CONFIG and the tiny llama, in which CHANGE has altered something. */
static const char *make(const char *config, void (*change)(test_tensor *tensors)) {
    const char *folder = temporary_folder();
    test_tensor tensors[MOST];
    memcpy(tensors, llama, sizeof tensors);
    if (change) change(tensors);
    write_text(folder, "config.json", config);
    write_tensors(folder, "model.safetensors", tensors, MOST);
    return folder;
}

static void test_info(void **state) {
    (void)state;
    lg_error error = {0};
    lg_model *model;
    const char *folder = make(config_llama, NULL);
    assert_ok(lg_model_open(folder, &model, NULL, &error));
    const lg_model_info *info = lg_model_get_info(model);
    assert_string_equal(info->family, "llama");
    assert_string_equal(info->dtype, "BF16");
    assert_string_equal(info->path, folder);
    assert_string_equal(info->layers, "1 attention");
    assert_int_equal(info->parameters, 80 + 8 + 80 + 64 + 32 + 32 + 64 + 3 * 96 + 16);
    assert_int_equal(info->n_kv_heads, 1);
    assert_int_equal(strlen(info->identity), 32);
    lg_model_close(model);
    remove_folder(folder);
}

static void test_layers_in_words(void **state) {
    (void)state;
    static const struct {
        const char *folder, *words;
    } known[] = {{"olmo3-yarn", "2 x (3 attention over 32, 1 full attention)"},
                 {"hybrid-rope", "3 gated delta, 1 attention, 1 gated delta"},
                 {"rnn-fla-noneg", "3 gated delta"},
                 {"olmo2-gqa-bf16", "4 attention"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lg_error error = {0};
        lg_model *model;
        char path[256];
        snprintf(path, sizeof path, "tests/golden/models/%s", known[i].folder);
        assert_ok(lg_model_open(path, &model, NULL, &error));
        assert_string_equal(lg_model_get_info(model)->layers, known[i].words);
        lg_model_close(model);
    }
}

static void remove_q(test_tensor *t) {
    t[Q].name = NULL;
}
static void remove_head(test_tensor *t) {
    t[HEAD].name = NULL;
}
static void surplus(test_tensor *t) {
    t[EXTRA] = (test_tensor){"model.layers.0.self_attn.q_norm.weight", NULL, {8}, 0};
}
static void surplus_layer(test_tensor *t) {
    t[EXTRA] = (test_tensor){"model.layers.1.mlp.up_proj.weight", NULL, {12, 8}, 0};
}
static void inv_freq(test_tensor *t) {
    t[EXTRA] = (test_tensor){"model.layers.0.self_attn.rotary_emb.inv_freq", NULL, {2}, 0};
}
static void not_quite_inv_freq(test_tensor *t) {
    t[EXTRA] = (test_tensor){"model.layers.0.xrotary_emb.inv_freq", NULL, {2}, 0};
}
static void wrong_shape(test_tensor *t) {
    t[GATE].shape[0] = 13;
}
static void transposed(test_tensor *t) {
    t[GATE].shape[0] = 8, t[GATE].shape[1] = 12;
}
static void wrong_dims(test_tensor *t) {
    t[Q].shape[2] = 1;
}
static void integers(test_tensor *t) {
    t[Q].dtype = "I32";
}
static void two_names(test_tensor *t) {
    t[EXTRA] = (test_tensor){"layers.0.self_attn.q_proj.weight", NULL, {8, 8}, 0};
}
static void without_prefix(test_tensor *t) {
    for (size_t i = 0; i < N_LLAMA; i++)
        if (strncmp(t[i].name, "model.", 6) == 0) t[i].name += 6;
}
static void equal_head(test_tensor *t) {
    t[0].value = t[HEAD].value = 0.25;
}

static void test_tensors(void **state) {
    (void)state;
    static const struct {
        void (*change)(test_tensor *);
        const char *said[3];
    } cases[] = {
        {remove_q, {"model.safetensors: there is no model.layers.0.self_attn.q_proj.weight"}},
        {remove_head, {"there is no lm_head.weight"}},
        {surplus, {"model.layers.0.self_attn.q_norm.weight has no place", "type llama"}},
        {surplus_layer, {"model.layers.1.mlp.up_proj.weight has no place"}},
        {not_quite_inv_freq, {"xrotary_emb.inv_freq has no place"}},
        {wrong_shape, {"mlp.gate_proj.weight has shape [13, 8]", "must be [12, 8]"}},
        {transposed, {"has shape [8, 12]", "must be [12, 8]"}},
        {wrong_dims, {"has shape [8, 8, 1]", "must be [8, 8]"}},
        {integers, {"q_proj.weight is I32; weights must be F32, BF16 or F16"}},
        {two_names, {"self_attn.q_proj.weight", "two names of the same weights"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *folder = make(config_llama, cases[i].change);
        refuses(folder, cases[i].said);
        remove_folder(folder);
    }
    const char *folder = make(config_llama, without_prefix);
    opens(folder, NULL);
    remove_folder(folder);
    folder = make(config_llama, inv_freq);
    opens(folder, NULL);
    assert_non_null(strstr(notes, "passed over 1 rotary_emb.inv_freq"));
    remove_folder(folder);
}

static void test_tied(void **state) {
    (void)state;
    const char *folder = make(config_tied, remove_head);
    opens(folder, NULL);
    assert_string_equal(notes, "");
    remove_folder(folder);
    folder = make(config_tied, equal_head);
    opens(folder, NULL);
    assert_non_null(strstr(notes, "passed over lm_head.weight"));
    remove_folder(folder);
    folder = make(config_tied, NULL);
    REFUSES(folder, "tie_word_embeddings is true, but lm_head.weight differs");
    remove_folder(folder);
}

/* The same weights under each name that spec/models.md lists. */
static const char config_hybrid[] =
    "{\"model_type\":\"olmo_hybrid\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":2,\"vocab_size\":10,\"layer_types\":[\"linear_attention\",\"full_"
    "attention\"],"
    "\"linear_key_head_dim\":3,\"linear_value_head_dim\":5}";
static const struct {
    const char *names[5];
    size_t shape[3];
} hybrid[] = {
    {{"model.embed_tokens.weight", 0, 0, 0, "embeddings.weight"}, {10, 8}},
    {{"model.norm.weight", 0, 0, 0, "lm_head.norm.weight"}, {8}},
    {{"lm_head.weight", 0, 0, 0, "lm_head.w_out.weight"}, {10, 8}},
    {{"model.layers.0.input_layernorm.weight", "model.layers.0.attention_layer_norm.weight", 0, 0,
      "blocks.0.attention_norm.weight"},
     {8}},
    {{"model.layers.0.post_attention_layernorm.weight", "model.layers.0.feedforward_layer_norm.weight", 0, 0,
      "blocks.0.feed_forward_norm.weight"},
     {8}},
    {{"model.layers.0.linear_attn.q_proj.weight", 0, 0, 0, "blocks.0.attention.w_q.weight"}, {6, 8}},
    {{"model.layers.0.linear_attn.k_proj.weight", 0, 0, 0, "blocks.0.attention.w_k.weight"}, {6, 8}},
    {{"model.layers.0.linear_attn.v_proj.weight", 0, 0, 0, "blocks.0.attention.w_v.weight"}, {10, 8}},
    {{"model.layers.0.linear_attn.g_proj.weight", 0, 0, 0, "blocks.0.attention.w_g.weight"}, {10, 8}},
    {{"model.layers.0.linear_attn.a_proj.weight", 0, 0, 0, "blocks.0.attention.w_a.weight"}, {2, 8}},
    {{"model.layers.0.linear_attn.b_proj.weight", 0, 0, 0, "blocks.0.attention.w_b.weight"}, {2, 8}},
    {{"model.layers.0.linear_attn.o_proj.weight", "model.layers.0.linear_attn.out_proj.weight", 0, 0,
      "blocks.0.attention.w_out.weight"},
     {8, 10}},
    {{"model.layers.0.linear_attn.q_conv1d.weight", 0, "", 0, "blocks.0.attention.q_conv1d.weight"},
     {6, 1, 4}},
    {{"model.layers.0.linear_attn.k_conv1d.weight", 0, "", 0, "blocks.0.attention.k_conv1d.weight"},
     {6, 1, 4}},
    {{"model.layers.0.linear_attn.v_conv1d.weight", 0, "", 0, "blocks.0.attention.v_conv1d.weight"},
     {10, 1, 4}},
    {{"", "", "model.layers.0.linear_attn.conv1d.weight", "", ""}, {22, 1, 4}},
    {{"model.layers.0.linear_attn.A_log", 0, 0, 0, "blocks.0.attention.A_log"}, {2}},
    {{"model.layers.0.linear_attn.dt_bias", 0, 0, 0, "blocks.0.attention.dt_bias"}, {2}},
    {{"model.layers.0.linear_attn.o_norm.weight", "model.layers.0.linear_attn.norm.weight", 0, 0,
      "blocks.0.attention.o_norm.weight"},
     {5}},
    {{"model.layers.0.mlp.gate_proj.weight", 0, 0, 0, "blocks.0.feed_forward.w1.weight"}, {12, 8}},
    {{"model.layers.0.mlp.down_proj.weight", 0, 0, 0, "blocks.0.feed_forward.w2.weight"}, {8, 12}},
    {{"model.layers.0.mlp.up_proj.weight", 0, 0, 0, "blocks.0.feed_forward.w3.weight"}, {12, 8}},
    {{"model.layers.1.post_attention_layernorm.weight", "model.layers.1.feedforward_layer_norm.weight", 0, 0,
      "blocks.1.attention_norm.weight"},
     {8}},
    {{"model.layers.1.post_feedforward_layernorm.weight", 0, 0, 0, "blocks.1.feed_forward_norm.weight"}, {8}},
    {{"model.layers.1.self_attn.q_proj.weight", 0, 0, 0, "blocks.1.attention.w_q.weight"}, {8, 8}},
    {{"model.layers.1.self_attn.k_proj.weight", 0, 0, 0, "blocks.1.attention.w_k.weight"}, {8, 8}},
    {{"model.layers.1.self_attn.v_proj.weight", 0, 0, 0, "blocks.1.attention.w_v.weight"}, {8, 8}},
    {{"model.layers.1.self_attn.o_proj.weight", 0, 0, 0, "blocks.1.attention.w_out.weight"}, {8, 8}},
    {{"model.layers.1.self_attn.q_norm.weight", 0, 0, 0, "blocks.1.attention.q_norm.weight"}, {8}},
    {{"model.layers.1.self_attn.k_norm.weight", 0, 0, 0, "blocks.1.attention.k_norm.weight"}, {8}},
    {{"model.layers.1.mlp.gate_proj.weight", 0, 0, 0, "blocks.1.feed_forward.w1.weight"}, {12, 8}},
    {{"model.layers.1.mlp.down_proj.weight", 0, 0, 0, "blocks.1.feed_forward.w2.weight"}, {8, 12}},
    {{"model.layers.1.mlp.up_proj.weight", 0, 0, 0, "blocks.1.feed_forward.w3.weight"}, {12, 8}},
};
enum { N_HYBRID = sizeof hybrid / sizeof *hybrid };

static void test_hybrid_names(void **state) {
    (void)state;
    /* 0: as released; 1: other names; 2: fused convolution; 3: without "model."; 4: OLMo-core's own */
    for (size_t form = 0; form < 5; form++) {
        test_tensor list[N_HYBRID];
        for (size_t i = 0; i < N_HYBRID; i++) {
            const char *name = hybrid[i].names[form] ? hybrid[i].names[form] : hybrid[i].names[0];
            if (form != 2 && form != 4 && !*hybrid[i].names[0]) name = "";
            if (form == 3 && strncmp(name, "model.", 6) == 0) name += 6;
            list[i] = (test_tensor){*name ? name : NULL, NULL, {0}, 0};
            memcpy(list[i].shape, hybrid[i].shape, sizeof list[i].shape);
        }
        const char *folder = temporary_folder();
        write_text(folder, "config.json", config_hybrid);
        write_tensors(folder, "model.safetensors", list, N_HYBRID);
        opens(folder, NULL);
        if (form == 0) { /* a convolution is there in one form or the other, not in both, not in neither */
            list[12].name = NULL;
            write_tensors(folder, "model.safetensors", list, N_HYBRID);
            REFUSES(folder, "there is no model.layers.0.linear_attn.q_conv1d.weight");
            list[12].name = hybrid[12].names[0];
            list[15].name = hybrid[15].names[2];
            write_tensors(folder, "model.safetensors", list, N_HYBRID);
            REFUSES(folder, "conv1d.weight", "two forms of the same weights");
        }
        remove_folder(folder);
    }
}

/* Losses of a few tokens under the model in FOLDER. */
static void losses(const char *folder, float nll[4]) {
    lg_error error = {0};
    lg_model *model;
    lg_session *session;
    static const uint32_t y[] = {1, 2, 3, 4, 5};
    assert_ok(lg_model_open(folder, &model, NULL, &error));
    assert_ok(lg_session_create(model, LG_PRECISION_F32, 1, LG_ISA_BEST, 0, 8, &session, &error));
    assert_ok(lg_forward(session, &(lg_row){.y = y, .n = 5, .first = 1, .nll = nll}, 1, 0, NULL, &error));
    lg_session_free(session);
    lg_model_close(model);
}

/* As transformers 5.24 saves it: the convolutions of q, k, v (6, 6 and 10 rows) cut into 8, 8 and 6. */
static void test_conv_in_thirds(void **state) {
    (void)state;
    float nll[2][4];
    const char *folder = temporary_folder();
    test_tensor list[N_HYBRID];
    write_text(folder, "config.json", config_hybrid);
    for (int thirds = 0; thirds < 2; thirds++) {
        for (size_t i = 0; i < N_HYBRID; i++) {
            const char *name = hybrid[i].names[0];
            list[i] = (test_tensor){*name ? name : NULL, NULL, {0}, 0};
            memcpy(list[i].shape, hybrid[i].shape, sizeof list[i].shape);
        }
        if (thirds) list[12].shape[0] = list[13].shape[0] = 8, list[14].shape[0] = 6;
        write_tensors(folder, "model.safetensors", list, N_HYBRID); /* the same values in the same order */
        losses(folder, nll[thirds]);
    }
    assert_memory_equal(nll[0], nll[1], sizeof nll[0]);
    list[14].shape[0] = 10;
    write_tensors(folder, "model.safetensors", list, N_HYBRID);
    REFUSES(folder, "26 rows, not 22");
    remove_folder(folder);
}

static void write_index(const char *folder, const char *map) {
    char text[4096];
    snprintf(text, sizeof text, "{\"metadata\":{\"total_size\":1},\"weight_map\":{%s}}", map);
    write_text(folder, "model.safetensors.index.json", text);
}

static void test_shards(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    char map[4096] = "";
    write_text(folder, "config.json", config_llama);
    write_tensors(folder, "a.safetensors", llama, 6);
    write_tensors(folder, "b.safetensors", llama + 6, 6);
    REFUSES(folder, "has 2 .safetensors files, but no model.safetensors");
    for (size_t i = 0; i < N_LLAMA; i++)
        snprintf(map + strlen(map), sizeof map - strlen(map), "%s\"%s\":\"%c.safetensors\"", i ? "," : "",
                 llama[i].name, i < 6 ? 'a' : 'b');
    write_index(folder, map);
    opens(folder, NULL);

    write_tensors(folder, "b.safetensors", llama + 5, 7);
    REFUSES(folder, "model.layers.0.self_attn.v_proj.weight is both in", "a.safetensors", "b.safetensors");
    write_tensors(folder, "b.safetensors", llama + 7, 5);
    REFUSES(folder, "self_attn.o_proj.weight is not in b.safetensors as it says");
    write_index(folder, "\"model.norm.weight\":\"c.safetensors\"");
    REFUSES(folder, "c.safetensors", "No such file");
    static const char *const climbing[] = {"../a.safetensors", "/etc/passwd", "", ".hidden", "x/../y"};
    for (size_t i = 0; i < sizeof climbing / sizeof *climbing; i++) {
        snprintf(map, sizeof map, "\"model.norm.weight\":\"%s\"", climbing[i]);
        write_index(folder, map);
        REFUSES(folder, "no name of a file beside it");
    }
    write_index(folder, "\"model.norm.weight\":7");
    REFUSES(folder, "no name of a file beside it");
    write_index(folder, "");
    REFUSES(folder, "weight_map is missing or empty");
    write_text(folder, "model.safetensors.index.json", "[]");
    REFUSES(folder, "must hold an object");
    remove_folder(folder);

    folder = temporary_folder(); /* one file of another name is the model */
    write_text(folder, "config.json", config_llama);
    write_tensors(folder, "weights.safetensors", llama, N_LLAMA);
    opens(folder, NULL);
    remove_folder(folder);
}

static void test_files(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    REFUSES(folder, "config.json", "No such file");
    write_text(folder, "config.json", config_llama);
    REFUSES(folder, "has no model.safetensors");
    write_text(folder, "pytorch_model.bin", "x");
    REFUSES(folder, "only a PyTorch pickle; convert it first");
    write_text(folder, "model.safetensors", "short");
    REFUSES(folder, "model.safetensors");
    write_text(folder, "config.json", "{}");
    REFUSES(folder, "model_type is missing", "olmo2, olmo3, olmo_hybrid, gated_deltanet, llama");
    write_text(folder, "config.json", "{\"model_type\":\"mamba\"}");
    REFUSES(folder, "model_type is \"mamba\"", "olmo2, olmo3, olmo_hybrid, gated_deltanet, llama");
    write_text(folder, "config.json", "{\"model_type\":\"llama\",\"model_type\":\"olmo2\"}");
    REFUSES(folder, "config.json");
    write_text(folder, "config.json", "[1]");
    REFUSES(folder, "must hold an object");
    write_text(folder, "config.json", "");
    REFUSES(folder, "config.json");
    remove_folder(folder);
}

static void one_weight(test_tensor *t) {
    t[GATE].value = 0.5;
}

static void test_identity(void **state) {
    (void)state;
    char a[33], b[33], c[33], d[33];
    const char *folder = make(config_llama, NULL);
    opens(folder, a);
    remove_folder(folder);
    folder = make(config_llama, NULL); /* elsewhere */
    opens(folder, b);
    write_text(
        folder, "config.json",
        "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":1,"
        "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"vocab_size\":10,\"rope_theta\":500000}");
    opens(folder, c);
    remove_folder(folder);
    folder = make(config_llama, one_weight);
    opens(folder, d);
    remove_folder(folder);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_string_not_equal(a, d);
}

/* A file large enough to be remembered: the second opening must not read it, a change must be seen. */
static void test_identity_cache(void **state) {
    (void)state;
    char first[33], second[33], third[33], cache[600], command[1300];
    const char *folder = make(config_llama, NULL);
    /* a vocabulary that makes the file 64 MB and a bit */
    static const char large[] =
        "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":1,"
        "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"vocab_size\":4200000,\"tie_word_embeddings\":"
        "true}";
    test_tensor tensors[MOST];
    memcpy(tensors, llama, sizeof tensors);
    tensors[0].shape[0] = 4200000;
    tensors[HEAD].name = NULL;
    write_text(folder, "config.json", large);
    write_tensors(folder, "model.safetensors", tensors, MOST);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    opens(folder, first);
    snprintf(command, sizeof command, "test -f %s/lossgap/*.hash", cache);
    assert_int_equal(system(command), 0);
    opens(folder, second);
    assert_string_equal(first, second);
    tensors[GATE].value = 0.5;
    write_tensors(folder, "model.safetensors", tensors, MOST);
    opens(folder, third);
    assert_string_not_equal(first, third);
    snprintf(command, sizeof command, "rm -r %s && touch %s", cache,
             cache); /* no cache can be made: no matter */
    assert_int_equal(system(command), 0);
    opens(folder, second);
    assert_string_equal(second, third);
    unsetenv("XDG_CACHE_HOME");
    remove_folder(folder);
}

static lg_status open_and_close(void *context, lg_error *error) {
    lg_model *model;
    lg_status status = lg_model_open(context, &model, NULL, error);
    if (!status) lg_model_close(model);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    char folders[][64] = {"tests/golden/models/olmo2-gqa-bf16", "tests/golden/models/hybrid-rope"};
    for (size_t i = 0; i < 2; i++) survives_failing_malloc(open_and_close, folders[i], folders[i]);
}

static lg_status create_and_free(void *context, lg_error *error) {
    lg_session *session;
    lg_status status = lg_session_create(context, LG_PRECISION_F32, 1, LG_ISA_C, 200, 100, &session, error);
    if (!status) lg_session_free(session);
    return status;
}

static void test_session_memory(void **state) {
    (void)state;
    static const char *const folders[] = {"tests/golden/models/olmo2-gqa-bf16",
                                          "tests/golden/models/hybrid-rope"};
    for (size_t i = 0; i < 2; i++) {
        lg_error error = {0};
        lg_model *model;
        assert_ok(lg_model_open(folders[i], &model, NULL, &error));
        survives_failing_malloc(create_and_free, model, folders[i]);
        lg_model_close(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),         cmocka_unit_test(test_layers_in_words),
        cmocka_unit_test(test_tensors),      cmocka_unit_test(test_tied),
        cmocka_unit_test(test_hybrid_names), cmocka_unit_test(test_conv_in_thirds),
        cmocka_unit_test(test_shards),       cmocka_unit_test(test_files),
        cmocka_unit_test(test_identity),     cmocka_unit_test(test_identity_cache),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_session_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
