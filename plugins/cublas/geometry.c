/* Which axes are rows, columns, batch and calls, and how the matrices lie. */
#include "geometry.h"

#include <string.h>

enum { A = TENON_CUBLAS_A, B = TENON_CUBLAS_B, C = TENON_CUBLAS_C, Y = TENON_CUBLAS_Y };

/* ---- The axes of the product ---- */

/* Axis `axis` of y, as far as y, c and bias go. */
static tenon__cublas_axis_t axis_of_result(const tenon__cublas_views_t* views, uint32_t axis) {
  tenon__cublas_axis_t made = {.extent = views->y->dims[axis]};
  made.strides[Y] = views->y->strides[axis];
  if (views->c != NULL && views->c->dims[axis] > 1) {
    made.strides[C] = views->c->strides[axis];
  }
  if (views->bias != NULL && views->bias->dims[axis] > 1) {
    made.strides[TENON_CUBLAS_BIAS] = views->bias->strides[axis];
  }
  return made;
}

/* Batch axis `axis` of `count`, as an operand has it that broadcasts. */
static int64_t batch_stride(const tenon_tensor_view_t* view, uint32_t axis, uint32_t count) {
  const uint32_t own = view->rank > 2 ? view->rank - 2 : 0;
  if (axis + own < count) {
    return 0;
  }
  const uint32_t place = axis + own - count;
  return view->dims[place] == 1 ? 0 : view->strides[place];
}

static void read_axes(const tenon__cublas_views_t* views, tenon__cublas_geometry_t* g) {
  const tenon_tensor_view_t* a = views->a;
  const tenon_tensor_view_t* b = views->b;
  const uint32_t most = a->rank > b->rank ? a->rank : b->rank;
  const uint32_t count = most > 2 ? most - 2 : 0;
  uint32_t axis = 0;
  for (; axis < count; axis++) {
    tenon__cublas_axis_t* outer = &g->outer[g->outer_rank++];
    *outer = axis_of_result(views, axis);
    outer->strides[A] = batch_stride(a, axis, count);
    outer->strides[B] = batch_stride(b, axis, count);
  }
  g->m = g->n = g->k = g->sum = g->batch = (tenon__cublas_axis_t){.extent = 1};
  if (a->rank > 1) {
    g->m = axis_of_result(views, axis++);
    g->m.strides[A] = a->strides[a->rank - 2];
    g->m.strides[TENON_CUBLAS_BIAS] = 0;
  }
  if (b->rank > 1) {
    g->n = axis_of_result(views, axis);
    g->n.strides[B] = b->strides[b->rank - 1];
  }
  g->k.extent = a->dims[a->rank - 1];
  g->k.strides[A] = a->strides[a->rank - 1];
  g->k.strides[B] = b->strides[b->rank - (b->rank > 1 ? 2 : 1)];
}

/* A sum of nothing: vectors of zeros, which every call reads from their beginning. */
static void sum_nothing(tenon__cublas_geometry_t* g) {
  g->k = (tenon__cublas_axis_t){.extent = 1};
  g->k.strides[A] = g->k.strides[B] = 1;
  g->m.strides[A] = 1;
  g->n.strides[B] = 1;
  for (uint32_t k = 0; k < g->outer_rank; k++) {
    g->outer[k].strides[A] = g->outer[k].strides[B] = 0;
  }
}

/* ---- Joining ---- */

static void drop_ones(tenon__cublas_geometry_t* g) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < g->outer_rank; k++) {
    if (g->outer[k].extent != 1) {
      g->outer[kept++] = g->outer[k];
    }
  }
  g->outer_rank = kept;
}

/* Do the inner axis' points go on in the outer one? */
static bool follows(const tenon__cublas_axis_t* outer, const tenon__cublas_axis_t* inner) {
  bool all = true;
  for (uint32_t k = 0; k < TENON_CUBLAS_OPERANDS; k++) {
    all = all && outer->strides[k] == inner->strides[k] * inner->extent;
  }
  return all;
}

/* A batch that shares its b is one product with more rows. */
static void join_rows(tenon__cublas_geometry_t* g) {
  while (g->outer_rank > 0) {
    tenon__cublas_axis_t* last = &g->outer[g->outer_rank - 1];
    if (last->strides[B] != 0 || last->strides[TENON_CUBLAS_BIAS] != 0 ||
        (g->m.extent != 1 && !follows(last, &g->m))) {
      return;
    }
    if (g->m.extent == 1) {
      g->m = *last;
    } else {
      g->m.extent *= last->extent;
    }
    g->outer_rank--;
  }
}

static void join_outer(tenon__cublas_geometry_t* g) {
  uint32_t kept = 0;
  for (uint32_t k = 1; k < g->outer_rank; k++) {
    tenon__cublas_axis_t* last = &g->outer[kept];
    if (follows(last, &g->outer[k])) {
      const int64_t extent = last->extent * g->outer[k].extent;
      *last = g->outer[k];
      last->extent = extent;
    } else {
      g->outer[++kept] = g->outer[k];
    }
  }
  g->outer_rank = g->outer_rank > 0 ? kept + 1 : 0;
}

/* ---- How matrices lie ---- */

static void make_outer(tenon__cublas_geometry_t* g, tenon__cublas_axis_t* axis) {
  g->outer[g->outer_rank++] = *axis;
  *axis = (tenon__cublas_axis_t){.extent = 1};
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* A matrix of `lines` lines, each `length` long with its elements side by side. */
static bool lies_in_lines(const tenon__cublas_axis_t* lines, const tenon__cublas_axis_t* along,
                          uint32_t operand, int64_t* out_leading) {
  const int64_t apart = lines->strides[operand];
  const bool dense = along->extent == 1 || along->strides[operand] == 1;
  const bool fits = lines->extent == 1 || apart >= along->extent;
  *out_leading = lines->extent == 1 ? larger(along->extent, 1) : apart;
  return dense && fits;
}

/* As cuBLASLt stores it: its columns are rows of ours. a: [m][k] as it is, b: [k][n]. */
static bool find_matrix(tenon__cublas_geometry_t* g, uint32_t operand) {
  const tenon__cublas_axis_t* lines = operand == A ? &g->m : &g->k;
  const tenon__cublas_axis_t* along = operand == A ? &g->k : &g->n;
  g->turned[operand] = !lies_in_lines(lines, along, operand, &g->leading[operand]);
  return !g->turned[operand] || lies_in_lines(along, lines, operand, &g->leading[operand]);
}

static bool find_result(tenon__cublas_geometry_t* g, uint32_t operand) {
  return lies_in_lines(&g->m, &g->n, operand, &g->leading[operand]);
}

/* Rows go outside where a does not lie in lines of either kind, columns where b, y or c do not.
 * What is left then is a vector, which any positive stride suits: a line of one element. */
static void find_matrices(tenon__cublas_geometry_t* g, const tenon__cublas_views_t* views) {
  if (!find_matrix(g, A)) {
    make_outer(g, &g->m);
  }
  const bool c_lies = views->c == NULL || find_result(g, C);
  const bool bias_lies =
      views->bias == NULL || g->n.extent == 1 || g->n.strides[TENON_CUBLAS_BIAS] == 1;
  if (!find_matrix(g, B) || !find_result(g, Y) || !c_lies || !bias_lies) {
    make_outer(g, &g->n);
  }
  if (!find_result(g, Y) || (views->c != NULL && !find_result(g, C))) {
    make_outer(g, &g->m);
  }
  (void)find_matrix(g, A);
  (void)find_matrix(g, B);
  (void)find_result(g, Y);
  if (views->c == NULL) {
    g->leading[C] = g->leading[Y];
  } else {
    (void)find_result(g, C);
  }
}

/* The longest outer axis on which no operand goes backwards. */
static void take_batch(tenon__cublas_geometry_t* g) {
  uint32_t best = TENON_NONE;
  for (uint32_t k = 0; k < g->outer_rank; k++) {
    const tenon__cublas_axis_t* axis = &g->outer[k];
    bool suits = axis->extent <= INT32_MAX && axis->strides[TENON_CUBLAS_BIAS] == 0;
    for (uint32_t operand = 0; operand < TENON_CUBLAS_OPERANDS; operand++) {
      suits = suits && axis->strides[operand] >= 0;
    }
    if (suits && (best == TENON_NONE || axis->extent > g->outer[best].extent)) {
      best = k;
    }
  }
  if (best != TENON_NONE) {
    g->batch = g->outer[best];
    g->outer[best].extent = 1;
    drop_ones(g);
  }
}

static bool is_empty(const tenon_tensor_view_t* view) {
  bool found = false;
  for (uint32_t k = 0; k < view->rank; k++) {
    found = found || view->dims[k] == 0;
  }
  return found;
}

void tenon__cublas_geometry_find(const tenon__cublas_views_t* views,
                                 tenon__cublas_geometry_t* out_geometry) {
  tenon__cublas_geometry_t* g = out_geometry;
  memset(g, 0, sizeof(*g));
  if (is_empty(views->y)) {
    return;
  }
  read_axes(views, g);
  drop_ones(g);
  if (g->k.extent == 0) {
    sum_nothing(g);
  } else {
    join_rows(g);
  }
  if (g->k.extent > 1 && (g->k.strides[A] <= 0 || g->k.strides[B] <= 0)) {
    g->sum = g->k;
    g->k = (tenon__cublas_axis_t){.extent = 1};
  }
  join_outer(g);
  find_matrices(g, views);
  take_batch(g);
  g->calls = 1;
  for (uint32_t k = 0; k < g->outer_rank; k++) {
    g->calls *= (uint64_t)g->outer[k].extent;
  }
}
