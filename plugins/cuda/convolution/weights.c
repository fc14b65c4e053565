/* Packing. */
#include "weights.h"

#include <math.h>
#include <string.h>

#include "tenon/narrow.h"

enum { LANES = 32, PIECE = 16 /* bytes of a lane */, BLOCK = LANES * PIECE };

/* ---- Narrow floats ---- */

float tenon__cuda_float_of(const void* data, tenon_dtype_t dtype, size_t index) {
  uint16_t narrow = 0;
  float value = 0;
  if (dtype == TENON_DTYPE_FLOAT32) {
    memcpy(&value, (const uint8_t*)data + index * 4, sizeof(value));
    return value;
  }
  memcpy(&narrow, (const uint8_t*)data + index * 2, sizeof(narrow));
  return tenon_wide_of(dtype, narrow);
}

/* ---- Order ---- */

/* A weight: of which output and channel, at which place of the window. */
typedef struct source_t {
  int64_t output;
  int64_t channel;
  int64_t y;
  int64_t x;
} source_t;

static bool is_of_pixels(uint8_t kind) {
  return kind == TENON_CUDA_DIRECT || kind == TENON_CUDA_STREAMING;
}

static int64_t tile_outputs(uint8_t kind) {
  return is_of_pixels(kind) ? 8 : 16;
}

/* What an element of a lane adds to where its tile and step begin.
 * As tiles of 32 bytes by 8 are held (mma.m16n8k16, of tf32 m16n8k8): of column lane / 4 a lane has
 * word lane % 4, and the word 4 further on, of two elements or one. DIRECT: of 64 bytes of channels
 * the 16 that the lane reads of x. STREAMING: likewise; sums of columns 2 k and 2 k + 1 of four
 * tiles, which one lane has, are eight neighbouring outputs. PATCH: two tiles beside one another.
 */
static source_t within(tenon__cuda_choice_t choice, int64_t lane, int64_t element) {
  const int64_t each = 4 / tenon__cuda_product_bytes(choice); /* elements of a word */
  source_t s = {.output = lane / 4};
  if (choice.kind == TENON_CUDA_STREAMING) {
    s.output = lane / 8 * TENON_CUDA_STREAM_ELEMENTS + lane / 4 % 2;
  }
  if (is_of_pixels(choice.kind)) {
    s.channel = lane % 4 * 4 * each + element;
    return s;
  }
  const int64_t word = element / each;
  const int64_t row = (word % 2 * 4 + lane % 4) * each + element % each;
  s.output += word / 2 * 8;
  if (choice.kind == TENON_CUDA_PATCH) {
    s.channel = row;
  } else {
    s.channel = row % 4;
    s.x = row / 4;
  }
  return s;
}

static source_t beginning(const tenon__cuda_problem_t* p, tenon__cuda_choice_t choice, int64_t tile,
                          int64_t step) {
  const int64_t each = 4 / tenon__cuda_product_bytes(choice);
  source_t s = {.output = tile * tile_outputs(choice.kind)};
  if (choice.kind == TENON_CUDA_STREAMING) { /* of four tiles two columns each */
    s.output = tile / 4 * 4 * TENON_CUDA_STREAM_ELEMENTS + tile % 4 * 2;
  }
  if (is_of_pixels(choice.kind)) {
    s.channel = step * 16 * each;
  } else if (choice.kind == TENON_CUDA_PATCH) {
    const int64_t taps = p->window.kernel[0] * p->window.kernel[1];
    s.channel = step / taps * 8 * each;
    s.y = step % taps / p->window.kernel[1];
    s.x = step % p->window.kernel[1];
  } else {
    const int64_t neighbours = 2 * each;
    const int64_t parts = (p->window.kernel[1] + neighbours - 1) / neighbours;
    s.y = step / parts;
    s.x = step % parts * neighbours;
  }
  return s;
}

/* 0 where there is none. */
static float weight_at(const tenon__cuda_problem_t* p, const source_t* begin,
                       const source_t* offset) {
  const source_t s = {begin->output + offset->output, begin->channel + offset->channel, begin->y,
                      begin->x + offset->x};
  if (s.output >= p->columns || s.channel >= p->channels || s.x >= p->window.kernel[1]) {
    return 0;
  }
  const int64_t taps = p->window.kernel[0] * p->window.kernel[1];
  const int64_t place =
      p->is_product ? s.channel * p->outputs + s.output
      : p->is_spread
          ? (s.channel * p->outputs + s.output % p->outputs) * taps + s.output / p->outputs
          : ((s.output * p->channels + s.channel) * p->window.kernel[0] + s.y) *
                    p->window.kernel[1] +
                s.x;
  return tenon__cuda_float_of(p->w->constant_data, p->w->dtype, (size_t)place);
}

/* As cvt.rna.tf32.f32 does: to nearest, halves away from 0. */
static uint32_t tf32_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return isnan(value) ? 0x7FFFE000U : (bits + 0x1000U) & ~0x1FFFU;
}

static void put(void* out_packed, size_t index, tenon__cuda_choice_t choice, float value) {
  if (choice.product == TENON_CUDA_PRODUCT_TF32) {
    ((uint32_t*)out_packed)[index] = tf32_of(value);
  } else {
    ((uint16_t*)out_packed)[index] = tenon_narrow_of(tenon__cuda_product_type(choice), value);
  }
}

/* DEPTHWISE: a channel after the other, tap after tap, in f32. */
static void pack_channels(const tenon__cuda_problem_t* p, float* out_weights) {
  const int64_t taps = p->window.kernel[0] * p->window.kernel[1];
  for (int64_t k = 0; k < taps * p->channels; k++) {
    const int64_t place = k % p->channels * taps + k / p->channels;
    out_weights[k] = tenon__cuda_float_of(p->w->constant_data, p->w->dtype, (size_t)place);
  }
}

static int64_t packed_outputs(const tenon__cuda_problem_t* p) {
  return (p->columns + TENON_CUDA_TILE_OUTPUTS - 1) / TENON_CUDA_TILE_OUTPUTS *
         TENON_CUDA_TILE_OUTPUTS;
}

size_t tenon__cuda_weights_bytes(const tenon__cuda_problem_t* problem,
                                 tenon__cuda_choice_t choice) {
  const int64_t steps = tenon__cuda_steps_of(problem, choice);
  return choice.kind == TENON_CUDA_DEPTHWISE
             ? (size_t)(packed_outputs(problem) * steps) * sizeof(float)
         : choice.kind == TENON_CUDA_WARPGROUP
             ? (size_t)(packed_outputs(problem) / 8 * steps * TENON_CUDA_WARPGROUP_TILE)
             : (size_t)(packed_outputs(problem) / tile_outputs(choice.kind) * steps * BLOCK);
}

size_t tenon__cuda_packed_bytes(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice) {
  return tenon__cuda_weights_bytes(problem, choice) +
         (problem->bias == NULL ? 0 : (size_t)packed_outputs(problem) * sizeof(float));
}

static void pack_tiles(const tenon__cuda_problem_t* p, tenon__cuda_choice_t choice,
                       void* out_packed) {
  enum { MOST = 8 }; /* elements of a lane */
  const int64_t steps = tenon__cuda_steps_of(p, choice);
  const int64_t tiles = packed_outputs(p) / tile_outputs(choice.kind);
  const int64_t own = PIECE / tenon__cuda_product_bytes(choice);
  source_t offsets[LANES * MOST];
  for (int64_t k = 0; k < LANES * own; k++) {
    offsets[k] = within(choice, k / own, k % own);
  }
  for (int64_t block = 0; block < tiles * steps; block++) {
    const source_t begin = beginning(p, choice, block / steps, block % steps);
    for (int64_t k = 0; k < LANES * own; k++) {
      put(out_packed, (size_t)(block * LANES * own + k), choice, weight_at(p, &begin, &offsets[k]));
    }
  }
}

/* WARPGROUP: the steps are the taps of a chunk of 128 bytes of channels, then those of the next chunk.
 * Each tile of 8 columns and each step has 8 rows of 128 bytes, one per column, swizzled as in
 * warpgroup_matrix.cuh. A lane has the sums of columns 2 k and 2 k + 1 of all tiles. In each pair of
 * tiles, these 4 columns are outputs 4 k to 4 k + 3 of the pair. */
static void pack_rows(const tenon__cuda_problem_t* p, tenon__cuda_choice_t choice,
                      void* out_packed) {
  enum { COLUMNS = 8, PIECES = 8, OWN = 8 /* elements per piece */, ROW = PIECES * OWN };
  const int64_t steps = tenon__cuda_steps_of(p, choice);
  const int64_t taps = tenon__cuda_taps_of(p);
  for (int64_t block = 0; block < packed_outputs(p) / COLUMNS * steps; block++) {
    const int64_t tile = block / steps;
    const int64_t tap = block % steps % taps;
    const source_t begin = {.output = tile / 2 * 16 + tile % 2 * 2,
                            .channel = block % steps / taps * ROW,
                            .y = tap / p->window.kernel[1],
                            .x = tap % p->window.kernel[1]};
    for (int64_t k = 0; k < (int64_t)COLUMNS * ROW; k++) {
      const int64_t column = k / ROW;
      const int64_t piece = k / OWN % PIECES ^ column;
      const source_t offset = {.output = column / 2 * 4 + column % 2,
                               .channel = piece * OWN + k % OWN};
      put(out_packed, (size_t)((block * COLUMNS + column) * ROW + k % ROW), choice,
          weight_at(p, &begin, &offset));
    }
  }
}

void tenon__cuda_weights_pack(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                              void* out_packed) {
  const tenon__cuda_problem_t* p = problem;
  if (choice.kind == TENON_CUDA_DEPTHWISE) {
    pack_channels(p, out_packed);
  } else if (choice.kind == TENON_CUDA_WARPGROUP) {
    pack_rows(p, choice, out_packed);
  } else {
    pack_tiles(p, choice, out_packed);
  }
  float* bias = (float*)(void*)((uint8_t*)out_packed + tenon__cuda_weights_bytes(p, choice));
  const int64_t biases = p->bias == NULL ? 0 : p->outputs;
  for (int64_t k = 0; k < biases; k++) {
    bias[k] = tenon__cuda_float_of(p->bias->constant_data, p->bias->dtype, (size_t)k);
  }
}
