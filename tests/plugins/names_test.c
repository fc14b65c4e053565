/* What a stranger's plugin cannot take away: operators, converters and parsers of the library. */
#include "parser_onnx/testing/message.h"
#include "tests/api/session.h"
#include "tests/support/plugin_folder.h"

typedef struct text_t {
  char data[1 << 20];
  size_t used;
} text_t;

static void collect(void* user, const char* text) {
  text_t* kept = user;
  kept->used +=
      (size_t)snprintf(kept->data + kept->used, sizeof kept->data - kept->used, "%s", text);
}

static bool begin(session_t* s, test_folder_t* folder) {
  return test_folder_make(folder) && test_folder_copy(folder, "taker", "taker.so") &&
         session_begin(s, folder->path);
}

static void end(session_t* s, const test_folder_t* folder) {
  session_end(s);
  test_folder_remove(folder);
}

/* y = TYPE(x) of two floats, of the domain. */
static tenon__message_t make_model(const char* domain, const char* type) {
  static const int64_t two[] = {2};
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, 14);
  tenon__message_begin_node(&m, 1, type, "the node", "x", "y");
  tenon__message_text(&m, 7, domain);
  tenon__message_end(&m);
  tenon__message_value_info(&m, 11, "x", 1, 1, two);
  tenon__message_value_info(&m, 12, "y", 1, 1, two);
  tenon__message_end_model(&m);
  return m;
}

/* Both of the plugin's parsers are as sure of the file as the one that reads it. */
TENON_TEST(a_model_is_read_and_computed_as_without_it) {
  session_t s;
  test_folder_t folder;
  REQUIRE(begin(&s, &folder));
  const tenon__message_t m = make_model("", "Relu");
  EXPECT_STATUS(tenon_network_parse_memory(s.network, m.bytes, m.size, "relu.onnx", NULL),
                TENON_OK);
  static const float given[] = {-3, 2};
  static const float wanted[] = {0, 2};
  const sample_t x = {"x", TENON_DTYPE_FLOAT32, 1, {2}, given};
  const sample_t y = {"y", TENON_DTYPE_FLOAT32, 1, {2}, wanted};
  s.inputs[s.input_count++] = &x;
  s.outputs[s.output_count++] = &y;
  session_check(&s);
  EXPECT_CONTAINS(s.messages.text, "converter 'onnx::Relu': plugin onnx (");
  EXPECT_CONTAINS(s.messages.text, "parser 'onnx': plugin onnx (");
  EXPECT_CONTAINS(s.messages.text,
                  "operator 'standard.relu/1': its domain belongs to plugin standard");
  EXPECT_CONTAINS(s.messages.text,
                  "operator 'standard.taken/1': its domain belongs to plugin standard");
  EXPECT_INT(s.messages.count, 4);
  end(&s, &folder);
}

TENON_TEST(the_index_tells_what_was_left_out) {
  session_t s;
  test_folder_t folder;
  static text_t index;
  REQUIRE(begin(&s, &folder));
  EXPECT_STATUS(tenon_registry_print_index(s.registry, collect, &index), TENON_OK);
  EXPECT_CONTAINS(index.data,
                  "{\"kind\": \"converter\", \"name\": \"onnx::Relu\", \"plugin\": "
                  "\"taker\", \"disabled\": \"plugin onnx (");
  EXPECT_CONTAINS(index.data,
                  "{\"kind\": \"operator\", \"name\": \"standard.relu/1\", \"plugin\": "
                  "\"taker\", \"disabled\": \"its domain belongs to plugin standard (");
  end(&s, &folder);
}
