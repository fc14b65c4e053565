/*
 * Dimensions as instructions. Each symbol of a dimension must be obtained from an extent that the
 * program can request, of its space or of an operand, or from numbers in an input.
 */
#ifndef TENON_CORE_PROGRAM_DIMENSION_CODE_H_
#define TENON_CORE_PROGRAM_DIMENSION_CODE_H_

#include "core/program/program_builder.h"
#include "core/tensor/type.h"

/* An extent that the program can request. */
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
  const tenon__code_extent_t* extents; /* in order of preference */
  uint32_t* codes;                     /* by dimension: its instruction + 1; zeros at first */
  uint32_t code_count;
  bool solves; /* a symbol is being solved for, which must not be nested */
} tenon__dimension_code_t;

/* Emits the i64 instruction that computes a dimension. Returns UNSUPPORTED; the message names the
 * symbol that cannot be obtained. */
tenon_status_t tenon__dimension_code(tenon__dimension_code_t* c, tenon_dim_t dim,
                                     uint32_t* out_code);
/* Returns the type in which an input can be read; UNDEFINED if expressions cannot read it. */
tenon_dtype_t tenon__dimension_code_type(const tenon__dimension_code_t* c, uint32_t input);
/* Returns the operand for an input that is read at computed coordinates, or for its extents. */
uint32_t tenon__dimension_code_operand(const tenon__dimension_code_t* c, uint32_t input);

#endif
