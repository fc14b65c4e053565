/* What becomes of each kind of plugin: found, refused with the right reason, or loaded. */
#include "plugin_registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/test.h"
#include "tests/support/plugin_folder.h"

/* A folder, a catalogue and a registry over it. */
typedef struct world_t {
  test_folder_t folder;
  tenon__catalog_t* catalog;
  tenon__registry_t* registry;
  tenon__registry_options_t options;
  const char* paths[2];
  tenon__test_messages_t messages;
  const tenon_sink_t* sink;
} world_t;

static void begin(world_t* world) {
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

static void scan(world_t* world) {
  if (world->registry == NULL) {
    EXPECT_STATUS(tenon__registry_create(&world->options, &world->registry), TENON_OK);
  }
  EXPECT_STATUS(tenon__registry_scan(world->registry, world->sink), TENON_OK);
}

static void end(world_t* world) {
  tenon__catalog_destroy(world->catalog);
  tenon__registry_destroy(world->registry);
  test_folder_remove(&world->folder);
}

/* The candidate whose file is called `name`; all zero when there is none. */
static tenon__candidate_info_t candidate(const world_t* world, const char* name) {
  tenon__candidate_info_t info;
  for (uint32_t i = 0; tenon__registry_candidate(world->registry, i, &info) == TENON_OK; ++i) {
    const char* slash = strrchr(info.path, '/');
    if (slash != NULL && strcmp(slash + 1, name) == 0) {
      return info;
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "no candidate %s", name);
  return (tenon__candidate_info_t){.words = ""};
}

static void expect_refused(const world_t* world, const char* name, tenon__plugin_reason_t reason,
                           const char* words) {
  const tenon__candidate_info_t info = candidate(world, name);
  if (info.state != TENON_CANDIDATE_REFUSED || info.reason != reason ||
      strstr(info.words, words) == NULL) {
    tenon__test_fail(__FILE__, __LINE__,
                     "%s: state %d, reason %d '%s', expected reason %d with '%s'", name,
                     (int)info.state, (int)info.reason, info.words, (int)reason, words);
  }
}

static tenon_status_t load(world_t* world, const char* name) {
  tenon__candidate_info_t info;
  for (uint32_t i = 0; tenon__registry_candidate(world->registry, i, &info) == TENON_OK; ++i) {
    const char* slash = strrchr(info.path, '/');
    if (slash != NULL && strcmp(slash + 1, name) == 0) {
      return tenon__registry_load(world->registry, i, world->sink);
    }
  }
  return TENON_ERROR_NOT_FOUND;
}

/* ---- A good plugin ---- */

TENON_TEST(loads_on_demand_what_a_manifest_promises) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  scan(&world);
  tenon__candidate_info_t info = candidate(&world, "good.so");
  EXPECT_INT(info.state, TENON_CANDIDATE_AVAILABLE);
  EXPECT_TEXT(info.name, "good");
  EXPECT_TEXT(info.version, "1.0.0");
  EXPECT_TEXT(info.vendor, "Fixtures & Sons");
  EXPECT_TEXT(info.licence, "MIT");
  EXPECT_TEXT(info.offers, "operator good.twice/1\nkernel good_kernel good.twice/1 cpu\n");
  EXPECT(tenon__catalog_operator(world.catalog, "acme.absent/1", world.sink) == NULL);
  EXPECT_INT(candidate(&world, "good.so").state, TENON_CANDIDATE_AVAILABLE);

  const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "good.twice/1", world.sink);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->plugin, "good");
  EXPECT_INT(candidate(&world, "good.so").state, TENON_CANDIDATE_LOADED);
  const tenon__kernel_entry_t* kernel = NULL;
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "good.twice/1", 0, world.sink, &kernel, 1), 1);
  REQUIRE(kernel != NULL);
  EXPECT_INT(kernel->kernel.version, 3);
  EXPECT_INT(kernel->kernel.slots[0].max_operands, 7);
  EXPECT(kernel->owner->state != NULL);
  EXPECT(op->state == kernel->owner->state);
  EXPECT_TEXT(world.messages.text, "");
  end(&world);
  EXPECT_CONTAINS(world.messages.text, "good: stopped");
}

TENON_TEST(two_hosts_start_one_image_each_for_itself) {
  world_t worlds[2];
  const void* states[2];
  for (int i = 0; i < 2; ++i) {
    begin(&worlds[i]);
  }
  EXPECT(test_folder_copy(&worlds[0].folder, "good", "good.so"));
  worlds[1].paths[0] = worlds[0].folder.path;
  tenon_status_t (*prepare[2])(void*, const tenon_region_t*, const tenon_region_table_t*,
                               const tenon_tactic_t*, tenon_preparation_t*,
                               const tenon_prepare_table_t*, void**) = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    scan(&worlds[i]);
    const tenon__kernel_entry_t* kernel =
        tenon__catalog_kernel(worlds[i].catalog, "good", "good_kernel", worlds[i].sink);
    REQUIRE(kernel != NULL);
    states[i] = kernel->owner->state;
    prepare[i] = kernel->kernel.prepare;
  }
  EXPECT(states[0] != states[1]);
  EXPECT(prepare[0] == prepare[1]);
  end(&worlds[1]);
  end(&worlds[0]);
}

TENON_TEST(a_digest_is_of_the_whole_file) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  scan(&world);
  const test_bytes_t bytes = test_read_fixture("good");
  const tenon__digest_t expected = tenon__digest_of(bytes.data, bytes.size);
  free(bytes.data);
  tenon__digest_t digest;
  for (int i = 0; i < 3; ++i) { /* before it is loaded, after, from memory */
    EXPECT_STATUS(tenon__registry_digest(world.registry, 0, world.sink, &digest), TENON_OK);
    EXPECT(memcmp(&digest, &expected, sizeof(digest)) == 0);
    EXPECT_STATUS(load(&world, "good.so"), TENON_OK);
  }
  const tenon__owner_t* owner = NULL;
  EXPECT_INT(tenon__catalog_owners(world.catalog, &owner, 1), 1);
  REQUIRE(owner != NULL);
  EXPECT_STATUS(owner->digest(owner->user, owner, world.sink, &digest), TENON_OK);
  EXPECT(memcmp(&digest, &expected, sizeof(digest)) == 0);
  end(&world);
}

/* ---- Other versions ---- */

static void expect_skewed(const char* fixture, uint32_t max_operands) {
  world_t world;
  char file[64];
  char text[64];
  begin(&world);
  (void)snprintf(file, sizeof(file), "%s.so", fixture);
  EXPECT(test_folder_copy(&world.folder, fixture, file));
  scan(&world);
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
  EXPECT(kernel->rebind == NULL);
  EXPECT(kernel->destroy == NULL);
  EXPECT(kernel->propose == NULL);
  EXPECT_INT(kernel->slot_count, 2);
  EXPECT_INT(kernel->slot_stride, sizeof(tenon_slot_t));
  EXPECT_INT(kernel->slots[1].size, sizeof(tenon_slot_t));
  EXPECT_INT(kernel->slots[1].max_operands, max_operands);
  EXPECT_INT(kernel->slots[1].reductions, 0);
  EXPECT_TEXT(world.messages.text, "");
  EXPECT_INT(candidate(&world, file).state, TENON_CANDIDATE_LOADED);
  end(&world);
}

TENON_TEST(an_older_plugin_has_zeros_where_it_ends) {
  expect_skewed("older", 5);
}

TENON_TEST(a_newer_plugin_may_have_tails) {
  expect_skewed("newer", 5);
}

TENON_TEST(a_host_that_is_older_or_newer_negotiates) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "needs_newer", "needs_newer.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "newer", "newer.so"));
  world.options.abi_min_minor = 2;
  world.options.abi_max_minor = 8;
  scan(&world);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_TOO_OLD, "built with 0.1, needs 0.1");
  EXPECT_INT(candidate(&world, "newer.so").state, TENON_CANDIDATE_AVAILABLE);
  /* 0.8 is served now; what is behind the manifest is another matter. */
  EXPECT_INT(candidate(&world, "needs_newer.so").state, TENON_CANDIDATE_AVAILABLE);
  end(&world);
}

/* ---- What a scan refuses ---- */

TENON_TEST(refuses_by_reading_alone) {
  static const struct {
    const char* fixture;
    tenon__plugin_reason_t reason;
    const char* words;
  } rows[] = {
      {"no_manifest", TENON_PLUGIN_REASON_NO_MANIFEST, "not a plugin"},
      {"two_manifests", TENON_PLUGIN_REASON_MANIFEST, "two manifests"},
      {"huge", TENON_PLUGIN_REASON_MANIFEST, "the limit is 65536"},
      {"nameless", TENON_PLUGIN_REASON_MANIFEST, "it lacks 'name'"},
      {"malformed", TENON_PLUGIN_REASON_MANIFEST, "line 3: it is not of the form 'key: value'"},
      {"other_major", TENON_PLUGIN_REASON_ABI_MAJOR, "built with 9.1, needs 9.0"},
      {"needs_newer", TENON_PLUGIN_REASON_NEEDS_NEWER_HOST, "needs 0.8; this is 0.1"},
      {"no_query", TENON_PLUGIN_REASON_NO_QUERY, ""},
      {"extra_export", TENON_PLUGIN_REASON_EXTRA_EXPORTS, "fixture_second_door"},
      {"imports_tenon", TENON_PLUGIN_REASON_IMPORTS_TENON, "tenon_version_of_the_host"},
      {"undeclared", TENON_PLUGIN_REASON_LIBRARIES, "libfixture_absent.so linked"},
      {"unlinked", TENON_PLUGIN_REASON_LIBRARIES, "says libfixture_absent.so is linked"},
      {"run_path", TENON_PLUGIN_REASON_RUN_PATH, "/opt/nowhere"},
      {"old_run_path", TENON_PLUGIN_REASON_RUN_PATH, "/opt/nowhere"},
      {"executable_stack", TENON_PLUGIN_REASON_EXECUTABLE_STACK, "noexecstack"},
  };
  world_t world;
  char file[64];
  begin(&world);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    EXPECT(test_folder_copy(&world.folder, rows[i].fixture, file));
  }
  scan(&world);
  EXPECT_INT(world.messages.count, sizeof(rows) / sizeof(rows[0]));
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    expect_refused(&world, file, rows[i].reason, rows[i].words);
    EXPECT_CONTAINS(world.messages.text, file);
    EXPECT(load(&world, file) != TENON_OK);
  }
  end(&world);
}

TENON_TEST(refuses_what_is_no_file_or_no_elf) {
  world_t world;
  char path[PATH_MAX];
  begin(&world);
  EXPECT(test_folder_write(&world.folder, "text.so", "hello", 5));
  EXPECT(test_folder_write(&world.folder, "empty.so", "", 0));
  EXPECT(test_folder_write(&world.folder, "short.so", "\177ELF\2\1", 6));
  EXPECT(test_folder_write(&world.folder, ".hidden.so", "hello", 5));
  EXPECT(test_folder_write(&world.folder, "readme.txt", "hello", 5));
  EXPECT(mkdir(test_folder_path(&world.folder, "folder.so", path), 0755) == 0);
  EXPECT(mkfifo(test_folder_path(&world.folder, "pipe.so", path), 0644) == 0);
  EXPECT(symlink("nothing", test_folder_path(&world.folder, "dangling.so", path)) == 0);
  EXPECT(symlink("/dev/null", test_folder_path(&world.folder, "device.so", path)) == 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  (void)snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/socket.so", world.folder.path);
  const int unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT(bind(unix_socket, (const struct sockaddr*)&address, sizeof(address)) == 0);
  scan(&world);
  expect_refused(&world, "text.so", TENON_PLUGIN_REASON_NOT_ELF, "");
  expect_refused(&world, "empty.so", TENON_PLUGIN_REASON_NOT_ELF, "empty");
  expect_refused(&world, "short.so", TENON_PLUGIN_REASON_DAMAGED, "header");
  expect_refused(&world, "folder.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  expect_refused(&world, "pipe.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  expect_refused(&world, "socket.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  expect_refused(&world, "dangling.so", TENON_PLUGIN_REASON_UNREADABLE, "");
  expect_refused(&world, "device.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 8);
  (void)close(unix_socket);
  end(&world);
}

TENON_TEST(refuses_bytes_that_were_changed) {
  world_t world;
  begin(&world);
  const test_bytes_t good = test_read_fixture("good");
  REQUIRE(good.data != NULL);
  const size_t text = test_bytes_find(&good, "name: good\n", 11);
  REQUIRE(text < good.size);
  good.data[18] ^= 0xff; /* e_machine */
  EXPECT(test_folder_write(&world.folder, "machine.so", good.data, good.size));
  good.data[18] ^= 0xff;
  good.data[16] = 2; /* e_type: a program */
  EXPECT(test_folder_write(&world.folder, "program.so", good.data, good.size));
  good.data[16] = 3;
  good.data[4] ^= 3; /* 32 bits */
  EXPECT(test_folder_write(&world.folder, "narrow.so", good.data, good.size));
  good.data[4] ^= 3;
  EXPECT(test_folder_write(&world.folder, "half.so", good.data, 6000));
  /* The note says that its text is longer than the segment. */
  uint32_t size = 0;
  memcpy(&size, good.data + text - 16, sizeof(size));
  good.data[text - 15] = 0xff;
  EXPECT(test_folder_write(&world.folder, "note.so", good.data, good.size));
  memcpy(good.data + text - 16, &size, sizeof(size));
  good.data[text + size - 1] = '!'; /* the NUL */
  EXPECT(test_folder_write(&world.folder, "endless.so", good.data, good.size));
  free(good.data);
  scan(&world);
  expect_refused(&world, "machine.so", TENON_PLUGIN_REASON_MACHINE, "");
  expect_refused(&world, "narrow.so", TENON_PLUGIN_REASON_MACHINE, "");
  expect_refused(&world, "program.so", TENON_PLUGIN_REASON_NOT_A_LIBRARY, "");
  expect_refused(&world, "half.so", TENON_PLUGIN_REASON_DAMAGED, "cut short");
  expect_refused(&world, "note.so", TENON_PLUGIN_REASON_MANIFEST, "a note is cut short");
  expect_refused(&world, "endless.so", TENON_PLUGIN_REASON_MANIFEST, "NUL");
  end(&world);
}

/* ---- What a load refuses ---- */

TENON_TEST(refuses_what_a_plugin_says_of_itself) {
  static const struct {
    const char* fixture;
    tenon__plugin_reason_t reason;
    const char* words;
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
  begin(&world);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    EXPECT(test_folder_copy(&world.folder, rows[i].fixture, file));
  }
  scan(&world);
  EXPECT_INT(world.messages.count, 0);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    (void)snprintf(op, sizeof(op), "%s.twice/1", rows[i].fixture);
    EXPECT_INT(candidate(&world, file).state, TENON_CANDIDATE_AVAILABLE);
    world.sink = tenon__test_listen(&world.messages);
    EXPECT(tenon__catalog_operator(world.catalog, op, world.sink) == NULL);
    expect_refused(&world, file, rows[i].reason, rows[i].words);
    EXPECT_CONTAINS(world.messages.text, file);
    /* Once: asked again, the catalogue remembers. */
    const int count = world.messages.count;
    EXPECT(tenon__catalog_operator(world.catalog, op, world.sink) == NULL);
    EXPECT_INT(world.messages.count, count);
  }
  end(&world);
}

TENON_TEST(opens_a_neighbour_that_the_manifest_names) {
  world_t world;
  char path[PATH_MAX];
  begin(&world);
  (void)snprintf(path, sizeof(path), "%s/tests/plugins/neighbours/libfixture_neighbour.so",
                 getenv("TENON_BUILD_DIR"));
  const test_bytes_t library = test_read_file(path);
  EXPECT(test_folder_write(&world.folder, "libfixture_neighbour.so", library.data, library.size));
  EXPECT(test_folder_copy(&world.folder, "opens", "opens.so"));
  scan(&world);
  expect_refused(&world, "libfixture_neighbour.so", TENON_PLUGIN_REASON_NO_MANIFEST, "");
  EXPECT_STATUS(load(&world, "opens.so"), TENON_OK);
  end(&world);

  begin(&world);
  EXPECT(test_folder_write(&world.folder, "libfixture_neighbour.so", library.data, library.size));
  EXPECT(test_folder_copy(&world.folder, "opens", "opens.so"));
  EXPECT(chmod(test_folder_path(&world.folder, "libfixture_neighbour.so", path), 0666) == 0);
  scan(&world);
  EXPECT(load(&world, "opens.so") != TENON_OK);
  expect_refused(&world, "opens.so", TENON_PLUGIN_REASON_START_FAILED, "chmod");
  free(library.data);
  end(&world);
}

/* ---- Operators ---- */

TENON_TEST(a_broken_text_disables_that_operator_alone) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "broken_operator", "broken_operator.so"));
  scan(&world);
  const char* bad = "broken_operator.broken/1";
  EXPECT(tenon__catalog_operator(world.catalog, bad, world.sink) == NULL);
  EXPECT(tenon__catalog_disabled(world.catalog, bad) != NULL);
  EXPECT_CONTAINS(world.messages.text, bad);
  EXPECT(tenon__catalog_operator(world.catalog, "broken_operator.twice/1", world.sink) != NULL);
  EXPECT_INT(candidate(&world, "broken_operator.so").state, TENON_CANDIDATE_LOADED);
  const char* name = NULL;
  EXPECT_INT(tenon__catalog_disabled_operators(world.catalog, &name, 1), 1);
  EXPECT_TEXT(name, bad);
  const tenon__operator_t* op = NULL;
  EXPECT_INT(tenon__catalog_operators(world.catalog, world.sink, &op, 1), 1);
  end(&world);
}

TENON_TEST(two_definitions_disable_each_other_and_name_both_files) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "first_definition", "1.so"));
  EXPECT(test_folder_copy(&world.folder, "second_definition", "2.so"));
  scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink) == NULL);
  const char* words = tenon__catalog_disabled(world.catalog, "acme.disputed/1");
  EXPECT_CONTAINS(words, "first_definition 1.0.0");
  EXPECT_CONTAINS(words, "/1.so");
  EXPECT_CONTAINS(words, "/2.so");
  EXPECT_CONTAINS(world.messages.text, "acme.disputed/1");
  EXPECT_INT(candidate(&world, "1.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_INT(candidate(&world, "2.so").state, TENON_CANDIDATE_LOADED);
  end(&world);
}

TENON_TEST(two_equal_definitions_are_one) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "first_definition", "1.so"));
  EXPECT(test_folder_copy(&world.folder, "same_definition", "2.so"));
  scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink) != NULL);
  EXPECT_TEXT(world.messages.text, "");
  const tenon__kernel_entry_t* kernels[4];
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.disputed/1", 0, world.sink, kernels, 4),
             2);
  EXPECT_TEXT(kernels[0]->owner->plugin, "first_definition");
  EXPECT_TEXT(kernels[1]->owner->plugin, "same_definition");
  end(&world);
}

/* ---- Who can change files ---- */

TENON_TEST(refuses_what_others_can_write_and_says_what_mends_it) {
  world_t world;
  char path[PATH_MAX];
  char words[PATH_MAX + 32];
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(chmod(test_folder_path(&world.folder, "good.so", path), 0646) == 0);
  scan(&world);
  (void)snprintf(words, sizeof(words), "has mode 0646: chmod o-w '%s'", path);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, words);
  EXPECT(chmod(path, 0644) == 0);
  scan(&world); /* the reason expires */
  EXPECT_INT(candidate(&world, "good.so").state, TENON_CANDIDATE_AVAILABLE);
  EXPECT(chmod(path, 0666) == 0);
  EXPECT(tenon__catalog_operator(world.catalog, "good.twice/1", world.sink) == NULL);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, "chmod");
  EXPECT(chmod(path, 0644) == 0);
  scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "good.twice/1", world.sink) != NULL);
  end(&world);
}

TENON_TEST(refuses_a_group_that_is_not_the_owners_own) {
  world_t world;
  char path[PATH_MAX];
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  (void)test_folder_path(&world.folder, "good.so", path);
  gid_t groups[64];
  int count = getgroups(64, groups);
  gid_t other = geteuid() == 0 ? 54321 : getegid();
  for (int i = 0; i < count; ++i) {
    other = groups[i] != getegid() ? groups[i] : other;
  }
  if (other == getegid() || chown(path, (uid_t)-1, other) != 0) {
    (void)printf("skipped: this user can give files to no other group\n");
    end(&world);
    return;
  }
  EXPECT(chmod(path, 0664) == 0);
  scan(&world);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, "chmod g-w");
  end(&world);
}

TENON_TEST(refuses_a_directory_that_others_can_write) {
  world_t world;
  char path[PATH_MAX];
  begin(&world);
  EXPECT(mkdir(test_folder_path(&world.folder, "inner", path), 0755) == 0);
  EXPECT(test_folder_copy(&world.folder, "good", "inner/good.so"));
  const char* outer = world.folder.path;
  world.paths[0] = path;
  tenon__directory_info_t info;
  static const mode_t modes[][2] = {{0755, 0777}, {0755, 01777}, {0777, 0755}, {01777, 0755}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT(chmod(outer, modes[i][0]) == 0 && chmod(path, modes[i][1]) == 0);
    scan(&world);
    EXPECT_INT(tenon__registry_directory_count(world.registry), 1);
    EXPECT_STATUS(tenon__registry_directory(world.registry, 0, &info), TENON_OK);
    const bool is_fine = modes[i][0] == 01777; /* as /tmp is */
    EXPECT_INT(info.reason,
               is_fine ? TENON_PLUGIN_REASON_NONE : TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS);
    EXPECT_INT(tenon__registry_candidate_count(world.registry), is_fine ? 1 : 0);
    if (!is_fine) {
      EXPECT_CONTAINS(info.words, "chmod o-w");
    }
  }
  end(&world);
}

TENON_TEST(follows_a_link_and_checks_where_it_leads) {
  world_t world;
  test_folder_t elsewhere;
  char path[PATH_MAX];
  char target[PATH_MAX];
  begin(&world);
  EXPECT(test_folder_make(&elsewhere));
  EXPECT(test_folder_copy(&elsewhere, "good", "target.so"));
  EXPECT(symlink(test_folder_path(&elsewhere, "target.so", target),
                 test_folder_path(&world.folder, "good.so", path)) == 0);
  EXPECT(chmod(target, 0666) == 0);
  scan(&world);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, target);
  EXPECT(chmod(target, 0644) == 0 && chmod(elsewhere.path, 0777) == 0);
  scan(&world);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, elsewhere.path);
  EXPECT(chmod(elsewhere.path, 0755) == 0);
  scan(&world);
  EXPECT_STATUS(load(&world, "good.so"), TENON_OK);
  end(&world);
  test_folder_remove(&elsewhere);
}

/* ---- Paths, names, policy ---- */

TENON_TEST(reads_the_environment_and_never_the_working_directory) {
  world_t world;
  char value[2 * PATH_MAX];
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  (void)snprintf(value, sizeof(value), "plugins:%s::/no/such/place:%s/../%s:", world.folder.path,
                 world.folder.path, strrchr(world.folder.path, '/') + 1);
  EXPECT(setenv("TENON_PLUGIN_PATH", value, 1) == 0);
  world.paths[0] = NULL;
  world.options.only_paths = false;
  world.options.installed_directory = "/no/such/place/either";
  scan(&world);
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
  end(&world);
}

TENON_TEST(a_relative_path_of_the_caller_is_an_error) {
  world_t world;
  begin(&world);
  world.paths[0] = "plugins";
  EXPECT_STATUS(tenon__registry_create(&world.options, &world.registry),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(world.messages.text, "'plugins' is not absolute");
  end(&world);
}

TENON_TEST(the_first_of_a_name_hides_the_others) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "b.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "c.so"));
  scan(&world);
  EXPECT_INT(candidate(&world, "b.so").state, TENON_CANDIDATE_AVAILABLE);
  expect_refused(&world, "c.so", TENON_PLUGIN_REASON_SHADOWED, "/b.so");
  /* Whoever was promised keeps its name, whatever comes before it. */
  EXPECT(test_folder_copy(&world.folder, "good", "a.so"));
  scan(&world);
  expect_refused(&world, "a.so", TENON_PLUGIN_REASON_SHADOWED, "/b.so");
  EXPECT_INT(candidate(&world, "b.so").state, TENON_CANDIDATE_AVAILABLE);
  end(&world);
}

TENON_TEST(a_policy_lists_what_may_be_loaded) {
  world_t world;
  char text[65];
  const char* digests[2] = {text, NULL};
  begin(&world);
  const test_bytes_t good = test_read_fixture("good");
  const tenon__digest_t digest = tenon__digest_of(good.data, good.size);
  free(good.data);
  tenon__digest_text(&digest, text);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "older", "older.so"));
  world.options.policy = TENON_REGISTRY_POLICY_LISTED;
  world.options.digests = digests;
  scan(&world);
  expect_refused(&world, "older.so", TENON_PLUGIN_REASON_NOT_LISTED, "");
  EXPECT_STATUS(load(&world, "good.so"), TENON_OK);
  EXPECT_STATUS(load(&world, "older.so"), TENON_ERROR_DENIED);
  end(&world);

  begin(&world);
  digests[0] = "not a digest";
  world.options.policy = TENON_REGISTRY_POLICY_LISTED;
  world.options.digests = digests;
  EXPECT_STATUS(tenon__registry_create(&world.options, &world.registry),
                TENON_ERROR_INVALID_ARGUMENT);
  end(&world);
}

/* ---- Looking again ---- */

TENON_TEST(a_file_that_changed_after_the_scan_is_not_loaded) {
  world_t world;
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  scan(&world);
  EXPECT(test_folder_copy(&world.folder, "older", "good.so"));
  EXPECT(tenon__catalog_operator(world.catalog, "good.twice/1", world.sink) == NULL);
  expect_refused(&world, "good.so", TENON_PLUGIN_REASON_CHANGED, "");
  scan(&world);
  EXPECT(tenon__catalog_operator(world.catalog, "older.twice/1", world.sink) != NULL);
  EXPECT_INT(candidate(&world, "good.so").state, TENON_CANDIDATE_LOADED);
  end(&world);
}

TENON_TEST(looking_again_finds_what_is_new_changed_and_gone) {
  world_t world;
  char path[PATH_MAX];
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "a.so"));
  EXPECT(test_folder_copy(&world.folder, "first_definition", "b.so"));
  scan(&world);
  EXPECT_STATUS(load(&world, "a.so"), TENON_OK);
  EXPECT(unlink(test_folder_path(&world.folder, "b.so", path)) == 0);
  EXPECT(test_folder_copy(&world.folder, "newer", "c.so"));
  EXPECT(test_folder_copy(&world.folder, "good", "a.so")); /* another inode */
  scan(&world);
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 3);
  EXPECT_INT(candidate(&world, "a.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_CONTAINS(candidate(&world, "a.so").words, "has changed since");
  expect_refused(&world, "b.so", TENON_PLUGIN_REASON_GONE, "");
  EXPECT_INT(candidate(&world, "c.so").state, TENON_CANDIDATE_AVAILABLE);
  EXPECT(tenon__catalog_operator(world.catalog, "acme.disputed/1", world.sink) == NULL);
  EXPECT(tenon__catalog_operator(world.catalog, "newer.same/1", world.sink) != NULL);
  scan(&world);
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 2);
  end(&world);
}

TENON_TEST(an_image_that_was_written_in_place_is_not_started_again) {
  world_t worlds[2];
  char path[PATH_MAX];
  begin(&worlds[0]);
  begin(&worlds[1]);
  EXPECT(test_folder_copy(&worlds[0].folder, "good", "good.so"));
  scan(&worlds[0]);
  EXPECT_STATUS(load(&worlds[0], "good.so"), TENON_OK);
  (void)test_folder_path(&worlds[0].folder, "good.so", path);
  const int descriptor = open(path, O_WRONLY | O_APPEND);
  EXPECT(write(descriptor, "x", 1) == 1);
  (void)close(descriptor);
  worlds[1].paths[0] = worlds[0].folder.path;
  scan(&worlds[1]);
  EXPECT(load(&worlds[1], "good.so") != TENON_OK);
  expect_refused(&worlds[1], "good.so", TENON_PLUGIN_REASON_CHANGED, "start the program anew");
  end(&worlds[1]);
  end(&worlds[0]);
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
  begin(&world);
  world.options.sink = (tenon_sink_t){NULL, NULL};
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "newer", "newer.so"));
  EXPECT(test_folder_copy(&world.folder, "malformed", "malformed.so"));
  scan(&world);
  for (int i = 0; i < 4; ++i) {
    EXPECT(pthread_create(&threads[i], NULL, look_up, &world) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    (void)pthread_join(threads[i], NULL);
  }
  EXPECT_INT(candidate(&world, "good.so").state, TENON_CANDIDATE_LOADED);
  EXPECT_INT(candidate(&world, "newer.so").state, TENON_CANDIDATE_LOADED);
  end(&world);
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
  begin(&world);
  EXPECT(test_folder_copy(&world.folder, "good", "good.so"));
  EXPECT(test_folder_copy(&world.folder, "malformed", "malformed.so"));
  tenon__test_each_allocation(scan_and_load, &world);
  end(&world);
}
