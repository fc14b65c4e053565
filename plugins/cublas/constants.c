/* Packed operands of products: rows in the type of the product. */
#include "constants.h"

#include <stdio.h>

#include "tenon/narrow.h"

static size_t count_of(const tenon_value_info_t* value) {
  size_t count = 1;
  for (uint32_t k = 0; k < value->rank; k++) {
    count *= (size_t)value->dims_max[k];
  }
  return count;
}

bool tenon__cublas_is_packed(const tenon_value_info_t* value, tenon_dtype_t narrow) {
  return narrow != TENON_DTYPE_UNDEFINED && (value->flags & TENON_VALUE_CONSTANT) != 0 &&
         count_of(value) > 0;
}

static tenon_status_t pack(const tenon_prepare_t* call, tenon_dtype_t narrow, uint32_t source) {
  const tenon_value_info_t* value = call->table->value(call->region, source);
  char parameters[16];
  const size_t count = count_of(value);
  void* data = NULL;
  int32_t ready = 0;
  (void)snprintf(parameters, sizeof(parameters), "type %u", (unsigned)narrow);
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "cublas.rows/1",
                                   .parameters = parameters,
                                   .sources = &source,
                                   .source_count = 1,
                                   .size_bytes = count * sizeof(uint16_t)};
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &data, &ready);
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (value->constant_data == NULL) { /* a plan without what it should have packed */
    return TENON_ERROR_INVALID_DATA;
  }
  const float* from = value->constant_data;
  uint16_t* to = data;
  for (size_t k = 0; k < count; k++) {
    to[k] = tenon_narrow_of(narrow, from[k]);
  }
  return TENON_OK;
}

tenon_status_t tenon__cublas_pack(const tenon_prepare_t* call,
                                  tenon__cublas_instance_t* inout_instance) {
  tenon__cublas_instance_t* self = inout_instance;
  const uint32_t count = call->table->input_count(call->region);
  tenon_status_t status = count > TENON_CUBLAS_ARGUMENTS ? TENON_ERROR_INVALID_ARGUMENT : TENON_OK;
  uint32_t packed = 0;
  for (uint32_t k = 0; k < TENON_CUBLAS_ARGUMENTS; k++) {
    self->packs[k] = TENON_NONE;
  }
  for (uint32_t k = 0; status == TENON_OK && k < count; k++) {
    const uint32_t source = call->table->input(call->region, k);
    if (tenon__cublas_is_packed(call->table->value(call->region, source), self->choice.narrow)) {
      self->packs[k] = packed++;
      status = pack(call, self->choice.narrow, source);
    }
  }
  return status;
}

bool tenon__cublas_operand(const tenon__cublas_instance_t* instance, tenon_binding_t* binding,
                           const tenon_bind_table_t* host, uint32_t input,
                           tenon__cublas_operand_t* out_operand) {
  if (input == TENON_NONE) {
    return true;
  }
  out_operand->view = host->input(binding, input)->tensor;
  if (instance->packs[input] == TENON_NONE) {
    return true;
  }
  /* In rows, and along axes that it is spread over it stays where it is: its view has the result's
   * extents there, what is packed has one. */
  int64_t step = 1;
  for (uint32_t axis = out_operand->view.rank; axis-- > 0;) {
    const bool is_spread = out_operand->view.strides[axis] == 0;
    out_operand->strides[axis] = is_spread ? 0 : step;
    step *= is_spread ? 1 : out_operand->view.dims[axis];
  }
  out_operand->view.strides = out_operand->strides;
  out_operand->packed = host->packed(binding, instance->packs[input]);
  return out_operand->packed != NULL;
}
