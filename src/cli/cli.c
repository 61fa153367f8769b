/* Options, signals, errors and names that all commands share. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

/* A handler can reach nothing else than a global. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number) {
    stop_signal = number;
}

bool cli_stopped(void) {
    return stop_signal != 0;
}

/* The first signal asks for a safe stop, the second one ends the program at once. */
static void arm_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void close_stdout(void) {
    if (fflush(stdout) == 0 && !ferror(stdout) && (fclose(stdout) == 0 || errno == EBADF)) return;
    if (errno == EPIPE) _exit(0); /* the reader had enough */
    fprintf(stderr, "lossgap: cannot write the output: %s\n", strerror(errno));
    _exit(LG_FAILED);
}

void cli_check_stdout(void) {
    atexit(close_stdout);
}

/* Options that all commands have, and those that some have. */
enum { KEY_THREADS = 0x1001, KEY_JSON };

static error_t parse_common(int key, char *argument, struct argp_state *state) {
    cli *c = state->input;
    switch (key) {
    case 'q':
        c->quiet = true;
        return 0;
    case 'v':
        c->verbose = true;
        return 0;
    case KEY_THREADS:
        c->threads = (unsigned)cli_number(state, "--threads", argument, 1, 1024);
        return 0;
    case KEY_JSON:
        c->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option common_options[] = {
    {"quiet", 'q', NULL, 0, "Say nothing but results and errors", 90},
    {"verbose", 'v', NULL, 0, "Say more; end with the time and memory taken", 90},
    {0},
};
static const struct argp_option threads_options[] = {
    {"threads", KEY_THREADS, "N", 0, "Use N threads (default: all processors)", 80},
    {0},
};
static const struct argp_option json_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print JSON instead of a table", 80},
    {0},
};
static const struct argp common_argp = {common_options, parse_common, NULL, NULL, NULL, NULL, NULL};
static const struct argp threads_argp = {threads_options, parse_common, NULL, NULL, NULL, NULL, NULL};
static const struct argp json_argp = {json_options, parse_common, NULL, NULL, NULL, NULL, NULL};

/* The command's own parser, with its own input, inside an argp that hands `cli` to the children. */
struct parse {
    cli *c;
    argp_parser_t own;
    void *input;
    size_t n_own, n; /* children: the command's own, then to N those for `cli` */
};

static error_t parse_command(int key, char *argument, struct argp_state *state) {
    struct parse *parse = state->input;
    if (key == ARGP_KEY_INIT)
        for (size_t i = parse->n_own; i < parse->n; i++) state->child_inputs[i] = parse->c;
    state->input = parse->input;
    error_t result = parse->own(key, argument, state);
    state->input = parse;
    return result;
}

static void put_quoted(lg_text *out, const char *word) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%^";
    if (*word && word[strspn(word, safe)] == '\0') {
        lg_text_puts(out, word);
        return;
    }
    lg_text_puts(out, "'");
    for (; *word; word++) {
        if (*word == '\'') lg_text_puts(out, "'\\''");
        else lg_text_put(out, word, 1);
    }
    lg_text_puts(out, "'");
}

static void on_progress(void *context, const char *unit, uint64_t done, uint64_t total) {
    cli *c = context;
    if (!c->quiet) cli_progress_show(&c->progress, unit, done, total);
}

static void on_note(void *context, const char *message) {
    cli *c = context;
    if (c->quiet) return;
    cli_progress_clear(&c->progress);
    fprintf(stderr, "lossgap %s: %s\n", c->command, message);
}

static bool on_cancelled(void *context) {
    (void)context;
    return cli_stopped();
}

void cli_start(cli *c, int argc, char **argv, const struct argp *argp, unsigned common, void *input) {
    *c = (cli){.command = argv[0], .started = cli_now()};
    c->go_on = "stopped; nothing was written";
    c->monitor = (lg_monitor){c, on_progress, on_note, on_cancelled};
    cli_progress_start(&c->progress, c->command);
    lg_text line = {0};
    lg_text_puts(&line, "lossgap");
    for (int i = 0; i < argc; i++) {
        lg_text_puts(&line, " ");
        put_quoted(&line, argv[i]);
    }
    c->command_line = line.data;
    char *name;
    if (line.failed || asprintf(&name, "lossgap %s", c->command) < 0) {
        fprintf(stderr, "lossgap %s: out of memory\n", c->command);
        exit(LG_FAILED);
    }

    enum { OWN = 4 };
    struct argp_child children[OWN + 4] = {{0}};
    size_t n = 0;
    for (const struct argp_child *own = argp->children; own && own->argp && n < OWN; own++)
        children[n++] = *own;
    size_t n_own = n;
    if (common & CLI_THREADS) children[n++].argp = &threads_argp;
    if (common & CLI_JSON) children[n++].argp = &json_argp;
    children[n++].argp = &common_argp;
    struct argp whole = *argp;
    whole.children = children;
    whole.parser = parse_command;
    struct parse parse = {c, argp->parser, input, n_own, n};
    argv[0] = name; /* what argp calls the program in its messages */
    error_t failed = argp_parse(&whole, argc, argv, 0, NULL, &parse);
    argv[0] = (char *)(uintptr_t)c->command;
    free(name);
    if (failed) {
        fprintf(stderr, "lossgap %s: %s\n", c->command, strerror(failed));
        exit(LG_FAILED);
    }
    arm_signals();
}

int cli_end(cli *c, lg_status status) {
    cli_progress_clear(&c->progress);
    int code = (int)status;
    if (status == LG_CANCELLED) {
        fprintf(stderr, "lossgap %s: %s\n", c->command, c->error.message[0] ? c->error.message : c->go_on);
        code = CLI_EXIT_STOPPED;
    } else if (status) {
        fprintf(stderr, "lossgap %s: %s\n", c->command, c->error.message[0] ? c->error.message : "failed");
    }
    if (c->verbose) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        fprintf(stderr, "lossgap %s %s: %.2f s, peak memory %.0f MB\n", lg_version(), c->command,
                cli_now() - c->started, (double)usage.ru_maxrss / 1000);
    }
    free(c->command_line);
    c->command_line = NULL;
    return code;
}

uint64_t cli_number(const struct argp_state *state, const char *option, const char *text, uint64_t low,
                    uint64_t high) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || value < low || value > high) {
        if (high == UINT64_MAX)
            argp_error(state, "%s takes a whole number from %" PRIu64 " up, not '%s'", option, low, text);
        else
            argp_error(state, "%s takes a whole number from %" PRIu64 " to %" PRIu64 ", not '%s'", option,
                       low, high, text);
    }
    return value;
}

size_t cli_choice(const struct argp_state *state, const char *option, const char *text,
                  const char *const *names) {
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) return i;
        int n = snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
        if (n > 0 && (size_t)n < sizeof list - used) used += (size_t)n;
    }
    argp_error(state, "%s is one of %s, not '%s'", option, list, text);
    return 0;
}

error_t cli_push(const char ***list, size_t *n, size_t *room, const char *value) {
    if (!lg_reserve(list, room, *n + 1, sizeof **list)) return ENOMEM;
    (*list)[(*n)++] = value;
    return 0;
}

char **cli_list(const struct argp_state *state, const char *option, const char *text, size_t *count) {
    size_t n = 1, length = strlen(text);
    for (const char *p = text; *p; p++) n += *p == ',';
    char **list = malloc((n + 1) * sizeof *list + length + 1);
    if (!list) argp_failure(state, LG_FAILED, 0, "out of memory");
    char *copy = memcpy((char *)(list + n + 1), text, length + 1);
    for (size_t i = 0; i < n; i++) {
        list[i] = copy;
        copy += strcspn(copy, ",");
        *copy++ = '\0';
        if (!list[i][0]) argp_error(state, "%s has an empty part in '%s'", option, text);
    }
    list[n] = NULL;
    *count = n;
    return list;
}

/* The last K components of PATH as a name: what is no letter, digit, '.', '_' or '-' becomes '-'. NULL: no
 * memory. */
static char *name_of(const char *path, size_t k) {
    size_t end = strlen(path);
    while (end > 1 && (path[end - 1] == '/' || (path[end - 1] == '.' && path[end - 2] == '/'))) end--;
    size_t begin = end;
    for (; begin > 0 && k > 0; k--) {
        begin--;
        while (begin > 0 && path[begin - 1] != '/') begin--;
    }
    while (begin < end && (path[begin] == '/' || path[begin] == '.')) begin++; /* no hidden files, no ".." */
    char *name = strndup(path + begin, end - begin);
    if (!name) return NULL;
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c)) *c = '-';
    return name;
}

static bool is_name(const char *text) {
    if (!*text || *text == '.') return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("._-", *text)) return false;
    return true;
}

static bool is_taken(const cli_model *models, size_t n, size_t i) {
    for (size_t j = 0; j < n; j++)
        if (j != i && strcmp(models[i].name, models[j].name) == 0) return true;
    return false;
}

static size_t components(const char *path) {
    size_t n = 1;
    for (; *path; path++) n += *path == '/';
    return n;
}

static lg_status name_models(char *const *arguments, size_t n, cli_model *models, lg_error *error) {
    for (size_t i = 0; i < n; i++) {
        const char *a = arguments[i], *equals = strchr(a, '=');
        cli_model *m = &models[i];
        m->named = equals && !memchr(a, '/', (size_t)(equals - a)) && !lg_exists(a);
        m->where = m->named ? equals + 1 : a;
        m->depth = 1;
        m->name = m->named ? strndup(a, (size_t)(equals - a)) : name_of(a, 1);
        if (!m->name) return lg_fail_memory(error);
        if (m->named && !is_name(m->name))
            return lg_fail(error, LG_USAGE,
                           "'%s' is no model name: letters, digits, '.', '_', '-', no dot in front", m->name);
        if (!m->where[0]) return lg_fail(error, LG_USAGE, "'%s' names no model", a);
    }
    for (;;) { /* more components for those that share a name, all of them at once */
        bool clash = false, deeper = false;
        for (size_t i = 0; i < n; i++) {
            cli_model *m = &models[i];
            m->clash = !m->name[0] || is_taken(models, n, i);
            clash |= m->clash;
        }
        if (!clash) return LG_OK;
        for (size_t i = 0; i < n; i++) {
            cli_model *m = &models[i];
            if (!m->clash || m->named || m->depth >= components(m->where)) continue;
            deeper = true;
            free(m->name);
            m->name = name_of(m->where, ++m->depth);
            if (!m->name) return lg_fail_memory(error);
        }
        for (size_t i = 0; i < n && !deeper; i++)
            if (models[i].clash)
                return lg_fail(error, LG_USAGE, "two models would be called '%s': name them, as in NAME=%s",
                               models[i].name, models[i].where);
    }
}

lg_status cli_name_models(char *const *arguments, size_t n, cli_model *models, lg_error *error) {
    memset(models, 0, n * sizeof *models);
    lg_status status = name_models(arguments, n, models, error);
    if (status) cli_free_models(models, n);
    return status;
}

void cli_free_models(cli_model *models, size_t n) {
    for (size_t i = 0; i < n; i++) free(models[i].name);
    memset(models, 0, n * sizeof *models);
}

lg_status cli_lock_folder(const char *folder, int *lock, lg_error *error) {
    *lock = -1;
    lg_status status = lg_make_folders(folder, error);
    if (status) return status;
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return lg_fail_errno(error, "open", folder);
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return LG_OK;
    return lg_fail(error, LG_FAILED, "another lossgap works in %s: wait for it, or give another folder",
                   folder);
}

lg_status cli_wait_folder(const char *folder, const lg_monitor *monitor, int *lock, lg_error *error) {
    *lock = -1;
    lg_status status = lg_make_folders(folder, error);
    if (status) return status;
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return lg_fail_errno(error, "open", folder);
    for (bool told = false; flock(*lock, LOCK_EX | LOCK_NB) != 0; told = true) {
        if (errno != EWOULDBLOCK && errno != EINTR) return LG_OK; /* a file system without locks */
        if (!told) lg_note(monitor, "another lossgap works in %s: waiting for it", folder);
        if (lg_is_cancelled(monitor)) return lg_fail(error, LG_CANCELLED, "stopped while waiting");
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return LG_OK;
}

bool cli_color(FILE *stream) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(stream)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

size_t cli_width(FILE *stream) {
    struct winsize size;
    if (!isatty(fileno(stream))) return 0;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 ? (size_t)width : 80;
}

char *cli_beside(const char *path, const char *ending) {
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".json") == 0) length -= 5;
    else if (length > 4 && strcmp(path + length - 4, ".csv") == 0) length -= 4;
    char *name;
    return asprintf(&name, "%.*s%s", (int)length, path, ending) < 0 ? NULL : name;
}

lg_status cli_write_beside(const char *path, const char *ending, const char *text, size_t length,
                           lg_error *error) {
    char *name = cli_beside(path, ending);
    lg_status status = name ? lg_write_file(name, text, length, error) : lg_fail_memory(error);
    free(name);
    return status;
}

lg_status cli_write_text(const char *path, const char *text, size_t length, lg_error *error) {
    lg_mapping old = {0};
    lg_error missing;
    bool same = !lg_map(path, &old, &missing) && old.size == length &&
                (!length || memcmp(old.data, text, length) == 0);
    lg_unmap(&old);
    return same ? LG_OK : lg_write_file(path, text, length, error);
}
