/* A network that cannot be made can still be looked at: what its file says of itself. */
#include "tests/api/session.h"
#include "tests/support/onnx_message.h"

/* Fields of ONNX's messages. */
enum { GRAPH_NODE = 1, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, NODE_DOMAIN = 7, FLOAT_TYPE = 1 };

static const int64_t any_by_four[2] = {-1, 4};

static void add_node(tenon__message_t* m, const char* domain, const char* type, const char* name,
                     const char* inputs, const char* output) {
  tenon__message_begin_node(m, GRAPH_NODE, type, name, inputs, output);
  tenon__message_text(m, NODE_DOMAIN, domain);
  tenon__message_end(m);
}

/* A float input of the extents "batch" and 3. */
static void add_batch_input(tenon__message_t* m, const char* name) {
  tenon__message_begin(m, GRAPH_INPUT);
  tenon__message_text(m, 1, name);
  tenon__message_begin(m, 2);
  tenon__message_begin(m, 1);
  tenon__message_varint(m, 1, FLOAT_TYPE);
  tenon__message_begin(m, 2);
  tenon__message_begin(m, 1);
  tenon__message_text(m, 2, "batch");
  tenon__message_end(m);
  tenon__message_begin(m, 1);
  tenon__message_varint(m, 1, 3);
  for (int i = 0; i < 5; ++i) {
    tenon__message_end(m);
  }
}

/* "image" and "x" go in; two nodes that nobody makes, two that somebody does. */
static tenon__message_t strange_model(void) {
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, 13);
  add_batch_input(&m, "image");
  tenon__message_value_info(&m, GRAPH_INPUT, "x", FLOAT_TYPE, 2, any_by_four);
  add_node(&m, "", "Relu", "r1", "x", "a");
  add_node(&m, "acme", "Whirl", "w1", "a", "b");
  add_node(&m, "", "Relu", "r2", "b", "c");
  add_node(&m, "acme", "Whirl", "w2", "c", "y");
  tenon__message_value_info(&m, GRAPH_OUTPUT, "y", FLOAT_TYPE, 2, any_by_four);
  tenon__message_end_model(&m);
  return m;
}

static tenon_status_t parse(const session_t* s, const tenon__message_t* m,
                            const tenon_parse_options_t* options) {
  return tenon_network_parse_memory(s->network, m->bytes, m->size, "strange.onnx", options);
}

TENON_TEST(a_model_with_strange_nodes_tells_its_inputs_and_outputs) {
  session_t s;
  tenon_io_info_t info = {.size = sizeof(info)};
  const tenon__message_t m = strange_model();
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_ERROR_UNSUPPORTED);
  REQUIRE(tenon_network_input_count(s.network) == 2);
  REQUIRE(tenon_network_output_count(s.network) == 1);
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "image");
  EXPECT_INT(info.kind, TENON_ARGUMENT_TENSOR);
  EXPECT_INT(info.dtype, TENON_DTYPE_FLOAT32);
  REQUIRE(info.rank == 2);
  EXPECT_INT(info.dims[0], -1);
  EXPECT_TEXT(info.symbols[0], "batch");
  EXPECT_INT(info.dims[1], 3);
  EXPECT_TEXT(info.symbols[1], "");
  EXPECT_STATUS(tenon_network_get_input(s.network, 1, &info), TENON_OK);
  EXPECT_TEXT(info.name, "x");
  EXPECT_TEXT(info.symbols[0], "?");
  EXPECT_STATUS(tenon_network_get_output(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "y");
  EXPECT_INT(info.dims[1], 4);
  EXPECT_STATUS(tenon_network_get_output(s.network, 1, &info), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "there is no output 1, only 1");
  session_end(&s);
}

TENON_TEST(it_tells_what_its_nodes_are_and_who_makes_them) {
  session_t s;
  tenon_node_type_t type = {.size = sizeof(type)};
  const tenon__message_t m = strange_model();
  REQUIRE(session_begin(&s, NULL));
  EXPECT_INT(tenon_network_node_type_count(s.network), 0);
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_ERROR_UNSUPPORTED);
  REQUIRE(tenon_network_node_type_count(s.network) == 2);
  EXPECT_STATUS(tenon_network_get_node_type(s.network, 0, &type), TENON_OK);
  EXPECT_TEXT(type.domain, "");
  EXPECT_TEXT(type.type, "Relu");
  EXPECT_INT(type.version, 13);
  EXPECT_INT(type.count, 2);
  EXPECT_INT(type.is_missing, 0);
  EXPECT_TEXT(type.node, "r1");
  EXPECT_TEXT(type.plugin, "onnx");
  EXPECT_TEXT(type.message, "");
  EXPECT_STATUS(tenon_network_get_node_type(s.network, 1, &type), TENON_OK);
  EXPECT_TEXT(type.domain, "acme");
  EXPECT_TEXT(type.type, "Whirl");
  EXPECT_INT(type.count, 2);
  EXPECT_INT(type.is_missing, 1);
  EXPECT_TEXT(type.node, "w1");
  EXPECT_TEXT(type.plugin, "");
  EXPECT_CONTAINS(type.message, "needs a plugin with a converter for it");
  EXPECT_STATUS(tenon_network_get_node_type(s.network, 2, &type), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "there is no node type 2, only 2");
  session_end(&s);
}

/* Shapes that the caller gives hold, and an input with a value is none. */
TENON_TEST(what_the_caller_gives_is_filled_in) {
  static const int64_t dims[2] = {7, 4};
  static float zeros[12];
  static const int64_t own_dims[2] = {4, 3};
  session_t s;
  tenon_io_info_t info = {.size = sizeof(info)};
  const tenon__message_t m = strange_model();
  const tenon_input_shape_t shape = {"x", 2, dims};
  const tenon_tensor_view_t view = {
      .data = zeros, .dims = own_dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32};
  const tenon_input_value_t value = {"image", &view};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  options.shapes = (tenon_list_t){&shape, 1, sizeof(shape)};
  options.values = (tenon_list_t){&value, 1, sizeof(value)};
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, &m, &options), TENON_ERROR_UNSUPPORTED);
  REQUIRE(tenon_network_input_count(s.network) == 1);
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "x");
  EXPECT_INT(info.dims[0], 7);
  EXPECT_TEXT(info.symbols[0], "");
  session_end(&s);
}

/* A fault within the graph, and one that only types show: an input without a shape. */
TENON_TEST(other_faults_leave_the_description_too) {
  session_t s;
  tenon_io_info_t info = {.size = sizeof(info)};
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, 13);
  add_batch_input(&m, "image");
  add_node(&m, "", "Relu", "r", "nothing", "y");
  tenon__message_value_info(&m, GRAPH_OUTPUT, "y", FLOAT_TYPE, 2, any_by_four);
  tenon__message_end_model(&m);
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_ERROR_INVALID_DATA);
  EXPECT_INT(tenon_network_input_count(s.network), 1);
  EXPECT_INT(tenon_network_output_count(s.network), 1);
  m.size = 0;
  tenon__message_begin_model(&m, 13);
  tenon__message_begin(&m, GRAPH_INPUT);
  tenon__message_text(&m, 1, "shapeless");
  tenon__message_begin(&m, 2);
  tenon__message_begin(&m, 1);
  tenon__message_varint(&m, 1, FLOAT_TYPE);
  for (int i = 0; i < 3; ++i) {
    tenon__message_end(&m);
  }
  add_node(&m, "", "Relu", "r", "shapeless", "y");
  tenon__message_value_info(&m, GRAPH_OUTPUT, "y", FLOAT_TYPE, 2, any_by_four);
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_ERROR_INVALID_ARGUMENT);
  REQUIRE(tenon_network_input_count(s.network) == 1);
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "shapeless");
  EXPECT(info.rank == TENON_NONE);
  EXPECT_INT(tenon_network_node_type_count(s.network), 1);
  session_end(&s);
}

/* What is put into a network counts, and a parse that succeeds leaves its own inputs. */
TENON_TEST(a_network_hides_what_an_earlier_file_said) {
  static const int64_t dims[2] = {2, 4};
  session_t s;
  tenon_io_info_t info = {.size = sizeof(info)};
  tenon_value_t x;
  tenon__message_t m = strange_model();
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(tenon_network_add_input(s.network, "own", TENON_DTYPE_FLOAT32, 2, dims, &x),
                TENON_OK);
  REQUIRE(tenon_network_input_count(s.network) == 1);
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "own");
  EXPECT_INT(tenon_network_output_count(s.network), 0);
  session_end(&s);
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_ERROR_UNSUPPORTED);
  m.size = 0;
  tenon__message_begin_model(&m, 13);
  add_batch_input(&m, "x");
  add_node(&m, "", "Relu", "r", "x", "y");
  tenon__message_value_info(&m, GRAPH_OUTPUT, "y", FLOAT_TYPE, 2, any_by_four);
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&s, &m, NULL), TENON_OK);
  EXPECT_INT(tenon_network_input_count(s.network), 1);
  REQUIRE(tenon_network_node_type_count(s.network) == 1);
  tenon_node_type_t type = {.size = sizeof(type)};
  EXPECT_STATUS(tenon_network_get_node_type(s.network, 0, &type), TENON_OK);
  EXPECT_INT(type.is_missing, 0);
  EXPECT_INT(type.count, 1);
  session_end(&s);
}
