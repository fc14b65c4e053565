/* Tiles of warpgroups: those that are chosen fit, for any window. */
#include "warpgroup.h"

#include "core/base/test.h"

enum { DRAWS = 4000, SHARED = 227 << 10 };

static uint32_t state = 7;
static int64_t draw(int64_t low, int64_t high) {
  state = state * 1664525u + 1013904223u;
  return low + (int64_t)(state >> 8) % (high - low + 1);
}

typedef struct drawn_t {
  int64_t x[4];
  int64_t y[4];
  tenon_value_info_t values[2];
  tenon__cuda_problem_t problem;
} drawn_t;

/* A convolution of f16 with channels last, its padding as in most networks. */
static void draw_problem(drawn_t* d) {
  const int64_t kernel = draw(0, 3) == 0 ? 1 : draw(2, 7);
  const int64_t stride = draw(1, 3);
  *d = (drawn_t){.x = {draw(1, 4), 8 * draw(1, 70), kernel + draw(0, 300), kernel + draw(0, 300)}};
  tenon__cuda_problem_t* p = &d->problem;
  *p = (tenon__cuda_problem_t){
      .x = &d->values[0],
      .y = &d->values[1],
      .axes = {0, 1, 2, 3},
      .groups = 1,
      .channels = d->x[1],
      .outputs = draw(1, 600),
      .window = {.kernel = {kernel, kernel}, .stride = {stride, stride}, .dilation = {1, 1}}};
  p->columns = p->outputs;
  d->y[0] = d->x[0];
  d->y[1] = p->outputs;
  for (uint32_t k = 0; k < 2; k++) {
    p->window.dilation[k] = kernel == 1 ? 1 : draw(1, 2);
    p->window.begin[k] = tenon__cuda_window_reach(&p->window, k) / 2;
    d->y[2 + k] =
        (d->x[2 + k] + 2 * p->window.begin[k] - tenon__cuda_window_reach(&p->window, k)) / stride +
        1;
  }
  d->values[0] = (tenon_value_info_t){.dtype = TENON_DTYPE_FLOAT16, .rank = 4, .dims_opt = d->x};
  d->values[1] = (tenon_value_info_t){.dtype = TENON_DTYPE_FLOAT16, .rank = 4, .dims_opt = d->y};
}

TENON_TEST(chosen_tiles_fit_and_are_known) {
  int chosen = 0;
  int repeated = 0;
  for (int k = 0; k < DRAWS; k++) {
    drawn_t d;
    tenon__cuda_choice_t choices[TENON_CUDA_WARPGROUP_TACTICS];
    double seconds[TENON_CUDA_WARPGROUP_TACTICS];
    draw_problem(&d);
    const uint32_t count =
        tenon__cuda_warpgroup_choose(&d.problem, TENON_CUDA_PRODUCT_F16, choices, seconds);
    const tenon__cuda_extents_t extents = tenon__cuda_extents_opt(&d.problem);
    for (uint32_t c = 0; c < count; c++) {
      tenon__cuda_shape_t shape = {0};
      const int64_t bytes =
          tenon__cuda_warpgroup_lay(&d.problem, choices[c], &extents, SHARED, &shape);
      EXPECT(tenon__cuda_warpgroup_knows(&d.problem, choices[c]));
      EXPECT(bytes > 0 && bytes <= SHARED && seconds[c] > 1e-6 && seconds[c] < 1);
      EXPECT(tenon__cuda_warpgroup_blocks(choices[c], 1000, 3, bytes, 132) > 0);
      repeated += choices[c].along == 2 ? 1 : 0;
    }
    chosen += count > 0 ? 1 : 0;
  }
  EXPECT(chosen > DRAWS / 4);
  EXPECT(repeated > DRAWS / 8);
}
