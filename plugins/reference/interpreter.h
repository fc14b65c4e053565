/*
 * The interpreter of programs: kernels for regions of expressions and for moves. Independent of the
 * core's own evaluator: a test compares the two. opcodes.c says what an instruction means on single
 * numbers, expressions.c walks a region's space with it, moves.c copies boxes.
 *
 * Arithmetic is that of the contract: floats as doubles, rounded to the instruction's type after
 * every instruction (16-bit types to f32); integers wrap. Reductions run in a pass of their own
 * each, in row-major order over what they reduce, as doubles or 64-bit integers rounded once at the
 * end. Any strides are welcome, on both sides. A LOAD outside of its operand poisons the value;
 * only a poisoned output, or term of a reduction, is an error, so that a SELECT may guard it.
 *
 * A life, of both kernels: prepare copies what it needs of the region, bind allocates for the
 * shapes, enqueue computes and allocates nothing. Bound memory belongs to one context and so to one
 * thread; the instance is shared and not written.
 */
#ifndef PLUGINS_REFERENCE_INTERPRETER_H_
#define PLUGINS_REFERENCE_INTERPRETER_H_

#include "number.h"

/* The type of an instruction's value: bool for comparisons and tests, else its arithmetic type. */
tenon_dtype_t tenon__opcode_result(const tenon_instruction_t* instruction);
/* SUM, PROD, REDUCE_MIN, REDUCE_MAX and MEAN: they have values at fewer points than their
 * operand. */
bool tenon__opcode_reduces(uint16_t opcode);
/* How many of an instruction's operands are instructions; 0 for what is no opcode. */
uint32_t tenon__opcode_operands(uint16_t opcode);
/* The value of an instruction that neither loads nor reduces. `from`: type of the first
 * operand's value, which a conversion and a comparison must know. */
tenon__number_t tenon__opcode_apply(const tenon_instruction_t* instruction, tenon_dtype_t from,
                                    const tenon__number_t operands[3]);
/* What a reduction starts from; the next value; the end, after `count` values. An empty one is
 * its start: 0, 1, the largest or smallest value of the type; a MEAN of no floats is NaN. NaN
 * wins in minimum and maximum. */
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
