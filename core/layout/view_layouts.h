/*
 * Layouts of views, while layouts of one covering are chosen: the order of a view's axes for the
 * order of its source, and whether the view is possible. For this module only.
 *
 * For example, the view [i1, i0, i2] of a row-major [2, 3, 4] has the order 1, 0, 2. A further view
 * of it as [3, 8] is impossible and uses a row-major copy.
 */
#ifndef TENON_CORE_LAYOUT_VIEW_LAYOUTS_H_
#define TENON_CORE_LAYOUT_VIEW_LAYOUTS_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

enum { VIEW_MOST_ORDERS = 64 };

/* Computed at the profile's optimum; the schedule checks all of its points. */
typedef struct view_layouts_t {
  const tenon__tuning_t* tuning;
  const tenon__graph_t* g;
  tenon__arena_t* scratch;
  tenon__arena_t* arena;     /* of orders; each is stored once and identified by its address */
  const uint32_t** order_of; /* per value, not only views; NULL: row-major */
  bool* has_gaps;            /* per value: a view with gaps or repetitions, whose order is unused */
  int64_t** strides_of;      /* per value: strides of such a view; else NULL */
  bool* is_on_copy;          /* per value: a view of a row-major copy */
  const uint32_t* orders[VIEW_MOST_ORDERS];
  uint32_t ranks[VIEW_MOST_ORDERS];
  uint32_t order_count;
} view_layouts_t;

/* Begins with all values row-major. Tables are in `scratch`, orders in `arena`. Returns
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__view_layouts_begin(const tenon__tuning_t* tuning, uint32_t graph,
                                         tenon__arena_t* scratch, tenon__arena_t* arena,
                                         view_layouts_t* out_views);
/* Computes the view's layout from its source's current layout. With data-dependent extents, the
 * view of a row-major source counts as row-major. */
tenon_status_t tenon__view_layouts_follow(view_layouts_t* views, const tenon__unit_t* view);

#endif
