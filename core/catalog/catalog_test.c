/* The catalogue filled from static descriptors: what stands in it, in which order, and who is asked
 * when. */
#include "core/catalog/catalog.h"

#include <pthread.h>

#include "core/base/test.h"

/* ---- Descriptors ---- */

static const tenon_type_variable_t types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
static const tenon_case_t twice[] = {{.size = sizeof(tenon_case_t), .text = "y = x + x"}};
static const tenon_case_t thrice[] = {{.size = sizeof(tenon_case_t), .text = "y = x * 3"}};
static const tenon_case_t faulty[] = {{.size = sizeof(tenon_case_t), .text = "y = = x"}};

static tenon_operator_t make_operator(const char* name, const tenon_case_t* meaning) {
  return (tenon_operator_t){.size = sizeof(tenon_operator_t),
                            .name = name,
                            .types = types,
                            .inputs = inputs,
                            .outputs = outputs,
                            .cases = meaning,
                            .type_count = 1,
                            .input_count = 1,
                            .output_count = 1,
                            .case_count = 1,
                            TENON_OPERATOR_STRIDES};
}

static tenon_status_t prepare(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, const tenon_tactic_t* tactic,
                              tenon_preparation_t* preparation, const tenon_prepare_table_t* host,
                              void** out_instance) {
  (void)state;
  (void)region;
  (void)table;
  (void)tactic;
  (void)preparation;
  (void)host;
  (void)out_instance;
  return TENON_OK;
}

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */
static tenon_status_t enqueue(void* instance, void* bound, tenon_run_t* run,
                              const tenon_run_table_t* host, const tenon_argument_t* in,
                              uint32_t in_count, const tenon_argument_t* out, uint32_t out_count) {
  (void)instance;
  (void)bound;
  (void)run;
  (void)host;
  (void)in;
  (void)in_count;
  (void)out;
  (void)out_count;
  return TENON_OK;
}

static const char* const takes_twice[] = {"acme.twice/1", NULL};
static const char* const takes_both[] = {"acme.twice/1", "acme.thrice/1", NULL};

static tenon_kernel_t make_kernel(const char* name, const char* const* operators, uint32_t flags) {
  return (tenon_kernel_t){.size = sizeof(tenon_kernel_t),
                          .name = name,
                          .device = "cpu",
                          .operators = operators,
                          .flags = flags,
                          .prepare = prepare,
                          .enqueue = enqueue};
}

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */
static tenon_status_t convert(void* state, const tenon_source_t* source,
                              const tenon_source_table_t* table, tenon_builder_t* builder,
                              const tenon_builder_table_t* build, const tenon_value_t* in,
                              uint32_t in_count, tenon_value_t* out, uint32_t out_count) {
  (void)state;
  (void)source;
  (void)table;
  (void)builder;
  (void)build;
  (void)in;
  (void)in_count;
  (void)out;
  (void)out_count;
  return TENON_OK;
}

static tenon_converter_t make_converter(const char* domain, const char* type, int64_t since,
                                        int64_t until) {
  return (tenon_converter_t){.size = sizeof(tenon_converter_t),
                             .format = "fmt",
                             .domain = domain,
                             .type = type,
                             .since = since,
                             .until = until,
                             .convert = convert};
}

static uint32_t count_devices(void* state, const tenon_sink_t* sink) {
  (void)state;
  (void)sink;
  return 1;
}

static tenon_status_t open_device(void* state, uint32_t index, const tenon_sink_t* sink,
                                  tenon_device_t** out_device) {
  (void)state;
  (void)index;
  (void)sink;
  (void)out_device;
  return TENON_ERROR_UNSUPPORTED;
}

static void close_device(tenon_device_t* device) {
  (void)device;
}

static const char* fingerprint(tenon_device_t* device) {
  (void)device;
  return "";
}

static int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  (void)name;
  return 0;
}

static tenon_status_t allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                               void** out_data) {
  (void)device;
  (void)stream;
  (void)size_bytes;
  (void)out_data;
  return TENON_ERROR_OUT_OF_MEMORY;
}

static void release(tenon_device_t* device, tenon_stream_t* stream, void* data, size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)data;
  (void)size_bytes;
}

static tenon_device_descriptor_t make_device(const char* name, uint32_t flags) {
  return (tenon_device_descriptor_t){.size = sizeof(tenon_device_descriptor_t),
                                     .name = name,
                                     .flags = flags,
                                     .count = count_devices,
                                     .open = open_device,
                                     .close = close_device,
                                     .fingerprint = fingerprint,
                                     .has = has,
                                     .allocate = allocate,
                                     .free = release};
}

/* ---- Filling ---- */

typedef struct world_t {
  tenon__catalog_t* catalog;
  tenon__test_messages_t messages;
  const tenon_sink_t* sink;
} world_t;

static void begin(world_t* world) {
  world->sink = tenon__test_listen(&world->messages);
  EXPECT_STATUS(tenon__catalog_create(tenon__allocator_default(), &world->catalog), TENON_OK);
}

static void add(world_t* world, const tenon__owner_t* owner, const char* kind, const void* items,
                uint32_t count, size_t stride) {
  const tenon_offering_t offering = {sizeof(offering), kind, items, count, (uint32_t)stride};
  EXPECT_STATUS(tenon__catalog_add(world->catalog, owner, &offering, world->sink), TENON_OK);
}

static const tenon__owner_t acme = {.plugin = "acme", .version = "1", .path = ""};
static const tenon__owner_t bond = {.plugin = "bond", .version = "2", .path = "/bond.so"};

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
  const tenon_operator_t bad = make_operator("acme.twice/1", faulty);
  const tenon_operator_t good = make_operator("acme.twice/1", twice);
  add(&world, &acme, "operator/1", &bad, 1, sizeof(bad));
  EXPECT(tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink) == NULL);
  EXPECT_CONTAINS(tenon__catalog_disabled(world.catalog, "acme.twice/1"), "acme.twice/1");
  add(&world, &bond, "operator/1", &good, 1, sizeof(good));
  const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->plugin, "bond");
  add(&world, &acme, "operator/1", &bad, 1, sizeof(bad));
  EXPECT(tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink) == op);
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(different_definitions_disable_the_operator) {
  world_t world;
  begin(&world);
  const tenon_operator_t first = make_operator("acme.twice/1", twice);
  const tenon_operator_t second = make_operator("acme.twice/1", thrice);
  add(&world, &acme, "operator/1", &first, 1, sizeof(first));
  add(&world, &bond, "operator/1", &first, 1, sizeof(first));
  EXPECT(tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink) != NULL);
  add(&world, &bond, "operator/1", &second, 1, sizeof(second));
  EXPECT(tenon__catalog_operator(world.catalog, "acme.twice/1", world.sink) == NULL);
  EXPECT_CONTAINS(tenon__catalog_disabled(world.catalog, "acme.twice/1"), "bond 2 (/bond.so)");
  EXPECT_INT(tenon__catalog_operators(world.catalog, world.sink, NULL, 0), 0);
  tenon__catalog_destroy(world.catalog);
}

/* ---- Kernels ---- */

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
  EXPECT_CONTAINS(world.messages.text, "kernel 'a': is there twice");
  EXPECT_CONTAINS(world.messages.text, "kernel 'b': names no operator");
  EXPECT_CONTAINS(world.messages.text, "kernel 'c': lacks enqueue");
  EXPECT_CONTAINS(world.messages.text, "kernel 'number 5'");

  const tenon_device_descriptor_t devices[] = {
      make_device("host", TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM),
      make_device("far", TENON_DEVICE_INLINE_STREAM),
      make_device("queue", TENON_DEVICE_HOST_MEMORY)};
  add(&world, &acme, "device/1", devices, 3, sizeof(devices[0]));
  EXPECT_INT(tenon__catalog_devices(world.catalog, world.sink, NULL, 0), 1);
  EXPECT(tenon__catalog_device(world.catalog, "host", NULL) != NULL);
  EXPECT(tenon__catalog_device(world.catalog, "far", NULL) == NULL);
  EXPECT_CONTAINS(world.messages.text, "device 'far': has memory of its own");
  EXPECT_CONTAINS(world.messages.text, "device 'queue': has streams");
  add(&world, &bond, "device/1", devices, 1, sizeof(devices[0]));
  EXPECT_CONTAINS(world.messages.text,
                  "plugin bond (/bond.so): device 'host': plugin acme () offers one of that name");
  EXPECT_INT(tenon__catalog_devices(world.catalog, NULL, NULL, 0), 1);
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
    const tenon__converter_entry_t* entry = tenon__catalog_converter(
        world.catalog, "fmt", rows[i].domain, "Twice", rows[i].version, world.sink);
    REQUIRE(entry != NULL);
    EXPECT_INT(entry->converter.since, rows[i].since);
  }
  EXPECT(tenon__catalog_converter(world.catalog, "fmt", "", "Twice", 0, NULL) == NULL);
  EXPECT(tenon__catalog_converter(world.catalog, "fmt", "acme", "Twice", 5, NULL) != NULL);
  EXPECT(tenon__catalog_converter(world.catalog, "other", "", "Twice", 5, NULL) == NULL);
  char type[2048];
  memset(type, 'x', sizeof(type) - 1);
  type[sizeof(type) - 1] = '\0';
  EXPECT(tenon__catalog_converter(world.catalog, "fmt", "", type, 5, NULL) == NULL);
  EXPECT_INT(tenon__catalog_converters(world.catalog, NULL, NULL, 0), 4);
  tenon__catalog_destroy(world.catalog);
}

/* ---- Two who offer one thing ---- */

static int32_t sniff(void* state, const void* data, size_t size_bytes, const char* file_name) {
  (void)state;
  (void)data;
  (void)size_bytes;
  (void)file_name;
  return 0;
}

static tenon_status_t parse(void* state, tenon_parse_t* parsing, const tenon_parse_table_t* host,
                            tenon_builder_t* builder, const tenon_builder_table_t* build) {
  (void)state;
  (void)parsing;
  (void)host;
  (void)builder;
  (void)build;
  return TENON_OK;
}

static const tenon__owner_t library = {
    .plugin = "fmt", .version = "1", .path = "/lib/fmt.so", .is_installed = true, .place = 3};
static const tenon__owner_t earlier = {.plugin = "zorg", .version = "1", .path = "/1", .place = 10};
static const tenon__owner_t later = {.plugin = "alia", .version = "1", .path = "/2", .place = 11};

/* An operator, a converter and a parser that others have as well; the definition may be another. */
static void add_all(world_t* world, const tenon__owner_t* owner, const tenon_case_t* meaning) {
  const tenon_operator_t op = make_operator("fmt.twice/1", meaning);
  const tenon_converter_t converter = make_converter("", "Twice", 2, 9);
  const tenon_parser_t parser = {
      .size = sizeof(parser), .format = "fmt", .sniff = sniff, .parse = parse};
  add(world, owner, "operator/1", &op, 1, sizeof(op));
  add(world, owner, "converter/1", &converter, 1, sizeof(converter));
  add(world, owner, "parser/1", &parser, 1, sizeof(parser));
}

static void expect_winner(const world_t* world, const char* plugin) {
  const tenon__converter_entry_t* converter =
      tenon__catalog_converter(world->catalog, "fmt", "", "Twice", 5, NULL);
  const tenon__parser_entry_t* parser = tenon__catalog_parser(world->catalog, "fmt", NULL);
  REQUIRE(converter != NULL && parser != NULL);
  EXPECT_TEXT(converter->owner->plugin, plugin);
  EXPECT_TEXT(parser->owner->plugin, plugin);
  EXPECT_INT(tenon__catalog_converters(world->catalog, NULL, NULL, 0), 1);
  EXPECT_INT(tenon__catalog_parsers(world->catalog, NULL, NULL, 0), 1);
}

TENON_TEST(what_ships_with_the_library_keeps_its_names) {
  for (int round = 0; round < 2; ++round) {
    world_t world;
    begin(&world);
    add_all(&world, round == 0 ? &library : &earlier, round == 0 ? twice : thrice);
    add_all(&world, round == 0 ? &earlier : &library, round == 0 ? thrice : twice);
    const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "fmt.twice/1", NULL);
    REQUIRE(op != NULL);
    EXPECT_TEXT(op->plugin, "fmt");
    expect_winner(&world, "fmt");
    EXPECT_CONTAINS(world.messages.text,
                    "plugin zorg (/1): operator 'fmt.twice/1': plugin fmt (/lib/fmt.so) defines it "
                    "otherwise; it is left out\n");
    EXPECT_CONTAINS(
        world.messages.text,
        "plugin zorg (/1): converter 'fmt::Twice': plugin fmt (/lib/fmt.so) has one for "
        "versions 2 to 8; it is left out\n");
    EXPECT_CONTAINS(world.messages.text,
                    "plugin zorg (/1): parser 'fmt': plugin fmt (/lib/fmt.so) offers one of that "
                    "name; it is left out\n");
    EXPECT_INT(world.messages.count, 3);
    tenon__left_out_t left[4];
    REQUIRE(tenon__catalog_left_out(world.catalog, left, 4) == 3);
    EXPECT_TEXT(left[1].kind, "converter");
    EXPECT_TEXT(left[1].name, "fmt::Twice");
    EXPECT_TEXT(left[1].owner->plugin, "zorg");
    EXPECT_CONTAINS(left[1].words, "versions 2 to 8");
    tenon__catalog_destroy(world.catalog);
  }
}

TENON_TEST(a_domain_of_the_library_takes_no_other_operators) {
  world_t world;
  begin(&world);
  const tenon_operator_t theirs = make_operator("fmt.thrice/1", thrice);
  const tenon_operator_t same = make_operator("fmt.twice/1", twice);
  add_all(&world, &library, twice);
  add(&world, &earlier, "operator/1", &theirs, 1, sizeof(theirs));
  EXPECT(tenon__catalog_operator(world.catalog, "fmt.thrice/1", NULL) == NULL);
  EXPECT_TEXT(world.messages.text,
              "plugin zorg (/1): operator 'fmt.thrice/1': its domain belongs to plugin fmt "
              "(/lib/fmt.so); it is left out\n");
  add(&world, &earlier, "operator/1", &same, 1, sizeof(same)); /* the same definition: fine */
  EXPECT_INT(world.messages.count, 1);
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(among_others_the_first_on_the_search_path_stays) {
  for (int round = 0; round < 2; ++round) {
    world_t world;
    begin(&world);
    add_all(&world, round == 0 ? &earlier : &later, twice);
    add_all(&world, round == 0 ? &later : &earlier, twice);
    expect_winner(&world, "zorg");
    EXPECT(tenon__catalog_operator(world.catalog, "fmt.twice/1", NULL) != NULL);
    EXPECT_CONTAINS(world.messages.text,
                    "plugin alia (/2): converter 'fmt::Twice': plugin zorg (/1)");
    EXPECT_CONTAINS(world.messages.text, "plugin alia (/2): parser 'fmt': plugin zorg (/1)");
    EXPECT_INT(world.messages.count, 2);
    /* Versions that nobody else takes are no contest. */
    const tenon_converter_t newer = make_converter("", "Twice", 9, 0);
    add(&world, &later, "converter/1", &newer, 1, sizeof(newer));
    EXPECT_INT(world.messages.count, 2);
    EXPECT_TEXT(
        tenon__catalog_converter(world.catalog, "fmt", "", "Twice", 12, NULL)->owner->plugin,
        "alia");
    tenon__catalog_destroy(world.catalog);
  }
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
  const tenon_offering_t offering = {sizeof(offering), "kernel/1", &promiser->kernel, 1,
                                     sizeof(promiser->kernel)};
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
  const tenon__owner_t* owners[8];
  EXPECT_INT(tenon__catalog_owners(world.catalog, owners, 8), 4);
  EXPECT_TEXT(owners[0]->plugin, "zeta");
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
      {sizeof(offerings[0]), "operator/1", &op, 1, sizeof(op)},
      {sizeof(offerings[0]), "converter/1", &converter, 1, sizeof(converter)}};
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
