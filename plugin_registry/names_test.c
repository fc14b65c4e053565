/* Candidates of one name, and candidates that require others. */
#include "tests/support/plugin_world.h"

static void expect_used(const world_t* world, const char* file, const char* version) {
  const tenon__candidate_info_t info = world_candidate(world, file);
  EXPECT_INT(info.state, TENON_CANDIDATE_AVAILABLE);
  EXPECT_TEXT(info.version, version);
  EXPECT_TEXT(info.message, "");
}

TENON_TEST(the_newest_version_is_used) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "good_next", "b.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "c.so"));
  world_scan(&world);
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_SHADOWED, "/b.so, version 1.10.0");
  expect_used(&world, "b.so", "1.10.0");
  world_expect_refused(&world, "c.so", TENON_PLUGIN_REASON_SHADOWED, "/b.so, version 1.10.0");
  world_end(&world);
}

TENON_TEST(a_plugin_in_use_keeps_its_name) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "a.so"));
  world_scan(&world);
  EXPECT(test_folder_copy(&world.folder, "good_next", "b.so"));
  world_scan(&world);
  expect_used(&world, "a.so", "1.0.0");
  world_expect_refused(&world, "b.so", TENON_PLUGIN_REASON_SHADOWED, "/a.so, version 1.0.0");
  world_end(&world);
}

/* good 2.0.0 requires chain_first, which requires chain_second, which requires good 1.9. */
TENON_TEST(the_next_version_is_used_if_the_newest_lacks_a_plugin) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good_that_requires", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "b.so"));
  EXPECT(test_folder_copy(&world.folder, "good_next", "c.so"));
  world_scan(&world);
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_REQUIRES,
                       "chain_first, but no usable plugin has that name; install it");
  world_expect_refused(&world, "b.so", TENON_PLUGIN_REASON_SHADOWED, "/c.so, version 1.10.0");
  expect_used(&world, "c.so", "1.10.0");
  EXPECT_STATUS(world_load(&world, "a.so"), TENON_ERROR_NOT_FOUND);
  world_end(&world);
}

TENON_TEST(a_chain_of_requirements_is_met_or_refused_as_a_whole) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "chain_first", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "chain_second", "b.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "c.so"));
  world_scan(&world);
  world_expect_refused(&world, "b.so", TENON_PLUGIN_REASON_REQUIRES, "good 1.9 or later, but /");
  world_expect_refused(&world, "b.so", TENON_PLUGIN_REASON_REQUIRES, "/c.so has version 1.0.0");
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_REQUIRES, "chain_second 1.0 or later");
  world_end(&world);

  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "chain_first", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "chain_second", "b.so"));
  world_scan(&world);
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_REQUIRES, "chain_second");
  /* The missing plugin arrives. */
  EXPECT(test_folder_copy(&world.folder, "good_that_requires", "c.so"));
  world_scan(&world);
  expect_used(&world, "a.so", "1.0.0");
  expect_used(&world, "b.so", "1.0.0");
  expect_used(&world, "c.so", "2.0.0");
  world_end(&world);
}

TENON_TEST(preferred_plugins_are_listed_first) {
  static const char* const prefer[] = {"chain_second", "absent", "good", NULL};
  static const char* const expected[] = {"chain_second", "good", "circle_b"};
  world_t world;
  world_begin(&world);
  world.options.prefer = prefer;
  EXPECT(test_folder_copy(&world.folder, "circle_b", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "good_next", "b.so"));
  EXPECT(test_folder_copy(&world.folder, "chain_second", "c.so"));
  for (int round = 0; round < 2; ++round) {
    world_scan(&world);
    REQUIRE(tenon__registry_candidate_count(world.registry) == 3);
    for (uint32_t i = 0; i < 3; ++i) {
      tenon__candidate_info_t info;
      EXPECT_STATUS(tenon__registry_candidate(world.registry, i, &info), TENON_OK);
      EXPECT_TEXT(info.name, expected[i]);
    }
  }
  world_end(&world);
}

TENON_TEST(plugins_may_require_each_other) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "circle_a", "a.so"));
  world_scan(&world);
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_REQUIRES, "circle_b, but no usable");
  EXPECT(test_folder_copy(&world.folder, "circle_b", "b.so"));
  world_scan(&world);
  expect_used(&world, "a.so", "1.0.0");
  expect_used(&world, "b.so", "1.0.0");
  world_end(&world);
}

TENON_TEST(a_required_plugin_that_is_refused_is_not_there) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "circle_a", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "circle_b", "b.so"));
  world_scan(&world);
  expect_used(&world, "a.so", "1.0.0");
  char path[512];
  (void)snprintf(path, sizeof(path), "%s/b.so", world.folder.path);
  EXPECT_INT(unlink(path), 0);
  world_scan(&world);
  world_expect_refused(&world, "b.so", TENON_PLUGIN_REASON_GONE, "");
  world_expect_refused(&world, "a.so", TENON_PLUGIN_REASON_REQUIRES, "circle_b");
  EXPECT(tenon__catalog_operator(world.catalog, "circle_a.twice/1", world.sink) == NULL);
  world_end(&world);
}
