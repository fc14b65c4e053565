/*
 * Operations on values of any kind: known numbers are calculated at once, dimensions become
 * expressions of the run, elements become instructions. `syntax` is where faults are said to be.
 *
 * A mixed operation is of the most open kind among its operands: a number with a dimension is a
 * dimension, either with an element is an instruction. So the same text serves shapes, checks and
 * programs. What has no element type takes that of the element that it meets, and two elements must
 * have the same: nothing is converted unasked.
 */
#ifndef TENON_CORE_LANGUAGE_OPERATION_H_
#define TENON_CORE_LANGUAGE_OPERATION_H_

#include "core/language/environment.h"

/* ---- Values as instructions of the program in the making: these need environment->program ---- */

/* An instruction as a value; OUT_OF_MEMORY when the builder ran out. */
tenon_status_t tenon__instruction_give(const tenon__environment_t* environment,
                                       uint32_t instruction, tenon__language_value_t* out_value);
/* The value as an instruction of type `dtype`, which a known number takes; no conversion. A float
 * literal takes float types alone, an integer literal any number, a truth bool. A dimension is
 * UNSUPPORTED. */
tenon_status_t tenon__value_typed(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                  const tenon__language_value_t* value, tenon_dtype_t dtype,
                                  uint32_t* out_instruction);
/* The value as an instruction of its own type; what has none gets one: a float f32, an integer i64,
 * a truth bool. */
tenon_status_t tenon__value_instruction(tenon__environment_t* environment,
                                        const tenon__syntax_t* syntax,
                                        const tenon__language_value_t* value,
                                        uint32_t* out_instruction);

/* ---- Operations ---- */

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
