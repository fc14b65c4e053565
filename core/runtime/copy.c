/* Copying tensors of any strides: what the runtime itself needs at its borders. */
#include "core/runtime/copy.h"

#include <string.h>

#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

static void copy_axes(const tenon_tensor_view_t* source, const tenon_tensor_view_t* target,
                      uint32_t axis, const char* from, char* to, size_t size) {
  if (axis == source->rank) {
    memcpy(to, from, size);
    return;
  }
  const int64_t count = source->dims[axis];
  const int64_t step_from = source->strides[axis] * (int64_t)size;
  const int64_t step_to = target->strides[axis] * (int64_t)size;
  if (axis + 1 == source->rank && step_from == (int64_t)size && step_to == (int64_t)size) {
    memcpy(to, from, (size_t)count * size);
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    copy_axes(source, target, axis + 1, from + k * step_from, to + k * step_to, size);
  }
}

tenon_status_t tenon__copy_tensor(const tenon_tensor_view_t* source,
                                  const tenon_tensor_view_t* target) {
  const uint32_t bits = tenon__dtype_bits(source->dtype);
  uint64_t count = 0;
  size_t bytes = 0;
  if (!tenon__element_count(source->rank, source->dims, &count) ||
      !tenon__dtype_bytes(source->dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (count == 0) {
    return TENON_OK;
  }
  if (tenon__strides_are_row_major(source->rank, source->dims, source->strides) &&
      tenon__strides_are_row_major(target->rank, source->dims, target->strides)) {
    memcpy(target->data, source->data, bytes);
    return TENON_OK;
  }
  if (bits < 8) {
    return TENON_ERROR_UNSUPPORTED;
  }
  copy_axes(source, target, 0, source->data, target->data, bits / 8);
  return TENON_OK;
}
