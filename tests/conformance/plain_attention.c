/*
 * Attention whose scores are multiplied by known numbers and by nothing else, as one step by the
 * kernel of a plugin for a device of another one, compared with what f64 gives: shapes that nobody
 * chose, from anywhere in memory, in every tactic.
 *
 *   device_plain_attention DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]
 *
 * Exits with 77 where there is no such device, or no library for the kernel.
 */
#include "attention_case.h"

/* As in attention.c: numbers are exact, a probability and the result are rounded. */
static const double few_roundings = 1;

static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                      TENON_DTYPE_FLOAT32};

static void fail(const char* name, const char* words) {
  (void)printf("FAILED %s: %s\n", name, words);
  kernel_failures++;
}

/* ---- What is taken ---- */

static void check(attention_t* a, const char* name) {
  attention_case_t ac;
  attention_make(a, &ac, false);
  kernel_check_given(&ac.c, name, few_roundings);
}

static void draw_steps(attention_t* a) {
  static const attention_step_kind_t kinds[] = {ATTENTION_SCALE, ATTENTION_CONVERT, ATTENTION_HALVE,
                                                ATTENTION_ROOT};
  a->step_count = attention_draw(a, 4);
  for (uint32_t k = 0; k < a->step_count; k++) {
    attention_step_t* step = &a->steps[k];
    *step = (attention_step_t){.kind = kinds[attention_draw(a, 4)],
                               .rank = attention_draw(a, a->rank + 1),
                               .dtype = types[attention_draw(a, 3)]};
    step->broadcast = (1U << step->rank) - 1;
  }
}

static int64_t draw_length(attention_t* a, uint32_t most) {
  return 1 + (int64_t)attention_draw(a, attention_draw(a, 3) == 0 ? most : 40);
}

static void check_random(unsigned number) {
  attention_t a = {.seed = number * 6151U + 17U, .is_known = true, .is_aligned = true};
  char name[64];
  a.dtype = types[attention_draw(&a, 3)];
  a.is_plain = attention_draw(&a, 3) == 0;
  a.form = attention_draw(&a, 2) == 0 ? ATTENTION_PLAIN : ATTENTION_MASKED;
  a.scales_q = attention_draw(&a, 2) == 0;
  a.scales_k = attention_draw(&a, 3) == 0;
  a.rank = 2 + attention_draw(&a, 3);
  for (uint32_t axis = 0; axis + 2 < a.rank; axis++) {
    a.outer[axis] = 1 + (int64_t)attention_draw(&a, 4);
  }
  a.queries = draw_length(&a, 150);
  a.keys = draw_length(&a, 300);
  a.features = 8 * (1 + (int64_t)attention_draw(&a, attention_draw(&a, 2) == 0 ? 16 : 8));
  a.results = attention_draw(&a, 3) == 0 ? 8 * (1 + (int64_t)attention_draw(&a, 16)) : a.features;
  draw_steps(&a);
  a.by_heads = a.rank == 4 && attention_draw(&a, 2) == 0;
  (void)snprintf(name, sizeof(name), "plain attention %u", number);
  check(&a, name);
}

static attention_t make_small(void) {
  return (attention_t){.dtype = TENON_DTYPE_FLOAT16,
                       .rank = 4,
                       .outer = {2, 3},
                       .queries = 9,
                       .keys = 12,
                       .features = 16,
                       .results = 24,
                       .step_count = 1,
                       .steps = {{.kind = ATTENTION_SCALE, .dtype = TENON_DTYPE_FLOAT32}},
                       .scales_q = true,
                       .is_plain = true,
                       .is_known = true,
                       .is_aligned = true,
                       .seed = 9};
}

/* As in BERT and in a vision transformer; results of all heads side by side. */
static void check_known(void) {
  static const int64_t tokens[] = {128, 197};
  for (size_t k = 0; k < 2 * sizeof(tokens) / sizeof(*tokens); k++) {
    attention_t a = make_small();
    a.dtype = k < 2 ? TENON_DTYPE_FLOAT16 : TENON_DTYPE_FLOAT32;
    a.queries = a.keys = tokens[k % 2];
    a.features = a.results = 64;
    a.steps[0].kind = ATTENTION_ROOT;
    a.by_heads = true;
    check(&a, k % 2 == 0 ? "BERT" : "ViT");
  }
}

static void check_nothing(void) {
  attention_t a = make_small();
  a.queries = 0;
  check(&a, "no queries");
}

/* The result goes to one place, then to another. */
static tenon_status_t run_twice(kernel_life_t* life, size_t size_bytes, uint8_t* out_first,
                                uint8_t* out_second) {
  void* block = life->outputs[0].tensor.data;
  void* other = NULL;
  tenon_status_t status = kernel_life_enqueue(life);
  status = status == TENON_OK ? kernel_life_block(life, size_bytes, 0, &other) : status;
  life->outputs[0].tensor.data = other;
  status = status == TENON_OK ? kernel_life_enqueue(life) : status;
  status = status == TENON_OK ? kernel_life_read(life, block, size_bytes, out_first) : status;
  return status == TENON_OK ? kernel_life_read(life, other, size_bytes, out_second) : status;
}

static void check_moved(void) {
  enum { BYTES = 2 * 3 * 9 * 24 * (int)sizeof(uint16_t) };
  static uint8_t first[BYTES];
  static uint8_t second[BYTES];
  attention_t a = make_small();
  attention_case_t ac;
  kernel_life_t life;
  attention_make(&a, &ac, false);
  tenon_status_t status = kernel_case_live(&ac.c, 0, &life);
  status = status == TENON_OK ? run_twice(&life, BYTES, first, second) : status;
  if (status != TENON_OK || memcmp(first, second, BYTES) != 0) {
    fail("a result that moves", "not the same in both places");
  }
  kernel_life_end(&life);
  kernel_runs++;
  kernel_case_end(&ac.c);
}

/* ---- What is not taken ---- */

/* The region is made, and spoilt where there is something to spoil. */
typedef struct refused_t {
  const char* name;
  uint32_t reason;
  void (*change)(attention_t* a);
  void (*spoil)(attention_case_t* ac);
} refused_t;

static void add_mask(attention_t* a) {
  a->is_known = false;
  a->steps[0] = (attention_step_t){.kind = ATTENTION_ADD, .dtype = TENON_DTYPE_FLOAT32, .rank = 4};
}
static void hide_some(attention_t* a) {
  a->is_known = false;
  a->steps[0] = (attention_step_t){.kind = ATTENTION_HIDE, .dtype = TENON_DTYPE_BOOL, .rank = 4};
}
static void cap(attention_t* a) {
  a->steps[0] = (attention_step_t){.kind = ATTENTION_CAP};
}
static void look_back(attention_t* a) {
  a->steps[0] = (attention_step_t){.kind = ATTENTION_CAUSAL};
}
static void forget(attention_t* a) {
  a->is_known = false;
}
static void replace(attention_t* a) {
  a->form = ATTENTION_REPLACED;
}
static void share_keys(attention_t* a) {
  a->shared[ATTENTION_KT] = a->shared[ATTENTION_V] = 2;
}
static void lack_heads(attention_t* a) {
  a->missing[ATTENTION_V] = 1;
}
static void add_axis(attention_t* a) {
  a->rank = 5;
  a->outer[2] = 2;
}
static void widen(attention_t* a) {
  a->features = 136;
}
static void narrow(attention_t* a) {
  a->results = 12;
}
static void turn_around(attention_case_t* ac) {
  static const float number = -2;
  ac->c.fake.values[ac->factors[ATTENTION_Q]].info.constant_data = &number;
}
static void add_output(attention_case_t* ac) {
  ac->c.fake.output_count = 2;
}
static void add_stranger(attention_case_t* ac) {
  ac->nodes[ac->node_count] = (fake_node_t){.op = "acme.stranger/1", .output = TENON_NONE - 1};
  ac->c.fake.several_count = ac->node_count + 1;
}
static void hide_programs(attention_case_t* ac) {
  for (uint32_t k = 0; k < ac->node_count; k++) {
    ac->nodes[k].program = NULL;
  }
}
static void change_v(attention_case_t* ac) {
  ac->c.fake.values[ATTENTION_V].info.dtype = TENON_DTYPE_BFLOAT16;
}

static void check_refused(const refused_t* r) {
  attention_t a = make_small();
  attention_case_t ac;
  tenon_refusal_t refusal;
  if (r->change != NULL) {
    r->change(&a);
  }
  attention_make_region(&a, &ac);
  const tenon_kernel_t* kernel = kernel_find(&ac.c.fake);
  if (r->spoil != NULL) {
    if (!kernel_takes(kernel, &ac.c.fake, &refusal)) {
      fail(r->name, "refused before anything was spoilt");
    }
    r->spoil(&ac);
  }
  if (kernel_takes(kernel, &ac.c.fake, &refusal)) {
    fail(r->name, "taken");
  } else if (refusal.reason != r->reason || refusal.detail == NULL) {
    fail(r->name, "refused for another reason, or without words");
  }
  kernel_runs++;
  kernel_case_end(&ac.c);
}

static void check_refusals(void) {
  static const refused_t all[] = {
      {"a mask that is added", TENON_REFUSAL_SLOT, add_mask, NULL},
      {"a mask that hides", TENON_REFUSAL_SLOT, hide_some, NULL},
      {"a cap", TENON_REFUSAL_SLOT, cap, NULL},
      {"no look ahead", TENON_REFUSAL_SLOT, look_back, NULL},
      {"a scale that nobody knows", TENON_REFUSAL_SLOT, forget, NULL},
      {"hopeless rows that are replaced", TENON_REFUSAL_OPERATOR, replace, NULL},
      {"keys that heads share", TENON_REFUSAL_SHAPE, share_keys, NULL},
      {"values without heads", TENON_REFUSAL_RANK, lack_heads, NULL},
      {"rank 5", TENON_REFUSAL_RANK, add_axis, NULL},
      {"136 features", TENON_REFUSAL_SHAPE, widen, NULL},
      {"results of 12 features", TENON_REFUSAL_SHAPE, narrow, NULL},
      {"a scale below 0", TENON_REFUSAL_OPERATOR, NULL, turn_around},
      {"a second output", TENON_REFUSAL_OTHER, NULL, add_output},
      {"a node that is none of it", TENON_REFUSAL_OPERATOR, NULL, add_stranger},
      {"nodes without programs", TENON_REFUSAL_SLOT, NULL, hide_programs},
      {"v of another type", TENON_REFUSAL_DTYPE, NULL, change_v}};
  for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
    check_refused(&all[k]);
  }
}

/* In a graph of other nodes too, in any order: exactly its own, the main one first. A factor that
 * nobody knows stays outside. */
static void check_proposal(void) {
  attention_t a = make_small();
  attention_case_t ac;
  uint32_t nodes[64];
  const uint32_t count = attention_make_graph(&a, &ac);
  const tenon_kernel_t* kernel = kernel_find(&ac.c.fake);
  const tenon_region_t* graph = (const tenon_region_t*)(void*)&ac.c.fake;
  for (uint32_t known = 0; known < 2; known++) {
    tenon_value_info_t* factor = &ac.c.fake.values[ac.factors[ATTENTION_Q]].info;
    factor->flags = known == 0 ? 0 : TENON_VALUE_CONSTANT;
    for (uint32_t seed = 0; seed <= count; seed++) {
      const uint32_t wanted = seed < count ? 0 : known == 0 ? count - 1 : count;
      const uint32_t got =
          kernel->propose(kernel_plugin_state, graph, &fake_region_table, seed, nodes, 64);
      if (got != wanted || (got > 0 && nodes[0] != count)) {
        fail("proposal", "not the nodes of the attention, or not for its last product alone");
      }
    }
  }
  if (kernel->propose(kernel_plugin_state, graph, &fake_region_table, count, nodes, count - 1) !=
      0) {
    fail("proposal", "more nodes than there is room for");
  }
  kernel_runs++;
  kernel_case_end(&ac.c);
}

/* ---- The whole ---- */

/* Is there a library? Else the words. */
static bool has_library(void) {
  attention_t a = make_small();
  attention_case_t ac;
  tenon_refusal_t refusal;
  attention_make_region(&a, &ac);
  const bool takes = kernel_takes(kernel_find(&ac.c.fake), &ac.c.fake, &refusal);
  const bool lacks = !takes && refusal.reason == TENON_REFUSAL_LIBRARY;
  if (lacks) {
    (void)printf("skipped: %s\n", refusal.detail);
  }
  kernel_case_end(&ac.c);
  return !lacks;
}

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    (void)fprintf(stderr,
                  "device_plain_attention DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]\n");
    return OPENED_FAILED;
  }
  int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  const unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 200;
  if (status != 0) {
    return status;
  }
  if (!opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  status = has_library() ? 0 : OPENED_SKIPPED;
  if (status == 0) {
    check_refusals();
    check_proposal();
    check_nothing();
    check_moved();
    check_known();
    for (unsigned k = 0; k < count; k++) {
      check_random(k);
    }
    (void)printf("plain attention: %d cases, %d failed\n", kernel_runs, kernel_failures);
    status = kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  return status;
}
