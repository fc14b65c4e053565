#include "extents.h"

#include <stdbool.h>

/* Along the axes of an output; what is broadcast has none. False: no input says anything. */
static bool pass(const tenon_argument_t* inputs, uint32_t input_count,
                 const tenon_tensor_view_t* to) {
  bool is_passed = false;
  for (uint32_t index = 0; index < input_count; ++index) {
    const tenon_tensor_view_t* from = &inputs[index].tensor;
    if (inputs[index].kind != TENON_ARGUMENT_TENSOR || from->device_extents == NULL) {
      continue;
    }
    for (uint32_t axis = 0; axis < to->rank; ++axis) {
      const int64_t extent =
          from->dims[axis] == to->dims[axis] ? from->device_extents[axis] : to->dims[axis];
      const bool is_less = !is_passed || extent < to->device_extents[axis];
      to->device_extents[axis] = is_less ? extent : to->device_extents[axis];
    }
    is_passed = true;
  }
  return is_passed;
}

void far_extents_pass(const tenon_argument_t* inputs, uint32_t input_count,
                      const tenon_argument_t* outputs, uint32_t output_count, uint64_t stretch) {
  for (uint32_t k = 0; k < output_count; ++k) {
    const tenon_tensor_view_t* to = &outputs[k].tensor;
    if (outputs[k].kind == TENON_ARGUMENT_TENSOR && to->device_extents != NULL && to->rank > 0 &&
        !pass(inputs, input_count, to)) {
      to->device_extents[to->rank - 1] += (int64_t)stretch;
    }
  }
}
