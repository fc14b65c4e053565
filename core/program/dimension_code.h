/*
 * Dimensions as instructions: what is symbolic in one must be found again in an extent that the
 * program can ask for, of its space or of an operand, or among the numbers in an input.
 */
#ifndef TENON_CORE_PROGRAM_DIMENSION_CODE_H_
#define TENON_CORE_PROGRAM_DIMENSION_CODE_H_

#include "core/program/program_builder.h"
#include "core/tensor/type.h"

/* An extent that the program can ask for. */
typedef struct tenon__code_extent_t {
  tenon_dim_t dim;
  uint32_t input; /* the node's; TENON_NONE: the space's */
  uint32_t axis;
} tenon__code_extent_t;

typedef struct tenon__dimension_code_t {
  tenon__dim_pool_t* pool;
  uint32_t rank;               /* of the space */
  const tenon__type_t* inputs; /* the node's; of element type UNDEFINED: absent */
  uint32_t input_count;
  const tenon_sink_t* sink;
  tenon__program_builder_t* builder;
  uint32_t extent_count;
  const tenon__code_extent_t* extents; /* in the order in which they are preferred */
  uint32_t* codes;                     /* by dimension: its instruction + 1; zeros at first */
  uint32_t code_count;
  bool solves; /* a symbol is being solved for: not for another one to do so */
} tenon__dimension_code_t;

/* The i64 instruction that computes a dimension; UNSUPPORTED names what it cannot be found from. */
tenon_status_t tenon__dimension_code(tenon__dimension_code_t* c, tenon_dim_t dim,
                                     uint32_t* out_code);
/* The type in which an input can be read; UNDEFINED when expressions cannot. */
tenon_dtype_t tenon__dimension_code_type(const tenon__dimension_code_t* c, uint32_t input);
/* The operand for an input that is read at computed coordinates, or for its extents. */
uint32_t tenon__dimension_code_operand(const tenon__dimension_code_t* c, uint32_t input);

#endif
