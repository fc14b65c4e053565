/* Strides and layouts. */
#include "core/tensor/layout.h"

#include "core/base/allocator.h"
#include "core/tensor/dtype.h"

bool tenon__strides_row_major(uint32_t rank, const int64_t* dims, int64_t* out_strides) {
  return tenon__strides_ordered(rank, dims, NULL, out_strides);
}

bool tenon__strides_ordered(uint32_t rank, const int64_t* dims, const uint32_t* order,
                            int64_t* out_strides) {
  int64_t stride = 1;
  for (uint32_t i = rank; i > 0; --i) {
    const uint32_t axis = order == NULL ? i - 1 : order[i - 1];
    out_strides[axis] = stride;
    if (!tenon__multiply_int64(stride, dims[axis] < 1 ? 1 : dims[axis], &stride)) {
      return false;
    }
  }
  return true;
}

bool tenon__strides_dense(uint32_t rank, const int64_t* dims, const int64_t* strides) {
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      return true;
    }
  }
  /* Each axis begins where the axes within it end: find it by its stride, again and again. */
  int64_t next = 1;
  uint32_t left = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    left += dims[i] > 1 ? 1u : 0u;
  }
  for (; left > 0; --left) {
    uint32_t found = 0;
    while (found < rank && (dims[found] <= 1 || strides[found] != next)) {
      ++found;
    }
    if (found == rank || !tenon__multiply_int64(next, dims[found], &next)) {
      return false;
    }
  }
  return true;
}

void tenon__strides_order(uint32_t rank, const int64_t* strides, uint32_t* out_order) {
  for (uint32_t k = 0; k < rank; ++k) { /* insertion by falling stride, stable */
    uint32_t at = k;
    while (at > 0 && strides[out_order[at - 1]] < strides[k]) {
      out_order[at] = out_order[at - 1];
      --at;
    }
    out_order[at] = k;
  }
}

bool tenon__strides_in_order(uint32_t rank, const int64_t* dims, const int64_t* strides,
                             const uint32_t* order) {
  int64_t next = 1;
  bool is_innermost = true;
  for (uint32_t i = rank; i > 0; --i) {
    const uint32_t axis = order == NULL ? i - 1 : order[i - 1];
    if (dims[axis] == 1) {
      continue;
    }
    if ((is_innermost ? strides[axis] != 1 : strides[axis] < next) ||
        !tenon__multiply_int64(strides[axis], dims[axis], &next)) {
      return false;
    }
    is_innermost = false;
  }
  return true;
}

bool tenon__strides_are_row_major(uint32_t rank, const int64_t* dims, const int64_t* strides) {
  int64_t next = 1;
  bool same = true;
  for (uint32_t i = rank; i > 0; --i) {
    if (dims[i - 1] == 0) {
      return true;
    }
    same = same && (dims[i - 1] == 1 || strides[i - 1] == next);
    if (!tenon__multiply_int64(next, dims[i - 1], &next)) {
      return false;
    }
  }
  return same;
}

bool tenon__strides_equal(uint32_t rank, const int64_t* dims, const int64_t* a, const int64_t* b) {
  for (uint32_t k = 0; k < rank; ++k) {
    if (dims[k] != 1 && a[k] != b[k]) {
      return false;
    }
  }
  return true;
}

bool tenon__extents_fit(uint32_t rank, const int64_t* dims) {
  int64_t elements = 1;
  bool fit = true;
  for (uint32_t i = 0; i < rank && fit; ++i) {
    fit = dims[i] <= 0 ||
          (tenon__multiply_int64(elements, dims[i], &elements) && elements <= TENON_ELEMENT_LIMIT);
  }
  return fit;
}

bool tenon__element_count(uint32_t rank, const int64_t* dims, uint64_t* out_count) {
  uint64_t count = 1;
  if (!tenon__extents_fit(rank, dims)) {
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) {
      return false;
    }
    count *= (uint64_t)dims[i];
  }
  *out_count = count;
  return true;
}

bool tenon__layout_valid(const tenon_layout_t* layout) {
  if (layout == NULL || layout->rank > TENON_RANK_LIMIT) {
    return false;
  }
  uint64_t seen = 0;
  const uint32_t order_count = layout->order == NULL ? 0 : layout->rank;
  for (uint32_t i = 0; i < order_count; ++i) {
    if (layout->order[i] >= layout->rank || ((seen >> layout->order[i]) & 1u) != 0) {
      return false;
    }
    seen |= UINT64_C(1) << layout->order[i];
  }
  return true;
}

bool tenon__layout_equal(const tenon_layout_t* a, const tenon_layout_t* b) {
  if (a == NULL || b == NULL) {
    return a == b;
  }
  return a->rank == b->rank && tenon__orders_equal(a->rank, a->order, b->order);
}

bool tenon__layout_is_rows(const tenon_layout_t* layout) {
  return tenon__orders_equal(layout->rank, layout->order, NULL);
}

bool tenon__rule_is_known(const tenon_argument_rule_t* rule, uint32_t input_count) {
  return rule->kind <= TENON_LAYOUT_FOLLOWS && rule->in_place <= input_count &&
         (rule->kind != TENON_LAYOUT_FOLLOWS || rule->argument < input_count) &&
         (rule->flags & ~(uint32_t)(TENON_RULE_STRIDED | TENON_RULE_HOST | TENON_RULE_EXTENTS)) ==
             0 &&
         rule->more == NULL && rule->dtype < TENON_DTYPE_COUNT &&
         rule->alignment <= TENON_RULE_MOST_ALIGNMENT &&
         (rule->alignment & (rule->alignment - 1)) == 0;
}

bool tenon__rule_asks_alignment(const tenon_argument_rule_t* rule, tenon_dtype_t dtype) {
  return rule != NULL && rule->alignment * 8 > tenon__dtype_bits(dtype);
}

bool tenon__rules_alike(const tenon_argument_rule_t* a, const tenon_argument_rule_t* b) {
  static const tenon_argument_rule_t rows = {0};
  a = a == NULL ? &rows : a;
  b = b == NULL ? &rows : b;
  return a->kind == b->kind && a->flags == b->flags && a->alignment == b->alignment &&
         a->dtype == b->dtype && (a->kind != TENON_LAYOUT_FOLLOWS || a->argument == b->argument) &&
         (a->kind != TENON_LAYOUT_EXACT || tenon__layout_equal(a->layout, b->layout));
}

bool tenon__rule_takes_rows(const tenon_argument_rule_t* rule) {
  return rule == NULL || (rule->kind != TENON_LAYOUT_EXACT && rule->kind != TENON_LAYOUT_FOLLOWS);
}

bool tenon__orders_equal(uint32_t rank, const uint32_t* a, const uint32_t* b) {
  bool same = true;
  for (uint32_t k = 0; k < rank && same; ++k) {
    same = (a == NULL ? k : a[k]) == (b == NULL ? k : b[k]);
  }
  return same;
}

/* ---- Which elements strides reach ---- */

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
