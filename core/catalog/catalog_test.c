/* The catalogue filled from static descriptors: what stands in it, in which order, and who is asked
 * when. */
#include <pthread.h>

#include "core/base/status.h"
#include "core/catalog/test_catalog.h"

/* ---- Operators ---- */

TENON_TEST(finds_an_operator_by_its_identity) {
  world_t world;
  begin(&world);
  const tenon_operator_t operators[] = {make_operator("acme.twice/1", twice),
                                        make_operator("acme.thrice/1", thrice)};
  add(&world, &acme, "operator/1", operators, 2, sizeof(operators[0]));
  const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "acme.thrice/1", world.sink);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->name, "acme.thrice/1");
  EXPECT_TEXT(op->plugin, "acme");
  EXPECT(tenon__catalog_operator(world.catalog, "acme.thrice/2", world.sink) == NULL);
  EXPECT(tenon__catalog_disabled(world.catalog, "acme.thrice/2") == NULL);
  const tenon__operator_t* all[3] = {NULL, NULL, NULL};
  EXPECT_INT(tenon__catalog_operators(world.catalog, world.sink, all, 1), 2);
  EXPECT_TEXT(all[0]->name, "acme.thrice/1");
  EXPECT(all[1] == NULL);
  EXPECT_TEXT(world.messages.text, "");
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(a_faulty_definition_gives_way_to_a_good_one) {
  world_t world;
  begin(&world);
  const tenon_operator_t bad = make_operator("shared.twice/1", faulty);
  const tenon_operator_t good = make_operator("shared.twice/1", twice);
  add(&world, &acme, "operator/1", &bad, 1, sizeof(bad));
  EXPECT(tenon__catalog_operator(world.catalog, "shared.twice/1", world.sink) == NULL);
  EXPECT_CONTAINS(tenon__catalog_disabled(world.catalog, "shared.twice/1"), "shared.twice/1");
  add(&world, &bond, "operator/1", &good, 1, sizeof(good));
  const tenon__operator_t* op =
      tenon__catalog_operator(world.catalog, "shared.twice/1", world.sink);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->plugin, "bond");
  add(&world, &acme, "operator/1", &bad, 1, sizeof(bad));
  EXPECT(tenon__catalog_operator(world.catalog, "shared.twice/1", world.sink) == op);
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(a_plugin_that_defines_an_operator_twice_keeps_the_first) {
  world_t world;
  begin(&world);
  const tenon_operator_t first = make_operator("acme.twice/1", twice);
  const tenon_operator_t second = make_operator("acme.twice/1", thrice);
  add(&world, &acme, "operator/1", &first, 1, sizeof(first));
  const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink);
  add(&world, &acme, "operator/1", &first, 1, sizeof(first));
  EXPECT_TEXT(world.messages.text, "");
  add(&world, &acme, "operator/1", &second, 1, sizeof(second));
  EXPECT(tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink) != NULL);
  EXPECT(tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink)->contract.bytes[0] ==
         op->contract.bytes[0]);
  EXPECT_CONTAINS(world.messages.text, "operator 'acme.twice/1': the plugin defines it twice");
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(lists_kernels_in_a_fixed_order_reference_last) {
  world_t world;
  begin(&world);
  const tenon_kernel_t of_bond[] = {make_kernel("b", takes_both, 0),
                                    make_kernel("a", takes_twice, 0),
                                    make_kernel("e", NULL, TENON_KERNEL_EXPRESSIONS)};
  const tenon_kernel_t of_acme[] = {
      make_kernel("plain", takes_twice, TENON_KERNEL_REFERENCE), make_kernel("z", takes_twice, 0),
      make_kernel("m", NULL, TENON_KERNEL_MOVES | TENON_KERNEL_EXPRESSIONS)};
  add(&world, &bond, "kernel/1", of_bond, 3, sizeof(of_bond[0]));
  add(&world, &acme, "kernel/1", of_acme, 3, sizeof(of_acme[0]));
  const tenon__kernel_entry_t* entries[8];
  static const char* const order[] = {"z", "a", "b", "plain"};
  REQUIRE(tenon__catalog_kernels(world.catalog, "acme.twice/1", 0, world.sink, entries, 8) == 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TEXT(entries[i]->kernel.name, order[i]);
  }
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.thrice/1", 0, NULL, entries, 8), 1);
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.none/1", 0, NULL, entries, 8), 0);
  EXPECT_INT(
      tenon__catalog_kernels(world.catalog, NULL, TENON_KERNEL_EXPRESSIONS, NULL, entries, 8), 2);
  EXPECT_TEXT(entries[0]->kernel.name, "m");
  EXPECT_INT(tenon__catalog_kernels(world.catalog, NULL, TENON_KERNEL_MOVES, NULL, entries, 8), 1);
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "*", 0, NULL, entries, 8), 0);
  EXPECT_INT(tenon__catalog_kernels(world.catalog, NULL, 0, NULL, entries, 8), 6);
  EXPECT(tenon__catalog_kernel(world.catalog, "bond", "a", NULL) != NULL);
  EXPECT(tenon__catalog_kernel(world.catalog, "acme", "a", NULL) == NULL);
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(leaves_out_what_lacks_something) {
  world_t world;
  begin(&world);
  tenon_kernel_t kernels[] = {make_kernel("a", takes_twice, 0),  make_kernel("a", takes_twice, 0),
                              make_kernel(NULL, takes_twice, 0), make_kernel("b", NULL, 0),
                              make_kernel("c", takes_twice, 0),  make_kernel("d", takes_twice, 0)};
  kernels[4].enqueue = NULL;
  kernels[5].size = sizeof(size_t);
  add(&world, &acme, "kernel/1", kernels, 6, sizeof(kernels[0]));
  const tenon__kernel_entry_t* entry = NULL;
  EXPECT_INT(tenon__catalog_kernels(world.catalog, NULL, 0, NULL, &entry, 1), 1);
  EXPECT_INT(world.messages.count, 5);
  EXPECT_CONTAINS(world.messages.text, "kernel 'a': is offered twice");
  EXPECT_CONTAINS(world.messages.text, "kernel 'b': names no operator");
  EXPECT_CONTAINS(world.messages.text, "kernel 'c': lacks enqueue");
  EXPECT_CONTAINS(world.messages.text, "kernel 'number 5'");

  const tenon_device_descriptor_t devices[] = {
      make_device("host", TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM),
      make_device("far", TENON_DEVICE_INLINE_STREAM),
      make_device("queue", TENON_DEVICE_HOST_MEMORY)};
  add(&world, &acme, "device/1", devices, 3, sizeof(devices[0]));
  EXPECT_INT(tenon__catalog_all(world.catalog, TENON_OFFER_DEVICE, world.sink, NULL, 0), 1);
  EXPECT(tenon__catalog_device(world.catalog, "host", NULL) != NULL);
  EXPECT(tenon__catalog_device(world.catalog, "far", NULL) == NULL);
  EXPECT_CONTAINS(world.messages.text, "device 'far': has memory of its own");
  EXPECT_CONTAINS(world.messages.text, "device 'queue': has streams");
  add(&world, &bond, "device/1", devices, 1, sizeof(devices[0]));
  EXPECT_CONTAINS(world.messages.text,
                  "plugin bond (/bond.so): device 'host': plugin acme () offers one of that name");
  EXPECT_INT(tenon__catalog_all(world.catalog, TENON_OFFER_DEVICE, NULL, NULL, 0), 1);
  EXPECT_TEXT(tenon__catalog_device(world.catalog, "host", NULL)->owner->plugin, "acme");
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(an_offering_that_cannot_be_is_left_out) {
  world_t world;
  begin(&world);
  const tenon_kernel_t kernel = make_kernel("a", takes_twice, 0);
  add(&world, &acme, "kernel/1", &kernel, 1, 0);
  add(&world, &acme, "kernel/1", NULL, 1, sizeof(kernel));
  add(&world, &acme, NULL, &kernel, 1, sizeof(kernel));
  EXPECT_INT(world.messages.count, 3);
  add(&world, &acme, "kernel/1", NULL, 0, 0);     /* nothing: fine */
  add(&world, &acme, "oracle/9", &kernel, 1, 64); /* later than this host: skipped */
  EXPECT_INT(world.messages.count, 3);
  EXPECT_INT(tenon__catalog_kernels(world.catalog, NULL, 0, NULL, NULL, 0), 0);
  tenon__catalog_destroy(world.catalog);
}

/* ---- Converters ---- */

TENON_TEST(finds_the_converter_for_a_version) {
  world_t world;
  begin(&world);
  const tenon_converter_t converters[] = {
      make_converter(NULL, "Twice", 1, 7), make_converter("", "Twice", 7, 13),
      make_converter("", "Twice", 13, 0), make_converter("acme", "Twice", 1, 0)};
  add(&world, &acme, "converter/1", converters, 4, sizeof(converters[0]));
  static const struct {
    const char* domain;
    int64_t version;
    int64_t since;
  } rows[] = {{"", 1, 1}, {"", 6, 1}, {"", 7, 7}, {"", 12, 7}, {"", 13, 13}, {"", 99, 13}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    const tenon__converter_entry_t* entry =
        first_converter(&world, rows[i].domain, "Twice", rows[i].version);
    REQUIRE(entry != NULL);
    EXPECT_INT(entry->converter.since, rows[i].since);
  }
  EXPECT(first_converter(&world, "", "Twice", 0) == NULL);
  EXPECT(first_converter(&world, "acme", "Twice", 5) != NULL);
  const tenon__node_key_t other = {"other", "", "Twice", 5};
  EXPECT_INT(tenon__catalog_converters(world.catalog, &other, NULL, NULL, 0), 0);
  char type[2048];
  memset(type, 'x', sizeof(type) - 1);
  type[sizeof(type) - 1] = '\0';
  EXPECT(first_converter(&world, "", type, 5) == NULL);
  EXPECT_INT(tenon__catalog_all(world.catalog, TENON_OFFER_CONVERTER, NULL, NULL, 0), 4);
  tenon__catalog_destroy(world.catalog);
}

/* ---- Promises ---- */

typedef struct promiser_t {
  tenon__owner_t owner;
  tenon_kernel_t kernel;
  int calls;
  tenon_status_t status;
} promiser_t;

static tenon_status_t make_ready(void* user, tenon__owner_t* owner, tenon__catalog_t* catalog,
                                 const tenon_sink_t* sink) {
  promiser_t* promiser = user;
  ++promiser->calls;
  tenon__report(sink, TENON_SEVERITY_INFO, "%s", owner->plugin);
  if (promiser->status != TENON_OK) {
    return promiser->status;
  }
  const tenon_offering_t offering = {
      sizeof(offering), "kernel/1", {&promiser->kernel, 1, sizeof(promiser->kernel)}};
  return tenon__catalog_add(catalog, owner, &offering, sink);
}

static void make_promiser(promiser_t* out_promiser, const char* plugin,
                          const char* const* operators) {
  *out_promiser = (promiser_t){.kernel = make_kernel("k", operators, 0)};
  out_promiser->owner = (tenon__owner_t){
      .plugin = plugin, .version = "1", .path = "", .make_ready = make_ready, .user = out_promiser};
}

static void promise(world_t* world, promiser_t* promiser, const char* kind, const char* name) {
  EXPECT_STATUS(tenon__catalog_promise(world->catalog, &promiser->owner, kind, name), TENON_OK);
}

TENON_TEST(asks_those_who_promised_in_order_and_once) {
  world_t world;
  promiser_t p[4];
  static const char* const names[] = {"zeta", "beta", "alpha", "gamma"};
  begin(&world);
  for (int i = 0; i < 4; ++i) {
    make_promiser(&p[i], names[i], takes_twice);
  }
  promise(&world, &p[0], "kernel", "acme.twice/1");
  promise(&world, &p[1], "kernel", "acme.thrice/1");
  promise(&world, &p[2], "kernel", "acme.twice/1");
  promise(&world, &p[2], "kernel", "acme.twice/1");
  promise(&world, &p[3], "kernel", "*");
  promise(&world, &p[3], "oracle", "*");
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.twice/1", 0, world.sink, NULL, 0), 3);
  EXPECT_TEXT(world.messages.text, "alpha\nzeta\ngamma\n");
  EXPECT(tenon__catalog_operator(world.catalog, "acme.thrice/1", world.sink) == NULL);
  EXPECT_INT(p[1].calls, 0);
  EXPECT_INT(tenon__catalog_kernels(world.catalog, NULL, 0, world.sink, NULL, 0), 4);
  EXPECT_INT(tenon__catalog_kernels(world.catalog, NULL, 0, world.sink, NULL, 0), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_INT(p[i].calls, 1);
  }
  EXPECT(tenon__catalog_owner(world.catalog, "alpha") == &p[2].owner);
  EXPECT(tenon__catalog_owner(world.catalog, "omega") == NULL);
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(a_failure_is_remembered) {
  world_t world;
  promiser_t p;
  begin(&world);
  make_promiser(&p, "acme", takes_twice);
  p.status = TENON_ERROR_DEVICE;
  promise(&world, &p, "kernel", "acme.twice/1");
  for (int i = 0; i < 3; ++i) {
    EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.twice/1", 0, world.sink, NULL, 0), 0);
    EXPECT_STATUS(tenon__catalog_make_ready(world.catalog, &p.owner, world.sink),
                  TENON_ERROR_DEVICE);
    EXPECT(tenon__catalog_kernel(world.catalog, "acme", "k", world.sink) == NULL);
  }
  EXPECT_INT(p.calls, 1);
  tenon__catalog_destroy(world.catalog);
}

static void* look_up(void* user) {
  world_t* world = user;
  uint32_t count = 0;
  for (int i = 0; i < 100; ++i) {
    count = tenon__catalog_kernels(world->catalog, "acme.twice/1", 0, NULL, NULL, 0);
    if (count != 2) {
      break;
    }
  }
  return count == 2 ? world : NULL;
}

TENON_TEST(several_threads_look_up) {
  world_t world;
  promiser_t p[2];
  pthread_t threads[4];
  begin(&world);
  for (int i = 0; i < 2; ++i) {
    make_promiser(&p[i], i == 0 ? "a" : "b", takes_twice);
    promise(&world, &p[i], "kernel", "acme.twice/1");
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT(pthread_create(&threads[i], NULL, look_up, &world) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    void* result = NULL;
    (void)pthread_join(threads[i], &result);
    EXPECT(result == &world);
  }
  EXPECT_INT(p[0].calls + p[1].calls, 2);
  tenon__catalog_destroy(world.catalog);
}

/* ---- Memory ---- */

static bool fill(tenon_allocator_t allocator, void* user) {
  tenon__catalog_t* catalog = NULL;
  const tenon_operator_t op = make_operator("acme.twice/1", twice);
  const tenon_converter_t converter = make_converter("", "Twice", 1, 0);
  const tenon_offering_t offerings[] = {
      {sizeof(offerings[0]), "operator/1", {&op, 1, sizeof(op)}},
      {sizeof(offerings[0]), "converter/1", {&converter, 1, sizeof(converter)}}};
  promiser_t p;
  (void)user;
  make_promiser(&p, "acme", takes_both);
  if (tenon__catalog_create(allocator, &catalog) != TENON_OK) {
    return false;
  }
  const bool good =
      tenon__catalog_add(catalog, &bond, &offerings[0], NULL) == TENON_OK &&
      tenon__catalog_add(catalog, &bond, &offerings[1], NULL) == TENON_OK &&
      tenon__catalog_promise(catalog, &p.owner, "kernel", "acme.thrice/1") == TENON_OK &&
      tenon__catalog_kernels(catalog, "acme.thrice/1", 0, NULL, NULL, 0) == 1 &&
      tenon__catalog_operator(catalog, "acme.twice/1", NULL) != NULL;
  tenon__catalog_destroy(catalog);
  return good;
}

TENON_TEST(gives_everything_back_when_memory_is_out) {
  tenon__test_each_allocation(fill, NULL);
}
