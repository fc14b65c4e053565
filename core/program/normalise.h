/* The end of assembling: what compositions, linear forms and the normal form share. Signatures of
 * regions are made of normal forms, so that equal layers of two models share their timings. */
#ifndef TENON_CORE_PROGRAM_NORMALISE_H_
#define TENON_CORE_PROGRAM_NORMALISE_H_

#include "core/base/arena.h"
#include "core/program/program.h"
#include "core/program/program_builder.h"

/* The outputs with what they need alone, depth first from the first output; operands keep their
 * order, unused ones go. The fields that are not given are those of `like`; `outputs` name
 * instructions of the builder. OUT_OF_MEMORY only; without recursion, as programs from outside may
 * be deep. */
tenon_status_t tenon__expression_gather(const tenon__program_builder_t* builder,
                                        const tenon__expression_t* like,
                                        const tenon_program_output_t* outputs,
                                        tenon__arena_t* arena, tenon__expression_t* out_expression);

/* Normal form: constants folded, common instructions merged, dead ones dropped, operands of
 * commutative operations ordered, x+0, x*1, double casts and double negations removed (only where
 * exact), comparisons oriented, sigmoid/softplus recognised; instruction order is depth-first from
 * the outputs. Equal meaning in the cases above gives equal programs. Idempotent. */
tenon_status_t tenon__expression_normalise(const tenon__expression_t* expression,
                                           tenon__arena_t* arena,
                                           tenon__expression_t* out_expression);

#endif
