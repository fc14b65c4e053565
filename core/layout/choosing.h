/* Tactic, layout and type of one unit, or of all in turn, while those of a covering are chosen. For
 * this module alone. */
#ifndef TENON_CORE_LAYOUT_CHOOSING_H_
#define TENON_CORE_LAYOUT_CHOOSING_H_

#include "core/layout/layout_costs.h"

enum { TENON_ORDER_LIMIT = 16, TENON_SWEEP_LIMIT = 8 };

typedef struct choosing_t {
  layouts_t layouts;
  tenon__arena_t scratch;
  const uint32_t* orders[TENON_ORDER_LIMIT]; /* all that tactics require */
  uint32_t order_ranks[TENON_ORDER_LIMIT];
  uint32_t order_count;
  uint32_t* maker_of; /* per value: the unit that writes it, or TENON_NONE */
} choosing_t;

/* Finds the best pick, order and type of one unit given all others. *out_changed is true if it has
 * changed. */
tenon_status_t tenon__choosing_improve(choosing_t* choosing, tenon__unit_t* unit,
                                       bool* out_changed);
/* Improves each unit in turn until nothing changes. Later units see the picks of earlier ones. */
tenon_status_t tenon__choosing_settle(choosing_t* choosing);

#endif
