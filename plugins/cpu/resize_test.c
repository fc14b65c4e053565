/* Resizing against plain loops over the definition, in double precision. */
#include <math.h>
#include <stdlib.h>

#include "fake_run.h"
#include "kernels.h"

enum { MOST_TAPS = 256 };

typedef struct case_t {
  uint32_t rank;
  int64_t from[4];
  int64_t to[4];
  double scales[4];
  bool has_scales;
  const char* mode;
  const char* coordinates;
  const char* rounding;
  bool antialias;
  bool exclude_outside;
} case_t;

/* One output coordinate along one axis. */
typedef struct sum_t {
  int64_t count;
  int64_t index[MOST_TAPS];
  double weight[MOST_TAPS];
} sum_t;

static double place_of(const case_t* c, uint32_t axis, int64_t at) {
  const double in = (double)c->from[axis];
  const double out = (double)c->to[axis];
  const double scale = c->scales[axis];
  const double whole = in * scale;
  if (strcmp(c->coordinates, "asymmetric") == 0) {
    return (double)at / scale;
  }
  if (strcmp(c->coordinates, "align_corners") == 0) {
    return whole == 1 ? 0 : (double)at * (in - 1) / (whole - 1);
  }
  if (strcmp(c->coordinates, "pytorch_half_pixel") == 0 && c->to[axis] == 1) {
    return 0;
  }
  const double shift =
      strcmp(c->coordinates, "half_pixel_symmetric") == 0 ? in / 2 * (1 - out / whole) : 0;
  return shift + ((double)at + 0.5) / scale - 0.5;
}

static double filter(const case_t* c, double d) {
  d = fabs(d);
  if (strcmp(c->mode, "linear") == 0) {
    return d < 1 ? 1 - d : 0;
  }
  const double a = -0.75;
  return d <= 1  ? (a + 2) * d * d * d - (a + 3) * d * d + 1
         : d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a
                 : 0;
}

static int64_t nearest_of(const case_t* c, double place) {
  const double low = floor(place);
  const double part = place - low;
  const bool up = strcmp(c->rounding, "ceil") == 0                 ? part > 0
                  : strcmp(c->rounding, "round_prefer_floor") == 0 ? part > 0.5
                  : strcmp(c->rounding, "round_prefer_ceil") == 0  ? part >= 0.5
                                                                   : false;
  return (int64_t)low + (up ? 1 : 0);
}

static void sum_of(const case_t* c, uint32_t axis, int64_t at, sum_t* out_sum) {
  const int64_t extent = c->from[axis];
  const double place = place_of(c, axis, at);
  const double stretch = c->antialias && c->scales[axis] < 1 ? c->scales[axis] : 1;
  double total = 0;
  out_sum->count = 0;
  if (strcmp(c->mode, "nearest") == 0) {
    const int64_t index = nearest_of(c, place);
    out_sum->count = 1;
    out_sum->index[0] = index < 0 ? 0 : index >= extent ? extent - 1 : index;
    out_sum->weight[0] = 1;
    return;
  }
  const int64_t reach = (int64_t)ceil(2 / stretch) + 1;
  for (int64_t k = (int64_t)floor(place) - reach; k <= (int64_t)floor(place) + reach; k++) {
    const bool is_outside = k < 0 || k >= extent;
    const double weight =
        c->exclude_outside && is_outside ? 0 : filter(c, ((double)k - place) * stretch);
    if (weight != 0 && out_sum->count < MOST_TAPS) {
      out_sum->index[out_sum->count] = k < 0 ? 0 : k >= extent ? extent - 1 : k;
      out_sum->weight[out_sum->count++] = weight;
      total += weight;
    }
  }
  for (int64_t k = 0; k < out_sum->count && (c->exclude_outside || stretch < 1); k++) {
    out_sum->weight[k] /= total;
  }
}

static double expected(const case_t* c, const double* x, const int64_t* at, uint32_t axis,
                       int64_t place) {
  sum_t sum;
  double result = 0;
  if (axis == c->rank) {
    return x[place];
  }
  sum_of(c, axis, at[axis], &sum);
  for (int64_t k = 0; k < sum.count; k++) {
    result += sum.weight[k] * expected(c, x, at, axis + 1, place * c->from[axis] + sum.index[k]);
  }
  return result;
}

static void describe(const case_t* c, fake_t* out_fake) {
  static const int64_t no_dims[1] = {0};
  const int64_t list[1] = {c->rank};
  fake_t* fake = out_fake;
  (void)fake_input(fake, TENON_DTYPE_FLOAT32, c->rank, c->from, false, false);
  (void)fake_input(fake, TENON_DTYPE_INT64, 1, list, false, false);
  fake_value_t* scales =
      fake_input(fake, TENON_DTYPE_FLOAT32, 1, c->has_scales ? list : no_dims, true, false);
  for (uint32_t k = 0; k < c->rank && c->has_scales; k++) {
    scales->numbers[k] = c->scales[k];
  }
  (void)fake_output(fake, TENON_DTYPE_FLOAT32, c->rank, c->to);
  fake_string(fake, "mode", c->mode);
  fake_string(fake, "coordinate_mode", c->coordinates);
  fake_string(fake, "nearest_mode", c->rounding);
  fake_int(fake, "antialias", c->antialias);
  fake_int(fake, "exclude_outside", c->exclude_outside);
}

/* All elements; the caller frees them. */
static double* make_expected(const case_t* c, const double* x) {
  const int64_t elements = fake_count(c->rank, c->to);
  double* right = calloc((size_t)elements, sizeof(*right));
  for (int64_t i = 0; i < elements && right != NULL; i++) {
    int64_t at[4] = {0};
    int64_t rest = i;
    for (uint32_t k = c->rank; k-- > 0;) {
      at[k] = rest % c->to[k]; /* positive. NOLINT(clang-analyzer-core.DivideZero) */
      rest /= c->to[k];
    }
    right[i] = expected(c, x, at, 0, 0);
  }
  return right;
}

static void check_tactic(const case_t* c, fake_t* fake, const tenon__cpu_state_t* state,
                         const double* right) {
  const double* y = fake->values[fake->input_count].numbers;
  EXPECT_STATUS(fake_run_tactic(fake, &tenon__cpu_resize_kernel, state), TENON_OK);
  for (int64_t i = 0; i < fake_count(c->rank, c->to); i++) {
    /* Weights and sums in f32 of numbers below 1; cubic weights reach 1.2 along each axis. */
    if (!(fabs(y[i] - right[i]) <= 4e-6)) {
      EXPECT_NEAR(y[i], right[i], 4e-6);
      break;
    }
  }
}

static void check(const case_t* c, unsigned seed) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.resize/1", .seed = seed};
  describe(c, &fake);
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  double* right = make_expected(c, fake.values[0].numbers);
  EXPECT(right != NULL);
  for (uint32_t s = 0; s < 2 * count && right != NULL; s++) {
    tenon_refusal_t refusal;
    fake.threads = 1 + s % 3;
    if (fake_tactic(&fake, &tenon__cpu_resize_kernel, &states[s / 2], s % 2, &refusal)) {
      check_tactic(c, &fake, &states[s / 2], right);
    } else {
      EXPECT(s % 2 == 1 && c->rank < 3); /* no channels */
    }
  }
  free(right);
  fake_free(&fake);
}

static void draw(unsigned* seed, case_t* out_case) {
  static const char* const modes[] = {"nearest", "linear", "cubic"};
  static const char* const coordinates[] = {"half_pixel", "asymmetric", "align_corners",
                                            "pytorch_half_pixel", "half_pixel_symmetric"};
  static const char* const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                          "ceil"};
  case_t* c = out_case;
  *c = (case_t){.rank = (uint32_t)fake_choice(seed, 1, 4),
                .mode = modes[fake_choice(seed, 0, 2)],
                .coordinates = coordinates[fake_choice(seed, 0, 4)],
                .rounding = roundings[fake_choice(seed, 0, 3)],
                .has_scales = fake_choice(seed, 0, 1) == 1};
  c->antialias = strcmp(c->mode, "nearest") != 0 && fake_choice(seed, 0, 3) == 0;
  c->exclude_outside = strcmp(c->mode, "cubic") == 0 && fake_choice(seed, 0, 1) == 1;
  for (uint32_t k = 0; k < c->rank; k++) {
    const bool stays = fake_choice(seed, 0, 2) == 0;
    c->from[k] = fake_choice(seed, 1, k + 1 == c->rank ? 40 : 5);
    c->to[k] = stays ? c->from[k] : fake_choice(seed, 1, k + 1 == c->rank ? 90 : 7);
    c->scales[k] = (double)((float)c->to[k] / (float)c->from[k]);
    if (!c->has_scales) {
      c->scales[k] = (double)c->to[k] / (double)c->from[k];
    }
  }
}

TENON_TEST(random_resizes_equal_the_definition) {
  for (unsigned seed = 1; seed <= 300 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 71;
    case_t c;
    draw(&s, &c);
    check(&c, seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u: %s %s %s\n", seed, c.mode, c.coordinates, c.rounding);
    }
  }
}

/* Elements at whole places have one tap; the others two. */
TENON_TEST(unused_taps_repeat_a_used_one) {
  const case_t c = {.rank = 2,
                    .from = {1, 17},
                    .to = {1, 33},
                    .scales = {1, 33.0 / 17},
                    .mode = "linear",
                    .coordinates = "align_corners",
                    .rounding = "floor"};
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.resize/1", .seed = 5};
    describe(&c, &fake);
    fake.values[0].numbers[4] = INFINITY;
    fake.threads = 1;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_resize_kernel, &states[s], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_resize_kernel, &states[s]), TENON_OK);
    const double* y = fake.values[fake.input_count].numbers;
    for (int64_t k = 0; k < 33; k++) {
      EXPECT(!isnan(y[k]) && isinf(y[k]) == (k >= 7 && k <= 9));
    }
    fake_free(&fake);
  }
}
