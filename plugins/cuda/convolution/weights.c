/* Packing. */
#include "weights.h"

#include <math.h>
#include <string.h>

#include "tenon/narrow.h"

enum { LANES = 32, PIECE = 8 /* elements of a lane */, BLOCK = LANES * PIECE };

/* ---- Narrow floats ---- */

float tenon__cuda_float_of(const void* data, tenon_dtype_t dtype, size_t index) {
  uint16_t narrow = 0;
  float value = 0;
  if (dtype == TENON_DTYPE_FLOAT32) {
    memcpy(&value, (const uint8_t*)data + index * 4, sizeof(value));
    return value;
  }
  memcpy(&narrow, (const uint8_t*)data + index * 2, sizeof(narrow));
  if (dtype == TENON_DTYPE_BFLOAT16) {
    const uint32_t bits = (uint32_t)narrow << 16;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
  const int exponent = narrow >> 10 & 31;
  const int mantissa = (narrow & 1023) | (exponent == 0 ? 0 : 1024);
  value = exponent != 31     ? ldexpf((float)mantissa, (exponent == 0 ? 1 : exponent) - 25)
          : mantissa == 1024 ? INFINITY
                             : NAN;
  return (narrow & 0x8000U) != 0 ? -value : value;
}

/* ---- Order ---- */

/* Which weight an element of a lane is; false: none, so zero. */
typedef struct source_t {
  int64_t output;
  int64_t channel;
  int64_t y;
  int64_t x;
} source_t;

static int64_t tile_outputs(uint8_t kind) {
  return kind == TENON_CUDA_DIRECT ? 8 : 16;
}

/* As tiles of 16x8 are held (mma.m16n8k16): a lane has rows 2 * (lane % 4) and the next, and the
 * same 8 further on, of column lane / 4. DIRECT: of 32 channels the 8 neighbours that the lane
 * reads of x. PATCH: two tiles beside one another. */
static source_t source_of(const tenon__cuda_problem_t* p, uint8_t kind, int64_t tile, int64_t step,
                          int64_t lane, int64_t element) {
  source_t s = {.output = tile * tile_outputs(kind) + lane / 4};
  if (kind == TENON_CUDA_DIRECT) {
    s.channel = step * 32 + lane % 4 * 8 + element;
    return s;
  }
  const int64_t row = lane % 4 * 2 + element % 2 + element / 2 % 2 * 8;
  s.output += element / 4 * 8;
  if (kind == TENON_CUDA_PATCH) {
    const int64_t taps = p->window.kernel[0] * p->window.kernel[1];
    s.channel = step / taps * 16 + row;
    s.y = step % taps / p->window.kernel[1];
    s.x = step % p->window.kernel[1];
  } else {
    const int64_t quarters = (p->window.kernel[1] + 3) / 4;
    s.channel = row % 4;
    s.y = step / quarters;
    s.x = step % quarters * 4 + row / 4;
  }
  return s;
}

static uint16_t weight_at(const tenon__cuda_problem_t* p, const source_t* s, tenon_dtype_t dtype) {
  if (s->output >= p->outputs || s->channel >= p->channels || s->x >= p->window.kernel[1]) {
    return 0;
  }
  const int64_t place =
      p->is_product ? s->channel * p->outputs + s->output
                    : ((s->output * p->channels + s->channel) * p->window.kernel[0] + s->y) *
                              p->window.kernel[1] +
                          s->x;
  const float value = tenon__cuda_float_of(p->w->constant_data, p->w->dtype, (size_t)place);
  return tenon_narrow_of(dtype, value);
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
  return (p->outputs + TENON_CUDA_TILE_OUTPUTS - 1) / TENON_CUDA_TILE_OUTPUTS *
         TENON_CUDA_TILE_OUTPUTS;
}

size_t tenon__cuda_weights_bytes(const tenon__cuda_problem_t* problem, uint8_t kind) {
  if (kind == TENON_CUDA_DEPTHWISE) {
    return (size_t)(packed_outputs(problem) * tenon__cuda_steps_of(problem, kind)) * sizeof(float);
  }
  return (size_t)(packed_outputs(problem) / tile_outputs(kind) *
                  tenon__cuda_steps_of(problem, kind) * LANES * PIECE * 2);
}

size_t tenon__cuda_packed_bytes(const tenon__cuda_problem_t* problem, uint8_t kind) {
  return tenon__cuda_weights_bytes(problem, kind) +
         (problem->bias == NULL ? 0 : (size_t)packed_outputs(problem) * sizeof(float));
}

void tenon__cuda_weights_pack(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                              void* out_packed) {
  const tenon__cuda_problem_t* p = problem;
  const bool by_channel = choice.kind == TENON_CUDA_DEPTHWISE;
  const int64_t steps = tenon__cuda_steps_of(p, choice.kind);
  const int64_t tiles = (p->outputs + tile_outputs(choice.kind) - 1) / tile_outputs(choice.kind);
  const int64_t elements = by_channel ? 0 : tiles * steps * LANES * PIECE;
  uint16_t* to = out_packed;
  for (int64_t k = 0; k < elements; k++) {
    const int64_t block = k / BLOCK;
    const source_t source =
        source_of(p, choice.kind, block / steps, block % steps, k / PIECE % LANES, k % PIECE);
    to[k] = weight_at(p, &source, tenon__cuda_product_type(choice));
  }
  if (by_channel) {
    pack_channels(p, out_packed);
  }
  float* bias = (float*)(void*)((uint8_t*)out_packed + tenon__cuda_weights_bytes(p, choice.kind));
  const int64_t biases = p->bias == NULL ? 0 : p->outputs;
  for (int64_t k = 0; k < biases; k++) {
    bias[k] = tenon__cuda_float_of(p->bias->constant_data, p->bias->dtype, (size_t)k);
  }
}
