/* Plans loops over iteration spaces. */
#include "loops.h"

#include <string.h>

enum {
  TRANSPOSED_BLOCK = 32,
  NARROW_COLUMNS = 256,
  /* Elements of a block with several reduced rows, and of a part of one row that is too long for a
   * block. */
  ROWS_ELEMENTS = 4096,
  PART_ELEMENTS = 2048
};

static int64_t stride_at(const tenon__cpu_loops_t* loops, uint32_t tensor, uint32_t axis) {
  return loops->strides[tensor * TENON_CPU_LOOP_AXES + axis];
}

static int64_t magnitude(int64_t x) {
  return x < 0 ? -x : x;
}

static int64_t min_int(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t max_int(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void swap_axes(tenon__cpu_loops_t* loops, uint32_t a, uint32_t b) {
  const tenon__cpu_axis_t axis = loops->axes[a];
  loops->axes[a] = loops->axes[b];
  loops->axes[b] = axis;
  for (uint32_t t = 0; t < loops->tensor_count; t++) {
    int64_t* strides = loops->strides + (size_t)t * TENON_CPU_LOOP_AXES;
    const int64_t stride = strides[a];
    strides[a] = strides[b];
    strides[b] = stride;
  }
}

/* Returns true if axis a should be an outer axis of axis b. The strides of the primary tensor
 * decide. If they are equal or 0, the first other tensor with different strides decides. */
static bool lies_outside(const tenon__cpu_loops_t* loops, uint32_t primary, uint32_t a,
                         uint32_t b) {
  for (uint32_t k = 0; k <= loops->tensor_count; k++) {
    const uint32_t tensor = k == 0 ? primary : k - 1;
    const int64_t outer = magnitude(stride_at(loops, tensor, a));
    const int64_t inner = magnitude(stride_at(loops, tensor, b));
    if (outer != 0 && inner != 0 && outer != inner) {
      return outer > inner;
    }
  }
  return true;
}

static void sort_axes(tenon__cpu_loops_t* loops, uint32_t primary) {
  for (uint32_t k = 1; k < loops->axis_count; k++) {
    for (uint32_t at = k; at > 0 && !lies_outside(loops, primary, at - 1, at); at--) {
      swap_axes(loops, at - 1, at);
    }
  }
}

static bool continues(const tenon__cpu_loops_t* loops, uint32_t outer, uint32_t inner) {
  for (uint32_t t = 0; t < loops->tensor_count; t++) {
    if (stride_at(loops, t, outer) != stride_at(loops, t, inner) * loops->axes[inner].extent) {
      return false;
    }
  }
  return true;
}

static void move_axis(tenon__cpu_loops_t* loops, uint32_t from, uint32_t to) {
  loops->axes[to] = loops->axes[from];
  for (uint32_t t = 0; t < loops->tensor_count; t++) {
    int64_t* strides = loops->strides + (size_t)t * TENON_CPU_LOOP_AXES;
    strides[to] = strides[from];
  }
}

static void join_axes(tenon__cpu_loops_t* loops, uint64_t indexed_axes) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < loops->axis_count; k++) {
    const bool joins = kept > 0 && loops->axes[kept - 1].reduced == loops->axes[k].reduced &&
                       ((indexed_axes >> loops->axes[k].id) & 1U) == 0 &&
                       ((indexed_axes >> loops->axes[kept - 1].id) & 1U) == 0 &&
                       continues(loops, kept - 1, k);
    if (joins) {
      loops->axes[k].extent = tenon__cpu_times(loops->axes[k].extent, loops->axes[kept - 1].extent);
      move_axis(loops, k, kept - 1);
    } else {
      move_axis(loops, k, kept++);
    }
  }
  loops->axis_count = kept;
}

/* Returns an axis, other than the columns, along which a tensor is contiguous, or TENON_NONE.
 * Tensors that are contiguous along the columns do not count. */
static uint32_t find_transposed(const tenon__cpu_loops_t* loops) {
  for (uint32_t t = 0; t < loops->tensor_count; t++) {
    if (magnitude(stride_at(loops, t, loops->columns)) <= 1) {
      continue;
    }
    for (uint32_t k = loops->axis_count - 1; k-- > 0;) {
      if (stride_at(loops, t, k) == 1) {
        return k;
      }
    }
  }
  return TENON_NONE;
}

static uint32_t find_innermost(const tenon__cpu_loops_t* loops, bool reduced) {
  for (uint32_t k = loops->axis_count - 1; k-- > 0;) {
    if (loops->axes[k].reduced == reduced) {
      return k;
    }
  }
  return TENON_NONE;
}

/* Chooses the axes of rows and columns, and their extents in a block. */
static void choose_block(tenon__cpu_loops_t* loops, int64_t capacity) {
  loops->columns = loops->axis_count - 1;
  const bool any_reduced = find_innermost(loops, true) != TENON_NONE;
  const bool by_columns = loops->axes[loops->columns].reduced;
  const uint32_t transposed = any_reduced || by_columns ? TENON_NONE : find_transposed(loops);
  const int64_t columns = max_int(loops->axes[loops->columns].extent, 1);
  loops->rows = transposed;
  if (transposed == TENON_NONE) {
    loops->rows =
        by_columns || !any_reduced ? find_innermost(loops, false) : find_innermost(loops, true);
  }
  const int64_t rows = loops->rows == TENON_NONE ? 1 : max_int(loops->axes[loops->rows].extent, 1);
  const int64_t small = any_reduced ? min_int(capacity, TENON_CPU_BLOCK_ELEMENTS) : capacity;
  int64_t column_step =
      min_int(columns, by_columns ? (columns > capacity ? PART_ELEMENTS : capacity) : small);
  int64_t row_step = 1;
  if (any_reduced && !by_columns) {
    const bool fits = tenon__cpu_times(rows, min_int(columns, 64)) <= capacity;
    column_step = min_int(columns, fits ? capacity / rows : min_int(small, NARROW_COLUMNS));
    column_step = column_step > 16 ? column_step / 16 * 16 : max_int(column_step, 1);
    column_step = columns - column_step < 16 && tenon__cpu_times(rows, columns) <= capacity
                      ? columns
                      : column_step;
    row_step = fits ? rows : min_int(rows, small / column_step);
  } else {
    if (transposed != TENON_NONE) {
      column_step = min_int(column_step, TRANSPOSED_BLOCK);
    }
    row_step = min_int(rows, (by_columns ? min_int(capacity, ROWS_ELEMENTS) : small) / column_step);
  }
  loops->axes[loops->columns].step = column_step > 0 ? column_step : 1;
  if (loops->rows != TENON_NONE) {
    loops->axes[loops->rows].step = row_step > 0 ? row_step : 1;
  }
}

static void count_blocks(tenon__cpu_loops_t* loops) {
  loops->outer_count = 1;
  loops->inner_count = 1;
  for (uint32_t k = 0; k < loops->axis_count; k++) {
    const tenon__cpu_axis_t* axis = &loops->axes[k];
    const int64_t blocks = axis->extent / axis->step + (axis->extent % axis->step != 0);
    int64_t* count = axis->reduced ? &loops->inner_count : &loops->outer_count;
    *count = tenon__cpu_times(*count, blocks);
  }
  loops->whole = loops->inner_count == 1;
}

/* If the result is empty or nothing is reduced, all extents of that kind count as 0. In an empty
 * tensor, the product of the other extents may overflow. */
static int64_t extent_of(const tenon__cpu_loops_t* loops, const tenon__cpu_space_t* space,
                         uint32_t k, bool reduced) {
  return (reduced ? loops->nothing_to_reduce : loops->empty) ? 0 : space->extents[k];
}

void tenon__cpu_loops_plan(const tenon__cpu_space_t* space, size_t capacity, int64_t* loop_strides,
                           tenon__cpu_loops_t* out_loops) {
  *out_loops = (tenon__cpu_loops_t){
      .tensor_count = space->tensor_count, .strides = loop_strides, .reduced_count = 1};
  for (uint32_t k = 0; k < space->rank; k++) {
    const bool reduced = ((space->reduced_axes >> k) & 1U) != 0;
    out_loops->empty = out_loops->empty || (!reduced && space->extents[k] == 0);
    out_loops->nothing_to_reduce =
        out_loops->nothing_to_reduce || (reduced && space->extents[k] == 0);
  }
  for (uint32_t k = 0; k < space->rank; k++) {
    const bool reduced = ((space->reduced_axes >> k) & 1U) != 0;
    const int64_t extent = extent_of(out_loops, space, k, reduced);
    out_loops->reduced_count = tenon__cpu_times(out_loops->reduced_count, reduced ? extent : 1);
    if (extent == 1) {
      continue;
    }
    const uint32_t axis = out_loops->axis_count++;
    out_loops->axes[axis] = (tenon__cpu_axis_t){k, reduced, extent, 1};
    for (uint32_t t = 0; t < space->tensor_count; t++) {
      loop_strides[(size_t)t * TENON_CPU_LOOP_AXES + axis] =
          space->strides[(size_t)t * space->rank + k];
    }
  }
  if (out_loops->axis_count == 0) { /* one point */
    out_loops->axes[0] = (tenon__cpu_axis_t){TENON_NONE, false, 1, 1};
    out_loops->axis_count = 1;
    for (uint32_t t = 0; t < space->tensor_count; t++) {
      loop_strides[(size_t)t * TENON_CPU_LOOP_AXES] = 0;
    }
  }
  sort_axes(out_loops, space->primary);
  join_axes(out_loops, space->indexed_axes);
  choose_block(out_loops, (int64_t)capacity);
  count_blocks(out_loops);
}

void tenon__cpu_loops_seek(const tenon__cpu_loops_t* loops, bool reduced, int64_t index,
                           tenon__cpu_point_t* inout_point) {
  for (uint32_t k = loops->axis_count; k-- > 0;) {
    const tenon__cpu_axis_t* axis = &loops->axes[k];
    if (axis->reduced != reduced) {
      continue;
    }
    const int64_t blocks =
        axis->step == 1 ? axis->extent : (axis->extent + axis->step - 1) / axis->step;
    const int64_t at = blocks > 1 ? index % blocks * axis->step : 0;
    index = blocks > 1 ? index / blocks : index;
    inout_point->at[k] = at;
    const size_t count = (size_t)min_int(axis->step, axis->extent - at);
    if (k == loops->rows) {
      inout_point->rows = count;
    } else if (k == loops->columns) {
      inout_point->columns = count;
    }
  }
}

int64_t tenon__cpu_loops_offset(const tenon__cpu_loops_t* loops, uint32_t tensor,
                                const tenon__cpu_point_t* point) {
  int64_t offset = 0;
  for (uint32_t k = 0; k < loops->axis_count; k++) {
    offset += point->at[k] * stride_at(loops, tensor, k);
  }
  return offset;
}
