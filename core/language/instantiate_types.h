/* Element types while a program is made: what literals become, what an operation needs. */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_TYPES_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_TYPES_H_

#include "core/language/instantiate.h"

/* The worth as an instruction of type `dtype`, which a literal takes;
 * INVALID_DATA when it has another. */
tenon_status_t tenon__worth_typed(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const tenon__worth_t* worth, tenon_dtype_t dtype,
                                  uint32_t* out_instruction);
/* As an instruction: what has no type becomes f32 or i64. */
tenon_status_t tenon__worth_code(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 const tenon__worth_t* worth, uint32_t* out_instruction);
/* An opcode of one, two or three operands, folded where all are literals. */
tenon_status_t tenon__worth_operation(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                      uint32_t opcode, const tenon__worth_t* operands,
                                      tenon__worth_t* out_worth);
tenon_status_t tenon__worth_select(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   const tenon__worth_t operands[3], tenon__worth_t* out_worth);

#endif
