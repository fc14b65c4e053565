/*
 * Expressions as programs: instantiate a text for a node, compose neighbours, bring into normal
 * form.
 *
 * An expression node's program has one operand for each node input that it reads, with an *access*:
 * for each dimension of that value its coordinate, a dimension expression over the coordinates of
 * the space. Aligned broadcasting, permuted and strided reading are all accesses; at run time an
 * affine access becomes strides. So fusing through a permutation is substitution.
 *
 * Reading x[n, c, h] transposed and broadcast over a space (i0, i1, i2, i3) is the access (i0, i3,
 * i1): axis 2 of the space is broadcast, as no coordinate mentions it.
 */
#ifndef TENON_CORE_PROGRAM_PROGRAM_H_
#define TENON_CORE_PROGRAM_PROGRAM_H_

#include "tenon/plugin.h"

/* `reserved` of a program's output: what the output's type holds of the value is the value, for
 * whoever reads it. So says a text that casts to a narrow float as an output's whole value: that
 * rounding is arithmetic, not storage, and composition does not drop it. */
enum { TENON_OUTPUT_ROUNDS = 1u };

/* Where an operand is read. rank TENON_NONE, coordinates NULL: the program's LOADs say it. */
typedef struct tenon__access_t {
  uint32_t rank;                  /* of the value */
  const tenon_dim_t* coordinates; /* affine in the space's coordinates */
} tenon__access_t;

/* Nothing in it changes once it is made; its arrays lie in one arena (of a network, a build or a
 * plan), and its dimensions in that one's pool. */
typedef struct tenon__expression_t {
  tenon_program_t program; /* operands[k].index: the node's input, until a region renumbers it */
  const tenon__access_t*
      accesses;             /* one for each operand; rank TENON_NONE for `indexed` operands */
  const tenon_dim_t* space; /* program.rank extents */
  /* For each output: its own shape's axes in the space. output_axes[o][k]: the axis of the space
   * that axis k of output o runs along (reduced axes that were dropped are missing; kept ones are
   * there). */
  const uint32_t* const* output_axes;
  const uint32_t* output_ranks;
} tenon__expression_t;

/* Instructions that a program may have: what plans are read with, and so what nodes are made with.
 */
enum { TENON__MOST_INSTRUCTIONS = 1 << 20 };

#endif
