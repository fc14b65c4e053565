/*
 * How views lie, while layouts of one covering are chosen: in which order their axes come where
 * what they are views of lies so, and whether they exist on it at all. For this room alone.
 *
 * Of [2, 3, 4] in rows the view [i1, i0, i2] lies in the order 1, 0, 2; its own view as [3, 8]
 * does not exist: that one lies on a copy of it in rows.
 */
#ifndef TENON_CORE_LAYOUT_VIEW_LAYOUTS_H_
#define TENON_CORE_LAYOUT_VIEW_LAYOUTS_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

enum { VIEW_MOST_ORDERS = 64 };

/* As numbers say at the profile's optimum; the schedule looks at all of its points. */
typedef struct view_layouts_t {
  const tenon__tuning_t* tuning;
  const tenon__graph_t* g;
  tenon__arena_t* scratch;
  tenon__arena_t* arena;     /* orders lie there, each once: their addresses tell them apart */
  const uint32_t** order_of; /* per value, of others than views too; NULL: rows */
  bool* has_gaps; /* per value: a view with gaps or repetitions, whose order nobody asks for */
  int64_t** strides_of; /* per value: then; NULL before */
  bool* is_on_copy;     /* per value: a view of a copy in rows */
  const uint32_t* orders[VIEW_MOST_ORDERS];
  uint32_t ranks[VIEW_MOST_ORDERS];
  uint32_t order_count;
} view_layouts_t;

/* Everything lies in rows. Tables lie in `scratch`, orders in `arena`. OUT_OF_MEMORY only. */
tenon_status_t tenon__view_layouts_begin(const tenon__tuning_t* tuning, uint32_t graph,
                                         tenon__arena_t* scratch, tenon__arena_t* arena,
                                         view_layouts_t* out_views);
/* How the view lies, as its source does now. Extents that only the run knows: as if it were in
 * rows, where the source is. */
tenon_status_t tenon__view_layouts_follow(view_layouts_t* views, const tenon__unit_t* view);

#endif
