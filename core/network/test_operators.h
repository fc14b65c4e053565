/* Operators for the tests of the core, in domain "test", and helpers that build with them. Only
 * tests include this; a plugin is never needed. */
#ifndef TENON_CORE_NETWORK_TEST_OPERATORS_H_
#define TENON_CORE_NETWORK_TEST_OPERATORS_H_

#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/network/builder.h"
#include "core/network/print.h"
#include "core/operator/operator_admit.h"

#define PORT(name_, type_, flags_) \
  { sizeof(tenon_port_t), .name = (name_), .type = (type_), .flags = (flags_) }
#define DOMAIN(name_, type_, domain_) \
  { sizeof(tenon_port_t), .name = (name_), .type = (type_), .domain = (domain_) }
#define TYPE(name_, allowed_) \
  { sizeof(tenon_type_variable_t), (name_), (allowed_) }
#define CASE(when_, text_) \
  { sizeof(tenon_case_t), (when_), (text_) }
#define CHECK(condition_, message_) \
  { sizeof(tenon_check_t), (condition_), (message_) }
#define ATTRIBUTE(name_, kind_, default_)                                             \
  {                                                                                   \
    sizeof(tenon_attribute_descriptor_t),                                             \
        .name = (name_), .default_text = (default_), .kind = TENON_ATTRIBUTE_##kind_, \
        .flags = (default_) == NULL ? TENON_ATTRIBUTE_REQUIRED : 0                    \
  }
#define OPERATOR(name_) .size = sizeof(tenon_operator_t), .name = (name_)
#define LIST_OF(type, ...) TENON_LIST(((const type[]){__VA_ARGS__}))
#define INPUTS(...) .inputs = LIST_OF(tenon_port_t, __VA_ARGS__)
#define OUTPUTS(...) .outputs = LIST_OF(tenon_port_t, __VA_ARGS__)
#define TYPES(...) .types = LIST_OF(tenon_type_variable_t, __VA_ARGS__)
#define ATTRIBUTES(...) .attributes = LIST_OF(tenon_attribute_descriptor_t, __VA_ARGS__)
#define CASES(...) .cases = LIST_OF(tenon_case_t, __VA_ARGS__)
#define MOVES(...) .moves = LIST_OF(tenon_case_t, __VA_ARGS__)
#define DECOMPOSITIONS(...) .decompositions = LIST_OF(tenon_case_t, __VA_ARGS__)
#define CHECKS(...) .checks = LIST_OF(tenon_check_t, __VA_ARGS__)

#define FLOATS TYPES(TYPE("T", "float"))
#define ANY TYPES(TYPE("T", "any"))
#define UNARY(name_, text_)                                                         \
  {                                                                                 \
    OPERATOR(name_), FLOATS, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)), \
        CASES(CASE(NULL, text_))                                                    \
  }
#define BINARY(name_, text_)                                                                    \
  {                                                                                             \
    OPERATOR(name_), TYPES(TYPE("T", "numeric")), INPUTS(PORT("a", "T", 0), PORT("b", "T", 0)), \
        OUTPUTS(PORT("y", "T", 0)), CASES(CASE(NULL, text_))                                    \
  }

static const tenon_control_t test_branch_control = {.size = sizeof(tenon_control_t),
                                                    .form = TENON_CONTROL_CHOOSE};
static const tenon_control_t test_repeat_control = {.size = sizeof(tenon_control_t),
                                                    .form = TENON_CONTROL_REPEAT,
                                                    .passes_iteration = 1,
                                                    .carried_attribute = "carried_count",
                                                    .scanned_attribute = "scanned_count",
                                                    .axes_attribute = "axes",
                                                    .directions_attribute = "directions"};

/* A shape by callback: the data-dependent number of nonzero elements. */
static tenon_status_t test_compress_infer(void* state, tenon_shape_builder_t* builder,
                                          const tenon_shape_table_t* table) {
  (void)state;
  if (table->rank(builder, 0) != 1) {
    table->refuse(builder, "x must be a vector");
    return TENON_ERROR_INVALID_DATA;
  }
  const tenon_dim_t extent = table->fresh(builder, table->dim(builder, 0, 0));
  return table->set_output(builder, 0, TENON_DTYPE_UNDEFINED, 1, &extent);
}

static const tenon_operator_t test_operators[] = {
    BINARY("test.plus/1", "y = a + b"),
    BINARY("test.minus/1", "y = a - b"),
    BINARY("test.times/1", "y = a * b"),
    UNARY("test.ramp/1", "y = max(x, 0)"),
    UNARY("test.same/1", "y = x"),
    UNARY("test.exponential/1", "y = exp(x)"),
    {OPERATOR("test.ratio/1"), TYPES(TYPE("T", "numeric")),
     INPUTS(DOMAIN("a", "T", "nonzero"), DOMAIN("b", "T", "nonzero")), OUTPUTS(PORT("y", "T", 0)),
     CASES(CASE(NULL, "y = floor_div(a, b)"))},
    {OPERATOR("test.above_three/1"), FLOATS, INPUTS(DOMAIN("x", "T", "[3,inf]")),
     OUTPUTS(PORT("y", "T", 0)), CASES(CASE(NULL, "y = log(x - 3)"))},
    {OPERATOR("test.pick/1"), ANY, ATTRIBUTES(ATTRIBUTE("axis", INT, "0")),
     INPUTS(PORT("x", "T", 0), DOMAIN("places", "i64", "index(x, axis)")),
     OUTPUTS(PORT("y", "T", 0)), .shape = "y.rank = rank(places); y[d] = dim(places, d)"},
    {OPERATOR("test.outer_sum/1"), FLOATS, INPUTS(PORT("a", "T", 0), PORT("b", "T", 0)),
     OUTPUTS(PORT("y", "T", 0)), .shape = "y.rank = 2; y[d] = d == 0 ? dim(a, 0) : dim(b, 0)",
     CASES(CASE(NULL, "y = along(a, 0) + along(b, 1)"))},
    {OPERATOR("test.scale/1"), FLOATS,
     ATTRIBUTES(ATTRIBUTE("factor", FLOAT, "2"), ATTRIBUTE("mode", STRING, "'times'")),
     INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
     CASES(CASE("mode == 'times'", "y = x * factor"), CASE("mode == 'plus'", "y = x + factor"))},
    {OPERATOR("test.convert/1"), ANY, ATTRIBUTES(ATTRIBUTE("to", DTYPE, NULL)),
     INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "$to", 0)), CASES(CASE(NULL, "y = cast(x, to)"))},
    {OPERATOR("test.channel_norm/1"), FLOATS,
     INPUTS(PORT("x", "T", 0), PORT("scale", "T", 0), PORT("shift", "T", 0)),
     OUTPUTS(PORT("y", "T", 0)), .shape = "y = x",
     CASES(CASE(NULL, "y = x * along(scale, 1) + along(shift, 1)"))},
    {OPERATOR("test.row_sum/1"), FLOATS,
     ATTRIBUTES(ATTRIBUTE("axes", INTS, "[]"), ATTRIBUTE("keepdims", INT, "1")),
     INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)), CASES(CASE(NULL, "y = sum(x, axes)"))},
    {OPERATOR("test.centre/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
     OUTPUTS(PORT("y", "T", 0), PORT("mean", "T", TENON_PORT_OPTIONAL)),
     CASES(CASE(NULL, "let m = mean(x, [0]); y = x - m; mean = m"))},
    /* Closed: rows of x by columns of w, x [n, k], w [m, k], b [m]. */
    {OPERATOR("test.dense/1"), FLOATS, ATTRIBUTES(ATTRIBUTE("strict", INT, "0")),
     INPUTS(PORT("x", "T", 0), PORT("w", "T", 0), PORT("b", "T", TENON_PORT_OPTIONAL)),
     OUTPUTS(PORT("y", "T", 0)),
     CHECKS(CHECK("rank(x) == 2 && rank(w) == 2", "x and w must be matrices"),
            CHECK("dim(x, 1) == dim(w, 1)",
                  "weights expect {dim(w, 1)} channels, input has {dim(x, 1)}")),
     .shape = "y.rank = 2; y[d] = d == 0 ? dim(x, 0) : dim(w, 0)",
     .traits =
         "linear(input=1, axis=0, output_axis=1, bias=2); concatenable(axis=0, output_axis=1)"},
    /* Closed, and declare many operations. */
    {OPERATOR("test.heavy/1"), FLOATS, INPUTS(PORT("x", "T", 0), PORT("w", "T", 0)),
     OUTPUTS(PORT("y", "T", 0)), .shape = "y.rank = 2; y[d] = d == 0 ? dim(x, 0) : dim(w, 0)",
     .operations = "1000000000 * elements(x)"},
    {OPERATOR("test.laborious/1"), FLOATS, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
     .shape = "y = x", .operations = "50000 * elements(x)"},
    /* Closed, except for vectors and matrices. */
    {OPERATOR("test.growth/1"), FLOATS, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
     .shape = "y = x",
     DECOMPOSITIONS(CASE("rank(x) == 1", "e = test.exponential/1(x); y = test.times/1(x, e)"),
                    CASE("rank(x) == 2", "y = test.row_sum/1(x)"))},
    {OPERATOR("test.copies/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
     OUTPUTS(PORT("ys", "T", TENON_PORT_VARIADIC)), .shape = "ys = x",
     DECOMPOSITIONS(CASE(NULL, "ys = test.same/1(x)"))},
    {OPERATOR("test.dice/1"), FLOATS, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
     .shape = "y = x", .traits = "impure"},
    {OPERATOR("test.permute/1"), ANY, ATTRIBUTES(ATTRIBUTE("perm", INTS, NULL)),
     INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
     CHECKS(CHECK("len(perm) == rank(x)", "perm has {len(perm)} items, x {rank(x)} axes")),
     .shape = "y.rank = rank(x); y[d] = dim(x, perm[d])",
     MOVES(CASE(NULL, "x[d] = o(index_of(perm, d))"))},
    {OPERATOR("test.reshape/1"), ANY,
     INPUTS(PORT("x", "T", 0), PORT("dims", "i64", TENON_PORT_SHAPE_OPERAND)),
     OUTPUTS(PORT("y", "T", 0)),
     .shape = "y.rank = len(dims); y[d] = dims[d] == -1 ? elements(x) / -prod(dims, 0, len(dims)) "
              ": dims[d]",
     MOVES(CASE(NULL, "x = linear"))},
    {OPERATOR("test.join/1"), ANY, ATTRIBUTES(ATTRIBUTE("axis", INT, NULL)),
     INPUTS(PORT("xs", "T", TENON_PORT_VARIADIC)), OUTPUTS(PORT("y", "T", 0)),
     .shape = "y.rank = rank(xs[0]); y[d] = d == axis ? sum_dim(xs, axis) : dim(xs[0], d)",
     MOVES(CASE(NULL, "xs[d] = d == axis ? o(d) - before(k, axis) : o(d)"))},
    {OPERATOR("test.part/1"), ANY, ATTRIBUTES(ATTRIBUTE("axis", INT, NULL)),
     INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("ys", "T", TENON_PORT_VARIADIC)),
     .shape = "ys.rank = rank(x); ys[d] = d == axis ? dim(x, d) / count(ys) : dim(x, d)",
     MOVES(CASE(NULL, "x[d] = d == axis ? o(d) + k * (dim(x, d) / count(ys)) : o(d)"))},
    {OPERATOR("test.shape_of/1"), ANY, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "i64", 0)),
     .shape = "y.rank = 1; y[d] = rank(x)", .contents = "y[i] = dim(x, i)"},
    {OPERATOR("test.top/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
     OUTPUTS(PORT("value", "T", 0), PORT("place", "i64", TENON_PORT_OPTIONAL)),
     .shape = "value = x; place = x"},
    {OPERATOR("test.compress/1"), ANY, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
     .infer = test_compress_infer},
    {OPERATOR("test.find/1"), ANY, INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "i64", 0)),
     .shape = "y.rank = 2; y[d] = d == 0 ? rank(x) : fresh(elements(x))"},
    {OPERATOR("test.branch/1"), ANY,
     INPUTS(PORT("condition", "bool", 0),
            PORT("captured", "T", TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS)),
     OUTPUTS(PORT("ys", "T", TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS)),
     .control = &test_branch_control},
    {OPERATOR("test.repeat/1"), ANY,
     ATTRIBUTES(ATTRIBUTE("carried_count", INT, "0"), ATTRIBUTE("scanned_count", INT, "0"),
                ATTRIBUTE("axes", INTS, "[]"), ATTRIBUTE("directions", INTS, "[]")),
     INPUTS(PORT("trip_count", "i64", TENON_PORT_OPTIONAL),
            PORT("condition", "bool", TENON_PORT_OPTIONAL),
            PORT("values", "T", TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS)),
     OUTPUTS(PORT("ys", "T", TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS)),
     .control = &test_repeat_control},
};
enum { TEST_OPERATOR_COUNT = sizeof(test_operators) / sizeof(test_operators[0]) };

/* A network, its operators and its builder. */
typedef struct test_fixture_t {
  tenon_allocator_t allocator;
  tenon__arena_t arena;
  const tenon__operator_t* operators[TEST_OPERATOR_COUNT];
  tenon__network_t* network;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  tenon__test_messages_t messages;
} test_fixture_t;

static inline const tenon__operator_t* test_find(void* user, const char* name) {
  const test_fixture_t* fixture = user;
  for (uint32_t i = 0; i < TEST_OPERATOR_COUNT; ++i) {
    if (fixture->operators[i] != NULL && strcmp(fixture->operators[i]->name, name) == 0) {
      return fixture->operators[i];
    }
  }
  return NULL;
}

static inline void test_fixture_close(test_fixture_t* fixture) {
  tenon__builder_destroy(fixture->builder);
  tenon__network_destroy(fixture->network);
  tenon__arena_deinitialize(&fixture->arena);
}

/* Returns false if out of memory, and frees everything then. */
static inline bool test_fixture_open(test_fixture_t* fixture, tenon_allocator_t allocator) {
  memset(fixture, 0, sizeof(*fixture));
  fixture->allocator = allocator;
  tenon__arena_initialize(&fixture->arena, allocator);
  fixture->build = tenon__builder_table();
  const tenon_sink_t* sink = tenon__test_listen(&fixture->messages);
  bool good = true;
  for (uint32_t i = 0; good && i < TEST_OPERATOR_COUNT; ++i) {
    good = tenon__operator_admit(&fixture->arena, &test_operators[i], "tests", NULL, sink,
                                 &fixture->operators[i]) == TENON_OK;
  }
  good = good && tenon__network_create(allocator, &fixture->network) == TENON_OK &&
         tenon__builder_create(fixture->network, test_find, fixture, sink, &fixture->builder) ==
             TENON_OK;
  if (!good) {
    test_fixture_close(fixture);
  }
  return good;
}

/* Builders that return a handle, 0 on failure. Extents are a list that ends with -2; -1 is
 * symbolic. */
static inline uint32_t test_extents(const int64_t* dims) {
  uint32_t rank = 0;
  while (dims[rank] != -2) {
    ++rank;
  }
  return rank;
}
#define DIMS(...) ((const int64_t[]){__VA_ARGS__, -2})
#define SCALAR ((const int64_t[]){-2})

static inline tenon_value_t test_input_of(test_fixture_t* fixture, const char* name,
                                          tenon_dtype_t dtype, const int64_t* dims) {
  tenon_value_t value = {0};
  (void)fixture->build->input(fixture->builder, name, dtype, test_extents(dims), dims, NULL,
                              &value);
  return value;
}

static inline tenon_value_t test_input(test_fixture_t* fixture, const char* name,
                                       const int64_t* dims) {
  return test_input_of(fixture, name, TENON_DTYPE_FLOAT32, dims);
}

static inline tenon_value_t test_constant_of(test_fixture_t* fixture, const char* name,
                                             tenon_dtype_t dtype, const void* data,
                                             const int64_t* dims) {
  tenon_value_t value = {0};
  const tenon_tensor_view_t view = {.data = tenon__drop_const(data),
                                    .dims = dims,
                                    .rank = test_extents(dims),
                                    .dtype = dtype,
                                    .layout = TENON_NONE};
  (void)fixture->build->constant(fixture->builder, name, &view, 0, &value);
  return value;
}

static inline tenon_value_t test_floats(test_fixture_t* fixture, const char* name,
                                        const float* data, const int64_t* dims) {
  return test_constant_of(fixture, name, TENON_DTYPE_FLOAT32, data, dims);
}

static inline tenon_value_t test_vector(test_fixture_t* fixture, const char* name,
                                        const int64_t* data, int64_t count) {
  return test_constant_of(fixture, name, TENON_DTYPE_INT64, data, DIMS(count));
}

/* Adds a node with up to three inputs; {0} is the end, or an absent input before others. */
static inline tenon_value_t test_node(test_fixture_t* fixture, const char* op, const char* name,
                                      tenon_value_t a, tenon_value_t b, tenon_value_t c) {
  tenon_value_t value = {0};
  const tenon_builder_table_t* build = fixture->build;
  bool good = build->begin(fixture->builder, op, name) == TENON_OK;
  good = good && build->add_input(fixture->builder, a) == TENON_OK;
  good = good && build->add_input(fixture->builder, b) == TENON_OK;
  good = good && build->add_input(fixture->builder, c) == TENON_OK;
  if (!good) {
    build->cancel(fixture->builder);
    return value;
  }
  return build->end(fixture->builder, &value, 1) == TENON_OK ? value : (tenon_value_t){0};
}

#define NO_VALUE ((tenon_value_t){0})

static inline tenon_value_t test_unary(test_fixture_t* fixture, const char* op, const char* name,
                                       tenon_value_t a) {
  return test_node(fixture, op, name, a, NO_VALUE, NO_VALUE);
}

static inline tenon_value_t test_binary(test_fixture_t* fixture, const char* op, const char* name,
                                        tenon_value_t a, tenon_value_t b) {
  return test_node(fixture, op, name, a, b, NO_VALUE);
}

static inline tenon_value_t test_permute(test_fixture_t* fixture, const char* name, tenon_value_t x,
                                         const int64_t* perm) {
  tenon_value_t value = {0};
  const tenon_builder_table_t* build = fixture->build;
  if (build->begin(fixture->builder, "test.permute/1", name) != TENON_OK) {
    return value;
  }
  if (build->attribute_ints(fixture->builder, "perm", perm, test_extents(perm)) != TENON_OK ||
      build->add_input(fixture->builder, x) != TENON_OK) {
    build->cancel(fixture->builder);
    return value;
  }
  return build->end(fixture->builder, &value, 1) == TENON_OK ? value : (tenon_value_t){0};
}

/* Returns the value of a handle in the main graph; TENON_NONE for others. */
static inline uint32_t test_value_index(const test_fixture_t* fixture, tenon_value_t handle) {
  uint32_t graph = 0;
  uint32_t value = 0;
  return tenon__builder_look_up(fixture->builder, handle, &graph, &value) && graph == 0
             ? value
             : TENON_NONE;
}

static inline tenon__value_node_t* test_value(test_fixture_t* fixture, tenon_value_t handle) {
  return &fixture->network->graphs[0]->values[test_value_index(fixture, handle)];
}

static inline tenon__node_t* test_producer(test_fixture_t* fixture, tenon_value_t handle) {
  return &fixture->network->graphs[0]->nodes[test_value(fixture, handle)->producer];
}

/* "f32[2, 3]" of a value; lives as long as the fixture. */
static inline const char* test_type(test_fixture_t* fixture, tenon_value_t handle) {
  return tenon__type_text(fixture->network->pool, &test_value(fixture, handle)->type,
                          &fixture->arena);
}

/* The printed network in `out_text`. */
typedef struct test_text_t {
  char text[16384];
  size_t size;
} test_text_t;

static inline void test_append(void* user, const char* text) {
  test_text_t* out = user;
  const size_t size = strlen(text);
  if (out->size + size < sizeof(out->text)) {
    memcpy(out->text + out->size, text, size + 1);
    out->size += size;
  }
}

static inline const char* test_print(const tenon__network_t* network, test_text_t* out_text) {
  out_text->size = 0;
  out_text->text[0] = '\0';
  tenon__network_print(network, test_append, out_text);
  return out_text->text;
}

#endif
