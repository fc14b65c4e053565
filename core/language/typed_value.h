/*
 * Values as instructions of the program in the making: what has no element type takes that of what
 * it meets, operations check theirs. Needs environment->program. All fail with INVALID_DATA where
 * types do not agree, and with OUT_OF_MEMORY.
 */
#ifndef TENON_CORE_LANGUAGE_TYPED_VALUE_H_
#define TENON_CORE_LANGUAGE_TYPED_VALUE_H_

#include "core/language/environment.h"

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
/* An opcode of one, two or three operands, at least one of which is an element. A literal takes the
 * type of the element that it meets, and two elements must have the same: nothing is converted
 * unasked. */
tenon_status_t tenon__typed_operation(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, uint32_t opcode,
                                      const tenon__language_value_t* operands,
                                      tenon__language_value_t* out_value);
/* operands[0] ? operands[1] : operands[2], where the condition is an element. */
tenon_status_t tenon__typed_select(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                   const tenon__language_value_t operands[3],
                                   tenon__language_value_t* out_value);

#endif
