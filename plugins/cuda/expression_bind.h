/* The prepared and the bound kernel of an expression. Only expression.c and expression_bind.c
 * include this header, so some names have no prefix. */
#ifndef PLUGINS_CUDA_EXPRESSION_BIND_H_
#define PLUGINS_CUDA_EXPRESSION_BIND_H_

#include <string.h>

#include "axes.h"
#include "form.h"
#include "launch.h"

typedef struct instance_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  tenon__cuda_analysis_t analysis;
  tenon__cuda_form_t form;
  bool is_short; /* coordinates are computed in 32 bits */
  int32_t order; /* TENON_CUDA_ORDER_*: axis order of the operands, for which the form was chosen */
  tenon__cuda_layout_t layout;
  CUfunction whole; /* `vectors` or `rows`; NULL if absent */
  CUfunction other; /* `singles` or `rows_again`; NULL if absent */
  CUfunction dense; /* NULL if absent */
  CUfunction split[TENON_CUDA_SPLIT_LEVELS + 1];
} instance_t;

typedef struct bound_t {
  const instance_t* instance;
  uint8_t* parameters;
  tenon__cuda_launch_t launch; /* split rows: the first launch */
  uint32_t last_blocks;        /* split rows: blocks of the last launch */
  tenon__cuda_fault_t* fault;
  bool whole;                      /* the kernel is `vectors` or `rows` */
  bool dense;                      /* `dense` is launched if all addresses are aligned */
  bool wide[TENON_CUDA_WALKS];     /* the strides allow whole accesses; see put_address */
  int64_t bytes[TENON_CUDA_WALKS]; /* size of an element; 0: a coordinate */
} bound_t;

static inline void put(uint8_t* parameters, size_t offset, const void* value, size_t size_bytes) {
  memcpy(parameters + offset, value, size_bytes);
}

/* tenon_kernel_t.bind */
tenon_status_t tenon__cuda_expression_bind(void* instance, tenon_binding_t* handle,
                                           const tenon_bind_table_t* host, void** out_bound);

#endif
