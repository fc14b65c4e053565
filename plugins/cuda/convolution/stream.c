/* Which streams there are, and what they might cost. */
#include "stream.h"

#include "epilogue.h"

enum {
  STEPS_MOST = 5,      /* of 64 bytes of channels, so that all weights stay in registers */
  PIXELS_LEAST = 2048, /* below, there is nothing to go over */
  WARPS = 4,           /* of a block */
  BLOCKS_MOST = 6,     /* of a multiprocessor */
  REGISTERS = 65536
};

/* Nothing in the slot asks where a pixel lies in its image, and a number is all that operands need.
 */
static bool needs_numbers_alone(const tenon__cuda_problem_t* p) {
  tenon__cuda_epilogue_t e;
  uint32_t reason = 0;
  bool good = tenon__cuda_epilogue_make(p, p->x->dtype, &e, &reason) == NULL &&
              e.analysis.indexed_count == 0;
  for (uint32_t axis = 0; good && axis < e.program.rank; axis++) {
    good = e.analysis.axis_walks[axis] == TENON_NONE;
  }
  for (uint32_t k = 0; good && k < e.program.operand_count; k++) {
    good = k == e.value ||
           tenon__cuda_operand_sort(p, e.operands[k].index) != TENON_CUDA_OPERAND_OTHER;
  }
  return good;
}

/* Is pixel n of the result pixel n of the image? */
static bool is_pixel_for_pixel(const tenon__cuda_problem_t* p) {
  for (uint32_t axis = 0; axis < 2; axis++) {
    const uint32_t which = TENON_CUDA_AXIS_ROW + axis;
    if (p->window.stride[axis] != 1 || p->window.begin[axis] != 0 ||
        tenon__cuda_extent_of(p, p->x->dims_min, which) !=
            tenon__cuda_extent_of(p, p->y->dims_min, which) ||
        tenon__cuda_extent_of(p, p->x->dims_max, which) !=
            tenon__cuda_extent_of(p, p->y->dims_max, which)) {
      return false;
    }
  }
  return true;
}

static int64_t steps_of(const tenon__cuda_problem_t* p, uint8_t product) {
  return tenon__cuda_steps_of(
      p, (tenon__cuda_choice_t){.kind = TENON_CUDA_STREAMING, .product = product});
}

bool tenon__cuda_stream_takes(const tenon__cuda_problem_t* problem, uint8_t product) {
  const char* why = NULL;
  return !problem->is_product && !problem->is_spread &&
         tenon__cuda_kind_of(problem, product, &why) == TENON_CUDA_DIRECT &&
         problem->outputs % TENON_CUDA_STREAM_ELEMENTS == 0 &&
         steps_of(problem, product) <= STEPS_MOST && is_pixel_for_pixel(problem) &&
         needs_numbers_alone(problem);
}

bool tenon__cuda_stream_knows(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice) {
  return tenon__cuda_stream_takes(problem, choice.product) &&
         choice.steps == steps_of(problem, choice.product) && choice.rows > 0 &&
         (choice.across == 4 || choice.across == 8) && choice.along == WARPS && choice.parts > 0;
}

static int64_t groups_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  return tenon__cuda_up(p->outputs, tenon__cuda_choice_outputs(c));
}

int64_t tenon__cuda_stream_warps(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                                 int64_t pixels, int64_t multiprocessors) {
  const int64_t tiles = tenon__cuda_up(pixels, tenon__cuda_choice_pixels(choice));
  const int64_t all = multiprocessors * choice.parts * choice.along / groups_of(problem, choice);
  return tiles == 0 ? 0 : tenon__cuda_up(tiles, tenon__cuda_up(tiles, all < 1 ? 1 : all));
}

/* ---- Choosing ---- */

/* Of a thread: weights, what is multiplied, sums, the bias, what the slot reads, and what NVRTC was
 * seen to take beside them. */
static int64_t registers_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  const int64_t weights = 4 * (int64_t)c.steps * c.across;
  const int64_t read = 8 * (int64_t)c.steps * c.rows;
  int64_t operands = 0;
  for (uint32_t k = 0; p->program != NULL && k < p->program->operand_count; k++) {
    const tenon_operand_t* operand = &p->program->operands[k];
    if (operand->kind != TENON_OPERAND_SLOT_VALUE) {
      const int64_t words = tenon__cuda_bytes(operand->dtype) * (int64_t)c.across; /* of two rows */
      const bool is_dense = tenon__cuda_operand_sort(p, operand->index) == TENON_CUDA_OPERAND_DENSE;
      operands += is_dense ? words * c.rows : words / 2;
    }
  }
  const int64_t sums = 4 * (int64_t)(c.rows + 1) * c.across; /* and the bias */
  return weights + read + sums + operands + 36;
}

/* Bytes, or instructions: of a tile so many, and of each of a lane's results. */
static double seconds_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c, int64_t pixels) {
  const int64_t bytes = pixels * (p->channels + p->outputs) * tenon__cuda_product_bytes(c);
  const int64_t warps = tenon__cuda_stream_warps(p, c, pixels, TENON_CUDA_MULTIPROCESSORS);
  const int64_t tiles =
      warps == 0 ? 0 : tenon__cuda_up(tenon__cuda_up(pixels, tenon__cuda_choice_pixels(c)), warps);
  const double results = 4.0 * c.rows * c.across;
  const double instructions =
      (double)tiles * (80 + 4.0 * c.steps * c.rows * c.across + 20 * results);
  const double computing = instructions * c.parts * c.along / 4 / 1.7e9;
  const double moving = (double)bytes / 2.5e12;
  return 2.5e-6 + (computing > moving ? computing : moving);
}

uint32_t tenon__cuda_stream_choose(const tenon__cuda_problem_t* problem, uint8_t product,
                                   tenon__cuda_choice_t* out_choices, double* out_seconds) {
  static const uint8_t shapes[TENON_CUDA_STREAM_TACTICS][2] = {{1, 4}, {2, 4}, {1, 8}};
  const tenon__cuda_problem_t* p = problem;
  int64_t pixels = 1;
  for (uint32_t axis = 0; axis < p->y->rank; axis++) {
    pixels *= axis == p->axes[TENON_CUDA_AXIS_CHANNEL] ? 1 : p->y->dims_opt[axis];
  }
  if (pixels < PIXELS_LEAST || !tenon__cuda_stream_takes(p, product)) {
    return 0;
  }
  uint32_t count = 0;
  for (uint32_t k = 0; k < TENON_CUDA_STREAM_TACTICS; k++) {
    tenon__cuda_choice_t c = {.kind = TENON_CUDA_STREAMING,
                              .product = product,
                              .rows = shapes[k][0],
                              .across = shapes[k][1],
                              .along = WARPS,
                              .steps = (uint8_t)steps_of(p, product)};
    const int64_t blocks = REGISTERS / (tenon__cuda_choice_threads(c) * registers_of(p, c));
    c.parts = (uint8_t)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST);
    if (blocks >= 2 && (c.across == 4 || p->outputs > 32)) {
      out_seconds[count] = seconds_of(p, c, pixels);
      out_choices[count++] = c;
    }
  }
  return count;
}
