/*
 * The interpreter of programs: kernels for regions of expressions and for moves. Independent of the
 * core's own evaluator: a test compares the two.
 */
#ifndef PLUGINS_REFERENCE_INTERPRETER_H_
#define PLUGINS_REFERENCE_INTERPRETER_H_

#include "number.h"

/* The type of an instruction's value: bool for comparisons, else its arithmetic type. */
tenon_dtype_t tenon__opcode_result(const tenon_instruction_t* instruction);
bool tenon__opcode_reduces(uint16_t opcode);
/* How many of an instruction's operands are instructions. */
uint32_t tenon__opcode_operands(uint16_t opcode);
/* The value of an instruction with operands. `from`: type of the first operand's value. */
tenon__number_t tenon__opcode_apply(const tenon_instruction_t* instruction, tenon_dtype_t from,
                                    const tenon__number_t operands[3]);
/* What a reduction starts from; the next value; the end, after `count` values. */
tenon__number_t tenon__reduction_start(const tenon_instruction_t* instruction);
tenon__number_t tenon__reduction_add(const tenon_instruction_t* instruction,
                                     tenon__number_t running, tenon__number_t value);
tenon__number_t tenon__reduction_end(const tenon_instruction_t* instruction,
                                     tenon__number_t running, int64_t count);

/* Kernel "expressions". */
tenon_status_t tenon__expressions_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__expressions_bind(void* instance, tenon_binding_t* binding,
                                       const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__expressions_enqueue(const tenon_enqueue_t* call);
/* Any strides are welcome. */
tenon_status_t tenon__interpreter_tactics(void* state, const tenon_region_t* region,
                                          const tenon_region_table_t* table, tenon_emit_t* emit,
                                          tenon_status_t (*add)(tenon_emit_t* emit,
                                                                const tenon_tactic_t* tactic));

/* Kernel "moves". */
tenon_status_t tenon__moves_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__moves_bind(void* instance, tenon_binding_t* binding,
                                 const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__moves_enqueue(const tenon_enqueue_t* call);

#endif
