/* A program in a locale that writes 1,5 for 1.5: the engine reads and writes the same texts and
 * computes the same bytes as in any other, and leaves the program's locale alone. */
#include <locale.h>
#include <stdlib.h>

#include "core/base/test.h"
#include "tests/engine/networks.h"
#include "tests/support/onnx_message.h"
#include "tests/support/plugin_folder.h"
#include "tests/support/timings.h"

enum { SEED = 5, GRAPH_NODE = 1, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, NODE_ATTRIBUTE = 5 };
enum { FLOAT_TYPE = 1, STRING_TYPE = 8, FLOAT_ATTRIBUTE = 1, INT_ATTRIBUTE = 2 };

typedef struct world_t {
  test_folder_t folder;
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
} world_t;

static bool write_text(const test_folder_t* folder, const char* name, const char* text) {
  return test_folder_write(folder, name, (const unsigned char*)text, strlen(text));
}

/* Such a locale is not on every machine, but what makes locales is. */
static bool make_comma_locale(const test_folder_t* folder) {
  static char charmap[4096] =
      "<code_set_name> ASCII\n<comment_char> %\n<escape_char> /\n<mb_cur_min> 1\n<mb_cur_max> 1\n"
      "CHARMAP\n";
  size_t used = strlen(charmap);
  for (unsigned k = 0; k < 128; ++k) {
    used += (size_t)snprintf(charmap + used, sizeof(charmap) - used, "<U%04X> /x%02x x\n", k, k);
  }
  (void)snprintf(charmap + used, sizeof(charmap) - used, "END CHARMAP\n");
  char command[2 * PATH_MAX];
  (void)snprintf(command, sizeof(command),
                 "cd '%s' && localedef -c -f ./charmap -i ./source ./comma >log 2>&1; test -f "
                 "comma/LC_NUMERIC",
                 folder->path);
  return write_text(folder, "charmap", charmap) &&
         write_text(folder, "source",
                    "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \"<U002C>\"\n"
                    "thousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n") &&
         /* A fixed command on a folder of this test. NOLINTNEXTLINE(cert-env33-c) */
         system(command) == 0 && setenv("LOCPATH", folder->path, 1) == 0;
}

static bool writes_commas(void) {
  char text[8];
  (void)snprintf(text, sizeof(text), "%.1f", 1.5);
  return strcmp(text, "1,5") == 0;
}

static bool world_begin(world_t* world) {
  memset(world, 0, sizeof(*world));
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger = *tenon__test_listen(&world->messages);
  return test_folder_make(&world->folder) && make_comma_locale(&world->folder) &&
         tenon_registry_create(&options, &world->registry) == TENON_OK;
}

static void world_end(world_t* world) {
  (void)setlocale(LC_ALL, "C");
  tenon_registry_release(world->registry);
  test_folder_remove(&world->folder);
}

/* What a build and its run leave: the plan, what it computes, and the timing cache as a file. */
typedef struct trace_t {
  tenon_plan_t* plan;
  const void* plan_data;
  size_t plan_size;
  test_result_t result;
} trace_t;

static tenon_status_t run_plan(const world_t* world, int64_t most, trace_t* trace) {
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  TEST_TRY(tenon_engine_create_from_plan(world->registry, trace->plan, NULL, &engine));
  tenon_status_t status = tenon_context_create(engine, NULL, &context);
  if (status == TENON_OK) {
    status = test_run(engine, context, most, SEED, &trace->result);
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  return status;
}

static tenon_status_t trace_network(const world_t* world, const test_network_t* test,
                                    const char* timings_path, trace_t* out_trace) {
  tenon_timing_cache_t* timings = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  memset(out_trace, 0, sizeof(*out_trace));
  TEST_TRY(tenon_timing_cache_create(world->registry, timings_path, &timings));
  options.timing_cache = timings;
  tenon_status_t status = test_network_build(test, world->registry, &options, &out_trace->plan);
  if (status == TENON_OK) {
    status = tenon_timing_cache_save(timings, timings_path);
  }
  tenon_timing_cache_destroy(timings);
  if (status == TENON_OK) {
    status = tenon_plan_get_data(out_trace->plan, &out_trace->plan_data, &out_trace->plan_size);
  }
  return status == TENON_OK ? run_plan(world, test->most, out_trace) : status;
}

static void trace_end(trace_t* trace) {
  test_result_free(&trace->result);
  tenon_plan_destroy(trace->plan);
}

static void expect_same(const char* name, const trace_t* expected, const trace_t* actual) {
  if (expected->plan_size != actual->plan_size ||
      memcmp(expected->plan_data, actual->plan_data, actual->plan_size) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: the plan differs", name);
  }
  if (expected->result.size == 0 || expected->result.size != actual->result.size ||
      memcmp(expected->result.data, actual->result.data, actual->result.size) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: what it computes differs", name);
  }
}

static void check_network(world_t* world, const test_network_t* test) {
  char path[PATH_MAX];
  trace_t traces[2];
  (void)test_folder_path(&world->folder, test->name, path);
  EXPECT(setlocale(LC_ALL, "C") != NULL);
  tenon_status_t status = trace_network(world, test, path, &traces[0]);
  for (int tries = 0; tries < TEST_TIMINGS_TRIES && test_timings_settle(&world->folder, test->name);
       ++tries) {
    trace_end(&traces[0]);
    status = trace_network(world, test, path, &traces[0]);
  }
  test_bytes_t timings = test_read_file(path);
  EXPECT(setlocale(LC_ALL, "comma") != NULL && writes_commas());
  if (status == TENON_OK) {
    status = trace_network(world, test, path, &traces[1]);
    EXPECT(writes_commas());
    if (status == TENON_OK) {
      expect_same(test->name, &traces[0], &traces[1]);
      test_bytes_t again = test_read_file(path);
      EXPECT(timings.data != NULL && again.data != NULL && timings.size == again.size &&
             memcmp(timings.data, again.data, again.size) == 0);
      free(again.data);
    }
    trace_end(&traces[1]);
  }
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", test->name, world->messages.text);
  }
  free(timings.data);
  trace_end(&traces[0]);
}

TENON_TEST(the_same_plans_and_bytes) {
  world_t world;
  const test_network_t* tests = NULL;
  REQUIRE(world_begin(&world));
  const uint32_t count = test_networks(&tests);
  for (uint32_t k = 0; k < count; ++k) {
    check_network(&world, &tests[k]);
  }
  world_end(&world);
}

/* y = 0.5 * x * x + 0.25 * x, by way of text: numbers as strings and back. */
static tenon_status_t make_from_onnx(tenon_network_t* network) {
  static const int64_t dims[2] = {2, 2};
  static const struct {
    const char *type, *inputs, *output, *attribute[2];
    float numbers[2];
    int64_t integer;
  } nodes[] = {{"Gemm", "x x x", "g", {"alpha", "beta"}, {0.5F, 0.25F}, 0},
               {"Cast", "g", "text", {"to"}, {0}, STRING_TYPE},
               {"Cast", "text", "y", {"to"}, {0}, FLOAT_TYPE}};
  tenon__message_t m = {{0}, 0, {0}, 0};
  tenon__message_begin_model(&m, 13);
  tenon__message_value_info(&m, GRAPH_INPUT, "x", FLOAT_TYPE, 2, dims);
  for (size_t k = 0; k < sizeof(nodes) / sizeof(nodes[0]); ++k) {
    tenon__message_begin_node(&m, GRAPH_NODE, nodes[k].type, nodes[k].type, nodes[k].inputs,
                              nodes[k].output);
    for (size_t a = 0; a < 2 && nodes[k].attribute[a] != NULL; ++a) {
      tenon__message_begin(&m, NODE_ATTRIBUTE);
      tenon__message_text(&m, 1, nodes[k].attribute[a]);
      tenon__message_varint(&m, 20, nodes[k].integer != 0 ? INT_ATTRIBUTE : FLOAT_ATTRIBUTE);
      if (nodes[k].integer != 0) {
        tenon__message_varint(&m, 3, (uint64_t)nodes[k].integer);
      } else {
        tenon__message_float(&m, 2, nodes[k].numbers[a]);
      }
      tenon__message_end(&m);
    }
    tenon__message_end(&m);
  }
  tenon__message_value_info(&m, GRAPH_OUTPUT, "y", FLOAT_TYPE, 2, dims);
  tenon__message_end_model(&m);
  return tenon_network_parse_memory(network, m.bytes, m.size, "halves", NULL);
}

TENON_TEST(the_same_from_a_model) {
  const test_network_t test = {"halves", make_from_onnx, 0};
  world_t world;
  REQUIRE(world_begin(&world));
  check_network(&world, &test);
  world_end(&world);
}
