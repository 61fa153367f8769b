/* lossgap: the table of commands. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

/* A command has a row once it works. */
static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help, *group; /* group: a heading that begins here */
} commands[] = {
    {"compare", cmd_compare, "score text with two or more models and say where each predicts better",
     "All in one"},
    {"tokenize", cmd_tokenize, "read a corpus into a dataset", "Step by step"},
    {"score", cmd_score, "score every token of a dataset with a model", NULL},
    {"import", cmd_import, "take losses that another program computed", NULL},
    {"align", cmd_align, "add up losses over the byte spans that different tokenizers share", NULL},
    {"tag", cmd_tag, "say what each token is", NULL},
    {"frequency", cmd_frequency, "count token types, for tags that go by a larger corpus", NULL},
    {"gap", cmd_gap, "say where one model predicts better than another, by category", NULL},
    {"profile", cmd_profile, "say where the gap lies, beside a reference pair's and the noise of seeds",
     NULL},
    {"regress", cmd_regress, "relate the gap to tags, positions, copying and frequency, all at once", NULL},
    {"filter", cmd_filter, "make masks of tokens, for mean losses over them", NULL},
    {"curve", cmd_curve, "follow filtered losses over the checkpoints of training runs", NULL},
    {"probe", cmd_probe, "ask models questions that isolate one ability each", NULL},
    {"export", cmd_export, "write the per-token table as JSONL or CSV", "Look"},
    {"inspect", cmd_inspect, "say what is in an artefact, a checkpoint or a tokenizer", NULL},
    {"tagger", cmd_tagger, "make or measure a tagger of parts of speech", NULL},
    {"help", cmd_help, "say what a command does", NULL},
    {"version", cmd_version, "say what this build is", NULL},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_commands(FILE *out) {
    fputs("lossgap compares language models token by token: where one predicts better than another.\n\n"
          "Usage: lossgap COMMAND [OPTION...] ...\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (commands[i].group) fprintf(out, "%s%s:\n", i ? "\n" : "", commands[i].group);
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fputs("\n`lossgap COMMAND --help` says more about one of them. For a start:\n"
          "  lossgap compare MODEL_A MODEL_B TEXT -o DIR\n"
          "where a MODEL is a folder with config.json, or a hub id in the local Hugging Face cache, and TEXT "
          "a folder or file.\n",
          out);
}

/* Letters to change, insert, drop or swap to make B of A; 99 for long words. */
static unsigned distance(const char *a, const char *b) {
    enum { MAX = 16 };
    unsigned d[MAX + 1][MAX + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX || m > MAX) return 99;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

static int complain_unknown(const char *name) {
    fprintf(stderr, "lossgap: there is no command '%s'", name);
    const char *separator = ". Did you mean ";
    for (size_t i = 0; i < N_COMMANDS; i++) {
        size_t length = strlen(name);
        bool near = distance(name, commands[i].name) <= 1 + length / 4 ||
                    (length >= 2 && strncmp(name, commands[i].name, length) == 0);
        if (!near) continue;
        fprintf(stderr, "%s%s", separator, commands[i].name);
        separator = " or ";
    }
    fputs(*separator == '.' ? "; `lossgap help` lists them\n" : "?\n", stderr);
    return LG_USAGE;
}

static int cmd_help(int argc, char **argv) {
    if (argc < 2 || argv[1][0] == '-') {
        print_commands(stdout);
        return LG_OK;
    }
    const struct command *command = find_command(argv[1]);
    if (!command) return complain_unknown(argv[1]);
    if (command->run == cmd_help || command->run == cmd_version) {
        printf("Usage: lossgap %s\n%s\n", command->name, command->help);
        return LG_OK;
    }
    char help[] = "--help", *arguments[] = {argv[1], help, NULL};
    return command->run(2, arguments);
}

static int cmd_version(int argc, char **argv) {
    (void)argc, (void)argv;
    printf("lossgap %s\n%s\n", lg_version(), lg_build_info());
    return LG_OK;
}

int main(int argc, char **argv) {
    argp_err_exit_status = LG_USAGE;
    cli_check_stdout();
    if (argc < 2) {
        print_commands(stderr);
        return LG_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) { /* for scripts: one line */
        printf("lossgap %s\n", lg_version());
        return LG_OK;
    }
    const struct command *command = find_command(name);
    return command ? command->run(argc - 1, argv + 1) : complain_unknown(name);
}
