/* Finite groups by their multiplication tables. */
#ifndef LG_PROBE_GROUP_H
#define LG_PROBE_GROUP_H

#include "lossgap/base.h"
#include "probe/random.h"

enum { LG_N_GROUPS = 4, LG_LARGEST_GROUP = 120 };

typedef struct lg_group {
    const char *name;
    size_t order; /* elements 0 … order - 1; 0 is the identity */
    uint8_t product[LG_LARGEST_GROUP *
                    LG_LARGEST_GROUP]; /* a·b at [a * order + b]; permutations: first a, then b */
    /* The image in the largest commutative quotient: what counting elements without regard to their order can
       find out. */
    uint8_t class_of[LG_LARGEST_GROUP];
} lg_group;

/* The groups of NAMES ("A5,S5,A4xZ5,Z60"; NULL: these), each named once. */
lg_status lg_groups_named(const char *names, lg_group groups[LG_N_GROUPS], size_t *n_groups, lg_error *error);

static inline size_t lg_group_product(const lg_group *group, size_t a, size_t b) {
    return group->product[a * group->order + b];
}

#endif
