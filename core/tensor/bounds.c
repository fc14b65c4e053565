/* Which elements strides reach. */
#include "core/tensor/bounds.h"

#include "core/base/allocator.h"

bool tenon__add_product(int64_t a, int64_t b, int64_t* inout_sum) {
  int64_t product = 0;
  return tenon__multiply_int64(a, b, &product) && tenon__add_int64(*inout_sum, product, inout_sum);
}

/* First and last element; *out_is_empty when there is none. */
static bool find_ends(const tenon__reach_t* reach, bool* out_is_empty, int64_t* out_first,
                      int64_t* out_last) {
  int64_t first = reach->offset;
  int64_t last = reach->offset;
  bool is_empty = false;
  for (uint32_t k = 0; k < reach->rank; ++k) {
    is_empty = is_empty || reach->dims[k] == 0;
    if (reach->dims[k] < 0) {
      return false;
    }
  }
  const uint32_t axis_count = is_empty ? 0 : reach->rank;
  for (uint32_t k = 0; k < axis_count; ++k) {
    int64_t* end = reach->strides[k] < 0 ? &first : &last;
    if (!tenon__add_product(reach->dims[k] - 1, reach->strides[k], end)) {
      return false;
    }
  }
  *out_is_empty = is_empty;
  *out_first = first;
  *out_last = last;
  return true;
}

bool tenon__reach_within(const tenon__reach_t* inner, const tenon__reach_t* outer) {
  bool inner_is_empty = false;
  bool outer_is_empty = false;
  int64_t inner_first = 0;
  int64_t inner_last = 0;
  int64_t outer_first = 0;
  int64_t outer_last = 0;
  if (!find_ends(inner, &inner_is_empty, &inner_first, &inner_last) ||
      !find_ends(outer, &outer_is_empty, &outer_first, &outer_last)) {
    return false;
  }
  return inner_is_empty ||
         (!outer_is_empty && outer_first <= inner_first && inner_last <= outer_last);
}
