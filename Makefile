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
LG_CFLAGS = -std=c17 -D_GNU_SOURCE -DLG_VERSION='"$(VERSION)"' -Iinclude -Isrc -fPIC -fvisibility=hidden \
            -ffp-contract=off -fopenmp $(WARNINGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
            $(shell pkg-config --cflags $(PACKAGES))
LG_LIBS   = $(shell pkg-config --libs $(PACKAGES)) -ldnnl -lm

# Kernels are written once per instruction set; the table in src/kernels picks one at run time.
ifeq ($(shell uname -m),x86_64)
ISA_avx2       := -mavx2 -mfma -mf16c
ISA_avx512     := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
ISA_avx512bf16 := $(ISA_avx512) -mavx512bf16
endif
isa_flags = $(ISA_$(lastword $(subst _, ,$(basename $(notdir $1)))))

LIB_SRC := $(sort $(filter-out src/cli/%,$(wildcard src/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
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
	$(CC) $(CFLAGS) $(LG_CFLAGS) $(if $(findstring src/kernels/,$<)$(findstring src/layers/,$<),-O3) $(call isa_flags,$<) -MMD -MP -c -o $@ $<
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/liblossgap.a
	$(CC) $(CFLAGS) $(LG_CFLAGS) -o $@ $^ $(LG_LIBS) -lcmocka
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/liblossgap.a
	$(CC) $(CFLAGS) $(LG_CFLAGS) -o $@ $^ $(LG_LIBS)

tests: $(UNIT)
check: all $(UNIT) ## build and run every test
	@BUILD=$(BUILD) tests/run
bench: all $(BENCH) ## measure speed and memory
	@BUILD=$(BUILD) bench/run
demo: all ## compare the two small models on real text
	@BUILD=$(BUILD) ./demo
clean: ## remove what was built
	rm -rf build build-*
help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

.PHONY: all tests check bench demo clean help
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
