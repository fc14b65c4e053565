/* Strides for the extents of a tensor, in the order that a rule names, in that of another tensor,
 * or in rows. */
#include "core/timing/rule_strides.h"

#include "core/tensor/layout.h"

enum { MAX_RANK = TENON_RANK_LIMIT };

bool tenon__rule_strides(const tenon_argument_rule_t* rule, uint32_t rank, const int64_t* dims,
                         const tenon_tensor_view_t* followed, int64_t* out_strides) {
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  if (kind == TENON_LAYOUT_EXACT) {
    return rule->layout->rank == rank &&
           tenon__strides_ordered(rank, dims, rule->layout->order, out_strides);
  }
  if (kind == TENON_LAYOUT_FOLLOWS && followed != NULL && followed->rank == rank && rank > 0 &&
      tenon__strides_dense(rank, followed->dims, followed->strides)) {
    uint32_t order[MAX_RANK];
    tenon__strides_order(rank, followed->strides, order);
    return tenon__strides_ordered(rank, dims, order, out_strides);
  }
  return tenon__strides_row_major(rank, dims, out_strides);
}
