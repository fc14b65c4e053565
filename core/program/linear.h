/* Recognition of expressions of the form scale * x + shift. */
#ifndef TENON_CORE_PROGRAM_LINEAR_H_
#define TENON_CORE_PROGRAM_LINEAR_H_

#include "core/base/arena.h"
#include "core/program/program.h"

/* Splits x * scale + shift, where x is operand `operand`, and scale and shift do not contain it.
 * Used by the pass that moves per-channel scales. Both results have the space of the expression and
 * all its other operands. For example, (2*x + c)*d gives 2*d and c*d. The results may be rounded
 * differently; strict builds do not call this. Returns UNSUPPORTED for any other expression. */
tenon_status_t tenon__expression_linear_in(const tenon__expression_t* expression, uint32_t operand,
                                           tenon__arena_t* arena, tenon__expression_t* out_scale,
                                           tenon__expression_t* out_shift);

#endif
