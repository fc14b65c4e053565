/* Copies of elements: from any strides to rows, and of elements of less than 8 bits. */
#include <string.h>

#include "state.h"

size_t python_element_count(const tenon_tensor_view_t* view) {
  size_t count = 1;
  for (uint32_t k = 0; k < view->rank; ++k) {
    count *= (size_t)view->dims[k];
  }
  return count;
}

/* Row-major, or with no strides at all. Axes of extent 1 do not matter. */
static bool is_dense(const tenon_tensor_view_t* view) {
  int64_t expected = 1;
  for (uint32_t k = view->rank; view->strides != NULL && k-- > 0;) {
    if (view->dims[k] != 1 && view->strides[k] != expected) {
      return false;
    }
    expected *= view->dims[k];
  }
  return true;
}

/* Copies the elements of axis `axis` and of those behind it, and returns the end of the target. */
static char* copy_axis(const tenon_tensor_view_t* view, uint32_t axis, const char* source,
                       size_t size, char* target) {
  if (axis == view->rank) {
    memcpy(target, source, size);
    return target + size;
  }
  for (int64_t i = 0; i < view->dims[axis]; ++i) {
    const char* from = source + i * view->strides[axis] * (int64_t)size;
    target = copy_axis(view, axis + 1, from, size, target);
  }
  return target;
}

/* Elements that share bytes: `place` counts elements from the view's data. */
static uint8_t* unpack_axis(const tenon_tensor_view_t* view, uint32_t axis, int64_t place,
                            uint8_t* target) {
  const uint32_t bits = tenon_dtype_bits(view->dtype);
  if (axis == view->rank) {
    const int64_t bit = (int64_t)view->bit_offset + place * (int64_t)bits;
    const uint8_t* bytes = view->data;
    const uint32_t value = ((uint32_t)bytes[bit / 8] >> (bit % 8)) & ((1u << bits) - 1u);
    const bool is_signed = view->dtype == TENON_DTYPE_INT4 || view->dtype == TENON_DTYPE_INT2;
    const bool is_negative = is_signed && (value >> (bits - 1)) != 0;
    *target = (uint8_t)(is_negative ? value | (0xffu << bits) : value);
    return target + 1;
  }
  int64_t dense = 1;
  for (uint32_t k = axis + 1; k < view->rank; ++k) {
    dense *= view->dims[k];
  }
  const int64_t stride = view->strides != NULL ? view->strides[axis] : dense;
  for (int64_t i = 0; i < view->dims[axis]; ++i) {
    target = unpack_axis(view, axis + 1, place + i * stride, target);
  }
  return target;
}

void python_copy_out(const tenon_tensor_view_t* view, void* target) {
  const uint32_t bits = tenon_dtype_bits(view->dtype);
  const size_t count = python_element_count(view);
  if (count == 0) {
    return;
  }
  if (bits < 8) {
    (void)unpack_axis(view, 0, 0, target);
  } else if (is_dense(view)) {
    memcpy(target, view->data, count * (bits / 8));
  } else {
    (void)copy_axis(view, 0, view->data, bits / 8, target);
  }
}

void python_pack(const uint8_t* source, size_t count, uint32_t bits, uint8_t* target) {
  const size_t each = 8 / bits;
  memset(target, 0, (count + each - 1) / each);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t value = source[i] & ((1u << bits) - 1u);
    target[i / each] = (uint8_t)(target[i / each] | value << (i % each * bits));
  }
}
