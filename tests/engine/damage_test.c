/* Damaged files, through tenon.h: cut anywhere, with one bit turned, or made of random bytes, a
 * model, a plan, a timing cache and a plugin are used or refused with words, and nothing crashes or
 * stays behind. What is refused names the file. */
#include <stdlib.h>

#include "core/base/allocator.h"
#include "core/base/digest.h"
#include "core/base/test.h"
#include "tests/engine/networks.h"
#include "tests/support/plugin_folder.h"

enum { SEED = 1 };

enum { MOST_BYTES = 1 << 28 };

typedef struct world_t {
  test_folder_t folder;
  tenon__test_messages_t messages;
  tenon__test_allocator_t memory;
  tenon_allocator_t counted;
  tenon_allocator_t allocator;
  tenon_registry_t* registry;
} world_t;

/* What is damaged may ask for more memory than there is, and then gets none. */
static void* resize_little(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  const world_t* world = user;
  return new_size_bytes > MOST_BYTES
             ? NULL
             : world->counted.resize(world->counted.user, block, old_size_bytes, new_size_bytes);
}

static void world_begin(world_t* world) {
  memset(world, 0, sizeof(*world));
  world->counted = tenon__test_allocator(&world->memory);
  world->allocator = (tenon_allocator_t){world, resize_little};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger = *tenon__test_listen(&world->messages);
  options.allocator = &world->allocator;
  EXPECT(test_folder_make(&world->folder));
  EXPECT_STATUS(tenon_registry_create(&options, &world->registry), TENON_OK);
}

static void world_end(world_t* world) {
  tenon_registry_release(world->registry);
  EXPECT_INT(world->memory.live_blocks, 0);
  test_folder_remove(&world->folder);
}

/* ---- Damage ---- */

typedef enum damage_t { DAMAGE_CUT, DAMAGE_TURNED, DAMAGE_RANDOM, DAMAGE_COUNT } damage_t;

/* A damaged copy; `number` says where. free() releases it. */
static test_bytes_t damaged(const test_bytes_t* whole, damage_t damage, uint32_t number) {
  test_bytes_t copy = {malloc(whole->size + 1), whole->size};
  uint32_t random = number * 2654435761U + 99991U;
  if (copy.data == NULL) {
    return copy;
  }
  memcpy(copy.data, whole->data, whole->size);
  random = random * 1664525U + 1013904223U;
  const size_t place = (size_t)(random >> 4) % whole->size;
  if (damage == DAMAGE_CUT) {
    copy.size = place;
  } else if (damage == DAMAGE_TURNED) {
    copy.data[place] = (unsigned char)(copy.data[place] ^ (1U << (number % 8)));
  }
  for (size_t k = 0; damage == DAMAGE_RANDOM && k < copy.size; ++k) {
    random = random * 1664525U + 1013904223U;
    copy.data[k] = (unsigned char)(random >> 24);
  }
  return copy;
}

static const char* const damage_names[DAMAGE_COUNT] = {"cut", "turned", "random"};

/* Tries each damage `count` times. `use` gives whether the file was refused. */
static void try_damage(world_t* world, const char* name, const test_bytes_t* whole, uint32_t count,
                       bool (*use)(world_t* world, const char* path)) {
  char path[PATH_MAX];
  uint32_t refused[DAMAGE_COUNT] = {0};
  (void)test_folder_path(&world->folder, name, path);
  for (uint32_t k = 0; k < count * DAMAGE_COUNT && tenon__test_failures < 5; ++k) {
    const damage_t damage = (damage_t)(k % DAMAGE_COUNT);
    const test_bytes_t bytes = damaged(whole, damage, k);
    const uint64_t blocks = world->memory.live_blocks;
    (void)tenon__test_listen(&world->messages);
    EXPECT(test_folder_write(&world->folder, name, bytes.data, bytes.size));
    const bool is_refused = use(world, path);
    refused[damage] += is_refused ? 1 : 0;
    if ((is_refused && strstr(world->messages.text, name) == NULL) ||
        world->memory.live_blocks > blocks) {
      tenon__test_fail(
          __FILE__, __LINE__, "%s, %s %u: %llu blocks left, words: %s", name, damage_names[damage],
          k, (unsigned long long)(world->memory.live_blocks - blocks), world->messages.text);
    }
    free(bytes.data);
  }
  (void)printf("%s: of %u each, refused %u cut, %u with a bit turned, %u random\n", name, count,
               refused[DAMAGE_CUT], refused[DAMAGE_TURNED], refused[DAMAGE_RANDOM]);
  EXPECT_INT(refused[DAMAGE_RANDOM], count);
}

/* ---- Models ---- */

static bool use_model(world_t* world, const char* path) {
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.thread_count = 1;
  options.memory_limit_bytes = 1 << 24; /* a turned bit may make an extent large */
  tenon_status_t status = tenon_network_create(world->registry, &network);
  if (status == TENON_OK) {
    status = tenon_network_parse_file(network, path, NULL);
  }
  const bool is_refused = status != TENON_OK;
  if (status == TENON_OK) {
    status = tenon_build(network, &options, &plan);
    EXPECT(status == TENON_OK || world->messages.count > 0);
  }
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return is_refused;
}

static void ignore(void* user, const char* text) {
  (void)user, (void)text;
}

TENON_TEST(damaged_models) {
  static const char* const models[] = {"constants", "if", "loop", "scan"};
  world_t world;
  world_begin(&world);
  /* A name that nobody has loads all plugins, which stay: here, before blocks are counted. */
  EXPECT_STATUS(tenon_registry_print_index(world.registry, ignore, NULL), TENON_OK);
  for (size_t k = 0; k < sizeof models / sizeof models[0]; ++k) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", MODELS, models[k]);
    const test_bytes_t whole = test_read_file(path);
    if (whole.data != NULL) {
      (void)use_model(&world, path); /* what is made once is there */
      try_damage(&world, models[k], &whole, 200, use_model);
    }
    free(whole.data);
  }
  world_end(&world);
}

/* ---- Plans ---- */

static const test_network_t* plan_network;

static bool use_plan(world_t* world, const char* path) {
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  test_result_t result = {0};
  tenon_status_t status = tenon_engine_create_from_file(world->registry, path, NULL, &engine);
  const bool is_refused = status != TENON_OK;
  if (status == TENON_OK) {
    status = tenon_context_create(engine, NULL, &context);
  }
  if (status == TENON_OK) {
    status = test_run(engine, context, plan_network->most, SEED, &result);
  }
  EXPECT(status == TENON_OK || world->messages.count > 0);
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  test_result_free(&result);
  return is_refused;
}

TENON_TEST(damaged_plans) {
  static const char* const names[] = {"layers", "branch", "scan", "found"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
    world_t world;
    tenon_plan_t* plan = NULL;
    const void* data = NULL;
    test_bytes_t whole = {NULL, 0};
    char path[PATH_MAX];
    world_begin(&world);
    plan_network = test_network_find(names[k]);
    EXPECT_STATUS(test_network_build(plan_network, world.registry, NULL, &plan), TENON_OK);
    EXPECT_STATUS(tenon_plan_get_data(plan, &data, &whole.size), TENON_OK);
    memcpy(&whole.data, &data, sizeof(data)); /* only read */
    EXPECT_STATUS(tenon_plan_save(plan, test_folder_path(&world.folder, names[k], path)), TENON_OK);
    EXPECT(!use_plan(&world, path));
    try_damage(&world, names[k], &whole, 200, use_plan);
    tenon_plan_destroy(plan);
    world_end(&world);
  }
}

/* ---- Plans that somebody made up ---- */

enum { HEADER_SIZE = 64, DIGEST_SIZE = 32, STRUCTURE_AT = HEADER_SIZE + DIGEST_SIZE };

/* Signed again, so that the digest over header and structure notices nothing: see
 * core/plan_file/plan_file.h. */
static void sign(const test_bytes_t* plan, uint64_t structure_size) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, plan->data, HEADER_SIZE);
  tenon__digest_add(&state, plan->data + STRUCTURE_AT, structure_size);
  const tenon__digest_t digest = tenon__digest_end(&state);
  memcpy(plan->data + HEADER_SIZE, digest.bytes, DIGEST_SIZE);
}

/* One byte of the structure becomes another, most often a number that means something. */
static void make_up(const test_bytes_t* plan, uint64_t structure_size, uint32_t number) {
  static const uint8_t likely[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 64, 127, 128, 254, 255};
  uint64_t random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  random = (random ^ (random >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
  random ^= random >> 32;
  plan->data[STRUCTURE_AT + random % structure_size] =
      (random >> 40) % 3 == 0 ? (uint8_t)(random >> 48) : likely[(random >> 44) % 16];
  sign(plan, structure_size);
}

static void try_made_up(const test_network_t* network, uint32_t count) {
  world_t world;
  tenon_plan_t* plan = NULL;
  const void* data = NULL;
  test_bytes_t copy = {NULL, 0};
  uint64_t structure_size = 0;
  uint32_t refused = 0;
  char path[PATH_MAX];
  world_begin(&world);
  plan_network = network;
  EXPECT_STATUS(test_network_build(network, world.registry, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_plan_get_data(plan, &data, &copy.size), TENON_OK);
  copy.data = malloc(copy.size);
  REQUIRE(copy.data != NULL);
  memcpy(&structure_size, (const char*)data + 24, sizeof structure_size);
  (void)test_folder_path(&world.folder, network->name, path);
  for (uint32_t k = 0; k < count && tenon__test_failures < 5; ++k) {
    memcpy(copy.data, data, copy.size);
    make_up(&copy, structure_size, k);
    (void)tenon__test_listen(&world.messages);
    EXPECT(test_folder_write(&world.folder, network->name, copy.data, copy.size));
    refused += use_plan(&world, path) ? 1 : 0;
  }
  (void)printf("%s: of %u made up, refused %u\n", network->name, count, refused);
  EXPECT(refused > count / 5 && refused < count);
  free(copy.data);
  tenon_plan_destroy(plan);
  world_end(&world);
}

/* What the digest does not notice the reader does, or the kernels, or it does no harm. More rounds,
 * for whoever has changed one of them: TENON_TEST_ROUNDS. */
TENON_TEST(plans_that_somebody_made_up) {
  const char* rounds = getenv("TENON_TEST_ROUNDS");
  const test_network_t* networks = NULL;
  const uint32_t count = test_networks(&networks);
  for (uint32_t k = 0; k < count; ++k) {
    try_made_up(&networks[k], rounds == NULL ? 200 : (uint32_t)strtoul(rounds, NULL, 10));
  }
}

/* ---- Timing caches ---- */

/* A damaged timing cache is a warning, and what it said is measured anew. */
static bool use_timings(world_t* world, const char* path) {
  tenon_timing_cache_t* cache = NULL;
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  EXPECT_STATUS(tenon_timing_cache_create(world->registry, path, &cache), TENON_OK);
  const bool is_told = world->messages.count > 0;
  options.timing_cache = cache;
  options.thread_count = 1;
  options.no_measuring = 1;
  EXPECT_STATUS(test_network_build(test_network_find("state"), world->registry, &options, &plan),
                TENON_OK);
  EXPECT_STATUS(tenon_timing_cache_save(cache, path), TENON_OK);
  tenon_plan_destroy(plan);
  tenon_timing_cache_destroy(cache);
  return is_told;
}

TENON_TEST(damaged_timing_caches) {
  world_t world;
  tenon_timing_cache_t* cache = NULL;
  tenon_plan_t* plan = NULL;
  char path[PATH_MAX];
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  world_begin(&world);
  (void)test_folder_path(&world.folder, "timings", path);
  EXPECT_STATUS(tenon_timing_cache_create(world.registry, NULL, &cache), TENON_OK);
  options.timing_cache = cache;
  EXPECT_STATUS(test_network_build(test_network_find("layers"), world.registry, &options, &plan),
                TENON_OK);
  EXPECT_STATUS(tenon_timing_cache_save(cache, path), TENON_OK);
  EXPECT(tenon_timing_cache_entry_count(cache) > 0);
  tenon_plan_destroy(plan);
  tenon_timing_cache_destroy(cache);
  const test_bytes_t whole = test_read_file(path);
  (void)tenon__test_listen(&world.messages);
  EXPECT(!use_timings(&world, path));
  try_damage(&world, "timings", &whole, 100, use_timings);
  free(whole.data);
  world_end(&world);
}

/* ---- Plugins ---- */

/* A registry over the folder, which holds this one file: used, or refused with a reason. */
static bool use_plugin(world_t* world, const char* path) {
  const char* const paths[] = {world->folder.path, NULL};
  tenon_registry_t* registry = NULL;
  tenon_plugin_info_t info = {.size = sizeof(info)};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = world->messages.sink;
  options.allocator = &world->allocator;
  EXPECT_STATUS(tenon_registry_create(&options, &registry), TENON_OK);
  EXPECT_INT(tenon_registry_plugin_count(registry), 1);
  EXPECT_STATUS(tenon_registry_get_plugin(registry, 0, &info), TENON_OK);
  const bool is_refused = info.state == TENON_PLUGIN_REFUSED;
  EXPECT_TEXT(info.path, path);
  EXPECT(!is_refused || info.reason[0] != '\0');
  if (is_refused) {
    tenon__test_keep_message(&world->messages, TENON_SEVERITY_INFO, info.path);
  }
  tenon_registry_release(registry);
  return is_refused;
}

/* Nothing is executed: a file is read and judged. */
TENON_TEST(damaged_plugins) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
  const test_bytes_t whole = test_read_fixture("good");
  REQUIRE(whole.data != NULL);
  EXPECT(test_folder_write(&world.folder, "damaged.so", whole.data, whole.size));
  EXPECT(!use_plugin(&world, test_folder_path(&world.folder, "damaged.so", path)));
  try_damage(&world, "damaged.so", &whole, 300, use_plugin);
  free(whole.data);
  world_end(&world);
}
