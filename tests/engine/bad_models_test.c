/* Models that are wrong in one way each, through tenon.h: one error that names file, node and
 * reason, an empty network afterwards, and nothing left behind. The command says the same and exits
 * with 3. */
#include <stdlib.h>
#include <sys/wait.h>

#include "core/base/test.h"
#include "tenon/tenon.h"
#include "tests/support/onnx_message.h"
#include "tests/support/plugin_folder.h"

/* Fields of ONNX's messages. */
enum { GRAPH_NODE = 1, GRAPH_WEIGHTS = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, NODE_ATTRIBUTE = 5 };
enum { FLOAT_TYPE = 1, INT_ATTRIBUTE = 2, INTS_ATTRIBUTE = 7 };

typedef struct case_t {
  const char* name;
  void (*write)(tenon__message_t* message);
  const char* node;   /* part of the error */
  const char* reason; /* likewise */
} case_t;

static const int64_t two_by_three[2] = {2, 3};

static void node(tenon__message_t* m, const char* type, const char* name, const char* inputs,
                 const char* output) {
  tenon__message_begin_node(m, GRAPH_NODE, type, name, inputs, output);
  tenon__message_end(m);
}

static void input(tenon__message_t* m, const char* name) {
  tenon__message_value_info(m, GRAPH_INPUT, name, FLOAT_TYPE, 2, two_by_three);
}

static void output(tenon__message_t* m, const char* name) {
  tenon__message_value_info(m, GRAPH_OUTPUT, name, FLOAT_TYPE, 2, two_by_three);
}

/* Weights of extents 2 x 3, or as given, with `size` bytes of data. */
static void weights(tenon__message_t* m, const int64_t dims[2], size_t size) {
  static const uint8_t zeros[64];
  tenon__message_begin(m, GRAPH_WEIGHTS);
  tenon__message_varint(m, 1, (uint64_t)dims[0]);
  tenon__message_varint(m, 1, (uint64_t)dims[1]);
  tenon__message_varint(m, 2, FLOAT_TYPE);
  tenon__message_text(m, 8, "w");
  tenon__message_bytes(m, 9, zeros, size);
  tenon__message_end(m);
}

static void write_cycle(tenon__message_t* m) {
  input(m, "x");
  node(m, "Add", "first", "x u", "t");
  node(m, "Add", "second", "x t", "u");
  output(m, "t");
}

static void write_dangling(tenon__message_t* m) {
  input(m, "x");
  node(m, "Add", "lonely", "x nothing", "y");
  output(m, "y");
}

static void write_short_weights(tenon__message_t* m) {
  input(m, "x");
  weights(m, two_by_three, 20);
  node(m, "Add", "sum", "x w", "y");
  output(m, "y");
}

static void write_huge_weights(tenon__message_t* m) {
  static const int64_t dims[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
  input(m, "x");
  weights(m, dims, 24);
  node(m, "Add", "sum", "x w", "y");
  output(m, "y");
}

static void write_huge_input(tenon__message_t* m) {
  static const int64_t dims[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
  tenon__message_value_info(m, GRAPH_INPUT, "x", FLOAT_TYPE, 2, dims);
  node(m, "Relu", "r", "x", "y");
  tenon__message_value_info(m, GRAPH_OUTPUT, "y", FLOAT_TYPE, 2, dims);
}

static void write_external(tenon__message_t* m, const char* location) {
  static const char* const keys[2] = {"location", "length"};
  const char* const values[2] = {location, "24"};
  input(m, "x");
  tenon__message_begin(m, GRAPH_WEIGHTS);
  tenon__message_varint(m, 1, 2);
  tenon__message_varint(m, 1, 3);
  tenon__message_varint(m, 2, FLOAT_TYPE);
  tenon__message_text(m, 8, "w");
  for (int i = 0; i < 2; ++i) {
    tenon__message_begin(m, 13);
    tenon__message_text(m, 1, keys[i]);
    tenon__message_text(m, 2, values[i]);
    tenon__message_end(m);
  }
  tenon__message_varint(m, 14, 1);
  tenon__message_end(m);
  node(m, "Add", "sum", "x w", "y");
  output(m, "y");
}

static void write_external_above(tenon__message_t* m) {
  write_external(m, "../secret.bin");
}

static void write_external_absolute(tenon__message_t* m) {
  write_external(m, "/etc/passwd");
}

static void write_external_link(tenon__message_t* m) {
  write_external(m, "link.bin");
}

static void write_external_missing(tenon__message_t* m) {
  write_external(m, "absent.bin");
}

static void write_external_short(tenon__message_t* m) {
  write_external(m, "short.bin");
}

static void write_wrong_attribute(tenon__message_t* m) {
  input(m, "x");
  tenon__message_begin_node(m, GRAPH_NODE, "Transpose", "turn", "x", "y");
  tenon__message_begin(m, NODE_ATTRIBUTE);
  tenon__message_text(m, 1, "perm");
  tenon__message_varint(m, 20, INT_ATTRIBUTE);
  tenon__message_varint(m, 3, 1);
  tenon__message_end(m);
  tenon__message_end(m);
  output(m, "y");
}

static void write_wrong_value(tenon__message_t* m) {
  input(m, "x");
  tenon__message_begin_node(m, GRAPH_NODE, "Transpose", "turn", "x", "y");
  tenon__message_begin(m, NODE_ATTRIBUTE);
  tenon__message_text(m, 1, "perm");
  tenon__message_varint(m, 20, INTS_ATTRIBUTE);
  for (uint64_t k = 0; k < 3; ++k) {
    tenon__message_varint(m, 8, k);
  }
  tenon__message_end(m);
  tenon__message_end(m);
  output(m, "y");
}

static void write_unknown(tenon__message_t* m) {
  input(m, "x");
  node(m, "NoSuchThing", "odd", "x", "t");
  node(m, "NorThisOne", "odder", "t", "y");
  output(m, "y");
}

static void write_misfit(tenon__message_t* m) {
  static const int64_t dims[2] = {5, 1};
  input(m, "x");
  weights(m, dims, 20);
  node(m, "MatMul", "product", "x w", "y");
  output(m, "y");
}

static const case_t cases[] = {
    {"cycle", write_cycle, "'first'", "its own output"},
    {"dangling", write_dangling, "'lonely'", "reads 'nothing'"},
    {"short_weights", write_short_weights, "'w'", "20"},
    {"huge_weights", write_huge_weights, "'w'", "its extents overflow"},
    {"huge_input", write_huge_input, "'x'", "more than 2^48 elements"},
    {"external_above", write_external_above, "'w'", "../secret.bin"},
    {"external_absolute", write_external_absolute, "'w'", "/etc/passwd"},
    {"external_link", write_external_link, "'w'", "link.bin"},
    {"external_missing", write_external_missing, "'w'", "absent.bin"},
    {"external_short", write_external_short, "'w'", "short.bin"},
    {"wrong_attribute", write_wrong_attribute, "'turn'", "'perm'"},
    {"wrong_value", write_wrong_value, "'turn'", "3 entries"},
    {"unknown", write_unknown, "odd", "NoSuchThing"},
    {"misfit", write_misfit, "'product'", "5"},
};

/* Keeps messages, and counts the errors among them. */
typedef struct ear_t {
  tenon__test_messages_t messages;
  int errors;
} ear_t;

static void hear(void* user, int32_t severity, const char* message) {
  ear_t* ear = user;
  ear->errors += severity >= TENON_SEVERITY_ERROR ? 1 : 0;
  tenon__test_keep_message(&ear->messages, severity, message);
}

static tenon_registry_t* make_registry(ear_t* ear) {
  tenon_registry_t* registry = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  memset(ear, 0, sizeof(*ear));
  options.logger = (tenon_sink_t){ear, hear};
  EXPECT_STATUS(tenon_registry_create(&options, &registry), TENON_OK);
  return registry;
}

/* From file to plan. */
static tenon_status_t try_file(tenon_registry_t* registry, const char* path) {
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_status_t status = tenon_network_create(registry, &network);
  if (status == TENON_OK) {
    status = tenon_network_parse_file(network, path, NULL);
    EXPECT(status == TENON_OK || tenon_network_file_count(network) == 0);
  }
  if (status == TENON_OK) {
    status = tenon_build(network, NULL, &plan);
  }
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

/* The folder of the models, inside of one that holds what they may not reach. */
static bool make_folders(test_folder_t* outer, test_folder_t* out_inner) {
  static const uint8_t zeros[24];
  char path[PATH_MAX];
  char target[PATH_MAX];
  if (!test_folder_make(outer) || !test_folder_write(outer, "secret.bin", zeros, sizeof(zeros))) {
    return false;
  }
  (void)snprintf(out_inner->path, sizeof(out_inner->path), "%.200s/models", outer->path);
  return mkdir(out_inner->path, 0755) == 0 &&
         test_folder_write(out_inner, "short.bin", zeros, 23) &&
         symlink(test_folder_path(outer, "secret.bin", target),
                 test_folder_path(out_inner, "link.bin", path)) == 0;
}

static void write_case(const test_folder_t* folder, const case_t* c, char out_path[PATH_MAX]) {
  char name[64];
  tenon__message_t message = {.size = 0};
  tenon__message_begin_model(&message, 13);
  c->write(&message);
  tenon__message_end_model(&message);
  (void)snprintf(name, sizeof(name), "%s.onnx", c->name);
  EXPECT(test_folder_write(folder, name, message.bytes, message.size));
  (void)test_folder_path(folder, name, out_path);
}

static void expect_error(const ear_t* ear, const case_t* c, tenon_status_t status) {
  char file[80];
  const char* text = ear->messages.text;
  (void)snprintf(file, sizeof(file), "%s.onnx", c->name);
  const bool good = status != TENON_OK && ear->errors == 1 && strstr(text, file) != NULL &&
                    strstr(text, c->node) != NULL && strstr(text, c->reason) != NULL;
  if (!good) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' with %d errors, expected one with %s and %s: %s",
                     c->name, tenon_status_text(status), ear->errors, c->node, c->reason, text);
  }
}

TENON_TEST(one_error_names_file_node_and_reason) {
  test_folder_t outer;
  test_folder_t folder;
  REQUIRE(make_folders(&outer, &folder));
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    ear_t ear;
    char path[PATH_MAX];
    tenon_registry_t* registry = make_registry(&ear);
    write_case(&folder, &cases[k], path);
    expect_error(&ear, &cases[k], try_file(registry, path));
    tenon_registry_release(registry);
  }
  test_folder_remove(&outer);
}

/* ---- The command ---- */

/* It could not be done. */
enum { EXIT_FAILED = 3 };

/* What a command writes, errors too; its exit status. */
static int run_command(const char* message, const char* path, char* out_text, size_t capacity) {
  char command[PATH_MAX + 256];
  (void)snprintf(command, sizeof(command), "'%s' %s '%s' 2>&1", TENON, message, path);
  /* A fixed program and a path that this test made. NOLINTNEXTLINE(cert-env33-c) */
  FILE* pipe = popen(command, "r");
  if (pipe == NULL) {
    return -1;
  }
  const size_t size = fread(out_text, 1, capacity - 1, pipe);
  out_text[size] = '\0';
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_refused(const char* message, const char* path, const char* name) {
  static char text[16384];
  const int status = run_command(message, path, text, sizeof(text));
  if (status != EXIT_FAILED || strstr(text, name) == NULL || strstr(text, "Sanitizer") != NULL) {
    tenon__test_fail(__FILE__, __LINE__, "tenon %s %s exits with %d: %s", message, path, status,
                     text);
  }
}

TENON_TEST(the_command_exits_with_3) {
  test_folder_t outer;
  test_folder_t folder;
  char path[PATH_MAX];
  REQUIRE(make_folders(&outer, &folder));
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    write_case(&folder, &cases[k], path);
    expect_refused("run --no-cache", path, cases[k].name);
  }
  (void)test_folder_path(&folder, "random", path);
  EXPECT(test_folder_write(&folder, "random", "\x8f\x03 neither model nor plan", 26));
  expect_refused("run --no-cache", path, "random");
  expect_refused("inspect --no-cache", path, "random");
  (void)test_folder_path(&folder, "half.plan", path);
  EXPECT(test_folder_write(&folder, "half.plan", "TENONPLN\x01\0\0\0\0\0\0\0", 16));
  expect_refused("run --no-cache", path, "half.plan");
  expect_refused("inspect", path, "half.plan");
  expect_refused("run --no-cache", "/nowhere/absent.onnx", "absent.onnx");
  test_folder_remove(&outer);
}

/* ---- Nested deeper than the stack ---- */

/* Graphs in attributes of nodes of graphs, `depth` times; from the innermost outwards. */
static test_bytes_t nested_model(size_t depth) {
  static const unsigned fields[3] = {7, 1, 5}; /* outermost first: graph, then node, attribute */
  const size_t capacity = depth * 3 * 8 + 16;
  unsigned char* bytes = malloc(capacity);
  size_t start = capacity;
  for (size_t i = depth * 3; bytes != NULL && i > 0; --i) {
    const size_t length = capacity - start;
    unsigned char varint[8];
    size_t used = 0;
    for (size_t rest = length; used == 0 || rest > 0; rest >>= 7) {
      varint[used++] = (unsigned char)((rest & 127) | (rest >= 128 ? 128 : 0));
    }
    start -= used;
    memcpy(bytes + start, varint, used);
    /* Below the model's own graph a graph is field 6 of an attribute. */
    const unsigned field = (i - 1) % 3 == 0 && i > 1 ? 6 : fields[(i - 1) % 3];
    bytes[--start] = (unsigned char)(field << 3 | 2);
  }
  if (bytes != NULL) {
    memmove(bytes, bytes + start, capacity - start);
  }
  return (test_bytes_t){bytes, capacity - start};
}

TENON_TEST(nesting_deeper_than_the_stack_is_refused) {
  test_folder_t folder;
  char path[PATH_MAX];
  ear_t ear;
  const test_bytes_t model = nested_model(100000);
  REQUIRE(model.data != NULL && test_folder_make(&folder));
  tenon_registry_t* registry = make_registry(&ear);
  EXPECT(test_folder_write(&folder, "deep.onnx", model.data, model.size));
  EXPECT_STATUS(try_file(registry, test_folder_path(&folder, "deep.onnx", path)),
                TENON_ERROR_INVALID_DATA);
  EXPECT_INT(ear.errors, 1);
  EXPECT_CONTAINS(ear.messages.text, "deep.onnx");
  EXPECT_CONTAINS(ear.messages.text, "nested");
  expect_refused("run --no-cache", path, "deep.onnx");
  tenon_registry_release(registry);
  test_folder_remove(&folder);
  free(model.data);
}
