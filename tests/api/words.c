/* A program that brings no logger still learns why a call failed. */
#include <pthread.h>

#include "tests/api/scene.h"

/* A scene without a logger: y = 2 x + 1 of rows of 4, 1 to 5 of them. */
typedef struct mute_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} mute_t;

static tenon_status_t make_network(mute_t* mute) {
  static const int64_t dims[] = {-1, 4};
  tenon_value_t x = ABSENT;
  tenon_value_t y = ABSENT;
  tenon_status_t status = tenon_network_create(mute->registry, &mute->network);
  if (status == TENON_OK) {
    status = tenon_network_add_input(mute->network, "image", TENON_DTYPE_FLOAT32, 2, dims, &x);
  }
  if (status == TENON_OK) {
    status = tenon_builder_get_table()->expression(tenon_network_get_builder(mute->network),
                                                   "y = x * 2 + 1", (const char* const[]){"x"}, &x,
                                                   1, "twice", &y);
  }
  return status == TENON_OK ? tenon_network_add_output(mute->network, y, "scores") : status;
}

static bool begin(mute_t* mute) {
  static const int64_t min[] = {1, 4};
  static const int64_t max[] = {5, 4};
  const tenon_profile_range_t range = {"image", 2, min, min, max};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_registry_options_t registry = TENON_OPTIONS(tenon_registry_options_t);
  char folder[4096];
  const char* const paths[] = {session_path("plugins", folder, sizeof folder), NULL};
  memset(mute, 0, sizeof *mute);
  registry.paths = paths;
  registry.only_paths = 1;
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  EXPECT_STATUS(tenon_registry_create(&registry, &mute->registry), TENON_OK);
  EXPECT_STATUS(make_network(mute), TENON_OK);
  EXPECT_STATUS(tenon_build(mute->network, &options, &mute->plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(mute->registry, mute->plan, NULL, &mute->engine),
                TENON_OK);
  EXPECT_STATUS(tenon_context_create(mute->engine, NULL, &mute->context), TENON_OK);
  return mute->context != NULL;
}

static void end(mute_t* mute) {
  tenon_context_destroy(mute->context);
  tenon_engine_release(mute->engine);
  tenon_plan_destroy(mute->plan);
  tenon_network_destroy(mute->network);
  tenon_registry_release(mute->registry);
}

static tenon_tensor_view_t rows(float* data, const int64_t* dims, uint32_t rank) {
  return (tenon_tensor_view_t){
      .data = data, .dims = dims, .rank = rank, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
}

/* Each names the tensor, what is expected and what was given. */
TENON_TEST(wrong_inputs_are_put_into_words) {
  static const int64_t three[] = {3, 4};
  static const int64_t six[] = {6, 4};
  static const int64_t negative[] = {-3, 4};
  mute_t mute;
  float data[24] = {0};
  REQUIRE(begin(&mute));
  tenon_tensor_view_t view = rows(data, three, 2);
  view.dtype = TENON_DTYPE_INT64;
  EXPECT_STATUS(tenon_context_set_input(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'image' is i64, the engine expects f32");
  view = rows(data, six, 2);
  EXPECT_STATUS(tenon_context_set_input(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'image': extent 6 of axis 0");
  EXPECT_CONTAINS(tenon_last_message(), "1 to 5");
  view = rows(data, three, 1);
  EXPECT_STATUS(tenon_context_set_input(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'image' has rank 1, the engine expects 2");
  view = rows(data, negative, 2);
  EXPECT_STATUS(tenon_context_set_input(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'image'");
  EXPECT_CONTAINS(tenon_last_message(), "[-3, 4]");
  view = rows(NULL, three, 2);
  EXPECT_STATUS(tenon_context_set_input(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'image'");
  EXPECT_CONTAINS(tenon_last_message(), "no data");
  view = rows(data, three, 2);
  EXPECT_STATUS(tenon_context_set_input(mute.context, 7, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "there is no input 7, the engine has 1: image");
  EXPECT_STATUS(tenon_context_run(mute.context), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "input 'image' was not set");
  end(&mute);
}

/* Memory that no input could make large enough is refused at once, other memory before anything is
 * computed. */
TENON_TEST(outputs_that_are_too_small_are_put_into_words) {
  static const int64_t three[] = {3, 4};
  static const int64_t two[] = {2, 4};
  static const int64_t narrow[] = {5, 3};
  static const int64_t none[] = {0, 4};
  mute_t mute;
  float data[12] = {0};
  float results[20] = {0};
  tenon_tensor_view_t y;
  REQUIRE(begin(&mute));
  EXPECT_STATUS(tenon_context_get_output(mute.context, 0, &y), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "output 'scores'");
  tenon_tensor_view_t view = rows(results, narrow, 2);
  EXPECT_STATUS(tenon_context_set_output(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(),
                  "output 'scores' has extent 4 on axis 1, the memory given holds 3");
  view = rows(results, none, 2);
  EXPECT_STATUS(tenon_context_set_output(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(),
                  "output 'scores' has extent 1 or more on axis 0, the memory given holds 0");
  view = rows(results, three, 2);
  view.dtype = TENON_DTYPE_FLOAT64;
  EXPECT_STATUS(tenon_context_set_output(mute.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "'scores' is f32 of rank 2; the memory given is f64");
  EXPECT_STATUS(tenon_context_set_output(mute.context, 3, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "there is no output 3, the engine has 1: scores");
  view = rows(data, three, 2);
  EXPECT_STATUS(tenon_context_set_input(mute.context, 0, &view), TENON_OK);
  view = rows(results, two, 2);
  EXPECT_STATUS(tenon_context_set_output(mute.context, 0, &view), TENON_OK); /* two rows may come */
  data[0] = 5;
  results[0] = -1;
  EXPECT_STATUS(tenon_context_run(mute.context), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(),
                  "output 'scores' has extent 3 on axis 0, the memory given holds 2");
  EXPECT_NEAR(results[0], -1, 0);
  end(&mute);
}

TENON_TEST(words_are_of_the_last_call_that_failed) {
  mute_t mute;
  tenon_engine_t* engine = NULL;
  char digest[65];
  REQUIRE(begin(&mute));
  EXPECT_STATUS(tenon_engine_create_from_file(mute.registry, "/no/such/plan", NULL, &engine),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(tenon_last_message(), "/no/such/plan");
  EXPECT_STATUS(tenon_engine_create_from_memory(mute.registry, "not a plan", 10, NULL, &engine),
                TENON_ERROR_INVALID_DATA);
  EXPECT(strstr(tenon_last_message(), "/no/such/plan") == NULL);
  EXPECT(tenon_last_message()[0] != '\0');
  EXPECT_STATUS(tenon_digest_file("/no/such/file", digest), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(tenon_last_message(), "/no/such/file");
  EXPECT_STATUS(tenon_context_set_input(NULL, 0, NULL), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "tenon_context_set_input: argument 'context' is NULL");
  EXPECT_STATUS(tenon_context_write_state(mute.context, "memory", &mute, 4), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(tenon_last_message(), "'memory'");
  tenon_network_destroy(NULL); /* what returns no status leaves them alone */
  EXPECT_CONTAINS(tenon_last_message(), "'memory'");
  tenon_build_options_t options = {0};
  EXPECT_STATUS(tenon_build(mute.network, &options, &mute.plan), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "begin with TENON_OPTIONS(tenon_build_options_t)");
  EXPECT_STATUS(tenon_registry_create((const tenon_registry_options_t*)&options, &mute.registry),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "TENON_OPTIONS(tenon_registry_options_t)");
  end(&mute);
}

static void* fail_elsewhere(void* user) {
  tenon_plan_t* plan = NULL;
  char* message = user;
  const bool was_empty = tenon_last_message()[0] == '\0';
  (void)tenon_build(NULL, NULL, &plan);
  (void)snprintf(message, 256, "%s%s", was_empty ? "" : "not empty: ", tenon_last_message());
  return NULL;
}

TENON_TEST(each_thread_has_its_own) {
  mute_t mute;
  pthread_t thread;
  char message[256] = "";
  tenon_engine_t* engine = NULL;
  REQUIRE(begin(&mute));
  EXPECT_STATUS(tenon_engine_create_from_file(mute.registry, "/no/such/plan", NULL, &engine),
                TENON_ERROR_NOT_FOUND);
  REQUIRE(pthread_create(&thread, NULL, fail_elsewhere, message) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_TEXT(message, "tenon_build: argument 'network' is NULL");
  EXPECT_CONTAINS(tenon_last_message(), "/no/such/plan");
  end(&mute);
}

/* A logger takes nothing away, and what is long is cut between characters. */
TENON_TEST(words_stay_when_a_logger_listens) {
  session_t s;
  static char name[9000];
  tenon_engine_t* engine = NULL;
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(tenon_engine_create_from_file(s.registry, "/no/such/plan", NULL, &engine),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(s.messages.text, "/no/such/plan");
  EXPECT_CONTAINS(tenon_last_message(), "/no/such/plan");
  for (size_t i = 0; i + 2 < sizeof name; i += 2) {
    name[i] = '\xC3';
    name[i + 1] = '\xA4';
  }
  EXPECT_STATUS(tenon_network_mark_output(s.network, name), TENON_ERROR_NOT_FOUND);
  const size_t length = strlen(tenon_last_message());
  REQUIRE(length > 100);
  EXPECT_TEXT(tenon_last_message() + length - 3, "...");
  EXPECT_INT((unsigned char)tenon_last_message()[length - 4], 0xA4);
  session_end(&s);
}
