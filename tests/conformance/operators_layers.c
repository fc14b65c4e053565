/* Compares random nodes of recurrent layers, attention, the last layers of detectors and transforms
 * with the reference. */
#include "operator_case.h"
#include "operators.h"

#define SUMS 1e-4
#define F32 TENON_DTYPE_FLOAT32

static void check_recurrent(uint32_t seed, const char* op, int64_t gates) {
  enum { TIME = 6, BATCH = 3, FEATURES = 19 };
  static const char* const directions[] = {"forward", "reverse", "bidirectional"};
  operator_case_t c;
  operator_begin(&c, op, seed);
  const bool is_lstm = gates == 4;
  const bool batch_first = operator_draw(&c, 2) == 1;
  const uint32_t way = operator_draw(&c, 3);
  const int64_t sides = way == 2 ? 2 : 1;
  /* Any number, or a multiple of 4, for which kernels read 16 bytes at once. */
  const int64_t hidden = operator_draw(&c, 2) == 0 ? 5 + operator_draw(&c, 50)
                                                   : 4 * (1 + (int64_t)operator_draw(&c, 40));
  const int64_t x[] = {batch_first ? BATCH : TIME, batch_first ? TIME : BATCH, FEATURES};
  const int64_t state[] = {batch_first ? BATCH : sides, batch_first ? sides : BATCH, hidden};
  const int64_t forward[] = {TIME, sides, BATCH, hidden};
  const int64_t first[] = {BATCH, TIME, sides, hidden};
  (void)operator_input(&c, F32, 3, x, operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(sides, gates * hidden, FEATURES), operator_numbers, 0.3);
  (void)operator_input(&c, F32, DIMS(sides, gates * hidden, hidden), operator_numbers, 0.3);
  (void)operator_input(&c, F32, DIMS(sides, 2 * gates * hidden), operator_numbers, 0.5);
  (void)operator_input(&c, TENON_DTYPE_INT32, DIMS(BATCH), operator_indices, TIME + 1);
  (void)operator_input(&c, F32, 3, state, operator_numbers, 1);
  if (is_lstm) {
    (void)operator_input(&c, F32, 3, state, operator_numbers, 1);
    (void)operator_input(&c, F32, DIMS(sides, 3 * hidden), operator_numbers, 1);
  }
  fake_string(&c.fake, "direction", directions[way]);
  fake_float(&c.fake, "clip", operator_draw(&c, 2) == 0 ? 0.0 : 1.5);
  fake_int(&c.fake, "layout", batch_first ? 1 : 0);
  fake_int(&c.fake, "input_forget", operator_draw(&c, 2));
  fake_int(&c.fake, "linear_before_reset", operator_draw(&c, 2));
  operator_output(&c, F32, 4, batch_first ? first : forward);
  operator_output(&c, F32, 3, state);
  if (is_lstm) {
    operator_output(&c, F32, 3, state);
  }
  c.is_known = operator_draw(&c, 2) == 0;
  operator_check(&c, SUMS);
}

static void check_attention(uint32_t seed) {
  operator_case_t c;
  operator_begin(&c, "standard.attention/1", seed);
  const int64_t keys = 3 + operator_draw(&c, 290);
  (void)operator_input(&c, F32, DIMS(2, 4, 5, 8), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(2, 2, keys, 8), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(2, 2, keys, 6), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(5, keys), operator_numbers, 2);
  operator_absent(&c);
  operator_absent(&c);
  (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(2), operator_indices, (double)keys + 1);
  fake_int(&c.fake, "is_causal", operator_draw(&c, 2));
  fake_int(&c.fake, "q_num_heads", 0);
  fake_int(&c.fake, "kv_num_heads", 0);
  fake_float(&c.fake, "scale", 0.0);
  fake_float(&c.fake, "softcap", operator_draw(&c, 2) == 0 ? 0.0 : 2.0);
  fake_int(&c.fake, "qk_mode", operator_draw(&c, 4));
  fake_int(&c.fake, "left_window", -1);
  fake_int(&c.fake, "right_window", -1);
  operator_output(&c, F32, DIMS(2, 4, 5, 6));
  operator_check(&c, SUMS);
}

static void check_linear_attention(uint32_t seed) {
  static const char* const rules[] = {"linear", "gated", "delta", "gated_delta"};
  operator_case_t c;
  operator_begin(&c, "standard.linear_attention/1", seed);
  (void)operator_input(&c, F32, DIMS(2, 7, 20), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(2, 7, 10), operator_numbers, 0.5);
  (void)operator_input(&c, F32, DIMS(2, 7, 12), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(2, 2, 5, 6), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(2, 7, 2), operator_numbers, 0.4);
  (void)operator_input(&c, F32, DIMS(2, 7, 2), operator_positive, 1);
  fake_int(&c.fake, "q_num_heads", 4);
  fake_int(&c.fake, "kv_num_heads", 2);
  fake_float(&c.fake, "scale", 0.0);
  fake_string(&c.fake, "update_rule", rules[operator_draw(&c, 4)]);
  operator_output(&c, F32, DIMS(2, 7, 24));
  operator_output(&c, F32, DIMS(2, 2, 5, 6));
  operator_check(&c, SUMS);
}

static void check_detection(uint32_t seed) {
  static const char* const codes[] = {"corner", "center_size", "corner_size"};
  operator_case_t c;
  operator_begin(&c, "standard.detection_output/1", seed);
  const int64_t priors = 20 + operator_draw(&c, 250);
  const int64_t classes = 2 + operator_draw(&c, 4);
  const bool shares = operator_draw(&c, 2) == 0;
  const int64_t kept = operator_draw(&c, 2) == 0 ? -1 : 30;
  (void)operator_input(&c, F32, DIMS(2, priors * 4 * (shares ? 1 : classes)), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(2, priors * classes), operator_positive, 1);
  float* corners = operator_input(&c, F32, DIMS(1, 2, priors * 4), operator_positive, 0.5)->data;
  for (int64_t k = 0; k < priors; k++) {
    corners[k * 4 + 2] += corners[k * 4] + 0.1F;
    corners[k * 4 + 3] += corners[k * 4 + 1] + 0.1F;
  }
  fake_int(&c.fake, "classes", classes);
  fake_int(&c.fake, "share_location", shares ? 1 : 0);
  fake_int(&c.fake, "background", 0);
  fake_string(&c.fake, "code", codes[operator_draw(&c, 3)]);
  fake_int(&c.fake, "variance_in_target", operator_draw(&c, 2));
  fake_float(&c.fake, "nms_threshold", 0.6);
  fake_float(&c.fake, "eta", operator_draw(&c, 2) == 0 ? 1.0 : 0.9);
  fake_int(&c.fake, "top_k", operator_draw(&c, 2) == 0 ? -1 : 50);
  fake_int(&c.fake, "keep_top_k", kept);
  fake_float(&c.fake, "score_threshold", 0.3);
  operator_found(&c, F32, DIMS(1, 1, kept >= 0 ? 2 * kept : 2 * priors * classes, 7));
  operator_check(&c, 1e-5);
}

static void check_proposals(uint32_t seed, const char* op) {
  enum { KINDS = 3, DELTAS = 12, POST = 20, MOST = 40 };
  static const double anchors[] = {-20, -10, 25, 20, -8, -8, 15, 15, -40, -35, 50, 45};
  const bool is_padded = strcmp(op, "standard.propose_regions_padded/1") == 0;
  operator_case_t c;
  operator_begin(&c, op, seed);
  (void)operator_input(&c, F32, DIMS(2, KINDS, 9, 11), operator_positive, 1);
  (void)operator_input(&c, F32, DIMS(2, DELTAS, 9, 11), operator_numbers, 0.4);
  float* image = operator_input(&c, F32, DIMS(2, 3), operator_positive, 1)->data;
  memcpy(image, ((const float[]){140, 170, 1, 140, 170, 1}), 6 * sizeof(float));
  fake_floats(&c.fake, "anchors", DELTAS, anchors);
  fake_int(&c.fake, "stride", 16);
  fake_int(&c.fake, "pre_top", operator_draw(&c, 2) == 0 ? -1 : 100);
  fake_int(&c.fake, "post_top", POST);
  fake_float(&c.fake, "iou_threshold", 0.5);
  fake_float(&c.fake, "min_size", 16);
  if (is_padded) {
    operator_output(&c, F32, DIMS(2, POST, 4));
  } else {
    operator_found(&c, F32, DIMS(MOST, 5));
    operator_found(&c, F32, DIMS(MOST, 1));
  }
  operator_check(&c, 1e-5);
}

/* `given` is the number of elements along the axis. The transform reads the first `length` of them
 * or appends zeros. */
static void check_dft(uint32_t seed, tenon_dtype_t dtype, int64_t given, int64_t length) {
  operator_case_t c;
  operator_begin(&c, "standard.dft/1", seed);
  const bool onesided = operator_draw(&c, 2) == 0;
  const bool inverse = operator_draw(&c, 2) == 0;
  const int64_t parts = inverse ? 2 : 1 + operator_draw(&c, 2);
  const int64_t result_parts = inverse && onesided ? 1 : 2;
  const int64_t result = onesided && !inverse ? length / 2 + 1 : length;
  const int64_t from = inverse && onesided ? length / 2 + 1 : given;
  (void)operator_input(&c, dtype, DIMS(2, from, 3, onesided && !inverse ? 1 : parts),
                       operator_numbers, 1);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, 0, NULL, operator_positive, 1)->data = length;
  if (operator_draw(&c, 2) == 0) {
    *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, 0, NULL, operator_positive, 1)->data = -3;
  }
  fake_int(&c.fake, "fixed_axis", 1);
  fake_int(&c.fake, "inverse", inverse ? 1 : 0);
  fake_int(&c.fake, "onesided", onesided ? 1 : 0);
  operator_output(&c, dtype, DIMS(2, result, 3, result_parts));
  c.is_known = operator_draw(&c, 2) == 0;
  operator_check(&c, SUMS);
}

/* Transforms one line of large magnitude together with lines of small magnitude. The length is odd,
 * because even lengths have results that are 0 except for rounding errors. */
static void check_unlike_lines(uint32_t seed, int64_t length) {
  operator_case_t c;
  operator_begin(&c, "standard.dft/1", seed);
  float* x = operator_input(&c, F32, DIMS(6, length, 1), operator_numbers, 1)->data;
  for (int64_t k = 0; k < length; k++) {
    x[2 * length + k] *= 1e25F;
  }
  fake_int(&c.fake, "fixed_axis", 1);
  fake_int(&c.fake, "inverse", 0);
  fake_int(&c.fake, "onesided", 0);
  operator_output(&c, F32, DIMS(6, length, 2));
  operator_check(&c, SUMS);
}

static void check_stft(uint32_t seed, int64_t length) {
  operator_case_t c;
  operator_begin(&c, "standard.stft/1", seed);
  const int64_t step = 1 + operator_draw(&c, 40);
  const int64_t samples = length + 3 * step + operator_draw(&c, (uint32_t)step);
  const bool onesided = operator_draw(&c, 2) == 0;
  (void)operator_input(&c, F32, DIMS(2, samples, 1), operator_numbers, 1);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, 0, NULL, operator_positive, 1)->data = step;
  (void)operator_input(&c, F32, DIMS(length), operator_positive, 1);
  fake_int(&c.fake, "onesided", onesided ? 1 : 0);
  operator_output(&c, F32, DIMS(2, 4, onesided ? length / 2 + 1 : length, 2));
  operator_check(&c, SUMS);
}

/* Tests powers of two, many small factors, a large prime, and lengths that exceed shared memory. */
static void check_transforms(uint32_t seed) {
  static const int64_t lengths[] = {1, 2, 64, 90, 127, 400, 512, 2048, 2310, 4099};
  const uint32_t half = sizeof(lengths) / sizeof(*lengths) / 2;
  check_dft(seed, F32, lengths[seed % half], lengths[seed % half]);
  check_dft(seed + 6, F32, lengths[half + seed % half], lengths[half + seed % half]);
  check_dft(seed + 1, TENON_DTYPE_FLOAT64, 40, 37);
  check_dft(seed + 2, TENON_DTYPE_FLOAT16, 17, 30);
  check_dft(seed + 3, TENON_DTYPE_BFLOAT16, 3, 5);
  check_dft(seed + 4, TENON_DTYPE_FLOAT64, 1100, 1100);
  check_unlike_lines(seed + 5, 25 + 2 * (seed % 3));
  check_stft(seed, 60 + seed % 9);
}

static void check_rotary(uint32_t seed) {
  static const tenon_dtype_t types[] = {F32, TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                        TENON_DTYPE_FLOAT64};
  operator_case_t c;
  operator_begin(&c, "standard.rotary_embedding/1", seed);
  enum { BATCH = 2, HEADS = 3, TIME = 5, POSITIONS = 9 };
  const tenon_dtype_t dtype = types[operator_draw(&c, 4)];
  const bool apart = operator_draw(&c, 2) == 0;
  const int64_t size = 16 * (1 + (int64_t)operator_draw(&c, 2)) + 2 * (int64_t)operator_draw(&c, 2);
  const int64_t turned = operator_draw(&c, 2) == 0 ? 0 : size / 2 / 2 * 2;
  const int64_t half = (turned == 0 ? size : turned) / 2;
  const int64_t fours[] = {BATCH, HEADS, TIME, size};
  const int64_t threes[] = {BATCH, TIME, HEADS * size};
  (void)operator_input(&c, dtype, apart ? 4 : 3, apart ? fours : threes, operator_numbers, 2);
  (void)operator_input(&c, dtype, DIMS(POSITIONS, half), operator_numbers, 1);
  (void)operator_input(&c, dtype, DIMS(POSITIONS, half), operator_numbers, 1);
  (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(BATCH, TIME), operator_indices, POSITIONS);
  fake_int(&c.fake, "interleaved", operator_draw(&c, 2));
  fake_int(&c.fake, "num_heads", apart ? 0 : HEADS);
  fake_int(&c.fake, "rotary_dim", turned);
  operator_output(&c, dtype, apart ? 4 : 3, apart ? fours : threes);
  c.is_known = operator_draw(&c, 2) == 0;
  operator_check(&c, SUMS);
}

/* Checks an invalid position and an invalid length, as constants and as data. */
static void check_wrong(bool is_known) {
  enum { HIDDEN = 4, TIME = 3 };
  operator_case_t c;
  operator_begin(&c, "standard.rotary_embedding/1", 1);
  (void)operator_input(&c, F32, DIMS(1, 1, 1, 4), operator_numbers, 2);
  (void)operator_input(&c, F32, DIMS(5, 2), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(5, 2), operator_numbers, 1);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, DIMS(1, 1), operator_indices, 1)->data = 5;
  fake_int(&c.fake, "interleaved", 0);
  fake_int(&c.fake, "num_heads", 0);
  fake_int(&c.fake, "rotary_dim", 0);
  operator_output(&c, F32, DIMS(1, 1, 1, 4));
  c.is_known = is_known;
  operator_check_fault(&c, 5);
  operator_begin(&c, "standard.rnn/1", 1);
  (void)operator_input(&c, F32, DIMS(TIME, 1, 2), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(1, HIDDEN, 2), operator_numbers, 1);
  (void)operator_input(&c, F32, DIMS(1, HIDDEN, HIDDEN), operator_numbers, 1);
  operator_absent(&c);
  *(int32_t*)operator_input(&c, TENON_DTYPE_INT32, DIMS(1), operator_indices, 1)->data = TIME + 1;
  fake_string(&c.fake, "direction", "forward");
  fake_float(&c.fake, "clip", 0);
  fake_int(&c.fake, "layout", 0);
  operator_output(&c, F32, DIMS(TIME, 1, 1, HIDDEN));
  c.is_known = is_known;
  operator_check_fault(&c, TIME + 1);
}

static void check_normalisation(uint32_t seed) {
  operator_case_t c;
  operator_begin(&c, "standard.lrn/1", seed);
  (void)operator_input(&c, F32, DIMS(2, 9, 6, 7), operator_numbers, 3);
  fake_int(&c.fake, "window", 1 + operator_draw(&c, 6));
  fake_float(&c.fake, "alpha", 0.3);
  fake_float(&c.fake, "beta", 0.75);
  fake_float(&c.fake, "bias", 1.5);
  operator_output(&c, F32, DIMS(2, 9, 6, 7));
  operator_check(&c, SUMS);
}

void operators_check_layers(uint32_t seed) {
  check_recurrent(seed, "standard.lstm/1", 4);
  check_recurrent(seed, "standard.gru/1", 3);
  check_recurrent(seed, "standard.rnn/1", 1);
  check_attention(seed);
  check_linear_attention(seed);
  check_detection(seed);
  check_proposals(seed, "standard.propose_regions/1");
  check_proposals(seed, "standard.propose_regions_padded/1");
  check_transforms(seed);
  check_rotary(seed);
  check_rotary(seed + 1);
  check_wrong(seed % 2 == 0);
  check_normalisation(seed);
}
