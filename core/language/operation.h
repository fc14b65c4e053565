/*
 * Operations on values of any kind: known numbers are calculated at once, dimensions become
 * expressions of the run, elements become instructions. `syntax` is where faults are said to be.
 *
 * A mixed operation is of the most open kind among its operands: a number with a dimension is a
 * dimension, either with an element is an instruction. So the same text serves shapes, checks and
 * programs.
 */
#ifndef TENON_CORE_LANGUAGE_OPERATION_H_
#define TENON_CORE_LANGUAGE_OPERATION_H_

#include "core/language/environment.h"

/* The operands of one opcode of TENON_OPCODES, as many as it has. Known integers are exact:
 * overflow and division by zero are INVALID_DATA; with a float among them the numbers are f64. A
 * dimension that meets an element is UNSUPPORTED: programs hold constants, and an extent of the
 * space is asked for by size(axis). */
tenon_status_t tenon__language_operation(tenon__environment_t* environment,
                                         const tenon__syntax_t* syntax, uint32_t opcode,
                                         const tenon__language_value_t* operands,
                                         tenon__language_value_t* out_value);
/* What a sign between two operands means: a character of tenon__syntax_t.op, all but && and ||. */
tenon_status_t tenon__language_binary(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, char sign,
                                      const tenon__language_value_t operands[2],
                                      tenon__language_value_t* out_value);
/* !operand */
tenon_status_t tenon__language_not(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                   const tenon__language_value_t* operand,
                                   tenon__language_value_t* out_value);
/* Both (&&) or either (||). Both operands are evaluated already; the walk does not come here where
 * the first one decides. */
tenon_status_t tenon__language_join(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax, bool both,
                                    const tenon__language_value_t operands[2],
                                    tenon__language_value_t* out_value);
/* operands[0] ? operands[1] : operands[2]. */
tenon_status_t tenon__language_select(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      const tenon__language_value_t operands[3],
                                      tenon__language_value_t* out_value);
/* i < 0 ? i + n : i, as an index counts from the end. */
tenon_status_t tenon__language_wrap(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    const tenon__language_value_t operands[2],
                                    tenon__language_value_t* out_value);

#endif
