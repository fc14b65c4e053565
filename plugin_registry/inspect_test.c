/* What a scan refuses, by reading alone, and with which words. */

#include <sys/socket.h>
#include <sys/un.h>

#include "plugin_registry/instruction_set.h"
#include "tests/support/plugin_world.h"

#include "plugin_registry/registry.h"

TENON_TEST(refuses_by_reading_alone) {
  static const struct {
    const char* fixture;
    tenon__plugin_reason_t reason;
    const char* message;
  } rows[] = {
      {"no_manifest", TENON_PLUGIN_REASON_NO_MANIFEST, "not a plugin"},
      {"two_manifests", TENON_PLUGIN_REASON_MANIFEST, "two manifests"},
      {"huge", TENON_PLUGIN_REASON_MANIFEST, "the limit is 65536"},
      {"nameless", TENON_PLUGIN_REASON_MANIFEST, "it lacks 'name'"},
      {"malformed", TENON_PLUGIN_REASON_MANIFEST, "line 3: it is not of the form 'key: value'"},
      {"other_major", TENON_PLUGIN_REASON_ABI_MAJOR, "built with 9.1, needs 9.0"},
      {"needs_newer", TENON_PLUGIN_REASON_NEEDS_NEWER_HOST,
       "built with 0.9, needs 0.8; this is 0.7"},
      {"before_lists", TENON_PLUGIN_REASON_TOO_OLD, "built with 0.6, needs 0.5; this is 0.7"},
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
  world_begin(&world);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    EXPECT(test_folder_copy(&world.folder, rows[i].fixture, file));
  }
  world_scan(&world);
  EXPECT_INT(world.messages.count, sizeof(rows) / sizeof(rows[0]));
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    (void)snprintf(file, sizeof(file), "%s.so", rows[i].fixture);
    world_expect_refused(&world, file, rows[i].reason, rows[i].message);
    EXPECT_CONTAINS(world.messages.text, file);
    EXPECT(world_load(&world, file) != TENON_OK);
  }
  world_end(&world);
}

TENON_TEST(refuses_what_is_no_file_or_no_elf) {
  world_t world;
  char path[PATH_MAX];
  world_begin(&world);
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
  world_scan(&world);
  world_expect_refused(&world, "text.so", TENON_PLUGIN_REASON_NOT_ELF, "");
  world_expect_refused(&world, "empty.so", TENON_PLUGIN_REASON_NOT_ELF, "empty");
  world_expect_refused(&world, "short.so", TENON_PLUGIN_REASON_DAMAGED, "header");
  world_expect_refused(&world, "folder.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  world_expect_refused(&world, "pipe.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  world_expect_refused(&world, "socket.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  world_expect_refused(&world, "dangling.so", TENON_PLUGIN_REASON_UNREADABLE, "");
  world_expect_refused(&world, "device.so", TENON_PLUGIN_REASON_NOT_A_FILE, "");
  EXPECT_INT(tenon__registry_candidate_count(world.registry), 8);
  (void)close(unix_socket);
  world_end(&world);
}

TENON_TEST(refuses_bytes_that_were_changed) {
  world_t world;
  world_begin(&world);
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
  world_scan(&world);
  world_expect_refused(&world, "machine.so", TENON_PLUGIN_REASON_MACHINE, "");
  world_expect_refused(&world, "narrow.so", TENON_PLUGIN_REASON_MACHINE, "");
  world_expect_refused(&world, "program.so", TENON_PLUGIN_REASON_NOT_A_LIBRARY, "");
  world_expect_refused(&world, "half.so", TENON_PLUGIN_REASON_DAMAGED, "cut short");
  world_expect_refused(&world, "note.so", TENON_PLUGIN_REASON_MANIFEST, "a note is cut short");
  world_expect_refused(&world, "endless.so", TENON_PLUGIN_REASON_MANIFEST, "NUL");
  world_end(&world);
}

TENON_TEST(refuses_what_the_processor_cannot_run) {
  world_t world;
  world_begin(&world);
  EXPECT(test_folder_copy(&world.folder, "needs_isa", "needs_isa.so"));
  EXPECT(test_folder_copy(&world.folder, "needs_unknown_isa", "needs_unknown_isa.so"));
  EXPECT(test_folder_copy(&world.folder, "needs_other_isa", "needs_other_isa.so"));
  world_scan(&world);
  world_expect_refused(&world, "needs_unknown_isa.so", TENON_PLUGIN_REASON_INSTRUCTION_SET,
                       "amx9000, which is none of those of this kind of processor: ");
#if defined(__x86_64__)
  world_expect_refused(&world, "needs_other_isa.so", TENON_PLUGIN_REASON_INSTRUCTION_SET,
                       "neon, which is none of those of this kind of processor: sse4.2 avx avx2");
#endif
  EXPECT_INT(tenon__instruction_set("a device's"), TENON_PRESENCE_UNKNOWN);
  if (tenon__instruction_set("avx512") == TENON_PRESENCE_ABSENT) {
    world_expect_refused(&world, "needs_isa.so", TENON_PLUGIN_REASON_INSTRUCTION_SET, "avx512");
  } else {
    EXPECT_INT(world_candidate(&world, "needs_isa.so").state, TENON_CANDIDATE_AVAILABLE);
  }
  world_end(&world);
}
