/* Registries: what they find, what they say, how they are counted. */
#include "tests/api/session.h"

typedef struct text_t {
  char data[1 << 20];
} text_t;

static void collect(void* user, const char* text) {
  text_t* kept = user;
  const size_t used = strlen(kept->data);
  (void)snprintf(kept->data + used, sizeof kept->data - used, "%s", text);
}

TENON_TEST(lists_plugins_and_what_they_offer) {
  session_t s;
  static text_t paths;
  static text_t index;
  static text_t devices;
  bool has_cpu = false;
  REQUIRE(session_begin(&s, "/no/such/folder"));
  for (uint32_t i = 0; i < tenon_registry_plugin_count(s.registry); ++i) {
    tenon_plugin_info_t info = {.size = sizeof(info)};
    EXPECT_STATUS(tenon_registry_get_plugin(s.registry, i, &info), TENON_OK);
    has_cpu = has_cpu || (strcmp(info.name, "cpu") == 0 && info.state != TENON_PLUGIN_REFUSED &&
                          strstr(info.offers, "kernel ") != NULL);
  }
  EXPECT(has_cpu);
  tenon_registry_print_paths(s.registry, collect, &paths);
  EXPECT_CONTAINS(paths.data, "/no/such/folder");
  EXPECT_STATUS(tenon_registry_print_index(s.registry, collect, &index), TENON_OK);
  EXPECT_CONTAINS(index.data, "{\"kind\": \"operator\", \"name\": \"standard.abs/1\"");
  EXPECT_CONTAINS(index.data, "{\"name\": \"alpha\", \"kind\": \"float\", \"default\": \"");
  EXPECT_CONTAINS(index.data, "\"extensions\": \".onnx\"");
  EXPECT_STATUS(tenon_registry_print_devices(s.registry, collect, &devices), TENON_OK);
  EXPECT_CONTAINS(devices.data, "\"cpu\"");
  session_end(&s);
}

TENON_TEST(tells_what_formats_there_are) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(tenon_network_parse_memory(s.network, "no model", 8, "a file", NULL),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(s.messages.text, "is of a format that no parser recognises; there are: ");
  EXPECT_CONTAINS(s.messages.text, "onnx (.onnx)");
  EXPECT_CONTAINS(s.messages.text, "uff (.uff .pb .pbtxt)");
  session_end(&s);
}

/* The logger hears a converter's node from inside its plugin's call. */
static void note_call(void* user, int32_t severity, const char* message) {
  tenon_call_info_t* call = user;
  (void)severity;
  (void)message;
  if (tenon_current_call(call) == 0) {
    call->plugin = "none";
  }
}

TENON_TEST(knows_whose_function_a_thread_is_in) {
  char folder[4096];
  tenon_call_info_t call = {.size = sizeof(call)};
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  const char* const paths[] = {session_path("plugins", folder, sizeof folder), NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = (tenon_sink_t){&call, note_call};
  REQUIRE(tenon_registry_create(&options, &registry) == TENON_OK);
  REQUIRE(tenon_network_create(registry, &network) == TENON_OK);
  tenon_parse_options_t parsing = TENON_OPTIONS(tenon_parse_options_t);
  parsing.format = "onnx";
  EXPECT(tenon_network_parse_memory(network, "no model", 8, "a file", &parsing) != TENON_OK);
  EXPECT_TEXT(call.plugin, "onnx");
  EXPECT_TEXT(call.function, "parse");
  EXPECT_TEXT(call.item, "onnx");
  EXPECT_TEXT(call.node, "a file");
  EXPECT_INT(tenon_current_call(&call), 0);
  EXPECT(tenon_network_parse_file(network, "/no/such/file", NULL) != TENON_OK);
  EXPECT_TEXT(call.plugin, "none");
  EXPECT_INT(tenon_current_call(NULL), 0);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
}

TENON_TEST(is_counted) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  tenon_registry_retain(s.registry);
  tenon_registry_release(s.registry);
  EXPECT(tenon_registry_plugin_count(s.registry) > 0);
  session_end(&s);
  tenon_registry_release(NULL);
}

TENON_TEST(lets_only_listed_plugins_in) {
  char folder[4096];
  char file[4200];
  char digest[65];
  tenon_registry_t* registry = NULL;
  tenon__test_messages_t messages;
  const char* const paths[] = {session_path("plugins", folder, sizeof folder), NULL};
  (void)snprintf(file, sizeof file, "%s/standard.so", folder);
  EXPECT_STATUS(tenon_digest_file(file, digest), TENON_OK);
  const char* const digests[] = {digest, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.policy = TENON_POLICY_LISTED;
  options.digests = digests;
  options.logger = *tenon__test_listen(&messages);
  REQUIRE(tenon_registry_create(&options, &registry) == TENON_OK);
  for (uint32_t i = 0; i < tenon_registry_plugin_count(registry); ++i) {
    tenon_plugin_info_t info = {.size = sizeof(info)};
    EXPECT_STATUS(tenon_registry_get_plugin(registry, i, &info), TENON_OK);
    const bool is_listed = strcmp(info.name, "standard") == 0;
    EXPECT_INT(info.state == TENON_PLUGIN_REFUSED, !is_listed);
    EXPECT_INT(info.reason[0] != '\0', !is_listed);
  }
  tenon_registry_release(registry);
}

TENON_TEST(speaks_of_versions_and_statuses) {
  char numbers[32];
  (void)snprintf(numbers, sizeof numbers, "%d.%d.%d", TENON_VERSION_MAJOR, TENON_VERSION_MINOR,
                 TENON_VERSION_PATCH);
  EXPECT_TEXT(tenon_version(), TENON_VERSION);
  EXPECT_TEXT(tenon_version(), numbers);
#if TENON_VERSION_MAJOR > 0 || TENON_VERSION_MINOR > 0 /* numbers that #if takes */
  EXPECT(numbers[0] != '\0');
#else
#error "the version has no number"
#endif
  EXPECT_TEXT(tenon_status_text(TENON_ERROR_INVALID_DATA), "invalid data");
  EXPECT(tenon_status_text(999) != NULL);
}

TENON_TEST(refuses_arguments_that_are_missing) {
  session_t s;
  tenon_engine_t* engine = NULL;
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(tenon_registry_create(NULL, NULL), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_network_create(NULL, &s.network), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_engine_create_from_file(s.registry, NULL, NULL, &engine),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_engine_create_from_file(s.registry, "/no/such/plan", NULL, &engine),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(s.messages.text, "/no/such/plan");
  EXPECT_STATUS(tenon_engine_create_from_memory(s.registry, "not a plan", 10, NULL, &engine),
                TENON_ERROR_INVALID_DATA);
  EXPECT(engine == NULL);
  session_end(&s);
}
