/*
 * What neighbours want done behind a convolution, in one of two ways:
 *
 *   known   activation(value + residual + bias) in any order of its sum: written down as the
 * engines that are compiled beforehand know it, the residual first, then a bias (of zeros where
 * there is none), then the activation chain   any program of operations that cuDNN has, one for
 * each instruction; engines that cuDNN compiles when the plan is made take it, with tensor cores
 * alone
 */
#ifndef PLUGINS_CUDNN_SLOT_H_
#define PLUGINS_CUDNN_SLOT_H_

#include "region.h"

typedef struct tenon__cudnn_known_t {
  uint32_t bias; /* region inputs; TENON_NONE: none */
  uint32_t residual;
  bool activates;
  tenon__cudnn_pointwise_t activation;
} tenon__cudnn_known_t;

/* `own_bias`: the node's, TENON_NONE if none; a second one is not known. `program` NULL: an empty
 * slot. */
bool tenon__cudnn_known_read(tenon__cudnn_region_t region, const tenon_program_t* program,
                             uint32_t own_bias, tenon__cudnn_known_t* out_known);
/* Is each instruction one of cuDNN's? */
bool tenon__cudnn_chain_fits(const tenon_program_t* program);

/* Extents of an input as cuDNN is told them: 1 along what it does not vary. */
typedef struct tenon__cudnn_writer_t {
  tenon__cudnn_graph_t* graph;
  cudnnDataType_t type;
  const tenon__cudnn_shape_t* y;
  const tenon__cudnn_shape_t* vector; /* of a bias: channels alone */
} tenon__cudnn_writer_t;

/* Writes the operations behind `value`, the last of which gives `y`. */
void tenon__cudnn_known_write(const tenon__cudnn_writer_t* writer,
                              const tenon__cudnn_known_t* known, cudnnBackendDescriptor_t value,
                              cudnnBackendDescriptor_t y);
void tenon__cudnn_chain_write(const tenon__cudnn_writer_t* writer, tenon__cudnn_region_t region,
                              const tenon_program_t* program, cudnnBackendDescriptor_t value,
                              cudnnBackendDescriptor_t y);

/* How an operand of a slot lies. */
typedef enum tenon__cudnn_lie_t {
  TENON_CUDNN_LIE_NUMBER, /* one element */
  TENON_CUDNN_LIE_VECTOR, /* along channels alone */
  TENON_CUDNN_LIE_FULL,
  TENON_CUDNN_LIE_OTHER,
} tenon__cudnn_lie_t;
tenon__cudnn_lie_t tenon__cudnn_lie_of(tenon__cudnn_region_t region,
                                       const tenon_operand_t* operand);

#endif
