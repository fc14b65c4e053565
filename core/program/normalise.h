/* The last step of making a program, shared by compositions, linear forms and the normal form.
 * Signatures of regions are computed from normal forms, so that equal layers of two models share
 * their times. */
#ifndef TENON_CORE_PROGRAM_NORMALISE_H_
#define TENON_CORE_PROGRAM_NORMALISE_H_

#include "core/base/arena.h"
#include "core/program/program.h"
#include "core/program/program_builder.h"

/* Makes an expression of the outputs and only the instructions that they need, depth first from the
 * first output. Operands keep their order, and unused ones are dropped. Other members are copied
 * from `like`. `outputs` refer to instructions of the builder. It is not recursive, because
 * external programs may be deep. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__expression_gather(const tenon__program_builder_t* builder,
                                        const tenon__expression_t* like,
                                        const tenon_program_output_t* outputs,
                                        tenon__arena_t* arena, tenon__expression_t* out_expression);

/* Computes the normal form: constants folded, common instructions merged, dead ones dropped,
 * operands of commutative operations ordered, x+0, x*1, double casts and double negations removed
 * (only where exact), comparisons oriented, sigmoid/softplus recognised; instruction order is
 * depth-first from the outputs. In these cases, equal meaning gives equal programs. Idempotent. */
tenon_status_t tenon__expression_normalise(const tenon__expression_t* expression,
                                           tenon__arena_t* arena,
                                           tenon__expression_t* out_expression);

#endif
