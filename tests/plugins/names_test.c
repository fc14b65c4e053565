/* What a stranger's plugin cannot take away: operators, converters and parsers of the library. */
#include "tests/api/session.h"
#include "tests/support/onnx_message.h"
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
  EXPECT_CONTAINS(s.messages.text, "parser 'onnx': plugin onnx (");
  EXPECT_CONTAINS(s.messages.text,
                  "operator 'standard.relu/1': its domain belongs to plugin standard");
  EXPECT_CONTAINS(s.messages.text,
                  "operator 'standard.taken/1': its domain belongs to plugin standard");
  EXPECT_INT(s.messages.count, 3);
  end(&s, &folder);
}

TENON_TEST(the_index_tells_what_was_left_out) {
  session_t s;
  test_folder_t folder;
  static text_t index;
  REQUIRE(begin(&s, &folder));
  EXPECT_STATUS(tenon_registry_print_index(s.registry, collect, &index), TENON_OK);
  EXPECT_CONTAINS(index.data,
                  "{\"kind\": \"parser\", \"name\": \"onnx\", \"plugin\": "
                  "\"taker\", \"disabled\": \"plugin onnx (");
  EXPECT_CONTAINS(index.data,
                  "{\"kind\": \"operator\", \"name\": \"standard.relu/1\", \"plugin\": "
                  "\"taker\", \"disabled\": \"its domain belongs to plugin standard (");
  end(&s, &folder);
}

/* What is meant stands in the message. */
TENON_TEST(a_misspelt_name_is_told_with_those_that_there_are) {
  static const struct {
    const char* op;
    tenon_attribute_t attribute;
    const char* message;
  } rows[] = {
      {"standard.conv/1", {0}, "operator standard.conv/1; near it: 'standard.convolution/1'"},
      {"standard.soft_max/1", {0}, "near it: 'standard.softmax/1'"},
      {"acme.relu/1", {0}, "near it: 'standard.relu/1'"},
      {"standard.wobble/1", {0}, "no plugin offers operator standard.wobble/1\n"},
      {"standard.softmax/1", ROW_INT("axes", 1), "no attribute 'axes'; near it: 'axis'"},
      {"standard.softmax/1", ROW_INT("beta", 1), "no attribute 'beta'; there are: axis"},
      {"standard.relu/1", ROW_INT("beta", 1), "no attribute 'beta'; there are none"},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    session_t s;
    tenon_value_t y = ABSENT;
    const int64_t dims[] = {2};
    tenon_value_t x = ABSENT;
    REQUIRE(session_begin(&s, NULL));
    EXPECT_STATUS(tenon_network_add_input(s.network, "x", TENON_DTYPE_FLOAT32, 1, dims, &x),
                  TENON_OK);
    EXPECT(tenon_network_add(
               s.network, rows[i].op, "theirs", &x, 1,
               &(tenon_list_t){&rows[i].attribute, rows[i].attribute.name != NULL ? 1 : 0,
                               sizeof(tenon_attribute_t)},
               &y, 1) != TENON_OK);
    EXPECT_CONTAINS(s.messages.text, rows[i].message);
    session_end(&s);
  }
}

/* ---- What names hold ---- */

/* A terminal obeys none of it, and no line looks like a message of Tenon's. */
TENON_TEST(what_a_model_says_is_shown_and_not_obeyed) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon__message_t m = make_model("red \x1b[31m", "Odd\x07\nerror: forged \xff");
  EXPECT(tenon_network_parse_memory(s.network, m.bytes, m.size, "a \x1b]0;title\x07 file", NULL) !=
         TENON_OK);
  EXPECT_CONTAINS(s.messages.text,
                  "a \\x1b]0;title\\x07 file: 1 operator is missing:\n  red \\x1b[31m");
  EXPECT_CONTAINS(s.messages.text, "Odd\\x07\n  error: forged \\xff");
  for (const char* c = s.messages.text; *c != '\0'; ++c) {
    EXPECT((unsigned char)*c >= 0x20 || *c == '\n');
  }
  session_end(&s);
}

TENON_TEST(what_a_files_name_holds_is_shown) {
  session_t s;
  test_folder_t folder;
  static text_t paths;
  REQUIRE(test_folder_make(&folder));
  test_folder_t deeper;
  (void)snprintf(deeper.path, sizeof deeper.path, "%.200s/\x1b[31m\xff", folder.path);
  REQUIRE(mkdir(deeper.path, 0755) == 0);
  REQUIRE(test_folder_write(&deeper, "not\x1b[1m.so", "abc", 3));
  REQUIRE(session_begin(&s, deeper.path));
  EXPECT_CONTAINS(s.messages.text, "/\\x1b[31m\\xff/not\\x1b[1m.so' is not used: it ");
  tenon_registry_print_paths(s.registry, collect, &paths);
  EXPECT_CONTAINS(paths.data, "/\\x1b[31m\\xff (options)");
  end(&s, &folder);
}
