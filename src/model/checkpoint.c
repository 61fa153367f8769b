/* Opens a checkpoint: config.json into a specification, one or many safetensors files into slots, every
   tensor's name, shape and dtype checked before anybody computes. */
#include "model/checkpoint.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const size_t LARGEST_JSON = (size_t)64 << 20;

/* ---- the files ---- */

static lg_status read_json(lg_arena *arena, const char *path, lg_mapping *file, lg_json_value **root,
                           lg_error *error) {
    lg_status status = lg_map(path, file, error);
    if (status) return status;
    if (file->size > LARGEST_JSON)
        return lg_fail(error, LG_BAD_INPUT, "%s has %zu bytes; that is no such file", path, file->size);
    status = lg_json_parse(arena, (const char *)file->data, file->size, path, root, error);
    if (!status && (*root)->type != LG_JSON_OBJECT)
        status = lg_fail(error, LG_BAD_INPUT, "%s: it must hold an object", path);
    return status;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The file names of the index's weight_map, each once, sorted. free() the array; the strings are the arena's.
 */
static lg_status index_files(lg_arena *arena, const char *path, const char ***names, size_t *n_names,
                             const lg_json_value **map, lg_error *error) {
    lg_mapping file = {0};
    lg_json_value *root;
    lg_status status = read_json(arena, path, &file, &root, error);
    lg_unmap(&file);
    if (status) return status;
    *map = lg_json_get(root, "weight_map");
    if (!*map || (*map)->type != LG_JSON_OBJECT || !(*map)->first)
        return lg_fail(error, LG_BAD_INPUT, "%s: weight_map is missing or empty", path);
    const char **all = lg_alloc((*map)->length, sizeof *all);
    if (!all) return lg_fail_memory(error);
    size_t n = 0;
    for (const lg_json_value *v = (*map)->first; v; v = v->next) {
        bool plain = v->type == LG_JSON_STRING && v->length && strlen(v->string) == v->length &&
                     !strchr(v->string, '/') && v->string[0] != '.';
        if (!plain) {
            free(all);
            return lg_fail(
                error, LG_BAD_INPUT,
                "%s: weight_map says that %.200s lies in \"%.200s\", which is no name of a file beside it",
                path, v->key, v->type == LG_JSON_STRING ? v->string : "?");
        }
        all[n++] = v->string;
    }
    qsort(all, n, sizeof *all, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(all[i], all[kept - 1]) != 0) all[kept++] = all[i];
    *names = all;
    *n_names = kept;
    return LG_OK;
}

/* The only *.safetensors of FOLDER into NAME. */
static lg_status only_file(const char *folder, char *name, size_t size, lg_error *error) {
    DIR *entries = opendir(folder);
    if (!entries) return lg_fail_errno(error, "read the folder", folder);
    size_t n = 0;
    bool pickled = false;
    for (struct dirent *e; (e = readdir(entries));) {
        size_t length = strlen(e->d_name);
        if (strncmp(e->d_name, "pytorch_model", 13) == 0) pickled = true;
        if (length < 12 || strcmp(e->d_name + length - 12, ".safetensors") != 0) continue;
        if (n++ == 0) snprintf(name, size, "%s", e->d_name);
    }
    closedir(entries);
    if (n == 1) return LG_OK;
    if (n > 1)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s has %zu .safetensors files, but no model.safetensors and no "
                       "model.safetensors.index.json that "
                       "says which belong together",
                       folder, n);
    return lg_fail(error, LG_BAD_INPUT, "%s has no model.safetensors%s", folder,
                   pickled ? ", only a PyTorch pickle; convert it first" : "");
}

static lg_status open_one(lg_model *model, const char *folder, const char *name, lg_error *error) {
    char *path = lg_path_join(folder, name);
    if (!path) return lg_fail_memory(error);
    lg_status status = lg_safetensors_open(path, &model->files[model->n_files], error);
    if (!status) model->n_files++;
    free(path);
    return status;
}

/* That each tensor is where the index says. */
static lg_status check_index(const lg_model *model, const char *const *names, const char *path,
                             const lg_json_value *map, lg_error *error) {
    for (const lg_json_value *v = map->first; v; v = v->next) {
        const char *const *found = bsearch(&v->string, names, model->n_files, sizeof *names, by_text);
        if (!found || !lg_safetensors_find(model->files[found - names], v->key))
            return lg_fail(error, LG_BAD_INPUT, "%s: %.200s is not in %s as it says", path, v->key,
                           v->string);
    }
    return LG_OK;
}

static lg_status open_files(lg_model *model, lg_error *error) {
    const char *folder = model->info.path;
    char only[256] = "model.safetensors";
    const char *single = only, **names = &single;
    size_t n_names = 1;
    const lg_json_value *map = NULL;
    lg_arena scratch = {0};
    lg_status status = LG_OK;
    char *model_path = lg_path_join(folder, "model.safetensors");
    char *index_path = lg_path_join(folder, "model.safetensors.index.json");
    if (!model_path || !index_path) status = lg_fail_memory(error);
    else if (lg_exists(model_path)) status = LG_OK;
    else if (lg_exists(index_path)) status = index_files(&scratch, index_path, &names, &n_names, &map, error);
    else status = only_file(folder, only, sizeof only, error);
    if (status) goto done;
    model->files = calloc(n_names, sizeof(lg_safetensors *));
    if (!model->files) {
        status = lg_fail_memory(error);
        goto done;
    }
    for (size_t i = 0; i < n_names && !status; i++) status = open_one(model, folder, names[i], error);
    if (!status && map) status = check_index(model, names, index_path, map, error);
done:
    if (names != &single) free(names);
    lg_arena_free(&scratch);
    free(model_path);
    free(index_path);
    return status;
}

/* ---- the tensors ---- */

/* All tensors of all files, by name. */
typedef struct entry {
    const lg_tensor *tensor;
    const lg_safetensors *file;
    bool used;
} entry;

typedef struct inventory {
    entry *entries;
    size_t n;
    const lg_model *model;
    lg_error *error;
} inventory;

static int by_name(const void *a, const void *b) {
    return strcmp(((const entry *)a)->tensor->name, ((const entry *)b)->tensor->name);
}

static lg_status take_inventory(const lg_model *model, inventory *all, lg_error *error) {
    *all = (inventory){.model = model, .error = error};
    for (size_t i = 0; i < model->n_files; i++) all->n += lg_safetensors_count(model->files[i]);
    all->entries = calloc(all->n ? all->n : 1, sizeof *all->entries);
    if (!all->entries) return lg_fail_memory(error);
    size_t n = 0;
    for (size_t i = 0; i < model->n_files; i++)
        for (size_t k = 0; k < lg_safetensors_count(model->files[i]); k++)
            all->entries[n++] = (entry){lg_safetensors_at(model->files[i], k), model->files[i], false};
    qsort(all->entries, n, sizeof *all->entries, by_name);
    for (size_t i = 1; i < n; i++)
        if (by_name(&all->entries[i - 1], &all->entries[i]) == 0)
            return lg_fail(error, LG_BAD_INPUT, "%.200s is both in %s and in %s",
                           all->entries[i].tensor->name, lg_safetensors_path(all->entries[i - 1].file),
                           lg_safetensors_path(all->entries[i].file));
    return LG_OK;
}

static entry *find(const inventory *all, const char *name) {
    lg_tensor wanted = {.name = name};
    entry key = {.tensor = &wanted};
    return bsearch(&key, all->entries, all->n, sizeof key, by_name);
}

/* Writes the alternative at *NAMES for LAYER into NAME [256] and steps on; false: none left. */
static bool next_name(const char **names, size_t layer, char *name) {
    size_t used = 0;
    while (**names == ' ') ++*names;
    if (!**names) return false;
    for (; **names && **names != ' '; ++*names) {
        if (**names == '#') used += (size_t)snprintf(name + used, 256 - used, "%zu", layer);
        else name[used++] = **names;
    }
    name[used] = '\0';
    return true;
}

static void describe_shape(const size_t *shape, unsigned n, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (unsigned i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < size) snprintf(text + used, size - used, "]");
}

/* Transformers 5 holds one fused convolution and, when it saves, cuts it into three of equal height whatever
   the widths of q, k and v are; side by side the three are the whole again. */
static bool is_third_of_conv(const inventory *all, const lg_tensor *t, lg_mixer mixer, lg_slot slot) {
    if (slot < LG_Q_CONV || slot > LG_V_CONV) return false;
    size_t whole[3];
    lg_slot_shape(&all->model->spec, mixer, LG_CONV, whole);
    size_t third = (whole[0] + 2) / 3, last = whole[0] > 2 * third ? whole[0] - 2 * third : 0;
    return t->n_dims == 3 && t->shape[0] == (slot == LG_V_CONV ? last : third) && t->shape[1] == whole[1] &&
           t->shape[2] == whole[2];
}

static lg_status check_tensor(const inventory *all, const entry *e, lg_mixer mixer, lg_slot slot) {
    const lg_tensor *t = e->tensor;
    if (t->dtype != LG_F32 && t->dtype != LG_BF16 && t->dtype != LG_F16)
        return lg_fail(all->error, LG_BAD_INPUT, "%s: %.200s is %s; weights must be F32, BF16 or F16",
                       lg_safetensors_path(e->file), t->name, lg_dtype_name(t->dtype));
    size_t shape[3];
    unsigned n = lg_slot_shape(&all->model->spec, mixer, slot, shape);
    if (t->n_dims == n && memcmp(t->shape, shape, n * sizeof *shape) == 0) return LG_OK;
    if (n == 3 && t->n_dims == 2 && t->shape[0] == shape[0] && t->shape[1] == shape[2]) return LG_OK;
    if (is_third_of_conv(all, t, mixer, slot)) return LG_OK;
    char found[128], wanted[128];
    describe_shape(t->shape, t->n_dims, found, sizeof found);
    describe_shape(shape, n, wanted, sizeof wanted);
    return lg_fail(all->error, LG_BAD_INPUT, "%s: %.200s has shape %s, but by config.json it must be %s",
                   lg_safetensors_path(e->file), t->name, found, wanted);
}

/* The tensor for RULE in LAYER; NULL in *TENSOR if there is none under any name. */
static lg_status find_tensor(inventory *all, const lg_tensor_rule *rule, lg_mixer mixer, size_t layer,
                             const lg_tensor **tensor) {
    char name[256];
    const entry *found = NULL;
    *tensor = NULL;
    for (const char *names = rule->names; next_name(&names, layer, name);) {
        for (int bare = 0; bare < 2; bare++) {
            if (bare && strncmp(name, "model.", 6) != 0) continue;
            entry *e = find(all, bare ? name + 6 : name);
            if (!e) continue;
            if (found)
                return lg_fail(all->error, LG_BAD_INPUT,
                               "%s: %.200s and %.200s are two names of the same weights",
                               all->model->info.path, found->tensor->name, e->tensor->name);
            found = e;
            e->used = true;
        }
    }
    if (!found) return LG_OK;
    *tensor = found->tensor;
    return check_tensor(all, found, mixer, rule->slot);
}

static lg_status missing(const inventory *all, const lg_tensor_rule *rule, size_t layer) {
    char name[256];
    const char *names = rule->names, *path = all->model->info.path;
    next_name(&names, layer, name);
    if (all->model->n_files == 1) path = lg_safetensors_path(all->model->files[0]);
    return lg_fail(all->error, LG_BAD_INPUT, "%s: there is no %s (nor another name of it)%s", path, name,
                   all->model->n_files > 1 ? " in any of its files" : "");
}

static lg_status assign_layer(lg_model *model, inventory *all, const lg_family *family, size_t layer) {
    lg_mixer mixer = model->spec.layers[layer].mixer;
    unsigned where = mixer == LG_ATTENTION ? LG_IN_ATTENTION : LG_IN_DELTA;
    const lg_tensor **slots = model->layers[layer];
    const lg_tensor_rule *convs[LG_N_SLOTS] = {0};
    for (const lg_tensor_rule *const *table = family->rules; *table; table++) {
        for (const lg_tensor_rule *rule = *table; rule->names; rule++) {
            if (!(rule->where & where)) continue;
            lg_status status = find_tensor(all, rule, mixer, layer, &slots[rule->slot]);
            if (status) return status;
            bool conv = rule->slot >= LG_Q_CONV && rule->slot <= LG_CONV;
            if (conv) convs[rule->slot] = rule;
            else if (!slots[rule->slot]) return missing(all, rule, layer);
        }
    }
    if (mixer == LG_ATTENTION) return LG_OK;
    for (lg_slot slot = LG_Q_CONV; slot < LG_CONV; slot++) { /* three, or one fused */
        if (!slots[LG_CONV] && !slots[slot]) return missing(all, convs[slot], layer);
        if (slots[LG_CONV] && slots[slot])
            return lg_fail(all->error, LG_BAD_INPUT,
                           "%s: %.200s and %.200s are two forms of the same weights", model->info.path,
                           slots[LG_CONV]->name, slots[slot]->name);
    }
    if (!slots[LG_CONV]) { /* all three cut the same way */
        size_t whole[3], rows = 0;
        lg_slot_shape(&model->spec, mixer, LG_CONV, whole);
        for (lg_slot slot = LG_Q_CONV; slot < LG_CONV; slot++) rows += slots[slot]->shape[0];
        if (rows != whole[0])
            return lg_fail(all->error, LG_BAD_INPUT,
                           "%s: %.200s and its like for k and v have %zu rows, not %zu", model->info.path,
                           slots[LG_Q_CONV]->name, rows, whole[0]);
    }
    return LG_OK;
}

static lg_status assign_globals(lg_model *model, inventory *all, const lg_family *family,
                                const lg_monitor *monitor) {
    for (const lg_tensor_rule *const *table = family->rules; *table; table++) {
        for (const lg_tensor_rule *rule = *table; rule->names; rule++) {
            if (rule->where != LG_IN_MODEL) continue;
            const lg_tensor **slot = &model->globals[rule->slot];
            lg_status status = find_tensor(all, rule, LG_ATTENTION, 0, slot);
            if (status) return status;
            if (!*slot && !(rule->slot == LG_HEAD && model->spec.tied)) return missing(all, rule, 0);
        }
    }
    const lg_tensor *embedding = model->globals[LG_EMBEDDING], **head = &model->globals[LG_HEAD];
    if (!model->spec.tied) return LG_OK;
    if (*head) { /* a copy is harmless; anything else means that config.json or the file is wrong */
        if ((*head)->dtype != embedding->dtype ||
            memcmp((*head)->data, embedding->data, embedding->count * lg_dtype_size(embedding->dtype)) != 0)
            return lg_fail(all->error, LG_BAD_INPUT,
                           "%s: tie_word_embeddings is true, but %.200s differs from the embedding; one of "
                           "them is wrong",
                           model->info.path, (*head)->name);
        lg_note(monitor, "%s: passed over %s, equal to the embedding it is tied to", model->info.path,
                (*head)->name);
    }
    *head = embedding;
    return LG_OK;
}

static lg_status check_surplus(const inventory *all, const lg_monitor *monitor) {
    static const char inv_freq[] =
        "rotary_emb.inv_freq"; /* buffers of old versions, computed from config.json */
    size_t passed = 0;
    for (size_t i = 0; i < all->n; i++) {
        const entry *e = &all->entries[i];
        if (e->used) continue;
        const char *name = e->tensor->name;
        size_t length = strlen(name), tail = sizeof inv_freq - 1;
        bool buffer = length >= tail && !strcmp(name + length - tail, inv_freq) &&
                      (length == tail || name[length - tail - 1] == '.');
        if (!buffer)
            return lg_fail(all->error, LG_BAD_INPUT,
                           "%s: %.200s has no place in a model of type %s with this config.json",
                           lg_safetensors_path(e->file), name, all->model->spec.family);
        passed++;
    }
    if (passed) lg_note(monitor, "%s: passed over %zu %s", all->model->info.path, passed, inv_freq);
    return LG_OK;
}

/* ---- what to tell people ---- */

static void layer_name(const lg_spec *spec, size_t layer, char *text, size_t size) {
    const lg_layer_spec *l = &spec->layers[layer];
    if (l->mixer == LG_DELTA) snprintf(text, size, "gated delta");
    else if (l->window) snprintf(text, size, "attention over %zu", l->window);
    else snprintf(text, size, "%sattention", spec->window ? "full " : "");
}

static bool same_layer(const lg_spec *spec, size_t a, size_t b) {
    return spec->layers[a].mixer == spec->layers[b].mixer && spec->layers[a].window == spec->layers[b].window;
}

/* "8 x (3 gated delta, 1 attention)": the shortest period, its runs, and what is left over. */
static char *describe_layers(lg_arena *arena, const lg_spec *spec) {
    size_t n = spec->n_layers, period = 1;
    for (; period < n; period++) {
        size_t i = period;
        while (i < n && same_layer(spec, i, i % period)) i++;
        if (i == n) break;
    }
    size_t repeats = n / period, rest = n % period;
    lg_text text = {0};
    for (int part = 0; part < 2; part++) { /* the repeated period, then the rest */
        size_t begin = part ? repeats * period : 0, end = part ? n : period;
        if (part && !rest) break;
        bool nested = !part && repeats > 1 && period > 1;
        if (part) lg_text_puts(&text, ", ");
        if (nested) lg_text_printf(&text, "%zu x (", repeats);
        for (size_t i = begin, run; i < end; i += run) {
            for (run = 1; i + run < end && same_layer(spec, i, i + run);) run++;
            char name[64];
            layer_name(spec, i, name, sizeof name);
            lg_text_printf(&text, "%s%zu %s", i > begin ? ", " : "", period == 1 ? repeats : run, name);
        }
        if (nested) lg_text_puts(&text, ")");
    }
    char *copy = text.failed ? NULL : lg_arena_copy(arena, text.data, text.length);
    lg_text_free(&text);
    return copy;
}

static lg_status fill_info(lg_model *model, const inventory *all, lg_error *error) {
    const lg_spec *spec = &model->spec;
    lg_model_info *info = &model->info;
    size_t by_dtype[LG_F64 + 1] = {0}, most = LG_F32;
    for (size_t i = 0; i < all->n; i++) {
        const lg_tensor *t = all->entries[i].tensor;
        bool copy = model->spec.tied && t->count && t->data != model->globals[LG_EMBEDDING]->data &&
                    (!strcmp(t->name, "lm_head.weight") || !strcmp(t->name, "lm_head.w_out.weight"));
        if (!all->entries[i].used || copy) continue;
        by_dtype[t->dtype] += t->count;
        info->parameters += t->count;
    }
    for (size_t i = 0; i <= LG_F64; i++)
        if (by_dtype[i] > by_dtype[most]) most = i;
    info->dtype = lg_dtype_name((lg_dtype)most);
    info->family = spec->family;
    info->n_layers = spec->n_layers;
    for (size_t i = 0; i < spec->n_layers; i++)
        info->n_attention_layers += spec->layers[i].mixer == LG_ATTENTION;
    info->d_model = spec->d_model;
    info->d_ff = spec->d_ff;
    info->vocab_size = spec->vocab_size;
    info->n_heads = spec->n_heads;
    info->n_kv_heads = spec->n_kv_heads;
    info->head_dim = spec->head_dim;
    info->window = spec->window;
    info->max_positions = spec->max_positions;
    info->has_bos = spec->has_bos;
    info->has_eos = spec->has_eos;
    info->bos = spec->bos;
    info->eos = spec->eos;
    info->tied = spec->tied;
    info->layers = describe_layers(&model->arena, spec);
    return info->layers ? LG_OK : lg_fail_memory(error);
}

/* ---- opening ---- */

static lg_status read_spec(lg_model *model, const char *path, const lg_json_value *root,
                           const lg_family **family, lg_error *error) {
    lg_config config = {root, path, LG_OK, error};
    const lg_json_value *type = lg_config_member(&config, "model_type");
    char known[160];
    lg_family_list(known, sizeof known);
    if (!type || type->type != LG_JSON_STRING)
        return lg_fail(error, LG_BAD_INPUT, "%s: model_type is missing; supported: %s", path, known);
    *family = lg_family_find(type->string);
    if (!*family)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s: model_type is \"%.60s\", which is not supported; these are: %s", path,
                       type->string, known);
    model->spec.family = (*family)->model_type;
    (*family)->read(&config, &model->spec);
    return config.status;
}

lg_status lg_model_open(const char *where, lg_model **opened, const lg_monitor *monitor, lg_error *error) {
    *opened = NULL;
    char folder[4096], hex[33];
    lg_status status = lg_model_locate(where, folder, sizeof folder, error);
    if (status) return status;
    lg_arena json = {0};
    lg_mapping config = {0};
    inventory all = {0};
    lg_json_value *root;
    const lg_family *family = NULL;
    char *path = lg_path_join(folder, "config.json");
    lg_model *model = calloc(1, sizeof *model);
    if (!model || !path || !(model->info.path = lg_arena_copy(&model->arena, folder, strlen(folder)))) {
        status = lg_fail_memory(error);
        goto done;
    }
    status = read_json(&json, path, &config, &root, error);
    if (!status) status = read_spec(model, path, root, &family, error);
    if (!status) status = open_files(model, error);
    if (!status) status = take_inventory(model, &all, error);
    if (status) goto done;

    model->layers = lg_arena_alloc(&model->arena, model->spec.n_layers * sizeof *model->layers);
    if (!model->layers) {
        status = lg_fail_memory(error);
        goto done;
    }
    status = assign_globals(model, &all, family, monitor);
    for (size_t i = 0; i < model->spec.n_layers && !status; i++)
        status = assign_layer(model, &all, family, i);
    if (!status) status = check_surplus(&all, monitor);
    if (!status) status = fill_info(model, &all, error);
    if (!status) status = lg_model_identify(&config, model->files, model->n_files, monitor, hex, error);
    if (!status && !(model->info.identity = lg_arena_copy(&model->arena, hex, 32)))
        status = lg_fail_memory(error);
done:
    free(all.entries);
    free(path);
    lg_unmap(&config);
    lg_arena_free(&json);
    if (status) lg_model_close(model);
    else *opened = model;
    return status;
}

void lg_model_close(lg_model *model) {
    if (!model) return;
    for (size_t i = 0; i < model->n_files; i++) lg_safetensors_close(model->files[i]);
    free(model->files);
    lg_spec_free(&model->spec);
    lg_arena_free(&model->arena);
    free(model);
}

const lg_model_info *lg_model_get_info(const lg_model *model) {
    return &model->info;
}
