/* Which tiles there are, and what they might cost. */
#include "tiles.h"

enum {
  WIDE_STEP = 64,  /* bytes of a pixel in a step of DIRECT */
  TAP_STEP = 32,   /* of PATCH, and of neighbouring pixels in one of NARROW */
  NARROW_MOST = 4, /* channels of NARROW, and as many as it keeps */
  PIECE = 16,      /* bytes that are read at once */
  PATCH_GAP = 16,  /* bytes between pixels, so that neighbours lie in other banks */
  THREAD_REGISTERS = 255,
  BLOCK_REGISTERS = 65536,
  BESIDE_BYTES = 100 << 10, /* sums lie beside the patch up to this */
  SHARED_BYTES = 227 << 10,
  MOST_ROWS = 512, /* of a product: beyond, a library's tiles are better */
  DEPTHWISE_THREADS = 128,
  DEPTHWISE_AT_ONCE = 1024, /* of a multiprocessor: with more, threads do several pixels each */
  DEPTHWISE_WEIGHTS = 128   /* of a thread, in registers */
};

tenon_dtype_t tenon__cuda_product_type(tenon__cuda_choice_t choice) {
  return choice.product == TENON_CUDA_PRODUCT_F16    ? TENON_DTYPE_FLOAT16
         : choice.product == TENON_CUDA_PRODUCT_BF16 ? TENON_DTYPE_BFLOAT16
                                                     : TENON_DTYPE_FLOAT32;
}
int64_t tenon__cuda_product_bytes(tenon__cuda_choice_t choice) {
  return tenon__cuda_product_type(choice) == TENON_DTYPE_FLOAT32 ? 4 : 2;
}
uint32_t tenon__cuda_choice_elements(tenon__cuda_choice_t choice) {
  return choice.kind == TENON_CUDA_DEPTHWISE   ? choice.along
         : choice.kind == TENON_CUDA_STREAMING ? TENON_CUDA_STREAM_ELEMENTS
         : choice.kind == TENON_CUDA_WARPGROUP && choice.across == choice.parts
             ? TENON_CUDA_TILE_ELEMENTS / 2
             : TENON_CUDA_TILE_ELEMENTS;
}
uint32_t tenon__cuda_choice_threads(tenon__cuda_choice_t choice) {
  return choice.kind == TENON_CUDA_DEPTHWISE   ? DEPTHWISE_THREADS
         : choice.kind == TENON_CUDA_STREAMING ? 32U * choice.along
         : choice.kind == TENON_CUDA_WARPGROUP ? 32U * choice.rows
                                               : 32U * choice.along * choice.parts;
}
int64_t tenon__cuda_choice_pixels(tenon__cuda_choice_t choice) {
  return 16 * (int64_t)choice.rows;
}
int64_t tenon__cuda_choice_outputs(tenon__cuda_choice_t choice) {
  const bool is_alone = choice.kind == TENON_CUDA_STREAMING || choice.kind == TENON_CUDA_WARPGROUP;
  return 8 * (int64_t)choice.across * (is_alone ? 1 : choice.along);
}

/* ---- Kinds ---- */

int64_t tenon__cuda_taps_of(const tenon__cuda_problem_t* problem) {
  return problem->is_spread ? 1 : problem->window.kernel[0] * problem->window.kernel[1];
}

/* Of NARROW: bytes of a pixel, and pixels of a step. */
static int64_t narrow_bytes(tenon__cuda_choice_t c) {
  return NARROW_MOST * tenon__cuda_product_bytes(c);
}
static int64_t narrow_neighbours(tenon__cuda_choice_t c) {
  return TAP_STEP / narrow_bytes(c);
}

int64_t tenon__cuda_steps_of(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice) {
  const tenon__cuda_window_t* w = &problem->window;
  const int64_t bytes = problem->channels * tenon__cuda_product_bytes(choice);
  return choice.kind == TENON_CUDA_DEPTHWISE ? tenon__cuda_taps_of(problem)
         : choice.kind == TENON_CUDA_DIRECT || choice.kind == TENON_CUDA_STREAMING
             ? tenon__cuda_up(bytes, WIDE_STEP)
         : choice.kind == TENON_CUDA_WARPGROUP
             ? tenon__cuda_up(bytes, TENON_CUDA_WARPGROUP_STEP) * tenon__cuda_taps_of(problem)
         : choice.kind == TENON_CUDA_PATCH
             ? tenon__cuda_up(bytes, TAP_STEP) * tenon__cuda_taps_of(problem)
             : w->kernel[0] * tenon__cuda_up(w->kernel[1], narrow_neighbours(choice));
}

static int64_t pitch_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  const int64_t bytes = p->channels * tenon__cuda_product_bytes(c);
  return c.kind == TENON_CUDA_NARROW ? narrow_bytes(c)
                                     : tenon__cuda_up(bytes, TAP_STEP) * TAP_STEP + PATCH_GAP;
}

/* Pixels of x along an axis that a tile of so many results reads. */
static int64_t patch_extent(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c, uint32_t axis,
                            int64_t results) {
  const int64_t neighbours = narrow_neighbours(c);
  const int64_t reach = c.kind == TENON_CUDA_NARROW && axis == 1
                            ? tenon__cuda_up(p->window.kernel[1], neighbours) * neighbours
                            : tenon__cuda_window_reach(&p->window, axis);
  return (results - 1) * p->window.stride[axis] + reach;
}

/* Of a product, at the optimum. */
static int64_t rows_of(const tenon__cuda_problem_t* p) {
  int64_t rows = 1;
  for (uint32_t axis = 0; axis + 1 < p->x->rank; axis++) {
    rows *= p->x->dims_opt[axis];
  }
  return rows;
}

/* What a result reads, and what says where. */
static bool fits_shared_memory(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  return patch_extent(p, c, 0, 1) * patch_extent(p, c, 1, 1) * (pitch_of(p, c) + 4) +
             tenon__cuda_steps_of(p, c) * 4 <=
         SHARED_BYTES / 2;
}

/* By shape alone. */
static tenon__cuda_form_kind_t kind_by_shape(const tenon__cuda_problem_t* p, uint8_t product,
                                             const char** out_why) {
  tenon__cuda_choice_t c = {.product = product};
  const int64_t bytes = tenon__cuda_product_bytes(c);
  const bool in_pieces = p->channels * bytes % PIECE == 0;
  const bool is_few = !p->is_product && !p->is_spread && p->channels <= NARROW_MOST;
  if (p->is_spread && (p->groups != 1 || p->outputs % TENON_CUDA_TILE_ELEMENTS != 0)) {
    *out_why = "groups, or outputs that are no multiple of 4";
  } else if (p->is_product && !in_pieces) {
    *out_why = bytes == 2 ? "a sum of terms that are no multiple of 8"
                          : "a sum of terms that are no multiple of 4";
  } else if (p->is_product && rows_of(p) > MOST_ROWS) {
    *out_why = "more than 512 rows";
  } else if (p->groups != 1 && p->groups == p->channels && p->outputs == p->channels) {
    if (tenon__cuda_taps_of(p) <= DEPTHWISE_WEIGHTS) {
      return TENON_CUDA_DEPTHWISE;
    }
    *out_why = "a window of more than 128 taps";
  } else if (p->groups != 1) {
    *out_why = "groups";
  } else if (is_few && p->window.dilation[1] == 1) {
    c.kind = TENON_CUDA_NARROW;
  } else if (in_pieces) {
    c.kind = tenon__cuda_taps_of(p) == 1 ? TENON_CUDA_DIRECT : TENON_CUDA_PATCH;
  } else {
    *out_why = is_few       ? "few channels, dilated"
               : bytes == 2 ? "channels that are no multiple of 8"
                            : "channels that are no multiple of 4";
  }
  if (c.kind != 0 && c.kind != TENON_CUDA_DIRECT && !fits_shared_memory(p, c)) {
    *out_why = "a window larger than a block's shared memory";
    c.kind = 0;
  }
  return (tenon__cuda_form_kind_t)c.kind;
}

tenon__cuda_form_kind_t tenon__cuda_kind_of(const tenon__cuda_problem_t* problem, uint8_t product,
                                            const char** out_why) {
  const tenon__cuda_choice_t choice = {.product = product};
  const tenon_dtype_t type = problem->x->dtype;
  *out_why = "a type that is not multiplied so";
  if (product >= TENON_CUDA_PRODUCT_COUNT ||
      (type != TENON_DTYPE_FLOAT32 && type != tenon__cuda_product_type(choice))) {
    return (tenon__cuda_form_kind_t)0;
  }
  const tenon__cuda_form_kind_t kind = kind_by_shape(problem, product, out_why);
  const uint8_t never =
      kind == TENON_CUDA_DEPTHWISE ? TENON_CUDA_PRODUCT_TF32 : TENON_CUDA_PRODUCT_F32;
  return product == never ? (tenon__cuda_form_kind_t)0 : kind;
}

/* ---- Shared memory ---- */

static int64_t sums_bytes(tenon__cuda_choice_t c) {
  return c.parts * tenon__cuda_choice_pixels(c) * (tenon__cuda_choice_outputs(c) + 8) * 4;
}

/* Tables, then the patch, then the sums, or the sums over the patch. */
static int64_t lay_out(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c,
                       const int64_t tile[2], tenon__cuda_shape_t* s) {
  const int64_t patch_y = patch_extent(p, c, 0, tile[0]);
  const int64_t patch_x = patch_extent(p, c, 1, tile[1]);
  const int64_t pitch = pitch_of(p, c);
  const int64_t table = tenon__cuda_up(patch_y * patch_x * 4, 16) * 16;
  const int64_t patch = tenon__cuda_up(table + tenon__cuda_steps_of(p, c) * 4, 128) * 128;
  const int64_t behind = tenon__cuda_up(patch + patch_y * patch_x * pitch, 128) * 128;
  const bool overlap = behind + sums_bytes(c) > BESIDE_BYTES;
  const int64_t sums = overlap ? patch : behind;
  const int64_t all = sums + sums_bytes(c);
  *s = (tenon__cuda_shape_t){.tile = {(int32_t)tile[0], (int32_t)tile[1]},
                             .patch_x = (int32_t)patch_x,
                             .patch_pixels = (int32_t)(patch_y * patch_x),
                             .pitch = (int32_t)pitch,
                             .table_at = (int32_t)table,
                             .patch_at = (int32_t)patch,
                             .sums_at = (int32_t)sums,
                             .sums_overlap = overlap ? 1 : 0};
  return all > behind ? all : behind;
}

/* Of all boxes of a tile's pixels the one that takes fewest waves of blocks, then the smallest
 * patch. */
static int64_t lay_patch(const tenon__cuda_problem_t* p, tenon__cuda_choice_t choice,
                         const tenon__cuda_extents_t* extents, int64_t limit_bytes,
                         tenon__cuda_shape_t* out_shape) {
  const int64_t most = tenon__cuda_choice_pixels(choice);
  int64_t best_bytes = 0;
  int64_t best_cost = 0;
  for (int64_t y = 1; y <= most && y <= extents->y[0]; y++) {
    int64_t x = most / y < extents->y[1] ? most / y : extents->y[1];
    x = tenon__cuda_up(extents->y[1], tenon__cuda_up(extents->y[1], x)); /* as even as it can be */
    tenon__cuda_shape_t shape;
    const int64_t tile[2] = {y, x};
    const int64_t bytes = lay_out(p, choice, tile, &shape);
    const int64_t blocks = extents->images * tenon__cuda_up(extents->y[0], y) *
                           tenon__cuda_up(extents->y[1], x) *
                           tenon__cuda_up(p->outputs, tenon__cuda_choice_outputs(choice));
    const int64_t cost =
        tenon__cuda_up(blocks, TENON_CUDA_MULTIPROCESSORS) * (shape.patch_pixels + 8 * most);
    if (bytes <= limit_bytes && (best_bytes == 0 || cost < best_cost)) {
      best_bytes = bytes;
      best_cost = cost;
      *out_shape = shape;
    }
  }
  for (int64_t x = most; best_bytes == 0 && x > 0; x--) { /* many channels: part of a row */
    const int64_t tile[2] = {1, x < extents->y[1] ? x : extents->y[1]};
    const int64_t bytes = lay_out(p, choice, tile, out_shape);
    best_bytes = bytes <= limit_bytes ? bytes : 0;
  }
  return best_bytes;
}

bool tenon__cuda_tiles_lay(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                           const tenon__cuda_extents_t* extents, int64_t limit_bytes,
                           tenon__cuda_shape_t* out_shape, int64_t* out_bytes) {
  *out_shape = (tenon__cuda_shape_t){.tile = {choice.rows, choice.across}};
  *out_bytes = 0;
  if (choice.kind == TENON_CUDA_DEPTHWISE || choice.kind == TENON_CUDA_STREAMING) {
    return true;
  }
  *out_bytes = choice.kind == TENON_CUDA_DIRECT
                   ? sums_bytes(choice)
                   : lay_patch(problem, choice, extents, limit_bytes, out_shape);
  return *out_bytes > 0 && *out_bytes <= limit_bytes;
}

/* ---- Estimates ---- */

/* Registers of a thread: weights, what is multiplied, sums, what stands behind them. Where more is
 * read meanwhile, NVRTC rounds much ahead of what multiplies it. */
static int64_t registers_of(tenon__cuda_choice_t c, bool is_once) {
  const int64_t threads = tenon__cuda_choice_threads(c);
  const int64_t own = tenon__cuda_up(tenon__cuda_choice_pixels(c) * tenon__cuda_choice_outputs(c),
                                     TENON_CUDA_TILE_ELEMENTS * threads);
  const int64_t steps = c.steps;
  const int64_t sums = 4 * (int64_t)c.rows * c.across;
  const int64_t weights = steps * c.across * (c.kind == TENON_CUDA_DIRECT ? 4 : 2);
  const int64_t read = c.rows * (c.kind == TENON_CUDA_DIRECT ? steps * 8 : 6);
  const bool rounds_ahead =
      c.product == TENON_CUDA_PRODUCT_TF32 && c.kind == TENON_CUDA_DIRECT && !is_once && c.rows > 2;
  return weights + read + sums + own * 12 + 32 + (rounds_ahead ? 12 * (int64_t)c.rows : 0);
}

/* The estimate is the sum of a launch, the bytes and products of the busiest multiprocessor, sums
 * through shared memory, and an access to memory for each later round of weights. The constants
 * were measured: tests/research/product_of_128_rows.md. */
static double seconds_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c,
                         const tenon__cuda_extents_t* e) {
  const double pixels = (double)tenon__cuda_choice_pixels(c);
  const double outputs = (double)tenon__cuda_choice_outputs(c);
  const double steps = (double)tenon__cuda_steps_of(p, c);
  const double depth = steps * (c.kind == TENON_CUDA_DIRECT ? WIDE_STEP : TAP_STEP); /* bytes */
  tenon__cuda_shape_t shape;
  int64_t bytes = 0;
  const bool fits = tenon__cuda_tiles_lay(p, c, e, SHARED_BYTES, &shape, &bytes);
  int64_t tiles = tenon__cuda_up(e->images * e->y[0] * e->y[1], (int64_t)pixels);
  double read = pixels * depth;
  if (c.kind != TENON_CUDA_DIRECT) {
    tiles = !fits ? 0
                  : e->images * tenon__cuda_up(e->y[0], shape.tile[0]) *
                        tenon__cuda_up(e->y[1], shape.tile[1]);
    read = (double)shape.patch_pixels * shape.pitch * 2; /* and from there into registers */
  }
  const int64_t blocks = tiles * tenon__cuda_up(p->columns, (int64_t)outputs);
  const double each = (double)tenon__cuda_up(blocks, TENON_CUDA_MULTIPROCESSORS);
  const double warps = (double)c.along * c.parts;
  const double rate = (warps * each >= 8 ? 0.5 : 0.06 * warps * each) * 1.7e9;
  const double products = pixels / 16 * outputs / 8 * depth / 32; /* as fast in every type */
  const double rounds = (double)tenon__cuda_up((int64_t)steps, (int64_t)c.steps * c.parts);
  const double moved = read + outputs * depth;
  return !fits ? 0
               : 1.4e-6 +
                     each *
                         (moved / 90e9 + products / rate + (double)sums_bytes(c) / 110e9 + 0.1e-6) +
                     (rounds - 1) * (c.kind == TENON_CUDA_DIRECT ? 0.5e-6 : 0.15e-6);
}

/* ---- Choosing ---- */

void tenon__cuda_rank(tenon__cuda_choice_t choice, double seconds, uint32_t most,
                      uint32_t* inout_count, tenon__cuda_choice_t* inout_choices,
                      double* inout_seconds) {
  uint32_t at = *inout_count;
  while (at > 0 && inout_seconds[at - 1] > seconds) {
    at--;
  }
  if (at == most) {
    return;
  }
  *inout_count += *inout_count < most ? 1 : 0;
  for (uint32_t k = *inout_count - 1; k > at; k--) {
    inout_choices[k] = inout_choices[k - 1];
    inout_seconds[k] = inout_seconds[k - 1];
  }
  inout_choices[at] = choice;
  inout_seconds[at] = seconds;
}

/* As few rounds as registers allow, all of one length. */
static bool set_steps(int64_t steps, tenon__cuda_choice_t* c) {
  const int64_t threads = tenon__cuda_choice_threads(*c);
  const int64_t most =
      BLOCK_REGISTERS / threads < THREAD_REGISTERS ? BLOCK_REGISTERS / threads : THREAD_REGISTERS;
  for (int64_t rounds = 1; rounds <= steps; rounds++) {
    const int64_t each = tenon__cuda_up(steps, c->parts * rounds);
    c->steps = (uint8_t)(each < 255 ? each : 255);
    if (each < 64 && registers_of(*c, rounds == 1) <= most) {
      return c->parts == 1 || steps > (int64_t)c->steps * (c->parts - 1); /* each warp has some */
    }
  }
  return false;
}

tenon__cuda_extents_t tenon__cuda_extents_opt(const tenon__cuda_problem_t* problem) {
  const tenon__cuda_problem_t* p = problem;
  const int64_t images = tenon__cuda_extent_of(p, p->x->dims_opt, TENON_CUDA_AXIS_IMAGE);
  tenon__cuda_extents_t e = {.images = images < 1 ? 1 : images};
  for (uint32_t axis = 0; axis < 2; axis++) {
    const int64_t x = tenon__cuda_extent_of(p, p->x->dims_opt, TENON_CUDA_AXIS_ROW + axis);
    const int64_t y = tenon__cuda_extent_of(p, p->y->dims_opt, TENON_CUDA_AXIS_ROW + axis);
    e.x[axis] = x < 1 ? 1 : x;
    e.y[axis] = p->is_spread ? e.x[axis] : y < 1 ? 1 : y;
  }
  return e;
}

/* As measured (tests/research/convolutions_3x3_again.md): few channels and pixels a thread where there are few
 * of them. Where there are many, instructions are what takes time, and fewest for each pixel where
 * rows and columns that are read serve several; MANY stands for 7 or 8 rows, as the image has. */
static uint32_t choose_depthwise(const tenon__cuda_problem_t* p, uint8_t product,
                                 tenon__cuda_choice_t* out_choices, double* out_seconds) {
  enum { FORMS = 9, FEWEST = 4 /* of the elements of a thread, where there are many */, MANY = 7 };
  enum { FEW_WEIGHTS = 64 /* of a thread that has many pixels besides */ };
  static const uint8_t shapes[2][FORMS][3] = {
      /* channels, rows, columns */
      {{2, 1, 1}, {2, 1, 2}, {4, 1, 2}, {4, 2, 2}, {8, 1, 1}, {1, 1, 2}, {1, 1, 1}},
      {{4, MANY, 2},
       {4, MANY, 4},
       {4, 4, 2},
       {4, 2, 2},
       {2, MANY, 4},
       {2, MANY, 2},
       {2, 4, 4},
       {2, 2, 4},
       {1, 4, 4}}};
  const tenon__cuda_extents_t e = tenon__cuda_extents_opt(p);
  const int64_t elements = e.images * e.y[0] * e.y[1] * p->channels;
  const bool are_many = elements > (int64_t)FEWEST * TENON_CUDA_MULTIPROCESSORS * DEPTHWISE_AT_ONCE;
  const double pixels = (double)(e.x[0] * e.x[1] + e.y[0] * e.y[1]);
  const double bytes = 2.0 * (double)(e.images * p->channels) * pixels;
  uint32_t count = 0;
  for (uint32_t k = 0; k < FORMS && count < TENON_CUDA_TILE_TACTICS; k++) {
    const uint8_t* shape = shapes[are_many ? 1 : 0][k];
    const int64_t weights = shape[0] * tenon__cuda_taps_of(p);
    const int64_t most = are_many && shape[0] > 1 ? FEW_WEIGHTS : DEPTHWISE_WEIGHTS;
    if (shape[0] > 0 && p->channels % shape[0] == 0 && weights <= most) {
      out_seconds[count] = 1.3e-6 + bytes / 2e12 + 1e-8 * count;
      out_choices[count++] = (tenon__cuda_choice_t){
          .kind = TENON_CUDA_DEPTHWISE,
          .product = product,
          .rows = are_many && shape[1] == MANY && e.y[0] % MANY != 0 ? MANY + 1 : shape[1],
          .across = shape[2],
          .along = shape[0]};
    }
  }
  return count;
}

uint32_t tenon__cuda_tiles_choose(const tenon__cuda_problem_t* problem, uint8_t kind,
                                  uint8_t product, tenon__cuda_choice_t* out_choices,
                                  double* out_seconds) {
  static const uint8_t shapes[][3] = {
      /* tiles of 16 pixels, of 8 outputs, warps along these */
      {1, 2, 1}, {1, 4, 1}, {1, 4, 2}, {2, 2, 1}, {2, 4, 1}, {2, 4, 2}, {4, 4, 1}, {4, 4, 2}};
  if (kind == TENON_CUDA_DEPTHWISE) {
    return choose_depthwise(problem, product, out_choices, out_seconds);
  }
  const tenon__cuda_extents_t extents = tenon__cuda_extents_opt(problem);
  const int64_t steps =
      tenon__cuda_steps_of(problem, (tenon__cuda_choice_t){.kind = kind, .product = product});
  uint32_t count = 0;
  for (size_t k = 0; k < sizeof(shapes) / sizeof(*shapes); k++) {
    for (uint8_t parts = 1; parts <= 16; parts *= 2) {
      tenon__cuda_choice_t choice = {.kind = kind,
                                     .product = product,
                                     .rows = shapes[k][0],
                                     .across = shapes[k][1],
                                     .along = shapes[k][2],
                                     .parts = parts};
      const int64_t warps = (int64_t)choice.along * parts;
      if (warps > 16 || (warps < 4 && steps > 2 * warps) || !set_steps(steps, &choice)) {
        continue;
      }
      const double seconds = seconds_of(problem, choice, &extents);
      if (seconds > 0) {
        tenon__cuda_rank(choice, seconds, TENON_CUDA_TILE_TACTICS, &count, out_choices,
                         out_seconds);
      }
    }
  }
  return count;
}
