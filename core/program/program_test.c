/* Programs: composition, linear forms, files. What is rebuilt is evaluated and compared with what
 * it was built from. */
#include "core/program/program.h"

#include "core/base/allocator.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/language/test_program.h"
#include "core/plan_file/program_file.h"
#include "core/program/compose.h"
#include "core/program/evaluate.h"
#include "core/program/linear.h"
#include "core/program/normalise.h"
#include "core/program/program_check.h"
#include "core/program/program_text.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

static const test_inputs_t plain = {{"a", "c", "e"}, {"b s 4", "b s 4", "4"}, TENON_DTYPE_FLOAT32};

/* Running: every input k is dense and holds (7 i + 3 k) mod 11 - 3 at place i. */

enum { MOST = 256, AXES = 6 };

typedef struct numbers_t {
  int64_t values[1024];
  uint8_t known[1024];
} numbers_t;

static void bind(test_scope_t* t, numbers_t* n) {
  int64_t symbols[64] = {0};
  uint8_t symbols_known[64] = {0};
  REQUIRE(tenon__dim_pool_count(t->scope.pool) <= 1024);
  REQUIRE(tenon__symbol_count(t->scope.pool) <= 64);
  for (uint32_t i = 0; i < tenon__symbol_count(t->scope.pool); ++i) {
    const char* name = tenon__symbol_get(t->scope.pool, i)->name;
    symbols_known[i] = name[0] != 'o';
    symbols[i] = name[0] == 'b' ? 2 : 3;
  }
  tenon__dim_pool_evaluate(t->scope.pool, symbols, symbols_known, n->values, n->known);
}

/* What input `input` holds. */
static const float* stock_of(uint32_t input) {
  static float stock[6][MOST];
  for (uint32_t i = 0; i < MOST; ++i) {
    stock[input][i] = (float)((7 * i + 3 * input) % 11) - 3.0f;
  }
  return stock[input];
}

/* Evaluates output 0; input k has these dims. `data[k]` NULL: as above. */
static void run(test_scope_t* t, const tenon__expression_t* e, const tenon_dim_t* const* dims,
                const float* const* data, float* out) {
  static int64_t spaces[8][AXES];
  static int64_t strides[8][AXES];
  static numbers_t n;
  tenon_tensor_view_t views[8];
  int64_t space[AXES] = {0};
  int64_t result[AXES] = {0};
  bind(t, &n);
  REQUIRE(e->program.operand_count <= 7 && e->program.output_count == 1);
  for (uint32_t k = 0; k < e->program.rank; ++k) {
    space[k] = n.values[e->space[k].id];
    result[k] = ((e->program.outputs[0].reduced_axes >> k) & 1u) != 0 ? 1 : space[k];
  }
  for (uint32_t k = 0; k < e->program.operand_count; ++k) {
    const uint32_t input = e->program.operands[k].index;
    const tenon__access_t* access = &e->accesses[k];
    int64_t own[AXES] = {0};
    int64_t own_strides[AXES] = {0};
    int64_t offset = 0;
    for (uint32_t i = 0; i < access->rank; ++i) {
      own[i] = n.values[dims[input][i].id];
    }
    (void)tenon__strides_row_major(access->rank, own, own_strides);
    const tenon__extents_t extents = {.pool = t->scope.pool, .values = n.values, .known = n.known};
    const tenon__map_source_t source = {.rank = access->rank, .coordinates = access->coordinates};
    EXPECT_STATUS(tenon__coordinates_view(&extents, &source, e->program.rank, own_strides,
                                          strides[k], &offset),
                  TENON_OK);
    const float* base = data != NULL && data[input] != NULL ? data[input] : stock_of(input);
    memcpy(spaces[k], space, sizeof(space));
    views[k] = (tenon_tensor_view_t){.data = tenon__drop_const(base + offset),
                                     .dims = spaces[k],
                                     .strides = strides[k],
                                     .rank = e->program.rank,
                                     .dtype = TENON_DTYPE_FLOAT32,
                                     .layout = TENON_NONE};
  }
  (void)tenon__strides_row_major(e->program.rank, result, strides[7]);
  const tenon_tensor_view_t output = {.data = out,
                                      .dims = result,
                                      .strides = strides[7],
                                      .rank = e->program.rank,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
  EXPECT_STATUS(
      tenon__program_evaluate(&e->program, space, views, &output, tenon__allocator_default(), NULL),
      TENON_OK);
}

/* consumer(producer(a, c), e): composed, and one after the other. The consumer calls the producer's
 * value x. */
typedef struct pair_case_t {
  const char* producer;
  const char* consumer;
  bool keepdims;
  const char* expected; /* text of the composition; NULL: cannot be composed */
} pair_case_t;

/* The composition, made[0], gives what producer and consumer, made[1] and made[2], give one after
 * the other. `middle`: extents of the value between them. */
static void expect_same_numbers(test_scope_t* t, const pair_case_t* pair,
                                const tenon__expression_t made[3], const tenon_dim_t* middle,
                                int line) {
  const tenon_dim_t* all_dims[6];
  (void)test_dims(t, "b s 4", &all_dims[2]);
  (void)test_dims(t, "b s 4", &all_dims[3]);
  (void)test_dims(t, "4", &all_dims[4]);
  (void)test_dims(t, "4", &all_dims[1]); /* the consumer's e */
  all_dims[0] = middle;
  float in_one[MOST] = {0};
  float between[MOST] = {0};
  float in_two[MOST] = {0};
  run(t, &made[0], all_dims, NULL, in_one);
  const tenon_dim_t* producer_dims[3] = {all_dims[2], all_dims[3], all_dims[4]};
  /* The same data under the numbers that it has in the composition. */
  const float* producer_data[3] = {stock_of(2), stock_of(3), stock_of(4)};
  run(t, &made[1], producer_dims, producer_data, between);
  const float* consumer_data[2] = {between, stock_of(1)};
  run(t, &made[2], all_dims, consumer_data, in_two);
  for (uint32_t i = 0; i < MOST; ++i) {
    if (!(fabs((double)in_one[i] - (double)in_two[i]) <= 1e-5 * (1 + fabs((double)in_two[i])))) {
      tenon__test_fail(__FILE__, line, "%s of %s: element %u is %g, expected %g", pair->consumer,
                       pair->producer, i, (double)in_one[i], (double)in_two[i]);
      return;
    }
  }
}

/* made[1] is the producer and made[2] the consumer; `middle`: extents of the value between them. */
static tenon_status_t build_pair(test_scope_t* t, const pair_case_t* pair,
                                 tenon__expression_t made[3], tenon__inferred_shape_t* out_middle) {
  tenon__inferred_shape_t shape = {0};
  TENON_TRY(test_build(t, pair->producer, &plain, pair->keepdims, &made[1], out_middle));
  const char* middle_text = "";
  for (uint32_t i = 0; i < out_middle->rank; ++i) {
    middle_text =
        tenon__arena_format(&t->arena, "%s%s%s", middle_text, i > 0 ? " " : "",
                            tenon__dim_text(t->scope.pool, out_middle->dims[i], &t->arena));
  }
  const test_inputs_t second = {{"x", "e"}, {middle_text, "4"}, TENON_DTYPE_FLOAT32};
  return test_build(t, pair->consumer, &second, pair->keepdims, &made[2], &shape);
}

/* made[0] of the two others. Input 0 of the consumer is the producer; its input 1 becomes 1 + base
 * of the producer's. */
static tenon_status_t compose_pair(test_scope_t* t, tenon__expression_t made[3]) {
  const tenon_program_t* consumer = &made[2].program;
  uint32_t slots[4];
  uint32_t slot_count = 0;
  for (uint32_t k = 0; k < consumer->operand_count; ++k) {
    if (consumer->operands[k].index == 0) {
      slots[slot_count++] = k;
    }
  }
  return tenon__expression_compose(t->scope.pool,
                                   &(tenon__composition_t){.consumer = &made[2],
                                                           .slots = slots,
                                                           .slot_count = slot_count,
                                                           .producer = &made[1],
                                                           .index_base = 2},
                                   &t->arena, &made[0]);
}

static void check_pair(const pair_case_t* pair, int line) {
  test_scope_t t;
  tenon__expression_t made[3] = {0};
  tenon__inferred_shape_t middle = {0};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(build_pair(&t, pair, made, &middle) == TENON_OK);
  const tenon_status_t status = compose_pair(&t, made);
  if (pair->expected == NULL) {
    if (status != TENON_ERROR_UNSUPPORTED) {
      tenon__test_fail(__FILE__, line, "%s of %s was composed", pair->consumer, pair->producer);
    }
    test_end(&t);
    return;
  }
  if (status != TENON_OK || tenon__program_check(&made[0].program, NULL) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s of %s: status %d", pair->consumer, pair->producer, status);
    test_end(&t);
    return;
  }
  const char* text = tenon__program_text(&made[0].program, 0, &t.arena);
  if (strcmp(text, pair->expected) != 0) {
    tenon__test_fail(__FILE__, line, "%s of %s gives %s, expected %s", pair->consumer,
                     pair->producer, text, pair->expected);
  }
  expect_same_numbers(&t, pair, made, middle.dims, line);
  test_end(&t);
}

TENON_TEST(compositions) {
  static const pair_case_t cases[] = {
      {"y = a + c", "y = max(x, 0) * e", true, "max(in2 + in3, 0) * in1"},
      {"y = exp(a)", "y = x - mean(x, [1])", true, "let t0 = exp(in2); t0 - mean(t0, [1])"},
      {"y = a * along(e, 2)", "y = x / sum(x, [-1])", true,
       "let t0 = in2 * in4; t0 / sum(t0, [2])"},
      {"y = mean(a, [2])", "y = sqrt(x * x + 1)", true,
       "let t0 = mean(in2, [2]); sqrt(t0 * t0 + 1)"},
      {"y = mean(a, [2])", "y = sqrt(x * x + 1)", false,
       "let t0 = mean(in2, [2]); sqrt(t0 * t0 + 1)"},
      {"y = sum(a, [2])", "y = sum(x * x, [1])", false,
       "let t0 = sum(in2, [2]); sum(t0 * t0, [1])"},
      {"y = sum(a, [2])", "y = sum(x, [2]) + x", true, "let t0 = sum(in2, [2]); t0 + t0"},
      {"y = sum(a, [1])", "y = x + cast(index(1), f32) + cast(size(0), f32)", true,
       "sum(in2, [1]) + 0 + f32(size(0))"},
      {"y = sum(a, [1])", "y = x + cast(index(1), f32)", false, "sum(in2, [1]) + f32(index(2))"},
      {"y = sum(a, [0, 1, 2])", "y = x * e", false, NULL},
      {"y = sum(a, [2])", "y = x * e", true, "sum(in2, [2]) * in1"},
      {"y = a + cast(index(2) * size(2), f32)", "y = x * e", true,
       "(in2 + f32(size(2) * index(2))) * in1"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    check_pair(&cases[i], __LINE__);
  }
}

TENON_TEST(a_reduction_is_read_back_in_its_space) {
  test_scope_t t;
  tenon__expression_t producer = {0};
  tenon__expression_t consumer = {0};
  tenon__expression_t composed = {0};
  tenon__inferred_shape_t shape = {0};
  const test_inputs_t one = {{"a"}, {"b s 4"}, TENON_DTYPE_FLOAT32};
  const test_inputs_t two = {{"a", "m"}, {"b s 4", "b s 1"}, TENON_DTYPE_FLOAT32};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(test_build(&t, "y = max(a, [2])", &one, true, &producer, &shape) == TENON_OK);
  REQUIRE(test_build(&t, "y = exp(a - m)", &two, true, &consumer, &shape) == TENON_OK);
  const uint32_t slot = 1;
  REQUIRE(tenon__expression_compose(t.scope.pool,
                                    &(tenon__composition_t){.consumer = &consumer,
                                                            .slots = &slot,
                                                            .slot_count = 1,
                                                            .producer = &producer,
                                                            .keep_output = true},
                                    &t.arena, &composed) == TENON_OK);
  EXPECT_TEXT(tenon__program_text(&composed.program, 0, &t.arena), "exp(in0 - max(in0, [2]))");
  EXPECT_INT(composed.program.operand_count, 1);
  EXPECT_INT(composed.program.output_count, 2);
  EXPECT_INT(composed.program.outputs[0].reduced_axes, 0);
  EXPECT_INT(composed.program.outputs[1].reduced_axes, 4);
  test_end(&t);
}

TENON_TEST(strict_builds_keep_rounding) {
  test_scope_t t;
  tenon__expression_t producer = {0};
  tenon__expression_t consumer = {0};
  tenon__expression_t composed = {0};
  tenon__inferred_shape_t shape = {0};
  const test_inputs_t half = {{"a"}, {"4"}, TENON_DTYPE_FLOAT16};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(test_build(&t, "y = a + 1", &half, true, &producer, &shape) == TENON_OK);
  REQUIRE(test_build(&t, "y = a * 2", &half, true, &consumer, &shape) == TENON_OK);
  const uint32_t slot = 0;
  EXPECT_STATUS(tenon__expression_compose(t.scope.pool,
                                          &(tenon__composition_t){.consumer = &consumer,
                                                                  .slots = &slot,
                                                                  .slot_count = 1,
                                                                  .producer = &producer,
                                                                  .strict = true},
                                          &t.arena, &composed),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(
      tenon__expression_compose(
          t.scope.pool,
          &(tenon__composition_t){
              .consumer = &consumer, .slots = &slot, .slot_count = 1, .producer = &producer},
          &t.arena, &composed),
      TENON_OK);
  EXPECT_TEXT(tenon__program_text(&composed.program, 0, &t.arena), "(in0 + 1) * 2");
  test_end(&t);
}

/* What a text rounds on purpose stays rounded: it is no storage that a fused step may skip. */
TENON_TEST(a_cast_to_a_narrow_float_is_not_composed_through) {
  test_scope_t t;
  tenon__expression_t producer = {0};
  tenon__expression_t consumer = {0};
  tenon__expression_t composed = {0};
  tenon__expression_t parts[2] = {0};
  tenon__inferred_shape_t shape = {0};
  const test_inputs_t half = {{"a"}, {"4"}, TENON_DTYPE_FLOAT16};
  const uint32_t slot = 0;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(test_build(&t, "y = cast(a * 3, f16)", &half, true, &producer, &shape) == TENON_OK);
  REQUIRE(test_build(&t, "y = a + 2", &half, true, &consumer, &shape) == TENON_OK);
  EXPECT_STATUS(
      tenon__expression_compose(
          t.scope.pool,
          &(tenon__composition_t){
              .consumer = &consumer, .slots = &slot, .slot_count = 1, .producer = &producer},
          &t.arena, &composed),
      TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(tenon__expression_linear_in(&producer, 0, &t.arena, &parts[0], &parts[1]),
                TENON_ERROR_UNSUPPORTED);
  /* Before it anything may be composed; what comes out rounds too. */
  EXPECT_STATUS(
      tenon__expression_compose(
          t.scope.pool,
          &(tenon__composition_t){
              .consumer = &producer, .slots = &slot, .slot_count = 1, .producer = &consumer},
          &t.arena, &composed),
      TENON_OK);
  EXPECT_INT(composed.program.outputs[0].reserved, TENON_OUTPUT_ROUNDS);
  test_end(&t);
}

static void expect_linear(const char* source, const char* scale, const char* shift, int line) {
  test_scope_t t;
  tenon__expression_t e = {0};
  tenon__expression_t parts[2] = {0};
  tenon__inferred_shape_t shape = {0};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(test_build(&t, source, &plain, true, &e, &shape) == TENON_OK);
  uint32_t operand = 0;
  while (operand < e.program.operand_count && e.program.operands[operand].index != 0) {
    ++operand;
  }
  const bool linear =
      tenon__expression_linear_in(&e, operand, &t.arena, &parts[0], &parts[1]) == TENON_OK;
  if (linear != (scale != NULL)) {
    tenon__test_fail(__FILE__, line, "%s is %slinear", source, linear ? "" : "not ");
  } else if (linear) {
    const char* found = tenon__program_text(&parts[0].program, 0, &t.arena);
    const char* rest = tenon__program_text(&parts[1].program, 0, &t.arena);
    if (strcmp(found, scale) != 0 || strcmp(rest, shift) != 0) {
      tenon__test_fail(__FILE__, line, "%s is %s, %s", source, found, rest);
    }
  }
  test_end(&t);
}

TENON_TEST(linear_forms) {
  expect_linear("y = a * e + c", "in2", "in1", __LINE__);
  expect_linear("y = (a - c) / e", "recip(in2)", "-in1 / in2", __LINE__);
  expect_linear("y = -a", "-1", "0", __LINE__);
  expect_linear("y = a + a * 2", "3", "0", __LINE__);
  expect_linear("y = a * rsqrt(e + 1) * 2 + exp(c)", "rsqrt(in2 + 1) * 2", "exp(in1)", __LINE__);
  expect_linear("y = a", "1", "0", __LINE__);
  expect_linear("y = a * a", NULL, NULL, __LINE__);
  expect_linear("y = exp(a)", NULL, NULL, __LINE__);
  expect_linear("y = c / a", NULL, NULL, __LINE__);
  expect_linear("y = sum(a, [0])", NULL, NULL, __LINE__);
}

TENON_TEST(written_programs_are_read_back) {
  test_scope_t t;
  tenon__expression_t e = {0};
  tenon__expression_t copy = {0};
  tenon__inferred_shape_t shape = {0};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(test_build(&t, "let m = mean(a, [2]); y = rsqrt(mean((a - m) * (a - m), [2]) + 1e-5) * m",
                     &plain, false, &e, &shape) == TENON_OK);
  struct tenon__byte_writer_t writer;
  struct tenon__byte_reader_t reader;
  tenon__byte_writer_initialize(&writer, tenon__allocator_default());
  tenon__expression_write(&e, &writer);
  tenon__byte_reader_initialize(&reader, writer.data, writer.size);
  EXPECT_STATUS(tenon__expression_read(&reader, t.scope.pool, &t.arena, NULL, &copy), TENON_OK);
  EXPECT_INT(reader.position, writer.size);
  EXPECT_TEXT(tenon__program_text(&copy.program, 0, &t.arena),
              tenon__program_text(&e.program, 0, &t.arena));
  EXPECT_INT(copy.output_ranks[0], 2);
  EXPECT_INT(copy.program.outputs[0].reduced_axes, 4);
  EXPECT_INT(copy.program.outputs[0].reserved, 0);
  /* Every shorter text of bytes is refused. */
  for (size_t size = 0; size < writer.size; ++size) {
    tenon__byte_reader_initialize(&reader, writer.data, size);
    EXPECT_STATUS(tenon__expression_read(&reader, t.scope.pool, &t.arena, NULL, &copy),
                  TENON_ERROR_INVALID_DATA);
  }
  tenon__byte_writer_deinitialize(&writer);
  test_end(&t);
}

TENON_TEST(rounding_outputs_are_written_and_read_back) {
  test_scope_t t;
  tenon__expression_t e = {0};
  tenon__expression_t copy = {0};
  tenon__inferred_shape_t shape = {0};
  struct tenon__byte_writer_t writer;
  struct tenon__byte_reader_t reader;
  const test_inputs_t half = {{"a"}, {"4"}, TENON_DTYPE_FLOAT16};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  REQUIRE(test_build(&t, "y = cast(a * 3, f16)", &half, true, &e, &shape) == TENON_OK);
  tenon__byte_writer_initialize(&writer, tenon__allocator_default());
  tenon__expression_write(&e, &writer);
  tenon__byte_reader_initialize(&reader, writer.data, writer.size);
  EXPECT_STATUS(tenon__expression_read(&reader, t.scope.pool, &t.arena, NULL, &copy), TENON_OK);
  EXPECT_INT(copy.program.outputs[0].dtype, TENON_DTYPE_FLOAT16);
  EXPECT_INT(copy.program.outputs[0].reserved, TENON_OUTPUT_ROUNDS);
  tenon__byte_writer_deinitialize(&writer);
  test_end(&t);
}

static bool compose_all(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_scope_t t;
  bool fine = test_begin(&t, allocator);
  if (fine) {
    tenon__expression_t producer = {0};
    tenon__expression_t consumer = {0};
    tenon__expression_t made = {0};
    tenon__expression_t parts[2] = {0};
    tenon__inferred_shape_t shape = {0};
    const test_inputs_t one = {{"a"}, {"b s 4"}, TENON_DTYPE_FLOAT32};
    const test_inputs_t two = {{"m", "e"}, {"b s", "s"}, TENON_DTYPE_FLOAT32};
    const uint32_t slot = 0;
    fine = test_build(&t, "y = mean(a * a, [2])", &one, false, &producer, &shape) == TENON_OK &&
           t.fine &&
           test_build(&t, "y = m * e + cast(index(1), f32)", &two, false, &consumer, &shape) ==
               TENON_OK &&
           t.fine &&
           tenon__expression_compose(t.scope.pool,
                                     &(tenon__composition_t){.consumer = &consumer,
                                                             .slots = &slot,
                                                             .slot_count = 1,
                                                             .producer = &producer,
                                                             .index_base = 3,
                                                             .keep_output = true},
                                     &t.arena, &made) == TENON_OK &&
           tenon__expression_normalise(&made, &t.arena, &made) == TENON_OK &&
           tenon__expression_linear_in(&consumer, 0, &t.arena, &parts[0], &parts[1]) == TENON_OK;
    struct tenon__byte_writer_t writer;
    struct tenon__byte_reader_t reader;
    tenon__byte_writer_initialize(&writer, allocator);
    if (fine) {
      tenon__expression_write(&made, &writer);
      tenon__byte_reader_initialize(&reader, writer.data, writer.size);
      fine = !writer.failed &&
             tenon__expression_read(&reader, t.scope.pool, &t.arena, NULL, &made) == TENON_OK;
    }
    tenon__byte_writer_deinitialize(&writer);
  }
  test_end(&t);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(compose_all, NULL);
}
