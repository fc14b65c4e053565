/* Whether an expression is scale * x + shift, and its parts. */
#ifndef TENON_CORE_PROGRAM_LINEAR_H_
#define TENON_CORE_PROGRAM_LINEAR_H_

#include "core/base/arena.h"
#include "core/program/program.h"

/* x * scale + shift with scale and shift free of operand `operand` (both as expressions over the
 * others)? This is how the pass that moves per-channel scales recognises them. UNSUPPORTED when it
 * is something else. Both come out over the space of the expression, with all its operands but that
 * one. (2*x + c)*d is 2*d and c*d. Nothing is reordered that a rounding would show, but what the
 * caller accepts by asking: strict builds do not ask. */
tenon_status_t tenon__expression_linear_in(const tenon__expression_t* expression, uint32_t operand,
                                           tenon__arena_t* arena, tenon__expression_t* out_scale,
                                           tenon__expression_t* out_shift);

#endif
