# lossgap: plain make. `make` builds the library and the program, `make help` lists the targets.
#   SANITIZE=address,undefined   instrumented build in its own directory
#   BUILD=DIR                    where to build (default build, or build-sanitize)

VERSION := 0.1.0
CC      ?= cc
BUILD   ?= $(if $(SANITIZE),build-sanitize,build)
PREFIX  ?= /usr/local
DESTDIR ?=

PACKAGES := libpcre2-8 libutf8proc libxxhash libzstd zlib
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wconversion
LG_CFLAGS := -std=c17 -D_GNU_SOURCE -DLG_VERSION='"$(VERSION)"' -DLG_FLAGS='"$(CFLAGS)$(if $(SANITIZE), sanitize=$(SANITIZE))"' -Iinclude -Isrc -fPIC -fvisibility=hidden \
            -ffp-contract=off -fopenmp $(WARNINGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
            $(shell pkg-config --cflags $(PACKAGES))
LG_LIBS   := $(shell pkg-config --libs $(PACKAGES)) -ldnnl -lm

# Kernels are written once per instruction set; the table in src/kernels picks one at run time.
ifeq ($(shell uname -m),x86_64)
ISA_avx2       := -mavx2 -mfma -mf16c
ISA_avx512     := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
ISA_avx512bf16 := $(ISA_avx512) -mavx512bf16
endif
isa_flags = $(ISA_$(lastword $(subst _, ,$(basename $(notdir $1)))))

# Grammars of tree-sitter: foreign C, fetched once (GRAMMARS=DIR: where to), renamed so that they clash with nobody's own.
# Their parsers are tables, which sanitizers slow down and learn nothing from; their scanners are code.
GRAMMARS  ?= grammars/cache
LANGUAGES := $(shell sed -n 's/^\([a-z]*\) .*/\1/p' grammars/packages)
# HTML's and CSS's scanners are quadratic on some texts: our own stand in for them (src/tag/code_*_scanner.c).
GRAMMAR_OBJ := grammars/walker.o $(filter-out grammars/html/scanner.o grammars/css/scanner.o,$(foreach l,$(LANGUAGES),grammars/$l/parser.o grammars/$l/scanner.o))
# tree-sitter itself, from its static library, becomes part of the one object that uses it: its symbols stay inside, and its
# memory comes from src/tag/code_memory.c, as that of the scanners does.
TREE_SITTER = $(shell pkg-config --variable=libdir tree-sitter)/libtree-sitter.a
own_memory  = objcopy $(foreach f,malloc calloc realloc free,--redefine-sym $f=lg_tree_$f) --redefine-sym __assert_fail=lg_tree_assert_fail
GRAMMAR_CFLAGS = -std=c11 -O2 -w -fPIC -fvisibility=hidden -DTREE_SITTER_HIDE_SYMBOLS $(call grammar_names,$(firstword $(subst /, ,$*))) \
                 -I$(GRAMMARS)/$(*D) $(if $(SANITIZE_SCANNER)$(findstring address,$(SANITIZE)),$(if $(findstring scanner,$*),-g -fsanitize=address))
grammar_names = -Dtree_sitter_$1=lg_grammar_$1 $(foreach f,create destroy scan serialize deserialize,-Dtree_sitter_$1_external_scanner_$f=lg_grammar_$1_$f)

LIB_SRC := $(sort $(filter-out src/cli/%,$(wildcard src/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(patsubst %,$(BUILD)/%,$(filter-out src/tag/code_tree.o,$(LIB_SRC:.c=.o)) $(GRAMMAR_OBJ))
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT    := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/test_*.c tests/property/test_*.c)))
BENCH   := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard bench/bench_*.c)))

all: $(BUILD)/lossgap $(BUILD)/liblossgap.a $(BUILD)/liblossgap.so ## build the library and the program

$(BUILD)/liblossgap.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/liblossgap.so: $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LG_CFLAGS) -shared -Wl,-soname,liblossgap.so.0 -o $@ $^ $(LG_LIBS)
$(BUILD)/lossgap: $(CLI_OBJ) $(BUILD)/liblossgap.a
	$(CC) $(CFLAGS) $(LG_CFLAGS) -o $@ $^ $(LG_LIBS)
$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LG_CFLAGS) $(if $(findstring src/kernels/,$<)$(findstring src/layers/,$<)$(findstring src/query/run,$<)$(findstring src/stats/regress_,$<),-O3) $(call isa_flags,$<) -MMD -MP -c -o $@ $<
$(BUILD)/grammars/tree-sitter.o build-fuzz/grammars/tree-sitter.o: Makefile
	@mkdir -p $(@D)
	@[ -f $(TREE_SITTER) ] || { echo "no libtree-sitter.a (Debian: libtree-sitter-dev); run ./bootstrap" >&2; exit 1; }
	$(CC) -r -nostdlib -o $@ -Wl,--whole-archive $(TREE_SITTER)
	$(own_memory) $@
$(BUILD)/grammars/walker.o build-fuzz/grammars/walker.o: %/grammars/walker.o: %/src/tag/code_tree.o %/grammars/tree-sitter.o
	$(CC) -r -nostdlib -o $@ $^
	objcopy --wildcard --localize-symbol='ts_*' $@
$(BUILD)/grammars/%.o: $(GRAMMARS)/ready Makefile
	@mkdir -p $(@D)
	$(CC) $(GRAMMAR_CFLAGS) -c -o $@ $(GRAMMARS)/$*.c
	$(own_memory) $@
$(GRAMMARS)/ready: grammars/packages grammars/fetch
	@grammars/fetch $(GRAMMARS)
	@touch $@
# The taggers' models are part of the library.
$(BUILD)/src/tag/pos_builtin.o build-fuzz/src/tag/pos_builtin.o: $(wildcard data/*.safetensors)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/liblossgap.a
	$(CC) $(CFLAGS) $(LG_CFLAGS) -o $@ $^ $(LG_LIBS) -lcmocka
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/liblossgap.a
	$(CC) $(CFLAGS) $(LG_CFLAGS) -o $@ $^ $(LG_LIBS)

$(BUILD)/bench/bench_code: LG_LIBS += -ltree-sitter # the whole of it, to compare with

tests: $(UNIT) $(BUILD)/tests/cli/leaves
check: all tests ## build and run every test
	@BUILD=$(BUILD) tests/run
check-sanitize: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) check SANITIZE=address,undefined
check-real: all ## a real 135M checkpoint against PyTorch (Python with torch: LG_PYTHON=…)
	@BUILD=$(BUILD) tests/real/check_real.sh
bench: all $(BENCH) ## measure speed and memory
	@BUILD=$(BUILD) bench/run
demo: all ## compare the two small models on real text
	@BUILD=$(BUILD) demo/run
format: ## check the layout of every source
	clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

# Fuzzing needs clang, and only the rooms that read files.
FUZZ_SECONDS ?= 60
FUZZ_SRC := $(wildcard src/base/*.c src/store/*.c src/query/*.c src/tokenizer/*.c src/tag/*.c src/corpus/*.c) src/model/config.c src/model/rotary.c src/model/runs.c src/model/steps.c src/model/locate.c $(wildcard src/model/family*.c) $(filter-out %/local.c %/cache.c,$(wildcard src/score/*.c)) \
            $(wildcard src/stats/regress*.c) $(wildcard src/stats/probe_*.c) src/stats/cluster.c src/stats/tests.c src/stats/columns.c src/stats/comparable.c src/stats/student.c src/stats/token_source.c src/stats/where.c $(wildcard src/stats/filter*.c) src/report/csv.c src/report/grid.c src/report/filter_table.c src/report/regress_table.c src/probe/items.c src/probe/items_read.c src/probe/run_file.c
FUZZ     := $(patsubst tests/fuzz/%.c,build-fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CFLAGS = $(filter-out -fopenmp,$(LG_CFLAGS)) -Wno-unknown-pragmas -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
build-fuzz/%.o: %.c Makefile
	@mkdir -p $(@D)
	clang $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<
build-fuzz/grammars/%.o: SANITIZE_SCANNER = yes
build-fuzz/grammars/%.o: $(GRAMMARS)/ready Makefile
	@mkdir -p $(@D)
	clang $(GRAMMAR_CFLAGS) -c -o $@ $(GRAMMARS)/$*.c
	$(own_memory) $@
build-fuzz/fuzz_%: build-fuzz/tests/fuzz/fuzz_%.o $(patsubst %,build-fuzz/%,$(filter-out src/tag/code_tree.o,$(FUZZ_SRC:.c=.o)) $(GRAMMAR_OBJ))
	clang -g -fsanitize=fuzzer,address,undefined -o $@ $^ $(filter-out -ldnnl,$(LG_LIBS))
fuzz: $(FUZZ) ## each reader against libFuzzer for FUZZ_SECONDS
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZ)

install: all ## program, library, headers, pkg-config file and manual pages, under PREFIX
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/pkgconfig include/lossgap share/man/man1)
	install -m 755 $(BUILD)/lossgap $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(BUILD)/liblossgap.a $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(BUILD)/liblossgap.so $(DESTDIR)$(PREFIX)/lib/liblossgap.so.$(VERSION)
	ln -sf liblossgap.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/liblossgap.so.0
	ln -sf liblossgap.so.0 $(DESTDIR)$(PREFIX)/lib/liblossgap.so
	install -m 644 include/lossgap/*.h $(DESTDIR)$(PREFIX)/include/lossgap/
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: lossgap' \
	  'Description: Language models compared token by token' 'Version: $(VERSION)' 'Requires.private: $(PACKAGES)' \
	  'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -llossgap' 'Libs.private: -ldnnl -lgomp -lm' \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/lossgap.pc
uninstall: ## take it away again
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,bin/lossgap lib/liblossgap.* lib/pkgconfig/lossgap.pc include/lossgap share/man/man1/lossgap*.1)
clean: ## remove what was built
	rm -rf build build-*
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed 's/:.*##/ -/'

.PHONY: all tests check check-sanitize check-real bench demo format fuzz install uninstall clean help
.SECONDARY:
-include $(shell find $(BUILD) build-fuzz -name '*.d' 2>/dev/null)
