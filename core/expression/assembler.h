/* Programs while they are put together: instructions that merge with equal ones, operands that merge with equal
 * ones. Internal to the expression room. */
#ifndef TENON_CORE_EXPRESSION_ASSEMBLER_H_
#define TENON_CORE_EXPRESSION_ASSEMBLER_H_

#include "core/expression/program.h"

typedef struct tenon__assembler_t {
  tenon__arena_t* arena;
  uint32_t rank;
  const tenon_dim_t* space;
  tenon_instruction_t* instructions;
  uint32_t instruction_count;
  uint32_t instruction_capacity;
  tenon_operand_t* operands;
  tenon__access_t* accesses;
  uint32_t operand_count;
  uint32_t operand_capacity;
  uint32_t* coordinates;
  uint32_t coordinate_count;
  uint32_t coordinate_capacity;
  bool failed; /* memory is out */
} tenon__assembler_t;

/* Capacities are upper bounds for all that will be added. */
bool tenon__assembler_initialize(tenon__assembler_t* out_assembler, tenon__arena_t* arena,
                                 uint32_t rank, const tenon_dim_t* space, uint32_t instructions,
                                 uint32_t operands, uint32_t coordinates);
uint32_t tenon__assembler_operand(tenon__assembler_t* assembler, const tenon_operand_t* operand,
                                  const tenon__access_t* access);
/* `coordinates`: LOAD's, as instructions of this assembler. Simplifies; the result may be an older one. */
uint32_t tenon__assembler_add(tenon__assembler_t* assembler, const tenon_instruction_t* instruction,
                              const uint32_t* coordinates);
uint32_t tenon__assembler_constant(tenon__assembler_t* assembler, tenon_dtype_t dtype,
                                   tenon__scalar_t value);
/* Bits of axes that the access does not vary along. */
uint64_t tenon__access_broadcast(tenon__dim_pool_t* pool, const tenon__access_t* access,
                                 uint32_t rank);
/* The whole, outputs as given (their instructions are those of this assembler); dead code is dropped and the
 * order is depth first from the outputs. */
tenon_status_t tenon__assembler_finish(tenon__assembler_t* assembler,
                                       const tenon_program_output_t* outputs,
                                       const uint32_t* const* output_axes,
                                       const uint32_t* output_ranks, uint32_t output_count,
                                       tenon__expression_t* out_expression);

#endif
