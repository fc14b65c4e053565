/* The best of lines, and slices that differ: see collective.cuh, order.cuh, unique.cuh. */
#include "families.h"
#include "numbers.h"

/* As in collective.cuh and order.cuh. */
enum { SHORT = 256, KEPT = 2048, RADIX = 256, TILE_STEP = 1024, CHUNK = 2048 };
enum {
  FOUND_BYTES = 4 * sizeof(int64_t),
  MOST_TILES = 128, /* of a line: each reads what all of them counted */
  /* Parts of a line are selected from where lines are long and few. */
  LEAST_SPLIT = 16384,
  LEAST_PART = 4096,
  PARTS_AT_ONCE = 256,
  MOST_CANDIDATES = 8192,
  SORTED_AT_ONCE = 132 * 2048, /* elements that an H100 sorts at once */
  PLACE_BYTES = sizeof(uint32_t)
};

/* ---- Keys ---- */

static uint64_t key_bytes(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_FLOAT64 || dtype == TENON_DTYPE_INT64 || dtype == TENON_DTYPE_UINT64
             ? sizeof(uint64_t)
             : sizeof(uint32_t);
}

/* Which bytes of keys differ: integers have the lowest, floats, as f32, the highest. */
static int64_t first_byte(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT16:
      return 1;
    case TENON_DTYPE_BFLOAT16:
    case TENON_DTYPE_FLOAT8E4M3FN:
    case TENON_DTYPE_FLOAT8E4M3FNUZ:
    case TENON_DTYPE_FLOAT8E5M2:
    case TENON_DTYPE_FLOAT8E5M2FNUZ:
    case TENON_DTYPE_FLOAT8E8M0:
      return 2;
    default:
      return 0;
  }
}
static int64_t end_byte(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_BOOL:
    case TENON_DTYPE_INT8:
    case TENON_DTYPE_UINT8:
      return 1;
    case TENON_DTYPE_INT16:
    case TENON_DTYPE_UINT16:
      return 2;
    default:
      return (int64_t)key_bytes(dtype);
  }
}

/* ---- Sorting ---- */

static int64_t tiles_of(int64_t count) {
  return least_of(rounded_up(count, TILE_STEP), MOST_TILES);
}
static int64_t tile_length(int64_t count) {
  const int64_t tiles = tiles_of(count);
  return tiles == 0 ? TILE_STEP : rounded_up(rounded_up(count, tiles), TILE_STEP) * TILE_STEP;
}
/* Two lists of keys and places, and what tiles counted. */
static uint64_t sorting_bytes(tenon_dtype_t dtype, int64_t lines, int64_t count) {
  const uint64_t elements = (uint64_t)lines * (uint64_t)count;
  return elements * 2 * (key_bytes(dtype) + PLACE_BYTES) +
         (uint64_t)lines * (uint64_t)tiles_of(count) * RADIX * PLACE_BYTES;
}
static int32_t launch_passes(tenon__closed_work_t* work, uint32_t kernel, int64_t blocks) {
  const tenon_dtype_t dtype = work->in[0].dtype;
  const int32_t passes = (int32_t)(end_byte(dtype) - first_byte(dtype));
  for (int32_t pass = 0; pass < passes; pass++) {
    tenon__closed_launch_blocks(work, kernel, blocks);
    work->launches[work->launch_count - 1].pass = pass;
    tenon__closed_launch_blocks(work, kernel + 1, blocks);
    work->launches[work->launch_count - 1].pass = pass;
  }
  return passes;
}

/* Positions in a line have 32 bits. */
static bool is_long(const tenon__closed_shape_t* shape, int64_t count) {
  return !shape->open && count > INT32_MAX;
}

/* ---- The best of lines ---- */

static uint32_t axis_of(const tenon__closed_work_t* work) {
  return tenon__closed_axis(tenon__closed_int(work, "axis"), work->in[0].rank);
}
static const tenon__closed_shape_t* best_of(const tenon__closed_work_t* work) {
  return work->out[0].present ? &work->out[0] : &work->out[1];
}
static int64_t parts_of(int64_t lines, int64_t count, int64_t k) {
  if (count < LEAST_SPLIT || k == 0) {
    return 1;
  }
  int64_t parts = least_of(count / LEAST_PART, PARTS_AT_ONCE / (lines > 0 ? lines : 1));
  parts = least_of(parts, least_of(MOST_CANDIDATES, count / 4) / k);
  return parts > 1 ? parts : 1;
}

const char* tenon__closed_refuse_top_k(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  return x->rank > 0 && is_long(x, x->dims[axis_of(work)]) ? "a line of 2^31 elements" : NULL;
}

uint64_t tenon__closed_scratch_top_k(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  const tenon__closed_shape_t* best = best_of(work);
  const int64_t count = x->dims[axis_of(work)];
  const int64_t lines = count == 0 ? 0 : x->count / count;
  const uint64_t candidate = key_bytes(x->dtype) + PLACE_BYTES;
  if (best->open || best->dims[axis_of(work)] > KEPT) {
    return sorting_bytes(x->dtype, lines, count);
  }
  return count < LEAST_SPLIT
             ? 0
             : (uint64_t)lines * (uint64_t)least_of(MOST_CANDIDATES, count / 4) * candidate;
}

/* Four elements a thread, as long as that is a warp, and no more threads than a block has. */
static uint32_t block_for(int64_t count) {
  uint32_t threads = 32;
  while (threads < TENON_CLOSED_MOST_THREADS && count > (int64_t)threads * 4) {
    threads *= 2;
  }
  return threads;
}

void tenon__closed_bind_top_k(tenon__closed_work_t* work) {
  enum {
    SELECT_SHORT,
    SELECT_LINE,
    SELECT_PART,
    SELECT_OF_PARTS,
    COUNT_PASS,
    SHOW_SORTED = COUNT_PASS + 2
  };
  tenon__closed_set_axis(work, 0, &work->in[0], axis_of(work));
  const int64_t lines = work->number[0] * work->number[2];
  const int64_t count = work->number[1];
  const int64_t k = best_of(work)->dims[axis_of(work)];
  const int64_t parts = parts_of(lines, count, k);
  work->number[3] = k;
  work->number[4] = parts;
  work->number[5] = rounded_up(count, parts);
  work->number[6] = tiles_of(count);
  work->number[7] = tile_length(count);
  work->number[8] = first_byte(work->in[0].dtype);
  if (k == 0) {
    return;
  }
  if (k > KEPT) {
    const int32_t passes = launch_passes(work, COUNT_PASS, lines * work->number[6]);
    tenon__closed_launch(work, SHOW_SORTED, lines * k);
    work->launches[work->launch_count - 1].pass = passes;
  } else if (count <= SHORT) {
    tenon__closed_launch_wide(work, SELECT_SHORT, lines, block_for(2 * count));
  } else if (parts == 1) {
    /* Up to KEPT elements are sorted as a whole. A thread sorts 2 of them if the device can hold
     * all lines at once, else 4. */
    const bool has_room = count <= KEPT && lines * count <= SORTED_AT_ONCE;
    tenon__closed_launch_wide(work, SELECT_LINE, lines, block_for(has_room ? 2 * count : count));
  } else {
    tenon__closed_launch_wide(work, SELECT_PART, lines * parts, block_for(work->number[5]));
    tenon__closed_launch_wide(work, SELECT_OF_PARTS, lines, block_for(parts * k));
  }
}

/* ---- Slices that differ ---- */

const char* tenon__closed_refuse_unique(const tenon__closed_work_t* work) {
  return is_long(&work->in[0], work->in[0].count) ? "2^31 elements" : NULL;
}

uint64_t tenon__closed_scratch_unique(const tenon__closed_work_t* work) {
  enum { LISTS = 4 };
  const int64_t count = work->in[0].count; /* slices are as many, or fewer */
  return FOUND_BYTES + (uint64_t)rounded_up(count, CHUNK) * sizeof(int64_t) +
         (uint64_t)count * LISTS * PLACE_BYTES + sorting_bytes(work->in[0].dtype, 1, count);
}

static int32_t launch_merges(tenon__closed_work_t* work, uint32_t kernel, int64_t count) {
  int32_t passes = 0;
  do {
    tenon__closed_launch(work, kernel, count);
    work->launches[work->launch_count - 1].pass = passes++;
  } while ((int64_t)1 << passes < count);
  return passes;
}

void tenon__closed_bind_unique(tenon__closed_work_t* work) {
  enum { COUNT_PASS, MERGE_PASS = 2, COUNT, ADD_UP, LABEL, COUNT_FIRSTS, NUMBER_FIRSTS, WRITE };
  tenon__closed_set_slices(work, 0);
  const int64_t slices = work->number[1];
  work->number[3] = rounded_up(slices, CHUNK);
  work->number[4] = tiles_of(slices);
  work->number[5] = tile_length(slices);
  work->number[6] = first_byte(work->in[0].dtype);
  work->number[7] =
      (work->number[0] * work->number[2] == 1 ? launch_passes(work, COUNT_PASS, work->number[4])
                                              : launch_merges(work, MERGE_PASS, slices)) %
      2;
  tenon__closed_launch_blocks(work, COUNT, work->number[3]);
  tenon__closed_launch_wide(work, ADD_UP, 1, TENON_CLOSED_MOST_THREADS);
  work->finding = work->launch_count;
  tenon__closed_launch_blocks(work, LABEL, work->number[3]);
  if (tenon__closed_int(work, "sorted") == 0) {
    tenon__closed_launch_blocks(work, COUNT_FIRSTS, work->number[3]);
    tenon__closed_launch_wide(work, ADD_UP, 1, TENON_CLOSED_MOST_THREADS);
    tenon__closed_launch_blocks(work, NUMBER_FIRSTS, work->number[3]);
  }
  tenon__closed_launch(work, WRITE, work->in[0].count > 0 ? work->in[0].count : 1);
}

void tenon__closed_extents_unique(const tenon__closed_work_t* work, const int64_t* found,
                                  uint32_t output, tenon__closed_shape_t* out_shape) {
  if (output == 0) {
    tenon__closed_set_extents(work, found[0], out_shape);
    return;
  }
  out_shape->rank = 1;
  out_shape->dims[0] = output == 2 ? work->number[1] : found[0];
}
