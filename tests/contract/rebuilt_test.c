/* Times that were taken of one file of a plugin say nothing of another. */
#include <unistd.h>

#include "scene.h"

static uint32_t entries_after_build(const char* folder, const char* path) {
  scene_t scene;
  tenon_timing_cache_t* cache = NULL;
  uint32_t count = 0;
  if (SCENE_OPEN(&scene, folder) &&
      tenon_timing_cache_create(scene.registry, path, &cache) == TENON_OK) {
    scene_one_node(&scene, "rebuilt.copy/1", 64);
    scene.options.timing_cache = cache;
    EXPECT_STATUS(scene_build(&scene), TENON_OK);
    EXPECT_STATUS(tenon_timing_cache_save(cache, path), TENON_OK);
    count = tenon_timing_cache_entry_count(cache);
  }
  tenon_timing_cache_destroy(cache);
  scene_close(&scene);
  return count;
}

TENON_TEST(a_plugin_that_was_built_anew_is_measured_anew) {
  static const char* const folders[] = {CONTRACT_FOLDER "/rebuilt_1", CONTRACT_FOLDER "/rebuilt_2",
                                        CONTRACT_FOLDER "/rebuilt_1"};
  static const uint32_t counts[] = {1, 2, 2};
  char path[64];
  (void)snprintf(path, sizeof(path), "/tmp/tenon_rebuilt_%d", (int)getpid());
  for (int k = 0; k < 3; ++k) {
    EXPECT_INT(entries_after_build(folders[k], path), counts[k]);
  }
  (void)unlink(path);
}
