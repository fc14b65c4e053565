/* The examined part of a large tensor: pieces at equal distances along its first axis. */
#include "core/timing/part.h"

#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"

/* Bytes of a tensor that is looked at as a whole, and of the parts of larger ones, about. */
static const size_t whole_bytes = 4U << 20;
static const size_t part_bytes = 2U << 20;

tenon__part_t tenon__part_of(uint32_t rank, const int64_t* dims, size_t size_bytes) {
  tenon__part_t part = {.length = 0};
  if (size_bytes <= whole_bytes || rank == 0 || dims[0] < (int64_t)2 * TENON_PART_PIECES) {
    return part;
  }
  const size_t index_bytes = size_bytes / (size_t)dims[0];
  const size_t wanted = part_bytes / TENON_PART_PIECES / (index_bytes < 1 ? 1 : index_bytes);
  const int64_t length = wanted < 1 ? 1 : (int64_t)wanted;
  if (length * 2 * TENON_PART_PIECES > dims[0]) {
    return part; /* not worth it */
  }
  part.length = length;
  for (int64_t k = 0; k < TENON_PART_PIECES; ++k) {
    part.begin[k] = (dims[0] - length) * k / (TENON_PART_PIECES - 1);
  }
  return part;
}

int64_t tenon__part_index(const tenon__part_t* part, int64_t index) {
  return tenon__part_is_whole(part) ? index
                                    : part->begin[index / part->length] + index % part->length;
}

bool tenon__part_lies_together(const tenon_tensor_view_t* whole) {
  int64_t last = 0; /* element of an index of the first axis */
  for (uint32_t d = 1; d < whole->rank; ++d) {
    if (whole->strides[d] < 0) {
      return false;
    }
    last += (whole->dims[d] - 1) * whole->strides[d];
  }
  return whole->strides[0] == last + 1;
}

void tenon__part_cut(const tenon__part_t* part, const tenon_tensor_view_t* whole,
                     const tenon_tensor_view_t* part_view) {
  const int64_t from_bytes = tenon__dtype_bits(whole->dtype) / 8;
  const int64_t to_bytes = tenon__dtype_bits(part_view->dtype) / 8;
  int64_t dims[TENON_RANK_LIMIT];
  for (uint32_t d = 0; d < whole->rank; ++d) {
    dims[d] = whole->dims[d];
  }
  dims[0] = part->length;
  for (int64_t k = 0; k < TENON_PART_PIECES; ++k) {
    tenon_tensor_view_t from = *whole;
    tenon_tensor_view_t to = *part_view;
    from.dims = dims;
    to.dims = dims;
    from.data = (char*)whole->data + part->begin[k] * whole->strides[0] * from_bytes;
    to.data = (char*)part_view->data + k * part->length * part_view->strides[0] * to_bytes;
    tenon__strided_copy(&from, &to);
  }
}
