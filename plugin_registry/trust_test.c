/* Who can change files and directories. */
#include "plugin_registry/trust.h"

#include "tests/support/plugin_world.h"

#include "core/catalog/catalog.h"
#include "plugin_registry/registry.h"

TENON_TEST(refuses_what_others_can_write_and_says_what_mends_it) {
  world_t world;
  char path[PATH_MAX];
  char message[PATH_MAX + 32];
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(chmod(test_folder_path(&world.folder, "good.so", path), 0646) == 0);
  world_scan(&world);
  (void)snprintf(message, sizeof(message), "has mode 0646: chmod o-w '%s'", path);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, message);
  EXPECT(chmod(path, 0644) == 0);
  world_scan(&world); /* the reason expires */
  EXPECT_INT(world_candidate(&world, "good.so").state, TENON_CANDIDATE_AVAILABLE);
  EXPECT(chmod(path, 0666) == 0);
  EXPECT(tenon__catalog_operator(world.catalog, "good.twice/1", world.sink) == NULL);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, "chmod");
  EXPECT(chmod(path, 0644) == 0);
  world_scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "good.twice/1", world.sink) != NULL);
  world_end(&world);
}

TENON_TEST(refuses_a_group_that_is_not_the_owners_own) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  (void)test_folder_path(&world.folder, "good.so", path);
  if (geteuid() == 0 && getegid() == 0) {
    EXPECT(chmod(path, 0664) == 0); /* root's group is root's own */
    world_scan(&world);
    EXPECT_INT(world_candidate(&world, "good.so").state, TENON_CANDIDATE_AVAILABLE);
  }
  gid_t groups[64];
  int count = getgroups(64, groups);
  gid_t other = geteuid() == 0 ? 54321 : getegid();
  for (int i = 0; i < count; ++i) {
    other = groups[i] != getegid() ? groups[i] : other;
  }
  if (other == getegid() || chown(path, (uid_t)-1, other) != 0) {
    (void)printf("skipped: this user can give files to no other group\n");
    world_end(&world);
    return;
  }
  EXPECT(chmod(path, 0664) == 0);
  world_scan(&world);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, "chmod g-w");
  world_end(&world);
}

TENON_TEST(refuses_a_directory_that_others_can_write) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
  EXPECT(mkdir(test_folder_path(&world.folder, "inner", path), 0755) == 0);
  EXPECT(test_folder_copy(&world.folder, "good", "inner/good.so"));
  const char* outer = world.folder.path;
  world.paths[0] = path;
  tenon__directory_info_t info;
  static const mode_t modes[][2] = {{0755, 0777}, {0755, 01777}, {0777, 0755}, {01777, 0755}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT(chmod(outer, modes[i][0]) == 0 && chmod(path, modes[i][1]) == 0);
    world_scan(&world);
    EXPECT_INT(tenon__registry_directory_count(world.registry), 1);
    EXPECT_STATUS(tenon__registry_directory(world.registry, 0, &info), TENON_OK);
    const bool is_fine = modes[i][0] == 01777; /* as /tmp is */
    EXPECT_INT(info.reason,
               is_fine ? TENON_PLUGIN_REASON_NONE : TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS);
    EXPECT_INT(tenon__registry_candidate_count(world.registry), is_fine ? 1 : 0);
    if (!is_fine) {
      EXPECT_CONTAINS(info.message, "o-w '");
    }
  }
  world_end(&world);
}

TENON_TEST(follows_a_link_and_checks_where_it_leads) {
  world_t world;
  test_folder_t elsewhere;
  char path[PATH_MAX];
  char target[PATH_MAX];
  world_begin(&world);
  EXPECT(test_folder_make(&elsewhere));
  EXPECT(test_folder_copy(&elsewhere, "good", "target.so"));
  EXPECT(symlink(test_folder_path(&elsewhere, "target.so", target),
                 test_folder_path(&world.folder, "good.so", path)) == 0);
  EXPECT(chmod(target, 0666) == 0);
  world_scan(&world);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, target);
  EXPECT(chmod(target, 0644) == 0 && chmod(elsewhere.path, 0777) == 0);
  world_scan(&world);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, elsewhere.path);
  EXPECT(chmod(elsewhere.path, 0755) == 0);
  world_scan(&world);
  EXPECT_STATUS(world_load(&world, "good.so"), TENON_OK);
  world_end(&world);
  test_folder_remove(&elsewhere);
}
