/* What becomes of good plugins: found, promised, loaded, asked again. */
#include "plugin_registry/registry.h"

#include <fcntl.h>
#include <pthread.h>

#include "tests/support/plugin_world.h"

#include "core/catalog/catalog.h"
#include "core/catalog/left_out.h"

/* ---- A good plugin ---- */

TENON_TEST(loads_on_demand_what_a_manifest_promises) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  world_scan(&world);
  tenon__candidate_info_t info = world_candidate(&world, "good.so");
  EXPECT_INT(info.state, TENON_CANDIDATE_AVAILABLE);
  EXPECT_TEXT(info.name, "good");
  EXPECT_TEXT(info.version, "1.0.0");
  EXPECT_TEXT(info.vendor, "Fixtures & Sons");
  EXPECT_TEXT(info.licence, "MIT");
  EXPECT_TEXT(info.offers, "operator good.twice/1\nkernel good_kernel good.twice/1 cpu\n");
  EXPECT(tenon__catalog_operator(world.catalog, "acme.absent/1", world.sink) == NULL);
  EXPECT_INT(world_candidate(&world, "good.so").state, TENON_CANDIDATE_AVAILABLE);

  const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "good.twice/1", world.sink);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->plugin, "good");
  EXPECT_INT(world_candidate(&world, "good.so").state, TENON_CANDIDATE_LOADED);
  const tenon__kernel_entry_t* kernel = NULL;
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "good.twice/1", 0, world.sink, &kernel, 1), 1);
  REQUIRE(kernel != NULL);
  EXPECT_INT(kernel->kernel.version, 3);
  EXPECT_INT(((const tenon_slot_t*)kernel->kernel.slots.items)->max_operands, 7);
  EXPECT(kernel->owner->state != NULL);
  EXPECT(op->state == kernel->owner->state);
  EXPECT_TEXT(world.messages.text, "");
  world_end(&world);
  EXPECT_CONTAINS(world.messages.text, "good: stopped");
}

static void expect_everything(const char* fixture) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, fixture, "it.so"));
  world_scan(&world);
  tenon__catalog_t* catalog = world.catalog;
  const tenon__kernel_entry_t* kernels[4];
  EXPECT_INT(tenon__catalog_kernels(catalog, "a.c/1", 0, world.sink, kernels, 4), 1);
  EXPECT_INT(tenon__catalog_kernels(catalog, "*", 0, world.sink, kernels, 4), 1);
  EXPECT_TEXT(kernels[0]->kernel.name, "looks");
  EXPECT_INT(tenon__catalog_kernels(catalog, NULL, TENON_KERNEL_MOVES, world.sink, kernels, 4), 1);
  EXPECT(tenon__catalog_device(catalog, "abacus", world.sink) != NULL);
  EXPECT(tenon__catalog_parser(catalog, "scroll", world.sink) != NULL);
  const tenon__node_key_t own = {"scroll", "", "Blur", 3};
  const tenon__node_key_t others = {"scroll", "org", "Blur", 3};
  EXPECT_INT(tenon__catalog_converters(catalog, &own, world.sink, NULL, 0), 1);
  EXPECT_INT(tenon__catalog_converters(catalog, &others, world.sink, NULL, 0), 1);
  const tenon__parser_entry_t* parser = NULL;
  const tenon__rewrite_entry_t* rewrite = NULL;
  EXPECT_INT(tenon__catalog_all(catalog, TENON_OFFER_PARSER, world.sink, &parser, 1), 1);
  EXPECT_INT(tenon__catalog_all(catalog, TENON_OFFER_REWRITE, world.sink, &rewrite, 1), 1);
  REQUIRE(parser != NULL && rewrite != NULL);
  EXPECT_TEXT(parser->owner->plugin, fixture);
  EXPECT_TEXT(rewrite->rewrite.replacement, "y = a.c/1(x)");
  EXPECT_TEXT(world.messages.text, "");
  world_end(&world);
}

TENON_TEST(loads_one_of_every_kind) {
  expect_everything("everything");
  expect_everything("everything_wild");
}

TENON_TEST(two_hosts_start_one_image_each_for_itself) {
  world_t worlds[2];
  const void* states[2];
  for (int i = 0; i < 2; ++i) {
    world_begin(&worlds[i]);
  }
  EXPECT(test_folder_copy(&worlds[0].folder, "good", "good.so"));
  worlds[1].paths[0] = worlds[0].folder.path;
  tenon_status_t (*prepare[2])(const tenon_prepare_t*, void**) = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    world_scan(&worlds[i]);
    const tenon__kernel_entry_t* kernel =
        tenon__catalog_kernel(worlds[i].catalog, "good", "good_kernel", worlds[i].sink);
    REQUIRE(kernel != NULL);
    states[i] = kernel->owner->state;
    prepare[i] = kernel->kernel.prepare;
  }
  EXPECT(states[0] != states[1]);
  EXPECT(prepare[0] == prepare[1]);
  world_end(&worlds[1]);
  world_end(&worlds[0]);
}

TENON_TEST(a_digest_is_of_the_whole_file) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  world_scan(&world);
  const test_bytes_t bytes = test_read_fixture("good");
  const tenon__digest_t expected = tenon__digest_of(bytes.data, bytes.size);
  free(bytes.data);
  tenon__digest_t digest;
  for (int i = 0; i < 3; ++i) { /* before it is loaded, after, from memory */
    EXPECT_STATUS(tenon__registry_digest(world.registry, 0, world.sink, &digest), TENON_OK);
    EXPECT(memcmp(&digest, &expected, sizeof(digest)) == 0);
    EXPECT_STATUS(world_load(&world, "good.so"), TENON_OK);
  }
  const tenon__owner_t* owner = tenon__catalog_owner(world.catalog, "good");
  REQUIRE(owner != NULL);
  EXPECT_STATUS(owner->digest(owner->user, owner, world.sink, &digest), TENON_OK);
  EXPECT(memcmp(&digest, &expected, sizeof(digest)) == 0);
  world_end(&world);
}

/* ---- Other versions ---- */

static void expect_skewed(const char* fixture, uint32_t host_minor, uint32_t max_operands) {
  world_t world;
  char file[64];
  char text[64];
  world_begin(&world);
  world.options.abi_max_minor = host_minor;
  (void)snprintf(file, sizeof(file), "%s.so", fixture);
  EXPECT(test_folder_copy(&world.folder, fixture, file));
  world_scan(&world);
  (void)snprintf(text, sizeof(text), "%s.same/1", fixture);
  EXPECT(tenon__catalog_operator(world.catalog, text, world.sink) != NULL);
  (void)snprintf(text, sizeof(text), "%s_kernel", fixture);
  const tenon__kernel_entry_t* entry =
      tenon__catalog_kernel(world.catalog, fixture, text, world.sink);
  REQUIRE(entry != NULL);
  const tenon_kernel_t* kernel = &entry->kernel;
  EXPECT_INT(kernel->size, sizeof(tenon_kernel_t));
  EXPECT_INT(kernel->version, 9);
  EXPECT(kernel->enqueue != NULL);
  EXPECT(kernel->destroy == NULL);
  EXPECT(kernel->propose == NULL);
  EXPECT_INT(kernel->slots.count, 2);
  EXPECT_INT(kernel->slots.stride, sizeof(tenon_slot_t));
  const tenon_slot_t* slots = kernel->slots.items;
  EXPECT_INT(slots[1].size, sizeof(tenon_slot_t));
  EXPECT_INT(slots[1].max_operands, max_operands);
  EXPECT_INT(slots[1].arithmetic, 0);
  EXPECT_TEXT(world.messages.text, "");
  EXPECT_INT(world_candidate(&world, file).state, TENON_CANDIDATE_LOADED);
  world_end(&world);
}

TENON_TEST(an_older_plugin_has_zeros_where_it_ends) {
  expect_skewed("older", TENON_ABI_MINOR, 5);
  expect_skewed("older", TENON_ABI_MINOR + 2, 5); /* on a host that is newer still */
}

TENON_TEST(a_newer_plugin_may_have_tails) {
  expect_skewed("newer", TENON_ABI_MINOR, 5);
  expect_skewed("newer", TENON_ABI_MINOR + 1, 5);
}

TENON_TEST(a_host_that_is_older_or_newer_negotiates) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "needs_newer", "needs_newer.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "newer", "newer.so"));
  char message[64];
  (void)snprintf(message, sizeof(message), "built with 0.%u, needs " TENON_ABI_NEEDED_TEXT,
                 TENON_ABI_MINOR);
  world.options.abi_min_minor = TENON_ABI_MINOR + 1;
  world.options.abi_max_minor = 8;
  world_scan(&world);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_TOO_OLD, message);
  EXPECT_INT(world_candidate(&world, "newer.so").state, TENON_CANDIDATE_AVAILABLE);
  /* 0.8 is served now; what is behind the manifest is another matter. */
  EXPECT_INT(world_candidate(&world, "needs_newer.so").state, TENON_CANDIDATE_AVAILABLE);
  world_end(&world);
}

/* Descriptors have other layouts since 0.7. */
TENON_TEST(versions_before_and_after_a_break_do_not_mix) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "before_lists", "before_lists.so"));
  world.options.abi_min_minor = 5;
  world.options.abi_max_minor = 6;
  world_scan(&world);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_NEEDS_NEWER_HOST,
                       "built with 0.7, needs 0.7; this is 0.5 to 0.6");
  EXPECT_INT(world_candidate(&world, "before_lists.so").state, TENON_CANDIDATE_AVAILABLE);
  world_end(&world);
}

/* ---- Operators ---- */

TENON_TEST(a_broken_text_disables_that_operator_alone) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "broken_operator", "broken_operator.so"));
  world_scan(&world);
  const char* bad = "broken_operator.broken/1";
  EXPECT(tenon__catalog_operator(world.catalog, bad, world.sink) == NULL);
  EXPECT(tenon__catalog_disabled(world.catalog, bad) != NULL);
  EXPECT_CONTAINS(world.messages.text, bad);
  EXPECT(tenon__catalog_operator(world.catalog, "broken_operator.twice/1", world.sink) != NULL);
  EXPECT_INT(world_candidate(&world, "broken_operator.so").state, TENON_CANDIDATE_LOADED);
  const char* name = NULL;
  EXPECT_INT(tenon__catalog_disabled_operators(world.catalog, &name, 1), 1);
  EXPECT_TEXT(name, bad);
  const tenon__operator_t* op = NULL;
  EXPECT_INT(tenon__catalog_operators(world.catalog, world.sink, &op, 1), 1);
  world_end(&world);
}

TENON_TEST(of_two_definitions_the_first_on_the_path_stays_and_both_files_are_named) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "second_definition", "1.so"));
  EXPECT(test_folder_copy(&world.folder, "first_definition", "2.so"));
  world_scan(&world);
  const tenon__operator_t* op =
      tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink);
  REQUIRE(op != NULL);
  const char* winner = world_candidate(&world, "1.so").name;
  EXPECT_TEXT(op->plugin, winner);
  EXPECT_CONTAINS(world.messages.text, "/1.so) defines it otherwise: case 'y = x * 2', here case ");
  EXPECT_CONTAINS(world.messages.text, "/2.so): operator 'acme.disputed/1': plugin ");
  EXPECT_INT(world_candidate(&world, "1.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_INT(world_candidate(&world, "2.so").state, TENON_CANDIDATE_LOADED);
  const tenon__kernel_entry_t* kernels[2];
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.disputed/1", 0, world.sink, kernels, 2),
             1);
  EXPECT_TEXT(kernels[0]->owner->plugin, winner);
  world_end(&world);
}

/* Only the plugins of contested operators are loaded. */
TENON_TEST(contested_operators_are_compared_on_request) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "first_definition", "1.so"));
  EXPECT(test_folder_copy(&world.folder, "second_definition", "2.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "3.so"));
  world_scan(&world);
  tenon__catalog_settle(world.catalog, world.sink);
  EXPECT_INT(world_candidate(&world, "2.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_INT(world_candidate(&world, "3.so").state, TENON_CANDIDATE_AVAILABLE);
  EXPECT_CONTAINS(
      tenon__catalog_left_out_lines(world.catalog, test_folder_path(&world.folder, "2.so", path)),
      "operator acme.disputed/1: plugin first_definition (");
  EXPECT_TEXT(
      tenon__catalog_left_out_lines(world.catalog, test_folder_path(&world.folder, "1.so", path)),
      "");
  world_end(&world);
}

/* Behind the other on the search path, and promised after it. */
TENON_TEST(what_is_installed_keeps_its_operators) {
  world_t world;
  test_folder_t others;
  world_begin(&world);
  EXPECT(test_folder_make(&others));
  EXPECT(test_folder_copy(&others, "second_definition", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "first_definition", "b.so"));
  const char* const paths[] = {others.path, world.folder.path, NULL};
  world.options.paths = paths;
  world.options.installed_directory = world.folder.path;
  world_scan(&world);
  const tenon__operator_t* op =
      tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->plugin, "first_definition");
  EXPECT(tenon__catalog_disabled(world.catalog, "acme.disputed/1") == NULL);
  EXPECT_CONTAINS(world.messages.text, "plugin second_definition (");
  EXPECT_CONTAINS(world.messages.text, "operator 'acme.disputed/1': plugin first_definition (");
  EXPECT_CONTAINS(world.messages.text, "/b.so) defines it otherwise: case ");
  world_end(&world);
  test_folder_remove(&others);
}

TENON_TEST(two_equal_definitions_are_one) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "first_definition", "1.so"));
  EXPECT(test_folder_copy(&world.folder, "same_definition", "2.so"));
  world_scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink) != NULL);
  EXPECT_TEXT(world.messages.text, "");
  const tenon__kernel_entry_t* kernels[4];
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.disputed/1", 0, world.sink, kernels, 4),
             2);
  EXPECT_TEXT(kernels[0]->owner->plugin, "first_definition");
  EXPECT_TEXT(kernels[1]->owner->plugin, "same_definition");
  world_end(&world);
}

/* ---- Looking again ---- */

TENON_TEST(a_file_that_changed_after_the_scan_is_not_loaded) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  world_scan(&world);
  EXPECT(test_folder_copy(&world.folder, "older", "good.so"));
  EXPECT(tenon__catalog_operator(world.catalog, "good.twice/1", world.sink) == NULL);
  world_expect_refused(&world, "good.so", TENON_PLUGIN_REASON_CHANGED, "");
  world_scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "older.twice/1", world.sink) != NULL);
  EXPECT_INT(world_candidate(&world, "good.so").state, TENON_CANDIDATE_LOADED);
  world_end(&world);
}

TENON_TEST(looking_again_finds_what_is_new_changed_and_gone) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "first_definition", "b.so"));
  world_scan(&world);
  EXPECT_STATUS(world_load(&world, "a.so"), TENON_OK);
  EXPECT(unlink(test_folder_path(&world.folder, "b.so", path)) == 0);
  EXPECT(test_folder_copy(&world.folder, "newer", "c.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "a.so")); /* another inode */
  world_scan(&world);
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 3);
  EXPECT_INT(world_candidate(&world, "a.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_CONTAINS(world_candidate(&world, "a.so").message, "has changed since");
  world_expect_refused(&world, "b.so", TENON_PLUGIN_REASON_GONE, "");
  EXPECT_INT(world_candidate(&world, "c.so").state, TENON_CANDIDATE_AVAILABLE);
  EXPECT(tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink) == NULL);
  EXPECT(tenon__catalog_operator(world.catalog, "newer.same/1", world.sink) != NULL);
  world_scan(&world);
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 2);
  world_end(&world);
}

TENON_TEST(an_image_that_was_written_in_place_is_not_started_again) {
  world_t worlds[2];
  char path[PATH_MAX];
  world_begin(&worlds[0]);
  world_begin(&worlds[1]);
  EXPECT(test_folder_copy(&worlds[0].folder, "good", "good.so"));
  world_scan(&worlds[0]);
  EXPECT_STATUS(world_load(&worlds[0], "good.so"), TENON_OK);
  (void)test_folder_path(&worlds[0].folder, "good.so", path);
  const int descriptor = open(path, O_WRONLY | O_APPEND);
  EXPECT(write(descriptor, "x", 1) == 1);
  (void)close(descriptor);
  worlds[1].paths[0] = worlds[0].folder.path;
  world_scan(&worlds[1]);
  EXPECT(world_load(&worlds[1], "good.so") != TENON_OK);
  world_expect_refused(&worlds[1], "good.so", TENON_PLUGIN_REASON_CHANGED,
                       "start the program anew");
  world_end(&worlds[1]);
  world_end(&worlds[0]);
}

/* ---- Threads and memory ---- */

static void* look_up(void* user) {
  world_t* world = user;
  static const tenon_sink_t silent = {NULL, NULL};
  for (int i = 0; i < 50; ++i) {
    (void)tenon__registry_scan(world->registry, &silent);
    (void)tenon__catalog_operator(world->catalog, "good.twice/1", &silent);
    (void)tenon__catalog_operator(world->catalog, "newer.same/1", &silent);
    for (uint32_t k = 0; k < tenon__registry_candidate_count(world->registry); ++k) {
      tenon__candidate_info_t info;
      (void)tenon__registry_candidate(world->registry, k, &info);
    }
  }
  return NULL;
}

TENON_TEST(several_threads_scan_and_look_up) {
  world_t world;
  pthread_t threads[4];
  world_begin(&world);
  world.options.sink = (tenon_sink_t){NULL, NULL};
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "newer", "newer.so"));
  EXPECT(test_folder_copy(&world.folder, "malformed", "malformed.so"));
  world_scan(&world);
  for (int i = 0; i < 4; ++i) {
    EXPECT(pthread_create(&threads[i], NULL, look_up, &world) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    (void)pthread_join(threads[i], NULL);
  }
  EXPECT_INT(world_candidate(&world, "good.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_INT(world_candidate(&world, "newer.so").state, TENON_CANDIDATE_LOADED);
  world_end(&world);
}

static bool scan_and_load(tenon_allocator_t allocator, void* user) {
  const world_t* world = user;
  tenon__registry_options_t options = world->options;
  tenon__catalog_t* catalog = NULL;
  tenon__registry_t* registry = NULL;
  if (tenon__catalog_create(allocator, &catalog) != TENON_OK) {
    return false;
  }
  options.allocator = allocator;
  options.catalog = catalog;
  options.sink = (tenon_sink_t){NULL, NULL};
  bool good = tenon__registry_create(&options, &registry) == TENON_OK &&
              tenon__registry_scan(registry, NULL) == TENON_OK &&
              tenon__catalog_operator(catalog, "good.twice/1", NULL) != NULL &&
              tenon__catalog_kernel(catalog, "good", "good_kernel", NULL) != NULL;
  tenon__catalog_destroy(catalog);
  tenon__registry_destroy(registry);
  return good;
}

TENON_TEST(gives_everything_back_when_memory_is_out) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "malformed", "malformed.so"));
  tenon__test_each_allocation(scan_and_load, &world);
  world_end(&world);
}
