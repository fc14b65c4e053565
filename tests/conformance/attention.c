/*
 * Attention as one step by a plugin's kernel on a device, compared with what f64 gives: shapes that
 * nobody chose, from anywhere in memory, with anybody's arithmetic on the scores, in every tactic.
 *
 *   device_attention DEVICE_PLUGIN.so DEVICE [COUNT]
 *
 * Exits with 77 where there is no such device.
 */
#include "attention_case.h"

/* The operands' numbers are multiples of 2^-6, so products and inputs are exact. What is left: a
 * probability rounded to the products' type, half of a unit of what is stored at most as all values
 * are below 1, and the result's own rounding, a quarter. The comparison gives a whole unit. */
static const double few_roundings = 1;

static void draw_steps(attention_t* a) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
                                        TENON_DTYPE_BFLOAT16};
  a->step_count = attention_draw(a, 4);
  for (uint32_t k = 0; k < a->step_count; k++) {
    attention_step_t* step = &a->steps[k];
    *step = (attention_step_t){.kind = (attention_step_kind_t)attention_draw(a, ATTENTION_KINDS),
                               .rank = attention_draw(a, a->rank + 1),
                               .dtype = types[attention_draw(a, 3)]};
    step->broadcast = attention_draw(a, 1U << step->rank);
    step->dtype = step->kind == ATTENTION_HIDE ? TENON_DTYPE_BOOL : step->dtype;
    step->broadcast = step->kind == ATTENTION_SCALE ? (1U << step->rank) - 1 : step->broadcast;
  }
}

static int64_t draw_length(attention_t* a, uint32_t most) {
  return 1 + (int64_t)attention_draw(a, attention_draw(a, 3) == 0 ? most : 40);
}

static void draw_shape(attention_t* a) {
  a->rank = 2 + attention_draw(a, 4);
  for (uint32_t axis = 0; axis + 2 < a->rank; axis++) {
    a->outer[axis] = 1 + (int64_t)attention_draw(a, a->rank > 4 ? 2 : 3);
  }
  /* Keys and values are shared by groups of queries, or by all: the scores have the axes of q. */
  for (uint32_t which = 1; which < 3 && a->rank > 2; which++) {
    a->missing[which] = attention_draw(a, 4) == 0 ? attention_draw(a, a->rank - 1) : 0;
    a->shared[which] = attention_draw(a, 3) == 0 ? attention_draw(a, 1U << (a->rank - 2)) : 0;
  }
  a->queries = draw_length(a, 150);
  a->keys = draw_length(a, 300);
  a->features = 8 * (1 + (int64_t)attention_draw(a, attention_draw(a, 2) == 0 ? 16 : 8));
  a->results = attention_draw(a, 3) == 0 ? 8 * (1 + (int64_t)attention_draw(a, 16)) : a->features;
}

static void check(attention_t* a, const char* name) {
  attention_case_t ac;
  attention_make(a, &ac, false);
  kernel_check_given(&ac.c, name, few_roundings);
}

static void check_random(unsigned number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                        TENON_DTYPE_FLOAT32};
  attention_t a = {.seed = number * 7919U + 31U};
  char name[64];
  a.dtype = types[attention_draw(&a, 3)];
  a.is_plain = attention_draw(&a, 3) == 0;
  a.form = (attention_form_t)attention_draw(&a, ATTENTION_FORMS);
  a.scales_q = attention_draw(&a, 2) == 0;
  a.scales_k = attention_draw(&a, 3) == 0;
  draw_shape(&a);
  draw_steps(&a);
  a.by_heads = a.rank == 4 && attention_draw(&a, 2) == 0;
  (void)snprintf(name, sizeof(name), "attention %u", number);
  check(&a, name);
}

/* A row without any score that is finite: what each form makes of it. */
static void check_hopeless(void) {
  static const char* const names[] = {"hopeless rows, softmax", "hopeless rows, masked softmax",
                                      "hopeless rows, replaced"};
  for (uint32_t form = 0; form < ATTENTION_FORMS; form++) {
    attention_t a = {.dtype = TENON_DTYPE_FLOAT16,
                     .rank = 3,
                     .outer = {2},
                     .queries = 20,
                     .keys = 24,
                     .features = 16,
                     .results = 16,
                     .form = (attention_form_t)form,
                     .step_count = 1,
                     .is_plain = true,
                     .seed = 5};
    attention_case_t ac;
    /* Of queries by themselves: a quarter is hidden from all keys. */
    a.steps[0] = (attention_step_t){
        .kind = ATTENTION_HIDE, .rank = 3, .broadcast = 4, .dtype = TENON_DTYPE_BOOL};
    attention_make(&a, &ac, false);
    const tenon_tensor_view_t* y = &ac.c.tensors[ac.c.fake.input_count].view;
    uint32_t count = 0;
    for (int64_t row = 0; row < 40; row++) {
      const double first = tenon__number_load(y->data, 0, y->dtype, row * 16).f;
      count += (form == ATTENTION_PLAIN ? isnan(first) : first == 0.0) ? 1 : 0;
    }
    if (count == 0 || count == 40) {
      (void)printf("FAILED %s: there are %u of them\n", names[form], count);
      kernel_failures++;
    }
    kernel_check_given(&ac.c, names[form], few_roundings);
  }
}

/* ---- What is proposed, and what is not taken ---- */

typedef struct spoiling_t {
  const char* name;
  void (*spoil)(attention_case_t* ac);
} spoiling_t;

static void add_output(attention_case_t* ac) {
  ac->c.fake.output_count = 2;
}
static void add_stranger(attention_case_t* ac) {
  ac->nodes[ac->node_count] = (fake_node_t){.op = "acme.stranger/1", .output = TENON_NONE - 1};
  ac->c.fake.several_count = ac->node_count + 1;
}
static void replace_by_one(attention_case_t* ac) {
  static const float one = 1;
  for (uint32_t k = 0; k < ac->c.fake.input_count; k++) {
    if (ac->c.fake.values[k].info.constant_data != NULL) {
      ac->c.fake.values[k].info.constant_data = &one;
    }
  }
}
static void hide_programs(attention_case_t* ac) {
  for (uint32_t k = 0; k < ac->node_count; k++) {
    ac->nodes[k].program = NULL;
  }
}
static void narrow_v(attention_case_t* ac) {
  ac->c.fake.values[2].info.dtype = TENON_DTYPE_BFLOAT16;
}

static attention_t make_small(void) {
  attention_t a = {.dtype = TENON_DTYPE_FLOAT16,
                   .rank = 4,
                   .outer = {1, 2},
                   .queries = 9,
                   .keys = 12,
                   .features = 16,
                   .results = 24,
                   .form = ATTENTION_REPLACED,
                   .step_count = 2,
                   .scales_q = true,
                   .is_plain = true,
                   .seed = 9};
  a.steps[0] = (attention_step_t){.kind = ATTENTION_CAP};
  a.steps[1] = (attention_step_t){
      .kind = ATTENTION_ADD, .rank = 2, .broadcast = 1, .dtype = TENON_DTYPE_FLOAT32};
  return a;
}

static void fail(const char* name, const char* words) {
  (void)printf("FAILED %s: %s\n", name, words);
  kernel_failures++;
}

static void check_refusals(void) {
  static const spoiling_t spoilings[] = {{"a second output", add_output},
                                         {"a node that is none of it", add_stranger},
                                         {"replaced by another number than 0", replace_by_one},
                                         {"nodes without programs", hide_programs},
                                         {"v of another type", narrow_v}};
  for (size_t k = 0; k < sizeof(spoilings) / sizeof(*spoilings); k++) {
    attention_t a = make_small();
    attention_case_t ac;
    tenon_refusal_t refusal;
    attention_make_region(&a, &ac);
    const tenon_kernel_t* kernel = kernel_find(&ac.c.fake);
    if (!kernel_takes(kernel, &ac.c.fake, &refusal)) {
      fail(spoilings[k].name, "refused before anything was spoilt");
    }
    spoilings[k].spoil(&ac);
    if (kernel_takes(kernel, &ac.c.fake, &refusal)) {
      fail(spoilings[k].name, "taken");
    } else if (refusal.reason == TENON_REFUSAL_NONE) {
      fail(spoilings[k].name, "refused without a reason");
    }
    kernel_runs++;
    kernel_case_end(&ac.c);
  }
}

/* Features that no tile has. */
static void check_features(void) {
  static const int64_t features[] = {4, 12, 136};
  for (size_t k = 0; k < sizeof(features) / sizeof(*features); k++) {
    attention_t a = make_small();
    attention_case_t ac;
    tenon_refusal_t refusal;
    a.features = features[k];
    attention_make_region(&a, &ac);
    if (kernel_takes(kernel_find(&ac.c.fake), &ac.c.fake, &refusal) ||
        refusal.reason != TENON_REFUSAL_SHAPE) {
      fail("features", "taken, or refused for another reason");
    }
    kernel_runs++;
    kernel_case_end(&ac.c);
  }
}

/* In a graph of other nodes too, in any order: exactly its own, the main one first. */
static void check_proposal(void) {
  attention_t a = make_small();
  attention_case_t ac;
  uint32_t nodes[64];
  const uint32_t count = attention_make_graph(&a, &ac);
  const tenon_kernel_t* kernel = kernel_find(&ac.c.fake);
  for (uint32_t seed = 0; seed <= count; seed++) {
    const uint32_t got =
        kernel->propose(kernel_device.state, (const tenon_region_t*)(void*)&ac.c.fake,
                        &fake_region_table, seed, nodes, 64);
    if (got != (seed == count ? count : 0) || (got > 0 && nodes[0] != count)) {
      fail("proposal", "not the nodes of the attention, or not for its last product alone");
    }
  }
  if (kernel->propose(kernel_device.state, (const tenon_region_t*)(void*)&ac.c.fake,
                      &fake_region_table, count, nodes, count - 1) != 0) {
    fail("proposal", "more nodes than there is room for");
  }
  kernel_runs++;
  kernel_case_end(&ac.c);
}

/* As in BERT and in a vision transformer; results of all heads side by side. */
static void check_known(void) {
  static const int64_t keys[] = {128, 197};
  for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
    attention_t a = {.dtype = TENON_DTYPE_FLOAT32,
                     .rank = 4,
                     .outer = {1, 2},
                     .queries = keys[k],
                     .keys = keys[k],
                     .features = 64,
                     .results = 64,
                     .form = ATTENTION_REPLACED,
                     .step_count = 1,
                     .scales_q = true,
                     .scales_k = true,
                     .is_plain = true,
                     .by_heads = true,
                     .seed = 3};
    a.steps[0] = (attention_step_t){
        .kind = ATTENTION_ADD, .rank = 4, .broadcast = 7, .dtype = TENON_DTYPE_FLOAT32};
    check(&a, k == 0 ? "BERT" : "ViT");
  }
}

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    (void)fprintf(stderr, "device_attention DEVICE_PLUGIN.so DEVICE [COUNT]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  const unsigned count = argument_count > 3 ? (unsigned)strtoul(arguments[3], NULL, 10) : 12;
  if (status != 0) {
    return status;
  }
  check_refusals();
  check_features();
  check_proposal();
  check_hopeless();
  check_known();
  for (unsigned k = 0; k < count; k++) {
    check_random(k);
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  (void)printf("attention: %d cases, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
