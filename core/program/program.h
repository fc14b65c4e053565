/*
 * Expressions as programs: instantiated for a node, composed with neighbours, normalised.
 *
 * An expression node's program has one operand for each node input that it reads, with an *access*:
 * for each dimension of that value its coordinate, a dimension expression over the coordinates of
 * the space. Aligned broadcasting, permuted and strided reading are all accesses; at run time an
 * affine access becomes strides. Therefore fusion through a permutation is substitution.
 *
 * For example, x[n, c, h], transposed and broadcast over a space (i0, i1, i2, i3), has the access
 * (i0, i3, i1). Axis 2 of the space is broadcast, because no coordinate contains it.
 */
#ifndef TENON_CORE_PROGRAM_PROGRAM_H_
#define TENON_CORE_PROGRAM_PROGRAM_H_

#include "tenon/plugin.h"

/* `reserved` of a program's output: readers must see the value rounded to the output's type. Set if
 * an expression's whole value is a cast to a float of lower precision. This rounding is arithmetic,
 * not storage, and composition keeps it. */
enum { TENON_OUTPUT_ROUNDS = 1u };

/* The coordinates at which an operand is read. If rank is TENON_NONE and coordinates is NULL, the
 * program's LOADs give them. */
typedef struct tenon__access_t {
  uint32_t rank;                  /* of the value */
  const tenon_dim_t* coordinates; /* affine in the space's coordinates */
} tenon__access_t;

/* Immutable. Its arrays are in one arena (of a network, a build or a plan), and its dimensions in
 * the corresponding pool. */
typedef struct tenon__expression_t {
  tenon_program_t program; /* operands[k].index: the node's input, until a region renumbers it */
  const tenon__access_t*
      accesses;             /* one for each operand; rank TENON_NONE for `indexed` operands */
  const tenon_dim_t* space; /* program.rank extents */
  /* For each output: the axes of its shape in the space. output_axes[o][k] is the axis of the space
   * for axis k of output o. Dropped reduced axes are absent; kept ones are present. */
  const uint32_t* const* output_axes;
  const uint32_t* output_ranks;
} tenon__expression_t;

/* Maximum number of instructions of a program, in plans and hence in nodes. */
enum { TENON__MOST_INSTRUCTIONS = 1 << 20 };

#endif
