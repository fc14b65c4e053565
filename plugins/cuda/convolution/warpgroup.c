/* The tiles of warpgroups and their estimates. */
#include "warpgroup.h"

#include <math.h>

enum {
  STEPS_MAX = 24,           /* of a block */
  SHARED_BYTES = 227 << 10, /* of a block, and of all blocks of a multiprocessor */
  RESERVED_BYTES = 1 << 10, /* of each block, beside its own */
  WAVES_MAX = 2
};

static bool takes(const tenon__cuda_problem_t* p, uint8_t product) {
  const char* why = NULL;
  return (product == TENON_CUDA_PRODUCT_F16 || product == TENON_CUDA_PRODUCT_BF16) &&
         !p->is_spread && tenon__cuda_kind_of(p, product, &why) == TENON_CUDA_DIRECT;
}

/* Each block of a cluster computes some steps of the sum and finishes the same number of tiles. If
 * 4 or 8 blocks share a sum, each has one warpgroup and 64 outputs, because the transfer of more
 * sums takes longer than the pixels that it saves. */
static bool is_valid(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  const int64_t steps = tenon__cuda_steps_of(p, c);
  const bool is_pair = c.parts == 1 || c.parts == 2;
  const bool is_many = (c.parts == 4 || c.parts == 8) && c.rows == 4 && c.across == 8;
  return (c.rows == 4 || c.rows == 8) && c.along == 1 && (is_pair || is_many) &&
         (c.across == 4 || c.across == 6 || c.across == 8 || c.across == 12 || c.across == 16) &&
         (is_many || c.across % (2 * c.parts) == 0) && c.steps == tenon__cuda_up(steps, c.parts) &&
         c.steps <= STEPS_MAX && steps > (int64_t)c.steps * (c.parts - 1) &&
         tenon__cuda_warpgroup_bytes(c) <= SHARED_BYTES;
}

bool tenon__cuda_warpgroup_knows(const tenon__cuda_problem_t* problem,
                                 tenon__cuda_choice_t choice) {
  return takes(problem, choice.product) && is_valid(problem, choice);
}

/* ---- Estimates ---- */

static int64_t pixels_of(const tenon__cuda_problem_t* p) {
  int64_t pixels = 1;
  for (uint32_t axis = 0; axis < p->y->rank; axis++) {
    pixels *= axis == p->axes[TENON_CUDA_AXIS_CHANNEL] ? 1 : p->y->dims_opt[axis];
  }
  return pixels < 1 ? 1 : pixels;
}

/* Returns 0 if there are too many blocks. The estimate is the sum of a launch, the pixels that a
 * multiprocessor reads, the sums that it sends to other blocks, weights that are late because
 * blocks of the previous launch occupy the shared memory, and the results of a thread. The
 * constants were measured: tests/research/product_of_128_rows.md and README.md. */
static double seconds_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  const double rate = 113e9; /* of a multiprocessor */
  const double pixels = (double)tenon__cuda_choice_pixels(c);
  const double outputs = (double)tenon__cuda_choice_outputs(c);
  const double row = (double)c.steps * TENON_CUDA_WARPGROUP_STEP;
  const int64_t blocks = tenon__cuda_up(pixels_of(p), tenon__cuda_choice_pixels(c)) *
                         tenon__cuda_up(p->outputs, tenon__cuda_choice_outputs(c)) * c.parts;
  const int64_t at_once = SHARED_BYTES / (tenon__cuda_warpgroup_bytes(c) + RESERVED_BYTES);
  const int64_t places = at_once * TENON_CUDA_MULTIPROCESSORS;
  if (places == 0 || blocks > places * WAVES_MAX) {
    return 0;
  }
  const double each = at_once == 1 || blocks < TENON_CUDA_MULTIPROCESSORS
                          ? (double)tenon__cuda_up(blocks, TENON_CUDA_MULTIPROCESSORS)
                          : (double)blocks / TENON_CUDA_MULTIPROCESSORS;
  const double late = fmin(fmax(2.0 - (double)places / (double)blocks, 0), 1); /* share of blocks */
  const double pushed = pixels * outputs * sizeof(float) * (c.parts - 1) / c.parts;
  const double moved = 1.4 * pixels * row + 4.5 * pushed + 2.7 * late * outputs * row;
  return 1.3e-6 + each * (moved / rate + outputs / c.parts * 0.02e-6);
}

uint32_t tenon__cuda_warpgroup_choose(const tenon__cuda_problem_t* problem, uint8_t product,
                                      tenon__cuda_choice_t* out_choices, double* out_seconds) {
  static const uint8_t across[] = {4, 6, 8, 12, 16};
  uint32_t count = 0;
  if (!takes(problem, product)) {
    return 0;
  }
  for (uint32_t k = 0; k < sizeof(across) * 8; k++) {
    tenon__cuda_choice_t c = {.kind = TENON_CUDA_WARPGROUP,
                              .product = product,
                              .rows = k % 2 == 0 ? 4 : 8,
                              .across = across[k / 8],
                              .along = 1,
                              .parts = (uint8_t)(1 << k / 2 % 4)};
    const int64_t steps = tenon__cuda_up(tenon__cuda_steps_of(problem, c), c.parts);
    c.steps = (uint8_t)(steps < STEPS_MAX ? steps : STEPS_MAX);
    const double seconds = is_valid(problem, c) ? seconds_of(problem, c) : 0;
    if (seconds > 0) {
      tenon__cuda_rank(c, seconds, TENON_CUDA_WARPGROUP_TACTICS, &count, out_choices, out_seconds);
    }
  }
  return count;
}
