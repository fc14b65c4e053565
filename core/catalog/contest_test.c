/* Two who offer one thing: who stays, whatever the order in which they come. */
#include "core/catalog/test_catalog.h"

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
    .plugin = "fmt", .version = "1", .path = "/lib/fmt.so", .is_installed = true, .search_rank = 3};
static const tenon__owner_t earlier = {
    .plugin = "zorg", .version = "1", .path = "/1", .search_rank = 10};
static const tenon__owner_t later = {
    .plugin = "alia", .version = "1", .path = "/2", .search_rank = 11};

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
  const tenon__converter_entry_t* converter = first_converter(world, "", "Twice", 5);
  const tenon__parser_entry_t* parser = tenon__catalog_parser(world->catalog, "fmt", NULL);
  REQUIRE(converter != NULL && parser != NULL);
  EXPECT_TEXT(converter->owner->plugin, plugin);
  EXPECT_TEXT(parser->owner->plugin, plugin);
  EXPECT_INT(tenon__catalog_all(world->catalog, TENON_OFFER_CONVERTER, NULL, NULL, 0), 2);
  EXPECT_INT(tenon__catalog_all(world->catalog, TENON_OFFER_PARSER, NULL, NULL, 0), 1);
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
    EXPECT_CONTAINS(
        world.messages.text,
        "plugin zorg (/1): operator 'fmt.twice/1': its domain belongs to plugin fmt "
        "(/lib/fmt.so), which defines it otherwise: case 'y = x + x', here case 'y = x "
        "* 3'; kernels, patterns and rewrites of plugin zorg that name it are not used; "
        "it is left out\n");
    EXPECT_CONTAINS(world.messages.text,
                    "plugin zorg (/1): parser 'fmt': plugin fmt (/lib/fmt.so) offers one of that "
                    "name; it is left out\n");
    EXPECT_CONTAINS(
        world.messages.text,
        "plugin zorg (/1): converter 'fmt::Twice': plugin fmt (/lib/fmt.so) has one for "
        "versions 2 to 8, which is asked first\n");
    EXPECT_INT(world.messages.count, 3);
    tenon__left_out_t left[4];
    REQUIRE(tenon__catalog_left_out(world.catalog, left, 4) == 2);
    EXPECT_TEXT(left[1].kind, "parser");
    EXPECT_TEXT(left[1].name, "fmt");
    EXPECT_TEXT(left[1].owner->plugin, "zorg");
    EXPECT_CONTAINS(left[1].message, "offers one of that name");
    tenon__catalog_destroy(world.catalog);
  }
}

/* Its converters and parsers are used first; its definition of the library's operator is not. */
TENON_TEST(a_preferred_plugin_takes_precedence) {
  static const tenon__owner_t second = {
      .plugin = "second", .path = "/5", .is_preferred = true, .search_rank = 1};
  static const tenon__owner_t first = {
      .plugin = "first", .path = "/6", .is_preferred = true, .search_rank = 0};
  static const tenon__owner_t* const orders[2][3] = {{&library, &second, &first},
                                                     {&first, &second, &library}};
  for (int round = 0; round < 2; ++round) {
    world_t world;
    begin(&world);
    for (int k = 0; k < 3; ++k) {
      const tenon__owner_t* owner = orders[round][k];
      add_all(&world, owner, owner == &library ? twice : thrice);
    }
    const tenon__operator_t* op = tenon__catalog_operator(world.catalog, "fmt.twice/1", NULL);
    REQUIRE(op != NULL);
    EXPECT_TEXT(op->plugin, "fmt");
    const tenon__converter_entry_t* converter = first_converter(&world, "", "Twice", 5);
    const tenon__parser_entry_t* parser = tenon__catalog_parser(world.catalog, "fmt", NULL);
    REQUIRE(converter != NULL && parser != NULL);
    EXPECT_TEXT(converter->owner->plugin, "first");
    EXPECT_TEXT(parser->owner->plugin, "first");
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

/* ---- Operators of third parties ---- */

static const tenon__owner_t domain_owner = {
    .plugin = "shop", .version = "1", .path = "/3", .search_rank = 12};
static const char* const takes_tax[] = {"shop.tax/1", NULL};

/* An operator and a kernel for it. */
static void add_tax(world_t* world, const tenon__owner_t* owner, const tenon_case_t* meaning) {
  const tenon_operator_t op = make_operator("shop.tax/1", meaning);
  const tenon_kernel_t kernel = make_kernel("tax", takes_tax, 0);
  add(world, owner, "operator/1", &op, 1, sizeof(op));
  add(world, owner, "kernel/1", &kernel, 1, sizeof(kernel));
}

static void expect_tax(const world_t* world, const char* plugin, uint32_t kernel_count) {
  const tenon__operator_t* op = tenon__catalog_operator(world->catalog, "shop.tax/1", NULL);
  REQUIRE(op != NULL);
  EXPECT_TEXT(op->plugin, plugin);
  const tenon__kernel_entry_t* kernels[4];
  REQUIRE(tenon__catalog_kernels(world->catalog, "shop.tax/1", 0, NULL, kernels, 4) ==
          kernel_count);
  EXPECT_TEXT(kernels[kernel_count - 1]->owner->plugin, plugin);
}

TENON_TEST(the_first_on_the_search_path_defines_an_operator) {
  for (int round = 0; round < 2; ++round) {
    world_t world;
    begin(&world);
    add_tax(&world, round == 0 ? &earlier : &later, round == 0 ? twice : thrice);
    add_tax(&world, round == 0 ? &later : &earlier, round == 0 ? thrice : twice);
    expect_tax(&world, "zorg", 1);
    EXPECT_TEXT(world.messages.text,
                "plugin alia (/2): operator 'shop.tax/1': plugin zorg (/1) defines it otherwise: "
                "case 'y = x + x', here case 'y = x * 3'; kernels, patterns and rewrites of plugin "
                "alia that name it are not used; it is left out\n");
    EXPECT_INT(world.messages.severity, TENON_SEVERITY_WARNING);
    EXPECT_TEXT(tenon__catalog_left_out_lines(world.catalog, "/1"), "");
    EXPECT_CONTAINS(tenon__catalog_left_out_lines(world.catalog, "/2"),
                    "operator shop.tax/1: plugin zorg (/1) defines it otherwise: ");
    tenon__catalog_destroy(world.catalog);
  }
}

/* It is last on the search path. Others that mean the same keep their kernels. */
TENON_TEST(a_domain_belongs_to_the_plugin_of_that_name) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const tenon__owner_t* const owners[3] = {&earlier, &later, &domain_owner};
  static const tenon_case_t* const meanings[3] = {twice, thrice, thrice};
  for (int o = 0; o < 6; ++o) {
    world_t world;
    begin(&world);
    for (int i = 0; i < 3; ++i) {
      add_tax(&world, owners[orders[o][i]], meanings[orders[o][i]]);
    }
    expect_tax(&world, "shop", 2);
    EXPECT_CONTAINS(
        tenon__catalog_left_out_lines(world.catalog, "/1"),
        orders[o][0] == 2 || (orders[o][0] == 1 && orders[o][1] == 2)
            ? "its domain belongs to plugin shop (/3), which defines it otherwise: case "
              "'y = x * 3', here case 'y = x + x'; "
            : "case 'y = x * 3', here case 'y = x + x'; ");
    EXPECT_TEXT(tenon__catalog_left_out_lines(world.catalog, "/3"), "");
    EXPECT_TEXT(tenon__catalog_left_out_lines(world.catalog, "/4"), "");
    /* Nor does another plugin add operators to it. */
    const tenon_operator_t more = make_operator("shop.more/1", twice);
    add(&world, &earlier, "operator/1", &more, 1, sizeof(more));
    EXPECT(tenon__catalog_operator(world.catalog, "shop.more/1", NULL) == NULL);
    EXPECT_CONTAINS(world.messages.text,
                    "plugin zorg (/1): operator 'shop.more/1': its domain belongs to plugin shop "
                    "(/3); it is left out\n");
    tenon__catalog_destroy(world.catalog);
  }
}

TENON_TEST(what_is_left_out_is_one_line_for_each_offer) {
  world_t world;
  begin(&world);
  tenon_rewrite_t rewrites[] = {{.size = sizeof(rewrites[0]), .name = "two\nlines \x1b"},
                                {.size = sizeof(rewrites[0]), .name = "another"}};
  rewrites[0].pattern = "y = shop.tax/1(x)";
  rewrites[1].pattern = "y = shop.tax/1(x)";
  add(&world, &later, "rewrite/1", rewrites, 2, sizeof(rewrites[0]));
  EXPECT_TEXT(tenon__catalog_left_out_lines(world.catalog, "/2"),
              "rewrite two lines \\x1b: lacks a pattern, or what replaces it\n"
              "rewrite another: lacks a pattern, or what replaces it\n");
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
    /* Versions that no other plugin has are no contest. */
    const tenon_converter_t newer = make_converter("", "Twice", 9, 0);
    add(&world, &later, "converter/1", &newer, 1, sizeof(newer));
    EXPECT_INT(world.messages.count, 2);
    EXPECT_TEXT(first_converter(&world, "", "Twice", 12)->owner->plugin, "alia");
    tenon__catalog_destroy(world.catalog);
  }
}

/* ---- Converters ---- */

typedef struct range_t {
  const tenon__owner_t* owner;
  int64_t since;
  int64_t until;
} range_t;

/* "fmt zorg ": the plugins in the order in which their converters are asked. */
static void list_converters(const world_t* world, int64_t version, char* out_plugins, size_t size) {
  const tenon__node_key_t key = {"fmt", "", "Twice", version};
  const tenon__converter_entry_t* entries[3] = {NULL};
  size_t used = 0;
  const uint32_t count = tenon__catalog_converters(world->catalog, &key, NULL, entries, 3);
  out_plugins[0] = '\0';
  for (uint32_t i = 0; i < count; ++i) {
    used += (size_t)snprintf(out_plugins + used, size - used, "%s ", entries[i]->owner->plugin);
  }
  const tenon__converter_entry_t* first = first_converter(world, "", "Twice", version);
  EXPECT(first == entries[0]);
}

TENON_TEST(converters_are_asked_in_one_order_whatever_the_order_of_loading) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const range_t ranges[2][3] = {{{&later, 1, 6}, {&earlier, 1, 11}, {&library, 6, 11}},
                                       {{&later, 1, 0}, {&earlier, 3, 6}, {&library, 5, 9}}};
  static const char* const expected[2][10] = {
      {"zorg alia ", "zorg alia ", "zorg alia ", "zorg alia ", "zorg alia ", "fmt zorg ",
       "fmt zorg ", "fmt zorg ", "fmt zorg ", "fmt zorg "},
      {"alia ", "alia ", "zorg alia ", "zorg alia ", "fmt zorg alia ", "fmt alia ", "fmt alia ",
       "fmt alia ", "alia ", "alia "}};
  for (int k = 0; k < 12; ++k) {
    world_t world;
    begin(&world);
    for (int i = 0; i < 3; ++i) {
      const range_t* range = &ranges[k % 2][orders[k / 2][i]];
      const tenon_converter_t c = make_converter("", "Twice", range->since, range->until);
      add(&world, range->owner, "converter/1", &c, 1, sizeof(c));
    }
    for (int version = 1; version <= 10; ++version) {
      char plugins[64];
      list_converters(&world, version, plugins, sizeof(plugins));
      EXPECT_TEXT(plugins, expected[k % 2][version - 1]);
    }
    EXPECT_INT(tenon__catalog_left_out(world.catalog, NULL, 0), 0);
    tenon__catalog_destroy(world.catalog);
  }
}

/* The domain is theirs, also while nobody has a good definition. */
TENON_TEST(a_faulty_definition_opens_no_domain) {
  for (int round = 0; round < 2; ++round) {
    world_t world;
    begin(&world);
    const tenon_operator_t good = make_operator("fmt.thrice/1", thrice);
    const tenon_operator_t bad = make_operator("fmt.thrice/1", faulty);
    const tenon_operator_t own = make_operator("fmt.twice/1", twice);
    add(&world, &library, "operator/1", &own, 1, sizeof(own));
    add(&world, round == 0 ? &library : &later, "operator/1", &bad, 1, sizeof(bad));
    add(&world, &earlier, "operator/1", &good, 1, sizeof(good));
    EXPECT(tenon__catalog_operator(world.catalog, "fmt.thrice/1", NULL) == NULL);
    EXPECT_CONTAINS(world.messages.text,
                    "plugin zorg (/1): operator 'fmt.thrice/1': its domain belongs to plugin fmt");
    add(&world, &library, "operator/1", &good, 1, sizeof(good));
    EXPECT(tenon__catalog_operator(world.catalog, "fmt.thrice/1", NULL) != NULL);
    tenon__catalog_destroy(world.catalog);
  }
}
