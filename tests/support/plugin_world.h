/* What tests of the registry begin with: a folder with plugins, a catalogue and a registry over it.
 */
#ifndef TENON_TESTS_SUPPORT_PLUGIN_WORLD_H_
#define TENON_TESTS_SUPPORT_PLUGIN_WORLD_H_

#include "core/base/test.h"
#include "core/catalog/catalog.h"
#include "plugin_registry/registry.h"
#include "tests/support/plugin_folder.h"

typedef struct world_t {
  test_folder_t folder;
  tenon__catalog_t* catalog;
  tenon__registry_t* registry;
  tenon__registry_options_t options;
  const char* paths[2];
  tenon__test_messages_t messages;
  const tenon_sink_t* sink;
} world_t;

static inline void world_begin(world_t* world) {
  memset(world, 0, sizeof(*world));
  EXPECT(test_folder_make(&world->folder));
  EXPECT_STATUS(tenon__catalog_create(tenon__allocator_default(), &world->catalog), TENON_OK);
  world->sink = tenon__test_listen(&world->messages);
  world->paths[0] = world->folder.path;
  world->options = (tenon__registry_options_t){.paths = world->paths,
                                               .only_paths = true,
                                               .allocator = tenon__allocator_default(),
                                               .sink = *world->sink,
                                               .catalog = world->catalog};
}

static inline void world_scan(world_t* world) {
  if (world->registry == NULL) {
    EXPECT_STATUS(tenon__registry_create(&world->options, &world->registry), TENON_OK);
  }
  EXPECT_STATUS(tenon__registry_scan(world->registry, world->sink), TENON_OK);
}

static inline void world_end(world_t* world) {
  tenon__catalog_destroy(world->catalog);
  tenon__registry_destroy(world->registry);
  test_folder_remove(&world->folder);
}

/* The candidate whose file is called `name`; all zero when there is none. */
static inline tenon__candidate_info_t world_candidate(const world_t* world, const char* name) {
  tenon__candidate_info_t info;
  for (uint32_t i = 0; tenon__registry_candidate(world->registry, i, &info) == TENON_OK; ++i) {
    const char* slash = strrchr(info.path, '/');
    if (slash != NULL && strcmp(slash + 1, name) == 0) {
      return info;
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "no candidate %s", name);
  return (tenon__candidate_info_t){.message = ""};
}

static inline void world_expect_refused(const world_t* world, const char* name,
                                        tenon__plugin_reason_t reason, const char* message) {
  const tenon__candidate_info_t info = world_candidate(world, name);
  if (info.state != TENON_CANDIDATE_REFUSED || info.reason != reason ||
      strstr(info.message, message) == NULL) {
    tenon__test_fail(__FILE__, __LINE__,
                     "%s: state %d, reason %d '%s', expected reason %d with '%s'", name,
                     (int)info.state, (int)info.reason, info.message, (int)reason, message);
  }
}

static inline tenon_status_t world_load(world_t* world, const char* name) {
  tenon__candidate_info_t info;
  for (uint32_t i = 0; tenon__registry_candidate(world->registry, i, &info) == TENON_OK; ++i) {
    const char* slash = strrchr(info.path, '/');
    if (slash != NULL && strcmp(slash + 1, name) == 0) {
      return tenon__registry_load(world->registry, i, world->sink);
    }
  }
  return TENON_ERROR_NOT_FOUND;
}

#endif
