/* What a plugin that is loaded may still do wrong. */
#include "plugin_registry/registry.h"

#include "tests/support/plugin_world.h"

#include "core/catalog/catalog.h"

TENON_TEST(refuses_what_a_plugin_says_of_itself) {
  static const struct {
    const char* fixture;
    tenon__plugin_reason_t reason;
    const char* message;
  } rows[] = {
      {"declines", TENON_PLUGIN_REASON_DECLINED, ""},
      {"start_fails", TENON_PLUGIN_REASON_START_FAILED, "the moon is in the wrong phase"},
      {"root_without_size", TENON_PLUGIN_REASON_DESCRIPTOR, "the size of its root"},
      {"root_too_small", TENON_PLUGIN_REASON_DESCRIPTOR, "the size of its root"},
      {"no_stride", TENON_PLUGIN_REASON_DESCRIPTOR, "stride"},
      {"odd_stride", TENON_PLUGIN_REASON_DESCRIPTOR, "stride"},
      {"small_stride", TENON_PLUGIN_REASON_DESCRIPTOR, "operator number 0: its size"},
      {"other_name", TENON_PLUGIN_REASON_DESCRIPTOR, "calls itself somebody_else"},
      {"other_versions", TENON_PLUGIN_REASON_DESCRIPTOR, "versions of the contract"},
      {"promises_more", TENON_PLUGIN_REASON_PROMISE, "'operator promises_more.absent/1'"},
      {"promises_less", TENON_PLUGIN_REASON_PROMISE, "'offers: operator promises_less.more/1'"},
      {"declared", TENON_PLUGIN_REASON_LOAD_FAILED, "libfixture_absent.so"},
      {"opens_absent", TENON_PLUGIN_REASON_START_FAILED, "cannot open libfixture_absent.so"},
      {"opens_undeclared", TENON_PLUGIN_REASON_START_FAILED, "libfixture_neighbour.so opened"},
      {"opens_unasked", TENON_PLUGIN_REASON_START_FAILED, "unsupported"},
  };
  world_t world;
  char file[64];
  char op[64];
  world_begin(&world);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    EXPECT(test_folder_copy(&world.folder, rows[i].fixture, file));
  }
  world_scan(&world);
  EXPECT_INT(world.messages.count, 0);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    (void)snprintf(op, sizeof(op), "%s.twice/1", rows[i].fixture);
    EXPECT_INT(world_candidate(&world, file).state, TENON_CANDIDATE_AVAILABLE);
    world.sink = tenon__test_listen(&world.messages);
    EXPECT(tenon__catalog_operator(world.catalog, op, world.sink) == NULL);
    world_expect_refused(&world, file, rows[i].reason, rows[i].message);
    EXPECT_CONTAINS(world.messages.text, file);
    /* Once: asked again, the catalogue remembers. */
    const int count = world.messages.count;
    EXPECT(tenon__catalog_operator(world.catalog, op, world.sink) == NULL);
    EXPECT_INT(world.messages.count, count);
  }
  world_end(&world);
}

TENON_TEST(opens_a_neighbour_that_the_manifest_names) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
  (void)snprintf(path, sizeof(path), "%s/tests/plugins/neighbours/libfixture_neighbour.so",
                 getenv("TENON_BUILD_DIR"));
  const test_bytes_t library = test_read_file(path);
  EXPECT(test_folder_write(&world.folder, "libfixture_neighbour.so", library.data, library.size));
  EXPECT(test_folder_copy(&world.folder, "opens", "opens.so"));
  world_scan(&world);
  world_expect_refused(&world, "libfixture_neighbour.so", TENON_PLUGIN_REASON_NO_MANIFEST, "");
  EXPECT_STATUS(world_load(&world, "opens.so"), TENON_OK);
  world_end(&world);

  world_begin(&world);
  EXPECT(test_folder_write(&world.folder, "libfixture_neighbour.so", library.data, library.size));
  EXPECT(test_folder_copy(&world.folder, "opens", "opens.so"));
  EXPECT(chmod(test_folder_path(&world.folder, "libfixture_neighbour.so", path), 0666) == 0);
  world_scan(&world);
  EXPECT(world_load(&world, "opens.so") != TENON_OK);
  world_expect_refused(&world, "opens.so", TENON_PLUGIN_REASON_START_FAILED, "chmod");
  free(library.data);
  world_end(&world);
}
