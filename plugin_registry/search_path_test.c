/* Where plugins are looked for, and which may be used. */
#include "plugin_registry/search_path.h"

#include "tests/support/plugin_world.h"

#include "core/base/digest.h"
#include "plugin_registry/registry.h"

TENON_TEST(reads_the_environment_and_never_the_working_directory) {
  world_t world;
  char value[2 * PATH_MAX];
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  (void)snprintf(value, sizeof(value), "plugins:%s::/no/such/place:%s/../%s:", world.folder.path,
                 world.folder.path, strrchr(world.folder.path, '/') + 1);
  EXPECT(setenv("TENON_PLUGIN_PATH", value, 1) == 0);
  world.paths[0] = NULL;
  world.options.only_paths = false;
  world.options.installed_directory = "/no/such/place/either";
  world_scan(&world);
  EXPECT(unsetenv("TENON_PLUGIN_PATH") == 0);
  static const struct {
    const char* origin;
    tenon__plugin_reason_t reason;
  } rows[] = {{"TENON_PLUGIN_PATH", TENON_PLUGIN_REASON_UNREADABLE},
              {"TENON_PLUGIN_PATH", TENON_PLUGIN_REASON_NONE},
              {"TENON_PLUGIN_PATH", TENON_PLUGIN_REASON_UNREADABLE},
              {"TENON_PLUGIN_PATH", TENON_PLUGIN_REASON_SHADOWED},
              {"installed", TENON_PLUGIN_REASON_UNREADABLE}};
  EXPECT_INT(tenon__registry_directory_count(world.registry), 5);
  for (uint32_t i = 0; i < 5; ++i) {
    tenon__directory_info_t info;
    EXPECT_STATUS(tenon__registry_directory(world.registry, i, &info), TENON_OK);
    EXPECT_TEXT(info.origin, rows[i].origin);
    EXPECT_INT(info.reason, rows[i].reason);
  }
  EXPECT_CONTAINS(world.messages.text, "not an absolute path");
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 1);
  world_end(&world);
}

TENON_TEST(a_relative_path_of_the_caller_is_an_error) {
  world_t world;
  world_begin(&world);
  world.paths[0] = "plugins";
  EXPECT_STATUS(tenon__registry_create(&world.options, &world.registry),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(world.messages.text, "'plugins' is not absolute");
  world_end(&world);
}

TENON_TEST(the_first_of_a_name_hides_the_others) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "b.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "c.so"));
  world_scan(&world);
  EXPECT_INT(world_candidate(&world, "b.so").state, TENON_CANDIDATE_AVAILABLE);
  world_expect_refused(&world, "c.so", TENON_PLUGIN_REASON_SHADOWED, "/b.so");
  /* Whoever was promised keeps its name, whatever comes before it. */
  EXPECT(test_folder_copy(&world.folder, "good", "a.so"));
  world_scan(&world);
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_SHADOWED, "/b.so");
  EXPECT_INT(world_candidate(&world, "b.so").state, TENON_CANDIDATE_AVAILABLE);
  world_end(&world);
}

TENON_TEST(a_policy_lists_what_may_be_loaded) {
  world_t world;
  char text[65];
  const char* digests[2] = {text, NULL};
  world_begin(&world);
  const test_bytes_t good = test_read_fixture("good");
  const tenon__digest_t digest = tenon__digest_of(good.data, good.size);
  free(good.data);
  tenon__digest_text(&digest, text);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "older", "older.so"));
  world.options.policy = TENON_REGISTRY_POLICY_LISTED;
  world.options.digests = digests;
  world_scan(&world);
  world_expect_refused(&world, "older.so", TENON_PLUGIN_REASON_NOT_LISTED, "");
  EXPECT_STATUS(world_load(&world, "good.so"), TENON_OK);
  EXPECT_STATUS(world_load(&world, "older.so"), TENON_ERROR_DENIED);
  world_end(&world);

  world_begin(&world);
  digests[0] = "not a digest";
  world.options.policy = TENON_REGISTRY_POLICY_LISTED;
  world.options.digests = digests;
  EXPECT_STATUS(tenon__registry_create(&world.options, &world.registry),
                TENON_ERROR_INVALID_ARGUMENT);
  world_end(&world);
}
