/* Packing for tf32: which lane has which weight, and how it is rounded; so it is in other types. */
#include "weights.h"

#include <math.h>
#include <string.h>

#include "core/base/test.h"

enum { LANES = 32, OWN = 4 /* words of a lane */, MOST = 1 << 13 };

static uint32_t packed[MOST];

/* Of a constant of these values and extents; the rest is for the test. */
static tenon__cuda_problem_t problem_of(tenon_value_info_t* w, const float* values,
                                        const int64_t* dims, uint32_t rank) {
  static const tenon_value_info_t x = {.dtype = TENON_DTYPE_FLOAT32};
  *w = (tenon_value_info_t){
      .dtype = TENON_DTYPE_FLOAT32, .rank = rank, .dims_max = dims, .constant_data = values};
  return (tenon__cuda_problem_t){
      .x = &x, .w = w, .groups = 1, .window = {.kernel = {1, 1}, .dilation = {1, 1}}};
}

static float packed_at(int64_t block, int lane, int word) {
  float value = 0;
  memcpy(&value, &packed[(block * LANES + lane) * OWN + word], sizeof(value));
  return value;
}

static void pack(const tenon__cuda_problem_t* p, tenon__cuda_form_kind_t kind) {
  const tenon__cuda_choice_t choice = {.kind = (uint8_t)kind, .product = TENON_CUDA_PRODUCT_TF32};
  EXPECT(tenon__cuda_packed_bytes(p, choice) <= sizeof(packed));
  memset(packed, 0, sizeof(packed));
  tenon__cuda_weights_pack(p, choice, packed);
}

/* A matrix of 16 rows of 8 columns: lane / 4 is the column, four neighbouring rows a lane. */
TENON_TEST(rounds_to_nearest_halves_away_from_zero) {
  static const int64_t dims[] = {16, 8};
  static const struct {
    float from;
    float to;
  } cases[] = {{1.0f, 1.0f},
               {0x1.002p0f, 0x1.004p0f}, /* half of a unit */
               {-0x1.002p0f, -0x1.004p0f},
               {0x1.001ffep0f, 1.0f}, /* the next below */
               {0x1.ffep0f, 2.0f},
               {0x1p-126f, 0x1p-126f},
               {0.0f, 0.0f},
               {INFINITY, INFINITY}};
  float values[16 * 8] = {0};
  tenon_value_info_t w;
  for (int k = 0; k < 8; k++) {
    values[k * 8 + 5] = cases[k].from;
  }
  values[15 * 8 + 7] = NAN;
  tenon__cuda_problem_t p = problem_of(&w, values, dims, 2);
  p.is_product = true;
  p.channels = 16;
  p.outputs = p.columns = 8;
  pack(&p, TENON_CUDA_DIRECT);
  for (int k = 0; k < 8; k++) {
    EXPECT(packed_at(0, 5 * 4 + k / 4, k % 4) == cases[k].to);
  }
  EXPECT(isnan(packed_at(0, 7 * 4 + 3, 3)));
  for (int k = 0; k < 16 * 8; k++) {
    EXPECT_INT(packed[k] & 0x1FFF, 0); /* nothing below tf32, of NaN neither */
  }
}

/* Of two tiles of eight outputs a lane has words lane % 4 and 4 further on, of each tap. */
TENON_TEST(has_two_tiles_of_a_tap_in_a_lane) {
  enum { OUTPUTS = 16, CHANNELS = 12, TAPS = 6 };
  static const int64_t dims[] = {OUTPUTS, CHANNELS, 2, 3};
  static float values[OUTPUTS * CHANNELS * TAPS];
  tenon_value_info_t w;
  for (int k = 0; k < OUTPUTS * CHANNELS * TAPS; k++) {
    values[k] = (float)(k % 1999 + 1); /* no two of a neighbourhood alike, below 2^11 */
  }
  tenon__cuda_problem_t p = problem_of(&w, values, dims, 4);
  p.channels = CHANNELS;
  p.outputs = p.columns = OUTPUTS;
  p.window.kernel[0] = 2;
  p.window.kernel[1] = 3;
  pack(&p, TENON_CUDA_PATCH);
  uint32_t wrong = 0;
  for (int k = 0; k < 2 * TAPS * LANES * OWN; k++) {
    const int step = k / (LANES * OWN);
    const int lane = k / OWN % LANES;
    const int channel = step / TAPS * 8 + k % 2 * 4 + lane % 4;
    const int output = k % OWN / 2 * 8 + lane / 4;
    const float wanted =
        channel < CHANNELS ? values[(output * CHANNELS + channel) * TAPS + step % TAPS] : 0;
    wrong += packed_at(step, lane, k % OWN) != wanted;
  }
  EXPECT_INT(wrong, 0);
}

/* Columns of four tiles of which a lane has the sums, 2 k and 2 k + 1 of each, are neighbours. */
TENON_TEST(has_neighbouring_outputs_where_one_lane_has_their_sums) {
  enum { OUTPUTS = 40, PADDED = 64, CHANNELS = 20, STEPS = 2 };
  static const int64_t dims[] = {OUTPUTS, CHANNELS, 1, 1};
  static float values[OUTPUTS * CHANNELS];
  tenon_value_info_t w;
  for (int k = 0; k < OUTPUTS * CHANNELS; k++) {
    values[k] = (float)(k + 1);
  }
  tenon__cuda_problem_t p = problem_of(&w, values, dims, 4);
  p.channels = CHANNELS;
  p.outputs = p.columns = OUTPUTS;
  pack(&p, TENON_CUDA_STREAMING);
  uint32_t wrong = 0;
  uint32_t found = 0;
  for (int k = 0; k < PADDED / 8 * STEPS * LANES * OWN; k++) {
    const int tile = k / (STEPS * LANES * OWN);
    const int lane = k / OWN % LANES;
    const int channel = k / (LANES * OWN) % STEPS * 16 + lane % 4 * OWN + k % OWN;
    const int column = lane / 4; /* of which lanes column / 2 have the sums, eight each */
    const int output = tile / 4 * 32 + column / 2 * 8 + tile % 4 * 2 + column % 2;
    const bool is_there = output < OUTPUTS && channel < CHANNELS;
    const float wanted = is_there ? values[output * CHANNELS + channel] : 0;
    wrong += packed_at(k / (LANES * OWN), lane, k % OWN) != wanted;
    found += is_there ? 1 : 0;
  }
  EXPECT_INT(wrong, 0);
  EXPECT_INT(found, OUTPUTS * CHANNELS);
}

/* A step of 8 outputs has 8 rows of 128 bytes. The row's number permutes their pieces of 16 bytes.
 * Columns 2 k and 2 k + 1 of a pair of tiles are 4 adjacent outputs. */
TENON_TEST(has_swizzled_rows_of_outputs_that_a_lane_finishes) {
  enum { OUTPUTS = 24, PADDED = 64, CHANNELS = 72, STEPS = 2, ROW = 64, TILE = 8 * ROW };
  static const int64_t dims[] = {CHANNELS, OUTPUTS};
  static float values[OUTPUTS * CHANNELS];
  static uint16_t rows[PADDED * STEPS * ROW];
  tenon_value_info_t w;
  for (int k = 0; k < OUTPUTS * CHANNELS; k++) {
    values[k] = (float)(k % 2039 + 1); /* exact in f16 */
  }
  tenon__cuda_problem_t p = problem_of(&w, values, dims, 2);
  p.is_product = true;
  p.channels = CHANNELS;
  p.outputs = p.columns = OUTPUTS;
  const tenon__cuda_choice_t choice = {.kind = TENON_CUDA_WARPGROUP,
                                       .product = TENON_CUDA_PRODUCT_F16};
  EXPECT_INT(tenon__cuda_packed_bytes(&p, choice), sizeof(rows));
  tenon__cuda_weights_pack(&p, choice, rows);
  uint32_t wrong = 0;
  for (int output = 0; output < PADDED; output++) {
    for (int channel = 0; channel < STEPS * ROW; channel++) {
      const int pair = output % 4 / 2; /* of the two tiles */
      const int column = output % 16 / 4 * 2 + output % 2;
      const int piece = channel % ROW / 8 ^ column;
      const int at = ((output / 16 * 2 + pair) * STEPS + channel / ROW) * TILE + column * ROW +
                     piece * 8 + channel % 8;
      const bool is_there = output < OUTPUTS && channel < CHANNELS;
      const float wanted = is_there ? values[channel * OUTPUTS + output] : 0;
      wrong += tenon__cuda_float_of(rows, TENON_DTYPE_FLOAT16, (size_t)at) != wanted;
    }
  }
  EXPECT_INT(wrong, 0);
}

/* Of few channels two neighbours of a row are a step, the last of five alone. */
TENON_TEST(has_two_neighbours_of_few_channels_in_a_step) {
  enum { OUTPUTS = 16, CHANNELS = 3, HEIGHT = 2, WIDTH = 5, PARTS = 3 };
  static const int64_t dims[] = {OUTPUTS, CHANNELS, HEIGHT, WIDTH};
  static float values[OUTPUTS * CHANNELS * HEIGHT * WIDTH];
  tenon_value_info_t w;
  for (int k = 0; k < OUTPUTS * CHANNELS * HEIGHT * WIDTH; k++) {
    values[k] = (float)(k + 1);
  }
  tenon__cuda_problem_t p = problem_of(&w, values, dims, 4);
  p.channels = CHANNELS;
  p.outputs = p.columns = OUTPUTS;
  p.window.kernel[0] = HEIGHT;
  p.window.kernel[1] = WIDTH;
  pack(&p, TENON_CUDA_NARROW);
  uint32_t wrong = 0;
  for (int k = 0; k < HEIGHT * PARTS * LANES * OWN; k++) {
    const int step = k / (LANES * OWN);
    const int lane = k / OWN % LANES;
    const int channel = lane % 4;
    const int x = step % PARTS * 2 + k % 2;
    const int output = k % OWN / 2 * 8 + lane / 4;
    const int place = ((output * CHANNELS + channel) * HEIGHT + step / PARTS) * WIDTH + x;
    const float wanted = channel < CHANNELS && x < WIDTH ? values[place] : 0;
    wrong += packed_at(step, lane, k % OWN) != wanted;
  }
  EXPECT_INT(wrong, 0);
}
