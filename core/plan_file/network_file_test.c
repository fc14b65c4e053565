/* Networks as bytes, and copies. */
#include "core/base/bytes.h"
#include "core/network/copy.h"
#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"
#include "core/plan_file/network_reader.h"
#include "core/plan_file/network_writer.h"

/* Symbols, contents, a text expression, a constant. */
static bool build_arithmetic(test_fixture_t* fixture) {
  const tenon_builder_table_t* build = fixture->build;
  const char* const symbols[] = {"batch", NULL};
  tenon_value_t x = {0};
  if (build->input(fixture->builder, "x", TENON_DTYPE_FLOAT32, 2, DIMS(-1, 3), symbols, &x) !=
      TENON_OK) {
    return false;
  }
  const tenon_value_t p = test_permute(fixture, "permute", x, DIMS(1, 0));
  const tenon_value_t s = test_unary(fixture, "test.shape_of/1", "shape", x);
  const tenon_value_t r = test_binary(fixture, "test.reshape/1", "reshape", p, s);
  const float numbers[] = {1, 2, 3};
  const tenon_value_t w = test_floats(fixture, "w", numbers, DIMS(3));
  const tenon_value_t a = test_binary(fixture, "test.plus/1", "sum", r, w);
  const tenon_value_t f = test_unary(fixture, "test.find/1", "find", a);
  const tenon_value_t inputs[] = {a, w};
  const char* const names[] = {"a", "b"};
  tenon_value_t e = {0};
  return build->expression(fixture->builder, "y = max(a, 0) * b", names, inputs, 2, "text", &e) ==
             TENON_OK &&
         build->output(fixture->builder, e, "e") == TENON_OK &&
         build->output(fixture->builder, f, "f") == TENON_OK;
}

/* A loop whose carried value shrinks as the data say. */
static bool build_loop(test_fixture_t* fixture) {
  const tenon_builder_table_t* build = fixture->build;
  const tenon_value_t trips = test_input_of(fixture, "trips", TENON_DTYPE_INT64, SCALAR);
  const tenon_value_t v = test_input(fixture, "v", DIMS(9));
  tenon_value_t i = {0};
  tenon_value_t go = {0};
  tenon_value_t c = {0};
  uint32_t body = 0;
  tenon_value_t out[2] = {{0}};
  const bool good = build->begin_body(fixture->builder, "body") == TENON_OK &&
                    build->body_parameter(fixture->builder, "i", TENON_ARGUMENT_TENSOR,
                                          TENON_DTYPE_INT64, 0, NULL, &i) == TENON_OK &&
                    build->body_parameter(fixture->builder, "go", TENON_ARGUMENT_TENSOR,
                                          TENON_DTYPE_BOOL, 0, NULL, &go) == TENON_OK &&
                    build->body_parameter_like(fixture->builder, "c", v, &c) == TENON_OK;
  const tenon_value_t y = good ? test_unary(fixture, "test.compress/1", "inner", c) : NO_VALUE;
  return y.id != 0 && build->body_result(fixture->builder, go) == TENON_OK &&
         build->body_result(fixture->builder, y) == TENON_OK &&
         build->body_result(fixture->builder, i) == TENON_OK &&
         build->end_body(fixture->builder, &body) == TENON_OK &&
         build->begin(fixture->builder, "test.repeat/1", "loop") == TENON_OK &&
         build->attribute_int(fixture->builder, "carried_count", 1) == TENON_OK &&
         build->add_input(fixture->builder, trips) == TENON_OK &&
         build->add_input(fixture->builder, NO_VALUE) == TENON_OK &&
         build->add_input(fixture->builder, v) == TENON_OK &&
         build->add_body(fixture->builder, body) == TENON_OK &&
         build->end(fixture->builder, out, 2) == TENON_OK &&
         build->output(fixture->builder, out[0], "loop") == TENON_OK &&
         build->output(fixture->builder, out[1], "counts") == TENON_OK;
}

static bool build_state(test_fixture_t* fixture) {
  const int64_t extents[] = {2};
  const float initial[] = {1, 2};
  const tenon_state_descriptor_t state = {.size = sizeof(state),
                                          .name = "memory",
                                          .dtype = TENON_DTYPE_FLOAT32,
                                          .rank = 1,
                                          .dims = extents,
                                          .initial_data = initial};
  tenon_value_t read = {0};
  return fixture->build->add_state(fixture->builder, &state, &read) == TENON_OK &&
         fixture->build->write_state(fixture->builder, "memory",
                                     test_unary(fixture, "test.ramp/1", "update", read)) ==
             TENON_OK;
}

static bool build_all(test_fixture_t* fixture) {
  return build_arithmetic(fixture) && build_loop(fixture) && build_state(fixture);
}

static tenon_status_t read_back(test_fixture_t* fixture, tenon_allocator_t allocator,
                                const void* data, size_t size, tenon__find_operator_t find,
                                tenon__network_t** out_network) {
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, data, size);
  return tenon__network_read(allocator, &reader, find, fixture, &fixture->messages.sink,
                             out_network);
}

static bool write_all(test_fixture_t* fixture, tenon__byte_writer_t* out_writer) {
  tenon__byte_writer_initialize(out_writer, fixture->allocator);
  tenon__network_write(fixture->network, out_writer);
  return !out_writer->failed;
}

TENON_TEST(reads_what_it_wrote) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  REQUIRE(build_all(&fixture));
  EXPECT_STATUS(tenon__network_verify(fixture.network, &fixture.messages.sink), TENON_OK);
  tenon__byte_writer_t writer;
  REQUIRE(write_all(&fixture, &writer));
  tenon__network_t* network = NULL;
  EXPECT_STATUS(
      read_back(&fixture, fixture.allocator, writer.data, writer.size, test_find, &network),
      TENON_OK);
  EXPECT_TEXT(fixture.messages.text, "");
  REQUIRE(network != NULL);
  test_text_t before;
  test_text_t after;
  EXPECT_TEXT(test_print(network, &after), test_print(fixture.network, &before));
  EXPECT_STATUS(tenon__network_verify(network, &fixture.messages.sink), TENON_OK);
  EXPECT(network->weights[0].data == NULL && network->weights[0].size_bytes == 12);
  tenon__network_destroy(network);
  tenon__byte_writer_deinitialize(&writer);
  test_fixture_close(&fixture);
}

static const tenon__operator_t* find_nothing(void* user, const char* name) {
  (void)user;
  (void)name;
  return NULL;
}

TENON_TEST(keeps_operators_that_are_not_here) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  REQUIRE(build_all(&fixture));
  tenon__byte_writer_t writer;
  REQUIRE(write_all(&fixture, &writer));
  tenon__network_t* network = NULL;
  EXPECT_STATUS(
      read_back(&fixture, fixture.allocator, writer.data, writer.size, find_nothing, &network),
      TENON_OK);
  REQUIRE(network != NULL);
  const tenon__node_t* node = &network->graphs[0]->nodes[0];
  EXPECT_TEXT(node->op->name, "test.permute/1");
  EXPECT(node->op->is_missing && node->maps != NULL);
  EXPECT_INT(node->op->descriptor.input_count, 1);
  /* Written again it is the same. */
  tenon__byte_writer_t again;
  tenon__byte_writer_initialize(&again, fixture.allocator);
  tenon__network_write(network, &again);
  EXPECT_INT(again.size, writer.size);
  tenon__byte_writer_deinitialize(&again);
  tenon__network_destroy(network);
  tenon__byte_writer_deinitialize(&writer);
  test_fixture_close(&fixture);
}

TENON_TEST(refuses_bytes_that_are_cut_short) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  REQUIRE(build_all(&fixture));
  tenon__byte_writer_t writer;
  REQUIRE(write_all(&fixture, &writer));
  for (size_t size = 0; size < writer.size; size += size < 64 ? 1 : 7) {
    uint8_t* data = malloc(size + 1);
    REQUIRE(data != NULL);
    memcpy(data, writer.data, size);
    tenon__network_t* network = NULL;
    EXPECT(read_back(&fixture, fixture.allocator, data, size, test_find, &network) != TENON_OK);
    free(data);
  }
  tenon__byte_writer_deinitialize(&writer);
  test_fixture_close(&fixture);
}

/* The same number of letters, where they stand first. */
static bool rename_first(tenon__byte_writer_t* bytes, const char* from, const char* to) {
  const size_t length = strlen(from);
  size_t k = 0;
  while (k + length <= bytes->size && memcmp(bytes->data + k, from, length) != 0) {
    ++k;
  }
  if (k + length > bytes->size || strlen(to) != length) {
    return false;
  }
  memcpy(bytes->data + k, to, length);
  return true;
}

/* Two contracts under one identity: written again, nodes of both would have one of them. */
TENON_TEST(refuses_an_operator_that_is_listed_twice) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  REQUIRE(build_all(&fixture));
  tenon__byte_writer_t writer;
  REQUIRE(write_all(&fixture, &writer));
  REQUIRE(rename_first(&writer, "test.find/1", "test.seek/1"));
  tenon__network_t* network = NULL;
  EXPECT_STATUS(
      read_back(&fixture, fixture.allocator, writer.data, writer.size, test_find, &network),
      TENON_OK);
  tenon__network_destroy(network);
  network = NULL;
  REQUIRE(rename_first(&writer, "test.seek/1", "test.ramp/1"));
  EXPECT_STATUS(
      read_back(&fixture, fixture.allocator, writer.data, writer.size, test_find, &network),
      TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(fixture.messages.text, "its operators are cut short or contradictory");
  tenon__network_destroy(network);
  tenon__byte_writer_deinitialize(&writer);
  test_fixture_close(&fixture);
}

/* Whatever is read is refused, or can be verified and printed without harm. */
TENON_TEST(survives_changed_bytes) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  REQUIRE(build_all(&fixture));
  tenon__byte_writer_t writer;
  REQUIRE(write_all(&fixture, &writer));
  uint64_t random = 88172645463325252u;
  for (uint32_t round = 0; round < 4000; ++round) {
    uint8_t* data = malloc(writer.size);
    REQUIRE(data != NULL);
    memcpy(data, writer.data, writer.size);
    for (uint32_t k = 0; k <= round % 3; ++k) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      data[random % writer.size] = (uint8_t)(random >> 40);
    }
    tenon__network_t* network = NULL;
    fixture.messages.text[0] = '\0';
    if (read_back(&fixture, fixture.allocator, data, writer.size, test_find, &network) ==
        TENON_OK) {
      test_text_t text;
      (void)tenon__network_verify(network, &fixture.messages.sink);
      (void)test_print(network, &text);
      tenon__network_destroy(network);
    }
    free(data);
  }
  tenon__byte_writer_deinitialize(&writer);
  test_fixture_close(&fixture);
}

TENON_TEST(copies_the_whole) {
  test_fixture_t fixture;
  REQUIRE(test_fixture_open(&fixture, tenon__allocator_default()));
  REQUIRE(build_all(&fixture));
  tenon__network_t* copy = NULL;
  EXPECT_STATUS(tenon__network_copy(fixture.network, &copy), TENON_OK);
  REQUIRE(copy != NULL);
  test_text_t before;
  test_text_t after;
  EXPECT_TEXT(test_print(copy, &after), test_print(fixture.network, &before));
  EXPECT_STATUS(tenon__network_verify(copy, &fixture.messages.sink), TENON_OK);
  /* They change apart. */
  uint32_t value = 0;
  EXPECT_STATUS(tenon__graph_add_value(copy, 0, "x", &value), TENON_OK);
  EXPECT_TEXT(copy->graphs[0]->values[value].name, "x_2");
  EXPECT_INT(copy->graphs[0]->value_count, fixture.network->graphs[0]->value_count + 1);
  tenon__network_destroy(copy);
  test_fixture_close(&fixture);
}

static bool write_and_read(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_fixture_t fixture;
  if (!test_fixture_open(&fixture, allocator)) {
    return false;
  }
  tenon__network_t* copy = NULL;
  tenon__network_t* network = NULL;
  tenon__byte_writer_t writer;
  tenon__byte_writer_initialize(&writer, allocator);
  bool good = build_all(&fixture) && tenon__network_copy(fixture.network, &copy) == TENON_OK;
  if (good) {
    tenon__network_write(copy, &writer);
    const tenon_status_t status = writer.failed ? TENON_ERROR_OUT_OF_MEMORY
                                                : read_back(&fixture, allocator, writer.data,
                                                            writer.size, test_find, &network);
    good = status == TENON_OK;
    EXPECT(good || status == TENON_ERROR_OUT_OF_MEMORY);
  }
  tenon__network_destroy(network);
  tenon__byte_writer_deinitialize(&writer);
  tenon__network_destroy(copy);
  test_fixture_close(&fixture);
  return good;
}

TENON_TEST(survives_each_failing_allocation) {
  tenon__test_each_allocation(write_and_read, NULL);
}
