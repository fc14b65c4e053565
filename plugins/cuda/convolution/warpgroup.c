/* The tiles of warpgroups and their estimates. */
#include "warpgroup.h"

#include <math.h>

enum {
  STEPS_MAX = 24, /* of a block, of windows of one pixel */
  WINDOW_STEPS_MAX = 54,
  SHARED_BYTES = 227 << 10, /* of a block, and of all blocks of a multiprocessor */
  RESERVED_BYTES = 1 << 10, /* of each block, beside its own */
  WAVES_MAX = 2,
  WINDOW_WAVES_MAX = 32,
  BUFFERS = 2, /* of repeated tiles */
  WINDOW_TACTICS =
      3, /* of those that are computed once: the fastest has been among the first two */
  REPEATED_TACTICS = TENON_CUDA_WARPGROUP_TACTICS - WINDOW_TACTICS
};

static bool takes(const tenon__cuda_problem_t* p, uint8_t product) {
  const char* why = NULL;
  const tenon__cuda_form_kind_t wanted =
      tenon__cuda_is_window(p) ? TENON_CUDA_PATCH : TENON_CUDA_DIRECT;
  return (product == TENON_CUDA_PRODUCT_F16 || product == TENON_CUDA_PRODUCT_BF16) &&
         !p->is_spread && tenon__cuda_kind_of(p, product, &why) == wanted;
}

/* Chunks of channels of the whole sum. */
static int64_t chunks_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  return tenon__cuda_steps_of(p, c) / tenon__cuda_taps_of(p);
}

/* ---- Shared memory ---- */

/* A barrier, weights, and sums that other blocks send. */
static int64_t other_bytes(tenon__cuda_choice_t c) {
  const int64_t pixels = tenon__cuda_choice_pixels(c);
  const int64_t outputs = tenon__cuda_choice_outputs(c);
  const int64_t pushed = pixels * outputs * 4 / c.parts * (c.parts - 1);
  return TENON_CUDA_WARPGROUP_TILE + TENON_CUDA_WARPGROUP_STEP * outputs * c.steps + pushed;
}

/* Positions from the first to the last one that a tap reads, along an axis. */
static int64_t reach_of(const tenon__cuda_window_t* w, uint32_t axis) {
  return (tenon__cuda_window_reach(w, axis) - 1) / w->stride[axis];
}

static int64_t tiles_of(const tenon__cuda_extents_t* e, int64_t strip, int64_t patch,
                        int64_t pixels) {
  return e->images * tenon__cuda_up(e->y[1], strip) * tenon__cuda_up(e->y[0] * patch, pixels);
}

/* The next width of strips of an extent. */
static int64_t narrower(int64_t extent, int64_t strip) {
  return tenon__cuda_up(extent, tenon__cuda_up(extent, strip - 1));
}

int64_t tenon__cuda_warpgroup_lay(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                                  const tenon__cuda_extents_t* extents, int64_t limit_bytes,
                                  tenon__cuda_shape_t* out_shape) {
  enum { GROUP = 8 /* pixels of a row of the swizzle */ };
  const tenon__cuda_window_t* w = &problem->window;
  const int64_t pixels = tenon__cuda_choice_pixels(choice);
  const int64_t others = other_bytes(choice);
  if (!tenon__cuda_is_window(problem)) {
    return others + TENON_CUDA_WARPGROUP_STEP * pixels * choice.steps;
  }
  const int64_t chunks =
      tenon__cuda_is_repeated(choice) ? BUFFERS : choice.steps / tenon__cuda_taps_of(problem);
  int64_t best_bytes = 0;
  int64_t best_tiles = 0;
  /* Each width once, as even as its number of strips permits. */
  int64_t strip = extents->y[1];
  for (; strip > 0; strip = strip == 1 ? 0 : narrower(extents->y[1], strip)) {
    const int64_t patch_x = strip + reach_of(w, 1);
    const int64_t positions = pixels + reach_of(w, 0) * patch_x + reach_of(w, 1);
    const int64_t patch = tenon__cuda_up(positions, GROUP) * GROUP;
    const int64_t bytes =
        others + chunks * w->stride[0] * w->stride[1] * patch * TENON_CUDA_WARPGROUP_STEP;
    const int64_t tiles = tiles_of(extents, strip, patch_x, pixels);
    if (bytes <= limit_bytes &&
        (best_bytes == 0 || tiles < best_tiles || (tiles == best_tiles && bytes < best_bytes))) {
      best_bytes = bytes;
      best_tiles = tiles;
      *out_shape = (tenon__cuda_shape_t){
          .tile = {1, (int32_t)strip}, .patch_x = (int32_t)patch_x, .patch_pixels = (int32_t)patch};
    }
  }
  return best_bytes;
}

/* ---- Tiles ---- */

/* Each block of a cluster computes some steps of the sum and finishes the same number of tiles. If
 * 4 or 8 blocks share a sum of one pixel, each has one warpgroup and 64 outputs, because the transfer
 * of more sums takes longer than the pixels that it saves. */
static bool is_valid(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c) {
  const int64_t taps = tenon__cuda_taps_of(p);
  const int64_t chunks = chunks_of(p, c);
  const int64_t own = chunks > 0 && c.parts > 0 ? tenon__cuda_up(chunks, c.parts) : 0;
  const bool is_pair = c.parts == 1 || c.parts == 2;
  const bool is_many = (c.parts == 4 || c.parts == 8) &&
                       (tenon__cuda_is_window(p) || (c.rows == 4 && c.across == 8));
  const bool is_once = c.along == 1;
  const bool is_many_times =
      tenon__cuda_is_repeated(c) && tenon__cuda_is_window(p) && c.parts == 1 && c.across <= 8;
  return (c.rows == 4 || c.rows == 8) && (is_once || is_many_times) && (is_pair || is_many) &&
         (c.across == 4 || c.across == 6 || c.across == 8 || c.across == 12 || c.across == 16) &&
         (c.across % (2 * c.parts) == 0 || (c.across == c.parts && c.parts > 2)) &&
         c.steps == own * taps &&
         c.steps <= (tenon__cuda_is_window(p) ? WINDOW_STEPS_MAX : STEPS_MAX) &&
         chunks > own * (c.parts - 1);
}

bool tenon__cuda_warpgroup_knows(const tenon__cuda_problem_t* problem,
                                 tenon__cuda_choice_t choice) {
  return takes(problem, choice.product) && is_valid(problem, choice);
}

/* ---- Estimates ---- */

/* Seconds in which a multiprocessor multiplies a tile, if no other block does: a product of 64 rows
 * takes as long as its factors are read, at least 22 clocks. */
static double product_seconds(tenon__cuda_choice_t c) {
  const double outputs = (double)tenon__cuda_choice_outputs(c);
  const double clocks = fmax(22.0 + outputs / 4, outputs * 0.54);
  return (double)tenon__cuda_choice_pixels(c) / 64 * c.steps * 4 * clocks / 1.7e9;
}

static int64_t blocks_at_once(tenon__cuda_choice_t c, int64_t shared_bytes) {
  const int64_t fit = SHARED_BYTES / (shared_bytes + RESERVED_BYTES);
  const int64_t most = c.rows == 4 ? 3 : 2; /* as their registers permit */
  return tenon__cuda_is_repeated(c) && fit > most ? most : fit;
}

int64_t tenon__cuda_warpgroup_blocks(tenon__cuda_choice_t choice, int64_t tiles,
                                     int64_t column_tiles, int64_t shared_bytes,
                                     int64_t multiprocessors) {
  const int64_t places = blocks_at_once(choice, shared_bytes) * multiprocessors / column_tiles;
  const int64_t blocks = places < 1 ? 1 : places;
  return tenon__cuda_is_repeated(choice) && blocks < tiles ? blocks : tiles;
}

/* Of a tile, on a multiprocessor. */
typedef struct work_t {
  double read;     /* bytes of pixels */
  double weights;  /* bytes */
  double pushed;   /* bytes */
  double products; /* seconds */
  double results;  /* seconds */
} work_t;

/* Copies of the next chunk run beside products, so the longer of both counts. */
static double repeated_seconds(const work_t* w, double rate, int64_t blocks, int64_t at_once) {
  const double each = (double)tenon__cuda_up(blocks, at_once * TENON_CUDA_MULTIPROCESSORS);
  const double copies = 1.4 * w->read / rate;
  const double longer = fmax(fmax(copies, w->products) * (double)at_once, copies + w->products);
  return 1.3e-6 + w->weights * (double)at_once / rate + each * (longer + w->results);
}

/* Returns 0 if there are too many blocks, or the tile does not fit. The estimate is the sum of a
 * launch, the pixels that a multiprocessor reads, the sums that it sends to other blocks, weights
 * that are late because blocks of the previous launch occupy the shared memory, products of windows,
 * and the results of a thread. The constants were measured: tests/research/product_of_128_rows.md
 * and README.md. */
static double seconds_of(const tenon__cuda_problem_t* p, tenon__cuda_choice_t c,
                         const tenon__cuda_extents_t* e) {
  const double rate = 113e9; /* of a multiprocessor */
  const double pixels = (double)tenon__cuda_choice_pixels(c);
  const double outputs = (double)tenon__cuda_choice_outputs(c);
  const double row = (double)c.steps * TENON_CUDA_WARPGROUP_STEP;
  tenon__cuda_shape_t s = {.tile = {1, 1}};
  const int64_t bytes = tenon__cuda_warpgroup_lay(p, c, e, SHARED_BYTES, &s);
  const int64_t at_once = bytes == 0 ? 0 : blocks_at_once(c, bytes);
  if (at_once == 0) {
    return 0;
  }
  const int64_t tiles =
      tenon__cuda_is_window(p)
          ? tiles_of(e, s.tile[1], s.patch_x, tenon__cuda_choice_pixels(c))
          : tenon__cuda_up(e->images * e->y[0] * e->y[1], tenon__cuda_choice_pixels(c));
  const int64_t blocks =
      tiles * tenon__cuda_up(p->outputs, tenon__cuda_choice_outputs(c)) * c.parts;
  const int64_t places = at_once * TENON_CUDA_MULTIPROCESSORS;
  const int64_t waves = tenon__cuda_is_window(p) ? WINDOW_WAVES_MAX : WAVES_MAX;
  const double chunks = (double)c.steps / (double)tenon__cuda_taps_of(p);
  const work_t w = {.read = !tenon__cuda_is_window(p) ? pixels * row
                            : tenon__cuda_is_repeated(c)
                                ? chunks / BUFFERS * (double)(bytes - other_bytes(c))
                                : (double)(bytes - other_bytes(c)),
                    .weights = outputs * row,
                    .pushed = pixels * outputs * sizeof(float) * (c.parts - 1) / c.parts,
                    .products = tenon__cuda_is_window(p) ? product_seconds(c) : 0,
                    .results = outputs / c.parts * 0.02e-6};
  if (tenon__cuda_is_repeated(c)) {
    return repeated_seconds(&w, rate, blocks, at_once);
  }
  if (blocks > places * waves) {
    return 0;
  }
  const double each = at_once == 1 || blocks < TENON_CUDA_MULTIPROCESSORS
                          ? (double)tenon__cuda_up(blocks, TENON_CUDA_MULTIPROCESSORS)
                          : (double)blocks / TENON_CUDA_MULTIPROCESSORS;
  const double late = fmin(fmax(2.0 - (double)places / (double)blocks, 0), 1); /* share of blocks */
  const double moved = 1.4 * w.read + 4.5 * w.pushed + 2.7 * late * w.weights;
  return 1.3e-6 + each * (moved / rate + w.results + w.products);
}

/* Ranks the tiles that are computed once, or repeatedly. */
static uint32_t choose(const tenon__cuda_problem_t* p, uint8_t product, uint8_t along,
                       uint32_t most, tenon__cuda_choice_t* out_choices, double* out_seconds) {
  static const uint8_t across[] = {4, 6, 8, 12, 16};
  const tenon__cuda_extents_t extents = tenon__cuda_extents_opt(p);
  uint32_t count = 0;
  for (uint32_t k = 0; k < sizeof(across) * 8; k++) {
    tenon__cuda_choice_t c = {.kind = TENON_CUDA_WARPGROUP,
                              .product = product,
                              .rows = k % 2 == 0 ? 4 : 8,
                              .across = across[k / 8],
                              .along = along,
                              .parts = (uint8_t)(1 << k / 2 % 4)};
    const int64_t steps = tenon__cuda_up(chunks_of(p, c), c.parts) * tenon__cuda_taps_of(p);
    c.steps = (uint8_t)(steps < UINT8_MAX ? steps : UINT8_MAX);
    const double seconds = is_valid(p, c) ? seconds_of(p, c, &extents) : 0;
    if (seconds > 0) {
      tenon__cuda_rank(c, seconds, most, &count, out_choices, out_seconds);
    }
  }
  return count;
}

uint32_t tenon__cuda_warpgroup_choose(const tenon__cuda_problem_t* problem, uint8_t product,
                                      tenon__cuda_choice_t* out_choices, double* out_seconds) {
  if (!takes(problem, product)) {
    return 0;
  }
  const uint32_t once = choose(problem, product, 1, TENON_CUDA_WARPGROUP_TACTICS - REPEATED_TACTICS,
                               out_choices, out_seconds);
  return once +
         choose(problem, product, 2, REPEATED_TACTICS, out_choices + once, out_seconds + once);
}
