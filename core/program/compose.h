/*
 * Composition: the consumer's program with the producer's in the place of an operand. Fusion is
 * this and nothing else: a run of expressions, and an epilogue in a kernel's slot, are programs
 * composed one by one, so that what is fused means what its parts meant.
 */
#ifndef TENON_CORE_PROGRAM_COMPOSE_H_
#define TENON_CORE_PROGRAM_COMPOSE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* What is to become one: `consumer` reads, through operands `slots` (a set of its operand numbers),
 * output `output` of `producer`. */
typedef struct tenon__composition_t {
  const tenon__expression_t* consumer;
  const uint32_t* slots;
  uint32_t slot_count;
  const tenon__expression_t* producer;
  uint32_t output;
  uint32_t index_base; /* added to the `index` of the producer's operands */
  bool keep_output;    /* the producer's value becomes an output too */
  bool strict;         /* a value that is rounded where it is stored stays so */
} tenon__composition_t;

/* Composition. All producer operands are appended with accesses substituted through the consumer's
 * access; equal operands merge. An output is kept only when the spaces are equal and the access is
 * the identity. UNSUPPORTED, silently, when the producer reduces and the access is not the
 * identity, when ranks exceed 64, when an indexed operand is involved, when the producer's output
 * rounds, or when strict rounding forbids it. Silent in any case; OUT_OF_MEMORY is the only other
 * fault. y = a + b with a = exp(x) read at (i1, i0) becomes exp(x at (i1, i0)) + b: no transposed
 * copy is made. The result borrows nothing from either program but dimensions. */
tenon_status_t tenon__expression_compose(tenon__dim_pool_t* pool,
                                         const tenon__composition_t* composition,
                                         tenon__arena_t* arena,
                                         tenon__expression_t* out_expression);

#endif
