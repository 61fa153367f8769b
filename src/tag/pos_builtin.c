/* The taggers' models built into the library: data/TAGSET.safetensors, byte by byte. */
#include "tag/pos_model.h"

/* C17 has no way to include bytes; every assembler that we build with has. */
#define INCLUDE(name)                                                                                        \
    __asm__(".section .rodata\n"                                                                             \
            ".balign 64\n"                                                                                   \
            ".global lg_pos_" name "_begin\n"                                                                \
            ".hidden lg_pos_" name "_begin\n"                                                                \
            "lg_pos_" name "_begin:\n"                                                                       \
            ".incbin \"data/" name ".safetensors\"\n"                                                        \
            ".global lg_pos_" name "_end\n"                                                                  \
            ".hidden lg_pos_" name "_end\n"                                                                  \
            "lg_pos_" name "_end:\n"                                                                         \
            ".byte 0\n"                                                                                      \
            ".previous\n")

INCLUDE("brown");
INCLUDE("upos");
INCLUDE("penn");
