/* Strangers' rewrites, and ours: what is wrong with one is found, told and left out. */
#include <time.h>

#include "core/catalog/catalog.h"
#include "core/catalog/check.h"
#include "core/optimizer/rewrite_trial.h"
#include "plugin_registry/registry.h"
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
  return test_folder_make(folder) && test_folder_copy(folder, "rewriter", "rewriter.so") &&
         session_begin(s, folder->path);
}

static void end(session_t* s, const test_folder_t* folder) {
  session_end(s);
  test_folder_remove(folder);
}

static const float given[] = {-1, 2};

/* x * sigmoid(x), relu of it, and its hyperbolic tangent. */
static void make_network(session_t* s) {
  static const float swish[] = {-0.268941421F, 1.761594156F};
  static const float relu[] = {0, 1.761594156F};
  static const float tangent[] = {-0.262638F, 0.942672F};
  static const sample_t samples[] = {{"x", TENON_DTYPE_FLOAT32, 1, {2}, given},
                                     {"swish", TENON_DTYPE_FLOAT32, 1, {2}, swish},
                                     {"relu", TENON_DTYPE_FLOAT32, 1, {2}, relu},
                                     {"tangent", TENON_DTYPE_FLOAT32, 1, {2}, tangent}};
  tenon_value_t x = ABSENT;
  EXPECT_STATUS(
      tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 1, samples[0].dims, &x),
      TENON_OK);
  s->inputs[s->input_count++] = &samples[0];
  const tenon_value_t sigmoid = node(s, "standard.sigmoid/1", &x, 1, NO_ATTRIBUTES);
  const tenon_value_t y = node(s, "standard.mul/1", VALUES(x, sigmoid), NO_ATTRIBUTES);
  const tenon_value_t outputs[] = {y, node(s, "standard.relu/1", &y, 1, NO_ATTRIBUTES),
                                   node(s, "standard.tanh/1", &y, 1, NO_ATTRIBUTES)};
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_STATUS(tenon_network_add_output(s->network, outputs[i], samples[i + 1].name), TENON_OK);
    s->outputs[s->output_count++] = &samples[i + 1];
  }
}

/* The right one is applied, though the wrong one stands before it and matches the same. */
TENON_TEST(a_wrong_rewrite_is_found_before_it_is_applied) {
  session_t s;
  test_folder_t folder;
  REQUIRE(begin(&s, &folder));
  make_network(&s);
  for (int round = 0; round < 2; ++round) { /* told once */
    tenon_engine_t* engine = NULL;
    tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = 1;
    session_run(&s, &options, &engine);
    REQUIRE(engine != NULL);
    EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
    EXPECT_CONTAINS(info.patches, "rewrite rewriter:right: ");
    EXPECT(strstr(info.patches, "rewrite rewriter:broken") == NULL);
    EXPECT(strstr(info.patches, "rewrite rewriter:endless") == NULL);
    tenon_engine_release(engine);
    EXPECT_INT(s.messages.count, 8);
  }
  static const char* const messages[] = {
      "rewrite 'broken': it changes results: with x = ",
      " by the pattern and ",
      "rewrite 'endless': it matches what it made: ",
      "rewrite 'cut': its pattern \"y = standard.relu/1(x\": column 22: ",
      "rewrite 'misspelt': its guard \"rnak(x) == 2\": column 1: unknown function 'rnak'",
      "rewrite 'absent': its replacement \"y = rewriter.absent/1(x)\": column 5: no plugin offers",
      "rewrite 'stranger': its pattern \"y = nobody.knows/1(x)\": column 5: no plugin offers",
      "rewrite 'unfit': where it matches, its replacement never fits: it gives i32[",
      "kernel 'cut': its pattern \"t = standard.mat_mul/1(a; y = standard.relu/1(t)\": column 25: ",
      "plugin rewriter (",
      "/rewriter.so): rewrite 'broken': ",
  };
  for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
    EXPECT_CONTAINS(s.messages.text, messages[i]);
  }
  end(&s, &folder);
}

TENON_TEST(the_index_tells_which_are_left_out) {
  session_t s;
  test_folder_t folder;
  static text_t index;
  REQUIRE(begin(&s, &folder));
  EXPECT_STATUS(tenon_registry_print_index(s.registry, collect, &index), TENON_OK);
  static const char* const names[] = {"broken", "endless", "cut", "misspelt", "absent", "unfit"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    char line[256];
    (void)snprintf(line, sizeof line,
                   "{\"kind\": \"rewrite\", \"name\": \"%s\", \"plugin\": \"rewriter\", "
                   "\"disabled\": \"",
                   names[i]);
    EXPECT_CONTAINS(index.data, line);
  }
  EXPECT_CONTAINS(index.data,
                  "{\"kind\": \"rewrite\", \"name\": \"right\", \"plugin\": \"rewriter\", "
                  "\"pattern\": ");
  end(&s, &folder);
}

/* ---- Ours ---- */

typedef struct plugins_t {
  tenon__catalog_t* catalog;
  tenon__registry_t* registry;
  tenon__test_messages_t messages;
  const tenon_sink_t* sink;
} plugins_t;

static const tenon__operator_t* find(void* user, const char* name) {
  plugins_t* plugins = user;
  return tenon__catalog_operator(plugins->catalog, name, plugins->sink);
}

static bool open_plugins(plugins_t* plugins) {
  static char folder[4096];
  const char* const paths[] = {session_path("plugins", folder, sizeof folder), NULL};
  plugins->sink = tenon__test_listen(&plugins->messages);
  EXPECT_STATUS(tenon__catalog_create(tenon__allocator_default(), &plugins->catalog), TENON_OK);
  const tenon__registry_options_t options = {.paths = paths,
                                             .only_paths = true,
                                             .allocator = tenon__allocator_default(),
                                             .sink = *plugins->sink,
                                             .catalog = plugins->catalog};
  return tenon__registry_create(&options, &plugins->registry) == TENON_OK &&
         tenon__registry_scan(plugins->registry, plugins->sink) == TENON_OK;
}

TENON_TEST(each_of_ours_is_right) {
  enum { MOST = 256 };
  plugins_t plugins = {0};
  const tenon__rewrite_entry_t* entries[MOST];
  REQUIRE(open_plugins(&plugins));
  EXPECT_STATUS(tenon__catalog_check_texts(plugins.catalog, plugins.sink), TENON_OK);
  const uint32_t count =
      tenon__catalog_all(plugins.catalog, TENON_OFFER_REWRITE, plugins.sink, entries, MOST);
  REQUIRE(count > 0 && count <= MOST);
  const tenon__optimize_options_t options = {.find = find, .find_user = &plugins};
  for (uint32_t i = 0; i < count; ++i) {
    tenon__arena_t arena;
    tenon__rewrite_trial_t trial = {.fault = "?"};
    tenon__arena_initialize(&arena, tenon__allocator_default());
    const clock_t start = clock();
    EXPECT_STATUS(
        tenon__rewrite_try(&options, entries[i], tenon__allocator_default(), &arena, &trial),
        TENON_OK);
    EXPECT_TEXT(trial.fault, NULL);
    /* A window that is its own step is not drawn, and a product has no expression to be computed by
     * here: tests/api/blocks.c and scale.c have numbers. */
    const bool is_of_blocks = strstr(entries[i]->rewrite.name, "of blocks") != NULL;
    EXPECT(trial.applied > 0 || is_of_blocks);
    EXPECT(trial.compared > 0 || is_of_blocks ||
           strstr(entries[i]->rewrite.pattern, "mat_mul") != NULL);
    (void)printf("%s: %u networks applied, %u compared, %.2f ms\n", entries[i]->rewrite.name,
                 trial.applied, trial.compared,
                 1e3 * (double)(clock() - start) / (double)CLOCKS_PER_SEC);
    tenon__arena_deinitialize(&arena);
  }
  EXPECT_TEXT(plugins.messages.text, "");
  tenon__catalog_destroy(plugins.catalog);
  tenon__registry_destroy(plugins.registry);
}
