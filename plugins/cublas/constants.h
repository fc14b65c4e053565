/* Constants in the type that a tactic multiplies in: packed as rows when the plan is built. */
#ifndef PLUGINS_CUBLAS_CONSTANTS_H_
#define PLUGINS_CUBLAS_CONSTANTS_H_

#include "mat_mul.h"

bool tenon__cublas_is_packed(const tenon_value_info_t* value, tenon_dtype_t narrow);
/* All of them, in the order of the region's inputs; which is which is kept in `packs`. */
tenon_status_t tenon__cublas_pack(const tenon_prepare_t* call,
                                  tenon__cublas_instance_t* inout_instance);

/* An operand as it lies: where it is packed in rows, else as the call will give it. */
typedef struct tenon__cublas_operand_t {
  tenon_tensor_view_t view;
  int64_t strides[TENON_CUBLAS_RANK];
  const void* packed; /* NULL: it is not */
} tenon__cublas_operand_t;

/* False: what is packed is not to be had. `input` NONE: nothing. */
bool tenon__cublas_operand(const tenon__cublas_instance_t* instance, tenon_binding_t* binding,
                           const tenon_bind_table_t* host, uint32_t input,
                           tenon__cublas_operand_t* out_operand);

#endif
