/*
 * Fusions: adjacent arithmetic in the slots of an operator's kernel. Functions that epilogues and
 * prologues share: composing programs node by node, converting them for a slot, filling the slots
 * of the operator's region, finding its candidates, and the decision for all such locations.
 */
#ifndef TENON_CORE_FUSION_FUSIONS_H_
#define TENON_CORE_FUSION_FUSIONS_H_

#include "core/candidate/candidates.h"
#include "core/fusion/alternatives.h"
#include "core/fusion/grouping.h"

/* The nodes to be fused. Borrowed during tenon__fusion_offer. */
typedef struct fusing_t {
  grouping_t* grouping;
  uint32_t root;                     /* the operator's node */
  const struct tenon_region_t* base; /* region of its group without the fusion */
  const uint32_t* nodes;             /* nodes whose arithmetic is fused */
  uint32_t node_count;
  const tenon__slot_filling_t* fillings;
  uint32_t filling_count;
  bool has_to_prove; /* it must be faster before it is used */
  bool expects;      /* only begins slow preparations, finds nothing */
} fusing_t;

/* Slots of the kernels for an operator's node. */
typedef struct fusion_slots_t {
  bool is_known;
  tenon__slot_numbers_t numbers;
} fusion_slots_t;

/* Returns the slots, looked up once for each node. The node has a group with a region. */
const tenon__slot_numbers_t* tenon__fusion_slots(grouping_t* grouping, uint32_t root);
/* Lists the operands of an expression that read `value`. Returns false if one of them does not read
 * it element-wise, or if there are too many. */
bool tenon__fusion_operands(grouping_t* grouping, const tenon__expression_t* expression,
                            uint32_t value, uint32_t operands[GROUP_MOST_OPERANDS],
                            uint32_t* out_count);
/* Composes the consumer with the producer's value in place of these operands. NULL: impossible, or
 * too large for a slot. In the covering's arena. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__fusion_compose(grouping_t* grouping, const tenon__expression_t* consumer,
                                     const uint32_t* operands, uint32_t operand_count,
                                     const tenon__expression_t* producer,
                                     const tenon__expression_t** out_expression);
/* Returns true if it is small enough for a slot. */
bool tenon__fusion_is_small(const tenon__expression_t* expression);
/* Computes the normal form, in which operands that read `value` element-wise read the slot's own
 * value. */
tenon_status_t tenon__fusion_slot_expression(grouping_t* grouping,
                                             const tenon__expression_t* expression, uint32_t value,
                                             tenon__expression_t* out_expression);

/* Fills the slots of the base region and finds its candidates, which may measure. *out_found NULL:
 * no kernel accepts it. */
tenon_status_t tenon__fusion_offer(const fusing_t* fusing, struct tenon_region_t** out_region,
                                   const tenon__candidates_t** out_found);
/* The nodes' arithmetic as a separate step. */
typedef struct fusion_rest_t {
  const tenon__expression_t* expression; /* operands are the graph's values */
  uint32_t value;
} fusion_rest_t;
/* Returns the alternative of the fused region, added if new. Estimates do not include the cost of a
 * slot. So, unless has_to_prove is set, the time of the base followed by the rest is requested only
 * if times are measured. */
tenon_status_t tenon__fusion_find(const fusing_t* fusing, const struct tenon_region_t* region,
                                  const tenon__candidates_t* fused, const fusion_rest_t* rest,
                                  uint32_t* out_index);
/* Returns true if the decided limit of the fusion is below `node_count`. `fusion` may be
 * TENON_NONE. */
bool tenon__fusion_exceeds(const grouping_t* grouping, uint32_t fusion, uint32_t node_count);
/* Sets the region of the root's group to the fused one. */
void tenon__fusion_take(const fusing_t* fusing, struct tenon_region_t* region);

#endif
