/*
 * Operations on values of any kind: known numbers are computed immediately, dimensions give
 * symbolic expressions, elements give instructions. `syntax` is the position of errors.
 *
 * A mixed operation has the least known kind of its operands: a number with a dimension gives a
 * dimension, and either with an element gives an instruction. So the same text serves shapes,
 * checks and programs. A value without an element type takes that of the element with which it is
 * combined. Two elements must have the same type: nothing is converted implicitly.
 */
#ifndef TENON_CORE_LANGUAGE_OPERATION_H_
#define TENON_CORE_LANGUAGE_OPERATION_H_

#include "core/language/environment.h"

/* ---- Values as instructions of the program under construction: these need environment->program
 * ---- */

/* Returns an instruction as a value. Returns OUT_OF_MEMORY if the builder is out of memory. */
tenon_status_t tenon__instruction_give(const tenon__environment_t* environment,
                                       uint32_t instruction, tenon__language_value_t* out_value);
/* Returns the value as an instruction of type `dtype`, without conversion. A float literal can have
 * float types, an integer literal any numeric type, a truth bool. Returns UNSUPPORTED for a
 * dimension. */
tenon_status_t tenon__value_typed(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                  const tenon__language_value_t* value, tenon_dtype_t dtype,
                                  uint32_t* out_instruction);
/* Returns the value as an instruction of its own type. Values without a type get one: floats f32,
 * integers i64, truths bool. */
tenon_status_t tenon__value_instruction(tenon__environment_t* environment,
                                        const tenon__syntax_t* syntax,
                                        const tenon__language_value_t* value,
                                        uint32_t* out_instruction);

/* ---- Operations ---- */

/* Applies one opcode of TENON_OPCODES to its operands. Known integers are exact; with a float among
 * them, the numbers are f64. Returns INVALID_DATA for overflow and division by zero, and
 * UNSUPPORTED for a dimension with an element: programs contain constants, and size(axis) gives an
 * extent of the space. */
tenon_status_t tenon__language_operation(tenon__environment_t* environment,
                                         const tenon__syntax_t* syntax, uint32_t opcode,
                                         const tenon__language_value_t* operands,
                                         tenon__language_value_t* out_value);
/* Applies a binary sign: a character of tenon__syntax_t.op, except && and ||. */
tenon_status_t tenon__language_binary(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, char sign,
                                      const tenon__language_value_t operands[2],
                                      tenon__language_value_t* out_value);
/* !operand */
tenon_status_t tenon__language_not(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                   const tenon__language_value_t* operand,
                                   tenon__language_value_t* out_value);
/* Computes && (`both`) or ||. Both operands are evaluated already; the walk does not call this if
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
/* Computes i < 0 ? i + n : i, for an index that may count from the end. */
tenon_status_t tenon__language_wrap(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    const tenon__language_value_t operands[2],
                                    tenon__language_value_t* out_value);

#endif
