/*
 * Attention of an encoder that is made here, layer by layer as networks write it, on a device whose
 * plugins propose it as one step: is it one, and does the network compute what the reference does?
 *
 *   device_encoder DEVICE [measure|estimate [EXCLUDED]]
 *
 * Exits with 77 where there is no such device. `measure`: kernels are tried and compared, not
 * estimated. EXCLUDED: a kernel that is not to be used, as "cuda:fused_attention": then by the
 * others, who take scores times a number and nothing else.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

enum { BATCH = 2, TOKENS = 20, HEADS = 3, FEATURES = 16, WIDTH = HEADS * FEATURES };
enum { SKIPPED = 77, MOST = BATCH * TOKENS * WIDTH };

/* What stands between the products. */
typedef enum form_t {
  PLAIN,   /* nothing */
  BERT,    /* q and k scaled, a mask of -inf, NaN replaced by zeros */
  CAPPED,  /* a cap, and an operator that no kernel knows by name */
  GROUPED, /* one head of keys and values for all queries' */
  HALF,    /* in f16, softmax in f32 between casts */
  SCALED,  /* the scores divided by a number */
  WHOLE,   /* as the one operator that it is, whose keys are turned on the way */
  SHOWN,   /* somebody else reads the probabilities: not one step */
  FORMS
} form_t;
static const char* const names[] = {
    "plain", "as in BERT", "capped",      "shared keys",
    "casts", "scaled",     "an operator", "probabilities are an output"};

typedef struct scene_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_status_t status; /* the first that was not OK */
  uint32_t seed;
} scene_t;

static void note(scene_t* s, tenon_status_t status) {
  s->status = s->status == TENON_OK ? status : s->status;
}

/* From -1 to 1. */
static float draw(uint32_t* seed) {
  *seed = *seed * 1664525U + 1013904223U;
  return (float)(*seed >> 8) / (float)(1 << 23) - 1;
}

static tenon_value_t node(scene_t* s, const char* op, tenon_value_t a, tenon_value_t b,
                          tenon_value_t c, const tenon_attribute_t* attribute) {
  const tenon_value_t inputs[] = {a, b, c};
  tenon_value_t y = {0};
  note(s, tenon_network_add(
              s->network, op, NULL, inputs,
              c.id != 0   ? 3
              : b.id != 0 ? 2
                          : 1,
              &(tenon_list_t){attribute, attribute == NULL ? 0 : 1, sizeof(tenon_attribute_t)}, &y,
              1));
  return y;
}
static const tenon_value_t none;

static tenon_value_t cast(scene_t* s, tenon_value_t x, tenon_dtype_t dtype) {
  const tenon_attribute_t to = TENON_TYPE("to", dtype);
  return node(s, "standard.cast/1", x, none, none, &to);
}

static tenon_value_t matrix(scene_t* s, int64_t rows, int64_t columns) {
  static float data[WIDTH * WIDTH];
  const int64_t dims[] = {rows, columns};
  tenon_value_t value = {0};
  for (int64_t k = 0; k < rows * columns; k++) {
    data[k] = draw(&s->seed) / 4;
  }
  note(s, tenon_network_add_constant(s->network, NULL, TENON_DTYPE_FLOAT32, 2, dims, data, &value));
  return value;
}

static tenon_value_t number(scene_t* s, float x) {
  tenon_value_t value = {0};
  note(s, tenon_network_add_constant(s->network, NULL, TENON_DTYPE_FLOAT32, 0, NULL, &x, &value));
  return value;
}

static tenon_value_t shaped(scene_t* s, tenon_value_t x, uint32_t rank, const int64_t* dims) {
  const int64_t count = rank;
  tenon_value_t shape = {0};
  note(s, tenon_network_add_constant(s->network, NULL, TENON_DTYPE_INT64, 1, &count, dims, &shape));
  return node(s, "standard.reshape/1", x, shape, none, NULL);
}

/* [batch, tokens, heads * features] as [batch, heads, tokens, features], keys turned. */
static tenon_value_t heads_of(scene_t* s, tenon_value_t x, int64_t heads, bool turned) {
  const int64_t dims[] = {BATCH, TOKENS, heads, FEATURES};
  const tenon_attribute_t upright = TENON_INTS("perm", 0, 2, 1, 3);
  const tenon_attribute_t keys = TENON_INTS("perm", 0, 2, 3, 1);
  const tenon_value_t wide =
      node(s, "standard.mat_mul/1", x, matrix(s, WIDTH, heads * FEATURES), none, NULL);
  return node(s, "standard.permute/1", shaped(s, wide, 4, dims), none, none,
              turned ? &keys : &upright);
}

static tenon_value_t change_scores(scene_t* s, form_t form, tenon_value_t x, tenon_value_t mask) {
  if (form == BERT) {
    const tenon_value_t hidden =
        node(s, "standard.where/1", mask, number(s, 0), number(s, -INFINITY), NULL);
    return node(s, "standard.add/1", x, hidden, none, NULL);
  }
  if (form == CAPPED) {
    const tenon_value_t bent =
        node(s, "standard.tanh/1", node(s, "standard.div/1", x, number(s, 3), none, NULL), none,
             none, NULL);
    return node(s, "standard.softsign/1", node(s, "standard.mul/1", bent, number(s, 3), none, NULL),
                none, none, NULL);
  }
  return form == SCALED ? node(s, "standard.div/1", x, number(s, 4), none, NULL) : x;
}

typedef struct attended_t {
  tenon_value_t y;
  tenon_value_t p;
} attended_t;

static attended_t attend(scene_t* s, form_t form, tenon_value_t mask, const tenon_value_t qkv[3]) {
  if (form == WHOLE) {
    return (attended_t){.y = node(s, "standard.attention/1", qkv[0], qkv[1], qkv[2], NULL)};
  }
  tenon_value_t scores = node(s, "standard.mat_mul/1", qkv[0], qkv[1], none, NULL);
  scores = form == HALF ? cast(s, scores, TENON_DTYPE_FLOAT32) : scores;
  tenon_value_t p =
      node(s, "standard.softmax/1", change_scores(s, form, scores, mask), none, none, NULL);
  p = form == HALF ? cast(s, p, TENON_DTYPE_FLOAT16) : p;
  if (form == BERT) {
    p = node(s, "standard.where/1", node(s, "standard.is_nan/1", p, none, none, NULL), number(s, 0),
             p, NULL);
  }
  tenon_value_t y = node(s, "standard.mat_mul/1", p, qkv[2], none, NULL);
  y = form == HALF ? cast(s, y, TENON_DTYPE_FLOAT32) : y;
  return (attended_t){y, p};
}

static void make(scene_t* s, form_t form) {
  const int64_t dims[] = {BATCH, TOKENS, WIDTH};
  const int64_t mask_dims[] = {BATCH, 1, 1, TOKENS};
  const tenon_attribute_t back = TENON_INTS("perm", 0, 2, 1, 3);
  const int64_t heads = form == GROUPED ? 1 : HEADS;
  tenon_value_t x = {0};
  tenon_value_t mask = {0};
  note(s, tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 3, dims, &x));
  if (form == BERT) {
    note(s, tenon_network_add_input(s->network, "mask", TENON_DTYPE_BOOL, 4, mask_dims, &mask));
  }
  tenon_value_t q = heads_of(s, x, HEADS, false);
  tenon_value_t k = heads_of(s, x, heads, form != WHOLE);
  tenon_value_t v = heads_of(s, x, heads, false);
  if (form == BERT) {
    q = node(s, "standard.mul/1", q, number(s, 0.5F), none, NULL);
    k = node(s, "standard.mul/1", k, number(s, 0.5F), none, NULL);
  }
  q = form == HALF ? cast(s, q, TENON_DTYPE_FLOAT16) : q;
  k = form == HALF ? cast(s, k, TENON_DTYPE_FLOAT16) : k;
  v = form == HALF ? cast(s, v, TENON_DTYPE_FLOAT16) : v;
  const attended_t got = attend(s, form, mask, (const tenon_value_t[]){q, k, v});
  const tenon_value_t flat =
      shaped(s, node(s, "standard.permute/1", got.y, none, none, &back), 3, dims);
  const tenon_value_t result =
      node(s, "standard.mat_mul/1", flat, matrix(s, WIDTH, WIDTH), none, NULL);
  note(s, tenon_network_add_output(s->network, result, "y"));
  if (form == SHOWN) {
    note(s, tenon_network_add_output(s->network, got.p, "p"));
  }
}

/* ---- Running ---- */

static void feed(scene_t* s, tenon_context_t* context, form_t form) {
  static float x[MOST];
  static bool mask[BATCH * TOKENS];
  static const int64_t dims[] = {BATCH, TOKENS, WIDTH};
  static const int64_t mask_dims[] = {BATCH, 1, 1, TOKENS};
  uint32_t seed = 77;
  for (size_t k = 0; k < MOST; k++) {
    x[k] = draw(&seed);
  }
  for (size_t k = 0; k < sizeof(mask); k++) {
    mask[k] = k / TOKENS == 1 ? false : k % 5 != 0; /* the second sequence is hidden whole */
  }
  const tenon_tensor_view_t view = {
      .data = x, .dims = dims, .rank = 3, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  const tenon_tensor_view_t hidden = {
      .data = mask, .dims = mask_dims, .rank = 4, .dtype = TENON_DTYPE_BOOL, .layout = TENON_NONE};
  note(s, tenon_context_set_input(context, 0, &view));
  if (form == BERT) {
    note(s, tenon_context_set_input(context, 1, &hidden));
  }
}

/* How many steps are attention as a whole; the results. */
static uint32_t build_and_run(form_t form, const tenon_build_options_t* options,
                              float out_results[MOST], tenon_status_t* out_status) {
  scene_t s = {.seed = 3};
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  uint32_t count = 0;
  note(&s, tenon_registry_create(NULL, &s.registry));
  note(&s, tenon_network_create(s.registry, &s.network));
  make(&s, form);
  if (s.status == TENON_OK) {
    note(&s, tenon_build(s.network, options, &plan));
  }
  if (s.status == TENON_OK) {
    note(&s, tenon_engine_create_from_plan(s.registry, plan, NULL, &engine));
  }
  if (s.status == TENON_OK) {
    note(&s, tenon_context_create(engine, NULL, &context));
  }
  if (s.status == TENON_OK) {
    tenon_tensor_view_t y = {0};
    feed(&s, context, form);
    for (int k = 0; k < 3; k++) { /* step by step, recorded, replayed */
      note(&s, tenon_context_run(context));
    }
    note(&s, tenon_context_get_output(context, 0, &y));
    if (s.status == TENON_OK) {
      memcpy(out_results, y.data, MOST * sizeof(float));
    }
  }
  for (uint32_t k = 0; engine != NULL && k < tenon_engine_step_count(engine); k++) {
    tenon_step_info_t info = {.size = sizeof(info)};
    note(&s, tenon_engine_get_step(engine, k, &info));
    count += strcmp(info.kernel, "fused_attention") == 0 || strcmp(info.kernel, "attention") == 0;
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(s.network);
  tenon_registry_release(s.registry);
  *out_status = s.status;
  return count;
}

/* q, k and v come from products in f16, whose own rounding, 2^-11 of numbers below 4, is passed on
 * by softmax and by sums of 48 terms of at most a quarter each: a few hundredths in a bad case. */
static bool are_near(const float* got, const float* wanted) {
  bool near = true;
  for (size_t k = 0; k < MOST; k++) {
    near = near && fabsf(got[k] - wanted[k]) <= 0.03F; /* false where one is NaN */
  }
  return near;
}

static const char* type_name(uint32_t permits) {
  return permits == 0                   ? "f32"
         : permits == TENON_PERMIT_F16  ? "f16"
         : permits == TENON_PERMIT_BF16 ? "bf16"
                                        : "tf32";
}

typedef struct wish_t {
  const char* device;
  bool measures;
  const char* excluded[2]; /* a kernel, or none */
} wish_t;

static uint32_t count_expected(form_t form, const wish_t* wish, uint32_t permits) {
  const bool is_narrow = permits != 0 || form == HALF;
  const bool is_simple = form == PLAIN || form == HALF || form == SCALED || form == WHOLE;
  return form != SHOWN && is_narrow &&
                 (wish->excluded[0] == NULL || (is_simple && permits != TENON_PERMIT_TF32))
             ? 1
             : 0;
}

static bool check(form_t form, const wish_t* wish, uint32_t permits) {
  static float got[MOST];
  static float wanted[MOST];
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_status_t status = TENON_OK;
  options.reference_only = 1;
  (void)build_and_run(form, &options, wanted, &status);
  if (status != TENON_OK) {
    (void)printf("FAILED %s: the reference: %s\n", names[form], tenon_last_message());
    return false;
  }
  options.reference_only = 0;
  options.device = wish->device;
  options.permits = permits == 0 ? (uint32_t)TENON_PERMIT_NOTHING : permits;
  options.no_measuring = wish->measures ? 0 : 1;
  options.exclude = wish->excluded;
  const uint32_t count = build_and_run(form, &options, got, &status);
  const bool near = status == TENON_OK && are_near(got, wanted);
  const bool good = near && (wish->measures || count == count_expected(form, wish, permits));
  (void)printf("%s %s, %s: %u steps of attention, %s%s\n", good ? "ok" : "FAILED", names[form],
               type_name(permits), count, near ? "as the reference" : "not as the reference ",
               status == TENON_OK ? "" : tenon_last_message());
  return good;
}

int main(int argument_count, char** arguments) {
  static float results[MOST];
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_status_t status = TENON_OK;
  const wish_t wish = {.device = arguments[1],
                       .measures = argument_count > 2 && strcmp(arguments[2], "measure") == 0,
                       .excluded = {argument_count > 3 ? arguments[3] : NULL}};
  bool good = true;
  if (argument_count < 2) {
    (void)fprintf(stderr, "device_encoder DEVICE [measure|estimate [EXCLUDED]]\n");
    return 1;
  }
  options.device = arguments[1];
  options.no_measuring = 1;
  (void)build_and_run(PLAIN, &options, results, &status);
  if (status == TENON_ERROR_NOT_FOUND || status == TENON_ERROR_UNSUPPORTED ||
      status == TENON_ERROR_DEVICE) {
    (void)printf("skipped: %s\n", tenon_last_message());
    return SKIPPED;
  }
  for (uint32_t form = 0; form < FORMS; form++) {
    good = check((form_t)form, &wish, TENON_PERMIT_F16) && good;
  }
  good = check(BERT, &wish, TENON_PERMIT_BF16) && good;
  good = check(BERT, &wish, TENON_PERMIT_TF32) && good;
  good = check(HALF, &wish, 0) && good;
  good = check(PLAIN, &wish, 0) && good;
  return good ? 0 : 1;
}
