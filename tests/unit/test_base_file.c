/* Files and folders: mapped input, output that appears whole or not at all; memory, hashes, errors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

static char folder[] = "/tmp/lossgap-test-XXXXXX";
static char path[64];

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if anything else was left */
}

static size_t files_in_folder(void) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

static void assert_content(const char *text) {
    lg_mapping m;
    assert_int_equal(lg_map(path, &m, NULL), LG_OK);
    assert_int_equal(m.size, strlen(text));
    if (m.size) assert_memory_equal(m.data, text, m.size);
    lg_unmap(&m);
    assert_null(m.data);
}

static void maps_files(void **state) {
    (void)state;
    lg_mapping m;
    lg_error error = {0};
    assert_int_equal(lg_write_file(path, "", 0, &error), LG_OK);
    assert_content("");
    assert_int_equal(lg_write_file(path, "some text", 9, &error), LG_OK);
    assert_content("some text");
    assert_int_equal(lg_map("/nonexistent", &m, &error), LG_BAD_INPUT);
    assert_string_equal(error.message, "cannot open /nonexistent: No such file or directory");
    assert_int_equal(lg_map(folder, &m, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "is not a regular file"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it: must not wait */
    assert_int_equal(lg_map(path, &m, &error), LG_BAD_INPUT);
    assert_int_equal(unlink(path), 0);
    lg_unmap(&m);
}

static void replaces_files_at_commit(void **state) {
    (void)state;
    lg_output out;
    lg_error error = {0};
    assert_int_equal(lg_write_file(path, "old", 3, &error), LG_OK);
    assert_int_equal(lg_output_open(path, &out, &error), LG_OK);
    fputs("new text", out.stream);
    fflush(out.stream);
    assert_content("old");
    assert_int_equal(files_in_folder(), 2);
    assert_int_equal(lg_output_commit(&out, &error), LG_OK);
    assert_content("new text");
    assert_int_equal(files_in_folder(), 1);
    lg_output_discard(&out); /* does nothing */
    assert_content("new text");

    assert_int_equal(lg_output_open(path, &out, &error), LG_OK);
    fputs("other", out.stream);
    lg_output_discard(&out);
    assert_content("new text");
    assert_int_equal(files_in_folder(), 1);

    lg_output one, two; /* two at a time do not meet */
    assert_int_equal(lg_output_open(path, &one, &error), LG_OK);
    assert_int_equal(lg_output_open(path, &two, &error), LG_OK);
    fputs("one", one.stream);
    fputs("two", two.stream);
    assert_int_equal(lg_output_commit(&two, &error), LG_OK);
    assert_int_equal(lg_output_commit(&one, &error), LG_OK);
    assert_content("one");
    assert_int_equal(files_in_folder(), 1);
}

static void honours_the_umask(void **state) {
    (void)state;
    struct stat info;
    static const unsigned masks[] = {0, 022, 077};
    for (size_t i = 0; i < 3; i++) {
        const unsigned mask = masks[i];
        mode_t old = umask(mask);
        assert_int_equal(lg_write_file(path, "x", 1, NULL), LG_OK);
        umask(old);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
    }
}

static void reports_what_cannot_be_written(void **state) {
    (void)state;
    lg_output out;
    lg_error error = {0};
    assert_int_equal(lg_output_open("/nonexistent/file", &out, &error), LG_FAILED);
    assert_string_equal(error.message,
                        "cannot create a file beside /nonexistent/file: No such file or directory");
    assert_null(out.path);
    assert_int_equal(lg_write_file(folder, "x", 1, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "is a folder"));
    assert_int_equal(lg_write_file("", "x", 1, &error), LG_USAGE);

    signal(SIGXFSZ, SIG_IGN); /* a limit on file size stands for the full disk */
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){1000, old.rlim_max};
    assert_int_equal(lg_write_file(path, "old", 3, &error), LG_OK);
    static const char block[100000];
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    lg_status large = lg_write_file(path, block, sizeof block, &error),
              small = lg_write_file(path, block, 1001, NULL);
    assert_int_equal(lg_output_open(path, &out, NULL), LG_OK);
    for (int i = 0; i < 3; i++) fwrite(block, 1, sizeof block, out.stream);
    errno = 0;
    lg_error later = {0};
    lg_status unseen = lg_output_commit(&out, &later); /* the writes failed long ago */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(large, LG_FAILED);
    assert_int_equal(small, LG_FAILED);
    assert_int_equal(unseen, LG_FAILED);
    assert_non_null(strstr(error.message, "File too large"));
    assert_non_null(strstr(later.message, "an earlier write failed; is the disk full?"));
    assert_content("old");
    assert_int_equal(files_in_folder(), 1);
}

/* A device or pipe that was renamed over would be gone for everybody. */
static void replaces_regular_files_only(void **state) {
    (void)state;
    lg_error error = {0};
    struct stat info;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(lg_write_file(path, "x", 1, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "is a device or pipe"));
    assert_true(lstat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(files_in_folder(), 0);

    char target[80]; /* behind a link: the file is replaced, the link stays */
    snprintf(target, sizeof target, "%s/target", folder);
    assert_int_equal(lg_write_file(target, "old", 3, NULL), LG_OK);
    assert_int_equal(symlink("target", path), 0);
    assert_int_equal(lg_write_file(path, "new", 3, &error), LG_OK);
    assert_true(lstat(path, &info) == 0 && S_ISLNK(info.st_mode));
    assert_content("new");
    assert_int_equal(unlink(target), 0);
    assert_int_equal(lg_write_file(path, "of its own", 10, &error), LG_OK); /* the link led nowhere */
    assert_true(lstat(path, &info) == 0 && S_ISREG(info.st_mode));
    assert_int_equal(files_in_folder(), 1);
}

static void takes_over_what_was_killed(void **state) {
    (void)state;
    lg_output out;
    lg_error error = {0};
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (!child) { /* killed in the middle of the work, and once more by the takeover */
            if (lg_output_open(path, &out, NULL) || fputs("half of a longer text", out.stream) < 0 ||
                fflush(out.stream) != 0)
                _exit(1);
            raise(SIGKILL);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    }
    assert_int_equal(files_in_folder(), 2); /* the file of the tests before, and one temporary */
    assert_int_equal(lg_output_open(path, &out, &error), LG_OK);
    fputs("whole", out.stream);
    assert_int_equal(lg_output_commit(&out, &error), LG_OK);
    assert_content("whole");
    assert_int_equal(files_in_folder(), 1);
}

static void makes_folders(void **state) {
    (void)state;
    char a[80], b[80], trailing[80];
    lg_error error = {0};
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/a/b", folder);
    snprintf(trailing, sizeof trailing, "%s/a//b/", folder);
    assert_false(lg_is_folder(b));
    assert_int_equal(lg_make_folders(b, &error), LG_OK);
    assert_true(lg_is_folder(b) && lg_exists(b));
    assert_int_equal(lg_make_folders(b, &error), LG_OK);
    assert_int_equal(lg_make_folders(trailing, &error), LG_OK);
    assert_int_equal(lg_make_folders("/", &error), LG_OK);
    assert_int_equal(lg_make_folders("", &error), LG_FAILED);
    assert_int_equal(rmdir(b), 0);
    assert_int_equal(rmdir(a), 0);
    assert_int_equal(lg_write_file(path, "x", 1, NULL), LG_OK);
    assert_int_equal(lg_make_folders(path, &error), LG_FAILED);
    snprintf(a, sizeof a, "%s/a", path);
    assert_int_equal(lg_make_folders(a, &error), LG_FAILED);
    assert_true(lg_exists(path) && !lg_is_folder(path));
}

static void joins_paths(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}};
    for (size_t i = 0; i < 4; i++) {
        char *joined = lg_path_join(cases[i][0], cases[i][1]);
        assert_string_equal(joined, cases[i][2]);
        free(joined);
    }
}

static void checks_sizes(void **state) {
    (void)state;
    size_t product;
    assert_true(lg_multiply(SIZE_MAX, 1, &product) && product == SIZE_MAX);
    assert_false(lg_multiply(SIZE_MAX / 2 + 1, 2, &product));
    assert_null(lg_alloc(SIZE_MAX / 2, 4));
    assert_null(lg_alloc_aligned(SIZE_MAX / 4, 4));
    assert_null(lg_alloc_aligned(SIZE_MAX / 2, 4));
    void *none = lg_alloc(0, 8);
    assert_non_null(none);
    free(none);
    for (size_t n = 0; n < 200; n += 13) {
        unsigned char *aligned = lg_alloc_aligned(n, 1);
        assert_non_null(aligned);
        assert_int_equal((uintptr_t)aligned % 64, 0);
        memset(aligned, 1, n);
        free(aligned);
    }
    uint32_t *numbers = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(lg_reserve(&numbers, &capacity, i + 1, sizeof *numbers));
        numbers[i] = i;
    }
    assert_true(capacity >= 1000 && capacity < 4000);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(numbers[i], i);
    size_t before = capacity;
    assert_false(lg_reserve(&numbers, &capacity, SIZE_MAX / 2, sizeof *numbers));
    assert_int_equal(capacity, before);
    free(numbers);
}

static void keeps_arenas(void **state) {
    (void)state;
    lg_arena arena = {0};
    unsigned char *blocks[200];
    for (size_t i = 0; i < 200; i++) {
        size_t size = i * i; /* up to more than one block of the arena */
        assert_non_null(blocks[i] = lg_arena_alloc(&arena, size));
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++) assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)i, size);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k < i * i; k++) assert_int_equal(blocks[i][k], i);
    assert_string_equal(lg_arena_copy(&arena, "text and more", 4), "text");
    assert_string_equal(lg_arena_copy(&arena, NULL, 0), "");
    assert_null(lg_arena_alloc(&arena, SIZE_MAX));
    assert_null(lg_arena_copy(&arena, "", SIZE_MAX));
    lg_arena_free(&arena);
    lg_arena_free(&arena);
}

/* The values of the empty text and of the bytes 0…255 as the Python package xxhash 4.1.0 gives them
 * (xxh3_128). */
static void hashes(void **state) {
    (void)state;
    char hex[33];
    lg_hash_hex(lg_hash_of(NULL, 0), hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    unsigned char bytes[256];
    for (unsigned i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
    lg_hash whole = lg_hash_of(bytes, sizeof bytes);
    lg_hash_hex(whole, hex);
    assert_string_equal(hex, "f1f8a93f50849ac39408a4433b952d71");
    lg_hasher *hasher = lg_hasher_create();
    assert_non_null(hasher);
    for (size_t piece = 1; piece < 300; piece += 7) {
        lg_hasher_reset(hasher);
        for (size_t at = 0; at < sizeof bytes; at += piece)
            lg_hasher_add(hasher, bytes + at, sizeof bytes - at < piece ? sizeof bytes - at : piece);
        lg_hasher_add(hasher, NULL, 0);
        assert_true(lg_hash_equal(lg_hasher_value(hasher), whole));
    }
    lg_hasher_free(hasher);
    lg_hasher_free(NULL);
}

static bool ask(void *context) {
    return *(bool *)context;
}

static void tells_errors(void **state) {
    (void)state;
    lg_error error = {0};
    assert_int_equal(lg_fail(&error, LG_BAD_INPUT, "a%sb", "\n\x1b[31m\x7f\xC2\x9B\xC3\xA9\xC2\xA0"),
                     LG_BAD_INPUT);
    assert_int_equal(error.status, LG_BAD_INPUT);
    assert_string_equal(error.message, "a??[31m???\xC3\xA9\xC2\xA0"
                                       "b");
    assert_int_equal(lg_fail(NULL, LG_USAGE, "x"), LG_USAGE);
    assert_int_equal(lg_fail(&error, LG_FAILED, "%02000d", 1), LG_FAILED);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    errno = ENOENT;
    assert_int_equal(lg_fail_errno(&error, "open", "p"), LG_BAD_INPUT);
    errno = ENOSPC;
    assert_int_equal(lg_fail_errno(&error, "write", "p"), LG_FAILED);
    assert_string_equal(error.message, "cannot write p: No space left on device");
    errno = ENOENT;
    assert_int_equal(lg_fail_write(&error, "write", "p"), LG_FAILED);
    bool stop = false;
    lg_monitor monitor = {.context = &stop, .cancelled = ask};
    assert_false(lg_is_cancelled(NULL) || lg_is_cancelled(&monitor));
    stop = true;
    assert_true(lg_is_cancelled(&monitor));
    lg_note(NULL, "x");
    lg_note(&monitor, "x");
    lg_progress(NULL, "x", 0, 0);
    lg_progress(&monitor, "x", 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_files),
        cmocka_unit_test(replaces_files_at_commit),
        cmocka_unit_test(honours_the_umask),
        cmocka_unit_test(reports_what_cannot_be_written),
        cmocka_unit_test(replaces_regular_files_only),
        cmocka_unit_test(takes_over_what_was_killed),
        cmocka_unit_test(makes_folders),
        cmocka_unit_test(joins_paths),
        cmocka_unit_test(checks_sizes),
        cmocka_unit_test(keeps_arenas),
        cmocka_unit_test(hashes),
        cmocka_unit_test(tells_errors),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
