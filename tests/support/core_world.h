/* The core without a shared object: a device that is the host, the operators of the core's tests,
 * kernels from static descriptors, and what turns a network into a plan, an engine and a context.
 */
#ifndef TENON_TESTS_SUPPORT_CORE_WORLD_H_
#define TENON_TESTS_SUPPORT_CORE_WORLD_H_

#include "core/base/status.h"
#include "core/builder/guard.h"
#include "core/catalog/catalog.h"
#include "core/context/border.h"
#include "core/context/context.h"
#include "core/engine/engine.h"
#include "core/network/test_operators.h"
#include "core/plan_file/reader.h"
#include "core/plan_file/writer.h"
#include "core/program/evaluate.h"
#include "core/tensor/layout.h"

static inline uint32_t core_device_count(void* state, const tenon_sink_t* sink) {
  (void)state;
  (void)sink;
  return 1;
}

/* The device is no more than its name. */
static inline tenon_status_t core_device_open(void* state, uint32_t index, const tenon_sink_t* sink,
                                              tenon_device_t** out_device) {
  static char device[1];
  (void)state;
  (void)index;
  (void)sink;
  *out_device = (tenon_device_t*)(void*)device;
  return TENON_OK;
}

static inline void core_device_close(tenon_device_t* device) {
  (void)device;
}

static inline const char* core_device_fingerprint(tenon_device_t* device) {
  (void)device;
  return "a host for tests";
}

static inline int32_t core_device_has(tenon_device_t* device, const char* name) {
  (void)device;
  return strcmp(name, "baseline") == 0;
}

static inline tenon_status_t core_device_allocate(tenon_device_t* device, tenon_stream_t* stream,
                                                  size_t size_bytes, void** out_data) {
  (void)device;
  (void)stream;
  *out_data = tenon__allocate(tenon__allocator_default(), size_bytes, 1);
  return *out_data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static inline void core_device_free(tenon_device_t* device, tenon_stream_t* stream, void* data,
                                    size_t size_bytes) {
  (void)device;
  (void)stream;
  tenon__free(tenon__allocator_default(), data, size_bytes);
}

static const tenon_device_descriptor_t core_device = {
    .size = sizeof(tenon_device_descriptor_t),
    .name = "cpu",
    .summary = "the host",
    .flags = TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM,
    .count = core_device_count,
    .open = core_device_open,
    .close = core_device_close,
    .fingerprint = core_device_fingerprint,
    .has = core_device_has,
    .allocate = core_device_allocate,
    .free = core_device_free,
};

/* ---- The kernel of all expressions: the core's own evaluator ---- */

enum { CORE_MOST_OPERANDS = 16 };

static inline tenon_status_t core_expression_prepare(const tenon_prepare_t* call,
                                                     void** out_instance) {
  const tenon_program_t** instance = call->host->allocate(call->preparation, sizeof(void*));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *instance = call->table->program(call->region);
  *out_instance = (void*)instance;
  return TENON_OK;
}

static inline tenon_status_t core_expression_bind(void* instance, tenon_binding_t* binding,
                                                  const tenon_bind_table_t* host,
                                                  void** out_bound) {
  const tenon_program_t* program = *(const tenon_program_t**)instance;
  const int64_t* space = host->space(binding, TENON_NONE);
  int64_t* copy = host->allocate(binding, (program->rank + 1U) * sizeof(*copy));
  if (space == NULL || copy == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < program->rank; ++k) {
    copy[k] = space[k];
  }
  *out_bound = copy;
  return TENON_OK;
}

/* NOLINTNEXTLINE(readability-function-size): likewise */
static inline tenon_status_t core_expression_enqueue(const tenon_enqueue_t* call) {
  const tenon_program_t* program = *(const tenon_program_t**)call->instance;
  tenon_tensor_view_t in[CORE_MOST_OPERANDS];
  tenon_tensor_view_t out[CORE_MOST_OPERANDS];
  if (call->input_count > CORE_MOST_OPERANDS || call->output_count > CORE_MOST_OPERANDS ||
      program->operand_count > CORE_MOST_OPERANDS) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    in[k] = call->inputs[program->operands[k].index].tensor;
  }
  for (uint32_t k = 0; k < program->output_count; ++k) {
    out[k] = call->outputs[program->outputs[k].index].tensor;
  }
  return tenon__program_evaluate(program, call->bound, in, out, tenon__allocator_default(), NULL);
}

/* Takes any strides. */
static inline tenon_status_t core_expression_tactics(
    void* state, const tenon_region_t* region, const tenon_region_table_t* table,
    tenon_emit_t* emit, tenon_status_t (*add)(tenon_emit_t* emit, const tenon_tactic_t* tactic)) {
  tenon_argument_rule_t rules[2][CORE_MOST_OPERANDS];
  (void)state;
  for (uint32_t k = 0; k < CORE_MOST_OPERANDS; ++k) {
    rules[0][k] = rules[1][k] =
        (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  if (table->input_count(region) > CORE_MOST_OPERANDS ||
      table->output_count(region) > CORE_MOST_OPERANDS) {
    return TENON_OK;
  }
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "evaluator",
                                 .inputs = rules[0],
                                 .outputs = rules[1],
                                 .estimate_seconds = 1e-6};
  return add(emit, &tactic);
}

static const tenon_kernel_t core_expressions = {.size = sizeof(tenon_kernel_t),
                                                .name = "expressions",
                                                .device = "cpu",
                                                .version = 1,
                                                .flags = TENON_KERNEL_EXPRESSIONS,
                                                .tactics = core_expression_tactics,
                                                .prepare = core_expression_prepare,
                                                .bind = core_expression_bind,
                                                .enqueue = core_expression_enqueue};

/* ---- The kernel of all moves, of 4 byte elements and without fills ---- */

static inline tenon_status_t core_move_bind(void* instance, tenon_binding_t* binding,
                                            const tenon_bind_table_t* host, void** out_bound) {
  (void)instance;
  const tenon_move_t* move = host->move(binding);
  *out_bound = tenon__drop_const(move);
  return move == NULL || move->rank > 8 || move->covers_output == 0 ? TENON_ERROR_UNSUPPORTED
                                                                    : TENON_OK;
}

static inline void core_move_piece(const tenon_move_t* move, const tenon_move_piece_t* piece,
                                   const uint32_t* from, const tenon_tensor_view_t* to) {
  int64_t count = 1;
  for (uint32_t d = 0; d < move->rank; ++d) {
    count *= piece->extent[d];
  }
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k;
    int64_t source = piece->offset;
    int64_t target = 0;
    for (uint32_t d = move->rank; d-- > 0;) {
      const int64_t at = rest % piece->extent[d];
      rest /= piece->extent[d];
      source += at * piece->strides[d];
      target += (piece->begin[d] + at) * to->strides[d];
    }
    ((uint32_t*)to->data)[target] = from[source];
  }
}

static inline tenon_status_t core_move_enqueue(const tenon_enqueue_t* call) {
  const tenon_move_t* move = call->bound;
  for (uint32_t k = 0; k < move->piece_count; ++k) {
    const tenon_move_piece_t* piece = &move->pieces[k];
    core_move_piece(move, piece, call->inputs[piece->input].tensor.data, &call->outputs[0].tensor);
  }
  return TENON_OK;
}

static const tenon_kernel_t core_moves = {.size = sizeof(tenon_kernel_t),
                                          .name = "moves",
                                          .device = "cpu",
                                          .version = 1,
                                          .flags = TENON_KERNEL_MOVES,
                                          .tactics = core_expression_tactics,
                                          .bind = core_move_bind,
                                          .enqueue = core_move_enqueue};

/* ---- The world ---- */

/* For kernels that are only chosen. */
static inline tenon_status_t core_do_nothing(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_OK;
}

static inline int32_t core_refuse(void* state, const tenon_region_t* region,
                                  const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  (void)state;
  (void)region;
  (void)table;
  *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_SHAPE, .detail = "too square"};
  return 0;
}

/* Packs the second input, which is not read any more. */
static inline tenon_status_t core_pack_second(const tenon_prepare_t* call, void** out_instance) {
  const uint32_t source = call->table->node_input(call->region, 0, 1);
  int32_t is_ready = 0;
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "tests.zeros/1",
                                   .sources = &source,
                                   .source_count = 1,
                                   .size_bytes = 64};
  return call->host->pack(call->preparation, &packing, out_instance, &is_ready);
}

/* What products with zeros are. NOLINTNEXTLINE(readability-function-size): likewise */
static inline tenon_status_t core_write_zeros(const tenon_enqueue_t* call) {
  for (uint32_t k = 0; k < call->output_count; ++k) {
    const tenon_tensor_view_t* view = &call->outputs[k].tensor;
    uint64_t count = 0;
    size_t bytes = 0;
    if (call->outputs[k].kind == TENON_ARGUMENT_TENSOR &&
        tenon__element_count(view->rank, view->dims, &count) &&
        tenon__dtype_bytes(view->dtype, count, &bytes)) {
      memset(view->data, 0, bytes);
    }
  }
  return core_do_nothing(call);
}

typedef struct core_world_t {
  test_fixture_t fixture; /* network, builder, messages */
  tenon__owner_t owner;
  tenon__catalog_t* catalog;
  tenon__build_options_t options;
  tenon_sink_t sink;
  void* plan; /* bytes */
  size_t plan_size;
  tenon__engine_t* engine;
  tenon__context_t* context;
} core_world_t;

static inline void core_world_offer(core_world_t* world, const tenon__owner_t* owner,
                                    const char* kind, const void* items, uint32_t count,
                                    size_t stride) {
  const tenon_offering_t offering = {
      .size = sizeof(offering), .kind = kind, .items = {items, count, (uint32_t)stride}};
  EXPECT_STATUS(tenon__catalog_add(world->catalog, owner, &offering, &world->sink), TENON_OK);
}

/* `kernels`: those of the plugin "tests", beside those for expressions and moves. */
static inline void core_world_begin(core_world_t* world, const tenon_kernel_t* kernels,
                                    uint32_t kernel_count) {
  memset(world, 0, sizeof(*world));
  EXPECT(test_fixture_open(&world->fixture, tenon__allocator_default()));
  world->sink = world->fixture.messages.sink;
  world->owner = (tenon__owner_t){.plugin = "tests", .version = "1.0.0", .path = ""};
  EXPECT_STATUS(tenon__catalog_create(world->fixture.allocator, &world->catalog), TENON_OK);
  core_world_offer(world, &world->owner, "device/1", &core_device, 1, sizeof(core_device));
  core_world_offer(world, &world->owner, "operator/1", test_operators, TEST_OPERATOR_COUNT,
                   sizeof(tenon_operator_t));
  core_world_offer(world, &world->owner, "kernel/1", kernels, kernel_count, sizeof(*kernels));
  core_world_offer(world, &world->owner, "kernel/1", &core_expressions, 1,
                   sizeof(core_expressions));
  core_world_offer(world, &world->owner, "kernel/1", &core_moves, 1, sizeof(core_moves));
  world->options = (tenon__build_options_t){.allocator = world->fixture.allocator,
                                            .sink = &world->sink,
                                            .tuning = {.thread_count = 1, .no_measuring = true}};
}

static inline tenon_status_t core_world_build(core_world_t* world) {
  return tenon__build_guarded(world->fixture.network, world->catalog, &world->options, &world->plan,
                              &world->plan_size);
}

/* Builds, loads and makes a context; what goes wrong fails the test. */
static inline bool core_world_start(core_world_t* world) {
  const tenon__engine_options_t options = {.allocator = world->fixture.allocator,
                                           .sink = &world->sink};
  tenon_status_t status = core_world_build(world);
  if (status == TENON_OK) {
    status = tenon__engine_create(world->catalog, world->plan, world->plan_size, &options,
                                  &world->engine);
  }
  if (status == TENON_OK) {
    status = tenon__context_create(world->engine, 0, NULL, &world->context);
  }
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", tenon__status_text(status),
                     world->fixture.messages.text);
  }
  return status == TENON_OK;
}

static inline const tenon__operator_t* core_world_find(void* user, const char* name) {
  return tenon__catalog_operator(user, name, NULL);
}

/* Builds, changes what the plan says, and loads that. */
static inline tenon_status_t core_world_load_changed(core_world_t* world,
                                                     void (*change)(tenon__plan_t* plan)) {
  const tenon_allocator_t allocator = world->fixture.allocator;
  const tenon__engine_options_t options = {.allocator = allocator, .sink = &world->sink};
  tenon__plan_t* plan = NULL;
  void* data = NULL;
  size_t size = 0;
  EXPECT_STATUS(core_world_build(world), TENON_OK);
  tenon_status_t status = tenon__plan_read(
      allocator,
      &(tenon__plan_source_t){world->plan, world->plan_size, core_world_find, world->catalog},
      &world->sink, &plan);
  EXPECT_STATUS(status, TENON_OK);
  if (status == TENON_OK) {
    change(plan);
    status = tenon__plan_write(plan, allocator, NULL, &world->sink, &data, &size);
    EXPECT_STATUS(status, TENON_OK);
    tenon__plan_destroy(plan);
  }
  tenon__free(allocator, world->plan, world->plan_size);
  world->plan = data;
  world->plan_size = size;
  return status == TENON_OK
             ? tenon__engine_create(world->catalog, data, size, &options, &world->engine)
             : TENON_ERROR_INTERNAL;
}

static inline void core_world_end(core_world_t* world) {
  tenon__context_destroy(world->context);
  tenon__engine_release(world->engine);
  tenon__free(world->fixture.allocator, world->plan, world->plan_size);
  tenon__catalog_destroy(world->catalog);
  test_fixture_close(&world->fixture);
}

/* ---- Running ---- */

static inline tenon_status_t core_world_set(core_world_t* world, uint32_t index,
                                            tenon_dtype_t dtype, const int64_t* dims,
                                            const void* data) {
  int64_t strides[8] = {0};
  int64_t next = 1;
  const uint32_t rank = test_extents(dims);
  for (uint32_t k = rank; k > 0; --k) {
    strides[k - 1] = next;
    next *= dims[k - 1];
  }
  const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR,
                                     .tensor = {.data = tenon__drop_const(data),
                                                .dims = dims,
                                                .strides = strides,
                                                .rank = rank,
                                                .dtype = dtype,
                                                .layout = TENON_NONE}};
  return tenon__context_set_input(world->context, index, &argument);
}

static inline void core_world_expect_ran(core_world_t* world) {
  const tenon_status_t status = tenon__context_run(world->context);
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", tenon__status_text(status),
                     world->fixture.messages.text);
  }
}

/* Output `index` has `count` elements, and these values. */
static inline void core_world_expect(int line, const core_world_t* world, uint32_t index,
                                     const float* expected, int64_t count) {
  const tenon_argument_t* output = tenon__context_get_output(world->context, index);
  int64_t elements = 1;
  for (uint32_t d = 0; output != NULL && d < output->tensor.rank; ++d) {
    elements *= output->tensor.dims[d];
  }
  if (output == NULL || output->tensor.dtype != TENON_DTYPE_FLOAT32 || elements != count) {
    tenon__test_fail(__FILE__, line, "output %u has %lld elements, expected %lld floats", index,
                     (long long)elements, (long long)count);
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    const float actual = ((const float*)output->tensor.data)[k];
    if (actual != expected[k]) { /* sums of small integers are exact */
      tenon__test_fail(__FILE__, line, "output %u, element %lld is %g, expected %g", index,
                       (long long)k, (double)actual, (double)expected[k]);
    }
  }
}
#define EXPECT_FLOATS(world, index, ...)                            \
  core_world_expect(__LINE__, world, index, (float[]){__VA_ARGS__}, \
                    (int64_t)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)))
#define EXPECT_EMPTY(world, index) core_world_expect(__LINE__, world, index, NULL, 0)

#endif
