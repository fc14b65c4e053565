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
  if (layout == NULL || layout->rank > 64 || layout->block_count > 16 || layout->planes > 16 ||
      layout->scale_companion > 1) {
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
  if (layout->block_count > 0 && (layout->block_dims == NULL || layout->block_sizes == NULL)) {
    return false;
  }
  for (uint32_t i = 0; i < layout->block_count; ++i) {
    if (layout->block_dims[i] >= layout->rank || layout->block_sizes[i] == 0 ||
        layout->block_sizes[i] > 65536) {
      return false;
    }
  }
  for (uint32_t i = 0; i < layout->rank; ++i) {
    if ((layout->multiples != NULL && layout->multiples[i] > 65536) ||
        (layout->borders != NULL && layout->borders[i] > 65536)) {
      return false;
    }
  }
  return true;
}

/* Entry i of an optional array of the layout. */
static uint32_t entry_of(const uint32_t* array, uint32_t i, uint32_t absent) {
  return array == NULL ? absent : array[i];
}

bool tenon__layout_equal(const tenon_layout_t* a, const tenon_layout_t* b) {
  if (a == NULL || b == NULL) {
    return a == b;
  }
  const uint32_t a_planes = a->planes > 1 ? a->planes : 1;
  const uint32_t b_planes = b->planes > 1 ? b->planes : 1;
  if (a->rank != b->rank || a->block_count != b->block_count || a_planes != b_planes ||
      a->scale_companion != b->scale_companion) {
    return false;
  }
  for (uint32_t i = 0; i < a->rank; ++i) {
    const uint32_t a_multiple = entry_of(a->multiples, i, 1);
    const uint32_t b_multiple = entry_of(b->multiples, i, 1);
    if (entry_of(a->order, i, i) != entry_of(b->order, i, i) ||
        (a_multiple < 1 ? 1 : a_multiple) != (b_multiple < 1 ? 1 : b_multiple) ||
        entry_of(a->borders, i, 0) != entry_of(b->borders, i, 0)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < a->block_count; ++i) {
    if (a->block_dims[i] != b->block_dims[i] || a->block_sizes[i] != b->block_sizes[i]) {
      return false;
    }
  }
  return true;
}

bool tenon__layout_is_strided(const tenon_layout_t* layout) {
  if (layout->block_count > 0 || layout->planes > 1 || layout->scale_companion != 0) {
    return false;
  }
  for (uint32_t i = 0; i < layout->rank; ++i) {
    if (entry_of(layout->multiples, i, 1) > 1 || entry_of(layout->borders, i, 0) > 0) {
      return false;
    }
  }
  return true;
}

bool tenon__layout_is_rows(const tenon_layout_t* layout) {
  bool is_rows = tenon__layout_is_strided(layout);
  for (uint32_t k = 0; is_rows && k < layout->rank; ++k) {
    is_rows = entry_of(layout->order, k, k) == k;
  }
  return is_rows;
}

bool tenon__rule_is_known(const tenon_argument_rule_t* rule, uint32_t input_count) {
  return rule->kind <= TENON_LAYOUT_FOLLOWS && rule->in_place <= input_count &&
         (rule->kind != TENON_LAYOUT_FOLLOWS || rule->argument < input_count) &&
         (rule->flags & ~(uint32_t)(TENON_RULE_STRIDED | TENON_RULE_HOST | TENON_RULE_EXTENTS)) ==
             0 &&
         rule->dtype < TENON_DTYPE_COUNT && rule->alignment <= TENON_RULE_MOST_ALIGNMENT &&
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

/* Extent of dimension `dim` with border, multiple and blocks. */
static bool padded_extent(const tenon_layout_t* layout, uint32_t dim, int64_t extent,
                          int64_t* out_extent) {
  int64_t unit = (int64_t)entry_of(layout->multiples, dim, 1);
  unit = unit < 1 ? 1 : unit;
  int64_t block = 1;
  for (uint32_t i = 0; i < layout->block_count; ++i) {
    if (layout->block_dims[i] == dim &&
        !tenon__multiply_int64(block, (int64_t)layout->block_sizes[i], &block)) {
      return false;
    }
  }
  int64_t padded = 0;
  if (extent < 0 ||
      !tenon__add_int64(extent, 2 * (int64_t)entry_of(layout->borders, dim, 0), &padded)) {
    return false;
  }
  const int64_t units[2] = {unit, block};
  for (int i = 0; i < 2; ++i) {
    int64_t sum = 0;
    if (!tenon__add_int64(padded, units[i] - 1, &sum) ||
        !tenon__multiply_int64(sum / units[i], units[i], &padded)) {
      return false;
    }
  }
  *out_extent = padded;
  return true;
}

bool tenon__layout_bytes(const tenon_layout_t* layout, tenon_dtype_t dtype, const int64_t* dims,
                         size_t* out_bytes) {
  int64_t count = layout->planes > 1 ? (int64_t)layout->planes : 1;
  for (uint32_t i = 0; i < layout->rank; ++i) {
    int64_t extent = 0;
    if (!padded_extent(layout, i, dims[i], &extent) ||
        !tenon__multiply_int64(count, extent, &count)) {
      return false;
    }
  }
  size_t bytes = 0;
  if (!tenon__dtype_bytes(dtype, (uint64_t)count, &bytes)) {
    return false;
  }
  if (layout->scale_companion != 0) {
    int64_t block = 1;
    for (uint32_t i = 0; i < layout->block_count; ++i) {
      if (!tenon__multiply_int64(block, (int64_t)layout->block_sizes[i], &block)) {
        return false;
      }
    }
    size_t scales = 0;
    if (!tenon__multiply_size((size_t)(count / block), sizeof(float), &scales) ||
        !tenon__add_size(bytes, scales, &bytes)) {
      return false;
    }
  }
  *out_bytes = bytes;
  return true;
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
