/*
 * Composition replaces an operand of the consumer's program by the producer's program. All fusion
 * is composition: a sequence of expressions, and an epilogue in a kernel's slot, are programs
 * composed one by one. Thus a fused program has the meaning of its parts.
 */
#ifndef TENON_CORE_PROGRAM_COMPOSE_H_
#define TENON_CORE_PROGRAM_COMPOSE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* A request: `consumer` reads output `output` of `producer` through operands `slots` (a set of its
 * operand numbers). */
typedef struct tenon__composition_t {
  const tenon__expression_t* consumer;
  const uint32_t* slots;
  uint32_t slot_count;
  const tenon__expression_t* producer;
  uint32_t output;
  uint32_t index_base; /* added to the `index` of the producer's operands */
  bool keep_output;    /* the producer's value becomes an output too */
  bool strict;         /* values that are rounded when stored are still rounded */
} tenon__composition_t;

/* Composes the programs. All producer operands are appended, with accesses substituted through the
 * consumer's access. Equal operands are merged. An output is kept only when the spaces are equal
 * and the access is the identity. Returns UNSUPPORTED if the producer reduces and the access is not
 * the identity, if ranks exceed 64, if an indexed operand is involved, if the producer's output
 * rounds, or if strict rounding forbids it; else OUT_OF_MEMORY only. Sends no messages. y = a + b
 * with a = exp(x) read at (i1, i0) becomes exp(x at (i1, i0)) + b: no transposed copy is made. The
 * result borrows only dimensions from the programs. */
tenon_status_t tenon__expression_compose(tenon__dim_pool_t* pool,
                                         const tenon__composition_t* composition,
                                         tenon__arena_t* arena,
                                         tenon__expression_t* out_expression);

#endif
