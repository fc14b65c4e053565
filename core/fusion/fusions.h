/*
 * Fusions: neighbours' arithmetic in the slots of an operator's kernel. What epilogues and
 * prologues share: programs composed node by node and turned into a slot's, the operator's region
 * with its slots filled, who computes that, and what was decided for all such places together.
 */
#ifndef TENON_CORE_FUSION_FUSIONS_H_
#define TENON_CORE_FUSION_FUSIONS_H_

#include "core/candidate/candidates.h"
#include "core/fusion/alternatives.h"
#include "core/fusion/grouping.h"

/* What is to be fused. Borrowed while it is offered. */
typedef struct fusing_t {
  grouping_t* grouping;
  uint32_t root;                     /* the operator's node */
  const struct tenon_region_t* base; /* what its group computes without */
  const uint32_t* nodes;             /* those whose arithmetic goes into slots */
  uint32_t node_count;
  const tenon__slot_filling_t* fillings;
  uint32_t filling_count;
  bool has_to_prove; /* that it is faster, before it is made anywhere */
  bool expects;      /* only begins what takes long: nothing is found */
} fusing_t;

/* What slots kernels for an operator's node have. */
typedef struct fusion_slots_t {
  bool is_known;
  tenon__slot_numbers_t numbers;
} fusion_slots_t;

/* Asked of the catalogue once for a node. The node has a group with a region. */
const tenon__slot_numbers_t* tenon__fusion_slots(grouping_t* grouping, uint32_t root);
/* The operands of an expression that read `value`; false where one of them does not read it at the
 * point itself, or they are too many. */
bool tenon__fusion_operands(grouping_t* grouping, const tenon__expression_t* expression,
                            uint32_t value, uint32_t operands[GROUP_MOST_OPERANDS],
                            uint32_t* out_count);
/* The consumer with the producer's value in the place of these operands. NULL: it cannot be, or is
 * too large for a slot. In the covering's arena; OUT_OF_MEMORY alone. */
tenon_status_t tenon__fusion_compose(grouping_t* grouping, const tenon__expression_t* consumer,
                                     const uint32_t* operands, uint32_t operand_count,
                                     const tenon__expression_t* producer,
                                     const tenon__expression_t** out_expression);
/* Is it small enough for a slot? */
bool tenon__fusion_is_small(const tenon__expression_t* expression);
/* The normal form, in which what reads `value` at the point itself reads the slot's own value. */
tenon_status_t tenon__fusion_slot_expression(grouping_t* grouping,
                                             const tenon__expression_t* expression, uint32_t value,
                                             tenon__expression_t* out_expression);

/* The base with its slots filled, and who computes that. *out_found NULL: no kernel takes it.
 * Finding candidates may measure. */
tenon_status_t tenon__fusion_offer(const fusing_t* fusing, struct tenon_region_t** out_region,
                                   const tenon__candidates_t** out_found);
/* What the nodes leave, as one step of its own. */
typedef struct fusion_rest_t {
  const tenon__expression_t* expression; /* operands are the graph's values */
  uint32_t value;
} fusion_rest_t;
/* Which of the alternatives the fused region is; a new one where it is none yet. Estimates do not
 * say what a slot costs: of what has nothing to prove it is asked only where times are measured how
 * long the base and the rest take one after the other. */
tenon_status_t tenon__fusion_find(const fusing_t* fusing, const struct tenon_region_t* region,
                                  const tenon__candidates_t* fused, const fusion_rest_t* rest,
                                  uint32_t* out_index);
/* Was it decided that the operator takes no more than fewer nodes? `fusion` may be TENON_NONE. */
bool tenon__fusion_exceeds(const grouping_t* grouping, uint32_t fusion, uint32_t node_count);
/* The root's group computes the region from now on. */
void tenon__fusion_take(const fusing_t* fusing, struct tenon_region_t* region);

#endif
