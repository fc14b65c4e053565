/* Copying tensors of any strides: what the runtime itself needs at its borders. */
#include "core/frame/copy.h"

#include <string.h>

#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"

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
  tenon__strided_copy(source, target);
  return TENON_OK;
}
