/* Manifests: what is read, and which line is wrong. */
#include "plugin_registry/manifest.h"

#include "core/base/test.h"

#define HEAD "name: acme_vision\nversion: 1.2.0\nabi: 0.1\nneeded: 0.1\n"

typedef struct world_t {
  tenon__arena_t arena;
  tenon__manifest_t manifest;
  tenon__finding_t finding;
} world_t;

static void parse_bytes(world_t* world, const char* text, size_t size) {
  tenon__arena_initialize(&world->arena, tenon__allocator_default());
  memset(&world->manifest, 0, sizeof(world->manifest));
  world->finding = tenon__manifest_parse(&world->arena, text, size, &world->manifest);
}

static void parse(world_t* world, const char* text) {
  parse_bytes(world, text, strlen(text) + 1);
}

static void end(world_t* world) {
  tenon__arena_deinitialize(&world->arena);
}

static void expect_refused(const char* text, const char* message) {
  world_t world;
  parse(&world, text);
  if (world.finding.reason != TENON_PLUGIN_REASON_MANIFEST ||
      strstr(world.finding.detail, message) == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "'%s': reason %d '%s', expected '%s'", text,
                     (int)world.finding.reason, world.finding.detail, message);
  }
  EXPECT(world.manifest.name == NULL);
  end(&world);
}

TENON_TEST(reads_every_key) {
  world_t world;
  parse(&world, HEAD
        "vendor: Acme  & Söhne  \nlicence: MIT\nurl: https://acme.example/\n\n"
        "offers: operator acme.swish/1\n"
        "offers: kernel  swish_avx2   acme.swish/1 cpu\n"
        "offers: kernel e *expressions cpu\n"
        "offers: converter *\noffers: converter onnx::Swish\n"
        "offers: kernel *\n"
        "offers: oracle a b c d e\n"
        "needs-library: libcudnn.so.9 linked\nneeds-library: libz.so.1  opened\n"
        "needs-isa: avx2\nneeds-isa: fma\nrequires: acme_core  >= 1.2\nrequires: good\nthreads: "
        "own\nhost-service: library/1\n"
        "some-later-key: whatever");
  EXPECT_INT(world.finding.reason, TENON_PLUGIN_REASON_NONE);
  const tenon__manifest_t* m = &world.manifest;
  EXPECT_TEXT(m->name, "acme_vision");
  EXPECT_TEXT(m->version, "1.2.0");
  EXPECT_TEXT(m->vendor, "Acme  & Söhne");
  EXPECT_TEXT(m->licence, "MIT");
  EXPECT_TEXT(m->url, "https://acme.example/");
  EXPECT_INT(m->built, TENON_ABI_VERSION(0, 1));
  EXPECT(m->own_threads);
  EXPECT_TEXT(m->offers_text,
              "operator acme.swish/1\nkernel swish_avx2 acme.swish/1 cpu\n"
              "kernel e *expressions cpu\nconverter *\nconverter onnx::Swish\nkernel *\n"
              "oracle a b c d e\n");
  REQUIRE(m->offer_count == 7);
  EXPECT_TEXT(m->offers[1].text, "kernel swish_avx2 acme.swish/1 cpu");
  EXPECT_TEXT(m->offers[1].kind, "kernel");
  EXPECT_TEXT(m->offers[1].name, "swish_avx2");
  EXPECT_TEXT(m->offers[1].op, "acme.swish/1");
  EXPECT_TEXT(m->offers[2].op, "*expressions");
  EXPECT_TEXT(m->offers[4].name, "onnx::Swish");
  EXPECT_TEXT(m->offers[5].name, "*");
  EXPECT_TEXT(m->offers[5].op, "*");
  EXPECT_TEXT(m->offers[6].kind, "oracle");
  REQUIRE(m->library_count == 2);
  EXPECT_TEXT(m->libraries[0].soname, "libcudnn.so.9");
  EXPECT(!m->libraries[0].opened);
  EXPECT(m->libraries[1].opened);
  EXPECT_INT(m->isa_count, 2);
  EXPECT_TEXT(m->isas[1], "fma");
  EXPECT_INT(m->service_count, 1);
  EXPECT_TEXT(m->services[0], "library/1");
  REQUIRE(m->requirement_count == 2);
  EXPECT_TEXT(m->requirements[0].name, "acme_core");
  EXPECT_TEXT(m->requirements[0].version, "1.2");
  EXPECT_TEXT(m->requirements[1].name, "good");
  EXPECT_TEXT(m->requirements[1].version, "");
  end(&world);
}

TENON_TEST(absent_texts_are_empty) {
  world_t world;
  parse(&world, HEAD);
  EXPECT_INT(world.finding.reason, TENON_PLUGIN_REASON_NONE);
  EXPECT_TEXT(world.manifest.vendor, "");
  EXPECT_TEXT(world.manifest.url, "");
  EXPECT_TEXT(world.manifest.offers_text, "");
  EXPECT(!world.manifest.own_threads);
  end(&world);
}

TENON_TEST(refuses_lines_and_says_which) {
  expect_refused("", "it lacks 'name'");
  expect_refused("name: a\nabi: 0.1\nneeded: 0.1\n", "it lacks 'version'");
  expect_refused("name: a\nversion: 1\nneeded: 0.1\n", "it lacks 'abi'");
  expect_refused("name: a\nversion: 1\nabi: 0.1\n", "it lacks 'needed'");
  expect_refused("name: a\nversion: 1\nabi: 0.1\nneeded: 0.2\n", "a later version");
  expect_refused(HEAD "name: b\n", "line 5: 'name' is given twice");
  expect_refused(HEAD "url: a\nurl: b\n", "line 6: 'url' is given twice");
  expect_refused(HEAD "abi: 0.1\n", "line 5: 'abi' is given twice");
  expect_refused(HEAD "nonsense\n", "line 5: it is not of the form");
  expect_refused(HEAD "Vendor: x\n", "line 5: it is not of the form");
  expect_refused(HEAD " vendor: x\n", "line 5: it is not of the form");
  expect_refused(HEAD "vendor:x\n", "line 5: it is not of the form");
  expect_refused(HEAD ": x\n", "line 5: it is not of the form");
  expect_refused(HEAD "vendor:   \n", "line 5: 'vendor' has no value");
  expect_refused("name: a b\n", "line 1: a name has letters");
  expect_refused("name: ../a\n", "line 1: a name has letters");
  expect_refused("version: 1 2\n", "line 1: a version has");
  expect_refused("abi: 0\n", "line 1: '0' is not a version");
  expect_refused("abi: 0.\n", "line 1: '0.' is not a version");
  expect_refused("abi: 0.1.2\n", "line 1: '0.1.2' is not a version");
  expect_refused("abi: 0.65536\n", "is not a version");
  expect_refused("abi: 00000000000.1\n", "is not a version");
  expect_refused("abi: -1.1\n", "is not a version");
}

TENON_TEST(refuses_values_of_known_keys) {
  expect_refused(HEAD "offers: operator\n", "line 5: an offer is a kind and a name");
  expect_refused(HEAD "offers: operator a b\n", "line 5: an offer is a kind and a name");
  expect_refused(HEAD "offers: operator a b c d e\n", "line 5: an offer is a kind and a name");
  expect_refused(HEAD "offers: kernel a b\n", "line 5: a kernel is offered as");
  expect_refused(HEAD "offers: kernel * b c\n", "line 5: a kernel is offered as");
  expect_refused(HEAD "needs-library: a\n", "line 5: a library is given as");
  expect_refused(HEAD "needs-library: a later\n", "'later'");
  expect_refused(HEAD "needs-library: ./a.so linked\n", "not by a path");
  expect_refused(HEAD "threads: many\n", "line 5: threads");
  expect_refused(HEAD "requires: a b\n", "line 5: a plugin is required as");
  expect_refused(HEAD "requires: a > 1\n", "line 5: a plugin is required as");
  expect_refused(HEAD "requires: a >= 1 2\n", "line 5: a plugin is required as");
  expect_refused(HEAD "requires: ../a\n", "line 5: a name has letters");
}

TENON_TEST(refuses_characters_that_deceive) {
  expect_refused(HEAD "vendor: \xff\n", "line 5: it is not UTF-8");
  expect_refused(HEAD "vendor: \xc0\xaf\n", "line 5: it is not UTF-8");     /* overlong */
  expect_refused(HEAD "vendor: \xed\xa0\x80\n", "line 5: it is not UTF-8"); /* surrogate */
  expect_refused(HEAD "vendor: \xe2\x82", "line 5: it is not UTF-8");       /* cut short */
  expect_refused(HEAD "vendor: \x1b[2J\n", "line 5: it has the control character U+001B");
  expect_refused(HEAD "vendor: a\rb\n", "U+000D");
  expect_refused(HEAD "vendor: a\tb\n", "U+0009");
  expect_refused(HEAD "vendor: \xc2\x9b\n", "U+009B");
  expect_refused(HEAD "vendor: \xe2\x80\xae\n", "U+202E");
  expect_refused(HEAD "vendor: \xe2\x81\xa6\n", "U+2066");
}

TENON_TEST(refuses_what_does_not_end_or_is_too_long) {
  world_t world;
  parse_bytes(&world, HEAD, sizeof(HEAD) - 1);
  EXPECT_CONTAINS(world.finding.detail, "NUL");
  end(&world);
  parse_bytes(&world, HEAD "\0\0", sizeof(HEAD) + 1);
  EXPECT_CONTAINS(world.finding.detail, "NUL");
  end(&world);
  parse_bytes(&world, "", 0);
  EXPECT_CONTAINS(world.finding.detail, "NUL");
  end(&world);
  static char text[TENON_MANIFEST_LIMIT + 1];
  memset(text, '\n', sizeof(text) - 1);
  memcpy(text, HEAD, sizeof(HEAD) - 1);
  parse_bytes(&world, text, sizeof(text));
  EXPECT_CONTAINS(world.finding.detail, "the limit is 65536");
  end(&world);
  parse_bytes(&world, text + 1,
              sizeof(text) - 1); /* just within it, but its name has lost a letter */
  EXPECT_CONTAINS(world.finding.detail, "it lacks 'name'");
  end(&world);
  memset(text, 'x', 2000);
  memcpy(text, HEAD "vendor: ", sizeof(HEAD "vendor: ") - 1);
  text[2000] = '\0';
  expect_refused(text, "line 5: it has more than 1024 bytes");
}

static bool parse_with(tenon_allocator_t allocator, void* user) {
  tenon__arena_t arena;
  tenon__manifest_t manifest;
  static const char text[] = HEAD "offers: kernel a b c\noffers: operator x/1\nurl: x\n";
  (void)user;
  tenon__arena_initialize(&arena, allocator);
  const tenon__finding_t finding = tenon__manifest_parse(&arena, text, sizeof(text), &manifest);
  tenon__arena_deinitialize(&arena);
  EXPECT(finding.reason == TENON_PLUGIN_REASON_NONE ||
         finding.reason == TENON_PLUGIN_REASON_MEMORY);
  return finding.reason == TENON_PLUGIN_REASON_NONE;
}

TENON_TEST(survives_when_memory_is_out) {
  tenon__test_each_allocation(parse_with, NULL);
}
