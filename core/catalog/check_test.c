/* Texts over several operators: what is wrong with them is told with plugin, name, text and column,
 * and what has a fault is not found any more. */
#include "core/catalog/check.h"
#include "core/catalog/test_catalog.h"

static const tenon_attribute_descriptor_t attributes[] = {{.size = sizeof(*attributes),
                                                           .name = "factor",
                                                           .default_text = "2",
                                                           .kind = TENON_ATTRIBUTE_FLOAT},
                                                          {.size = sizeof(*attributes),
                                                           .name = "mode",
                                                           .default_text = "'a'",
                                                           .kind = TENON_ATTRIBUTE_STRING}};

static void fill(world_t* world) {
  tenon_operator_t operators[] = {make_operator("acme.twice/1", twice),
                                  make_operator("acme.thrice/1", thrice)};
  operators[1].attributes = (tenon_list_t)TENON_LIST(attributes);
  add(world, &acme, "operator/1", operators, 2, sizeof(operators[0]));
}

typedef struct text_row_t {
  const char* pattern;
  const char* when;
  const char* replacement;
  const char* message;
} text_row_t;

#define RIGHT "y = acme.twice/1(x)"

static const text_row_t rows[] = {
    {"y = = x", NULL, RIGHT,
     "its pattern \"y = = x\": column 5: expected an operator, found \"=\""},
    {"", NULL, RIGHT, "its pattern \"\": column 1: it is empty"},
    {"y = acme.twcie/1(x)", NULL, RIGHT,
     "column 5: no plugin offers operator acme.twcie/1; near it: 'acme.twice/1'"},
    {"y = acme.twice/1(x, x)", NULL, RIGHT, "column 21: acme.twice/1 has 1 input;"},
    {"y, z = acme.twice/1(x)", NULL, RIGHT,
     "column 8: the last statement of a pattern has one result"},
    {"y, z = acme.twice/1(x); w = acme.twice/1(y)", NULL, RIGHT,
     "column 8: acme.twice/1 has 1 output;"},
    {"y = acme.thrice/1(x){fator=2}", NULL, RIGHT,
     "column 22: acme.thrice/1 has no attribute 'fator'; near it: 'factor'"},
    {"y = acme.thrice/1(x){factor='a'}", NULL, RIGHT,
     "column 29: attribute 'factor' of acme.thrice/1 is of kind float"},
    {RIGHT, "rnak(x) == 2", RIGHT, "its guard \"rnak(x) == 2\": column 1: unknown function 'rnak'"},
    {RIGHT, "rank(z) == 2", RIGHT,
     "column 6: unknown name 'z': no input, attribute or let above has it"},
    {RIGHT, "rank(x) == ", RIGHT, "its guard \"rank(x) == \": column 12: expected an expression"},
    {RIGHT, NULL, "y = x", "its replacement \"y = x\": column 6: expected \"(\""},
    {RIGHT, NULL, "y = acme.absent/1(x)", "column 5: no plugin offers operator acme.absent/1;"},
    {RIGHT, NULL, "y = acme.twice/1(z)",
     "column 18: 'z' is neither in the pattern nor an earlier result"},
    {RIGHT, NULL, "y = acme.thrice/1(x){factor=f}",
     "column 29: attribute 'factor' of acme.thrice/1 is of kind float; this is neither one nor the "
     "name"},
    {RIGHT, NULL, "t = acme.twice/1(x); y = acme.thrice/1(t){factor=2, mode='b'}", NULL},
    {"y = acme.thrice/1(x){factor=f, mode=m}", "f == 2 && m == 'b' && dtype(x) == 'f32'",
     "t = acme.twice/1(x); y = acme.thrice/1(t){factor=f, mode=m}", NULL},
    {"t = acme.twice/1(x); y = acme.twice/1(t)", "rank(t) == rank(x)", "y = acme.twice/1(t)", NULL},
};

TENON_TEST(a_rewrite_with_a_fault_is_left_out) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    world_t world;
    begin(&world);
    fill(&world);
    const tenon_rewrite_t rewrite = {.size = sizeof(rewrite),
                                     .name = "tidy",
                                     .pattern = rows[i].pattern,
                                     .when = rows[i].when,
                                     .replacement = rows[i].replacement};
    const bool is_right = rows[i].message == NULL;
    add(&world, &bond, "rewrite/1", &rewrite, 1, sizeof(rewrite));
    EXPECT_INT(tenon__catalog_all(world.catalog, TENON_OFFER_REWRITE, NULL, NULL, 0), 1);
    for (int round = 0; round < 2; ++round) { /* told once */
      EXPECT_STATUS(tenon__catalog_check_texts(world.catalog, world.sink), TENON_OK);
      EXPECT_INT(tenon__catalog_all(world.catalog, TENON_OFFER_REWRITE, NULL, NULL, 0),
                 is_right ? 1 : 0);
      EXPECT_INT(world.messages.count, is_right ? 0 : 1);
    }
    tenon__left_out_t left;
    EXPECT_INT(tenon__catalog_left_out(world.catalog, &left, 1), is_right ? 0 : 1);
    if (!is_right) {
      EXPECT_CONTAINS(world.messages.text, "plugin bond (/bond.so): rewrite 'tidy': its ");
      EXPECT_CONTAINS(world.messages.text, rows[i].message);
      EXPECT_TEXT(left.name, "tidy");
    }
    tenon__catalog_destroy(world.catalog);
  }
}

TENON_TEST(a_kernel_whose_pattern_has_a_fault_is_left_out) {
  world_t world;
  begin(&world);
  fill(&world);
  tenon_kernel_t kernels[] = {make_kernel("good", NULL, 0), make_kernel("cut", takes_twice, 0),
                              make_kernel("absent", NULL, 0)};
  kernels[0].pattern = "t = acme.twice/1(x); y = acme.twice/1(t)";
  kernels[1].pattern = "t = acme.twice/1(x; y = acme.twice/1(t)";
  kernels[2].pattern = "y = other.gone/1(x)";
  add(&world, &bond, "kernel/1", kernels, 3, sizeof(kernels[0]));
  for (int round = 0; round < 2; ++round) {
    EXPECT_STATUS(tenon__catalog_check_texts(world.catalog, world.sink), TENON_OK);
    EXPECT_INT(world.messages.count, 2);
  }
  EXPECT_CONTAINS(world.messages.text,
                  "plugin bond (/bond.so): kernel 'cut': its pattern \"t = acme.twice/1(x; y = "
                  "acme.twice/1(t)\": column 19: expected \",\", found \";\"; it is left out\n");
  EXPECT_CONTAINS(
      world.messages.text,
      "kernel 'absent': its pattern \"y = other.gone/1(x)\": column 5: no plugin offers "
      "operator other.gone/1; it is left out\n");
  const tenon__kernel_entry_t* entries[4];
  REQUIRE(tenon__catalog_kernels(world.catalog, "*", 0, NULL, entries, 4) == 1);
  EXPECT_TEXT(entries[0]->kernel.name, "good");
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "acme.twice/1", 0, NULL, NULL, 0), 0);
  tenon__catalog_destroy(world.catalog);
}

/* They mean another operator. The message about the operator says so. */
TENON_TEST(texts_of_a_plugin_whose_definition_is_left_out_are_left_out) {
  world_t world;
  begin(&world);
  fill(&world);
  const tenon_operator_t other = make_operator("acme.twice/1", thrice);
  tenon_kernel_t kernel = make_kernel("pair", NULL, 0);
  kernel.pattern = "t = acme.twice/1(x); y = acme.twice/1(t)";
  const tenon_rewrite_t rewrites[] = {
      {.size = sizeof(rewrites[0]), .name = "theirs", .pattern = RIGHT, .replacement = RIGHT},
      {.size = sizeof(rewrites[0]),
       .name = "another",
       .pattern = "y = acme.thrice/1(x){factor=1}",
       .replacement = "y = acme.thrice/1(x){factor=1}"}};
  add(&world, &bond, "operator/1", &other, 1, sizeof(other));
  add(&world, &bond, "kernel/1", &kernel, 1, sizeof(kernel));
  add(&world, &bond, "rewrite/1", rewrites, 2, sizeof(rewrites[0]));
  EXPECT_STATUS(tenon__catalog_check_texts(world.catalog, world.sink), TENON_OK);
  EXPECT_CONTAINS(world.messages.text,
                  "kernels, patterns and rewrites of plugin bond that name it are not used");
  EXPECT_INT(world.messages.count, 1);
  const tenon__rewrite_entry_t* kept[2];
  REQUIRE(tenon__catalog_all(world.catalog, TENON_OFFER_REWRITE, NULL, kept, 2) == 1);
  EXPECT_TEXT(kept[0]->rewrite.name, "another");
  EXPECT_INT(tenon__catalog_kernels(world.catalog, "*", 0, NULL, NULL, 0), 0);
  tenon__catalog_destroy(world.catalog);
}

TENON_TEST(a_verdict_on_a_rewrite_is_kept) {
  world_t world;
  begin(&world);
  fill(&world);
  const tenon_rewrite_t rewrites[] = {
      {.size = sizeof(rewrites[0]), .name = "right", .pattern = RIGHT, .replacement = RIGHT},
      {.size = sizeof(rewrites[0]), .name = "wrong", .pattern = RIGHT, .replacement = RIGHT}};
  const tenon__rewrite_entry_t* entries[2];
  add(&world, &bond, "rewrite/1", rewrites, 2, sizeof(rewrites[0]));
  REQUIRE(tenon__catalog_all(world.catalog, TENON_OFFER_REWRITE, NULL, entries, 2) == 2);
  bool is_refused = true;
  EXPECT(!tenon__catalog_is_tried(world.catalog, entries[0], &is_refused));
  EXPECT(!is_refused);
  tenon__catalog_judge(world.catalog, entries[0], NULL, world.sink);
  tenon__catalog_judge(world.catalog, entries[1], "1 is not 2", world.sink);
  tenon__catalog_judge(world.catalog, entries[1], "1 is not 2", world.sink);
  EXPECT(tenon__catalog_is_tried(world.catalog, entries[0], &is_refused));
  EXPECT(!is_refused);
  EXPECT(tenon__catalog_is_tried(world.catalog, entries[1], &is_refused));
  EXPECT(is_refused);
  EXPECT_TEXT(world.messages.text,
              "plugin bond (/bond.so): rewrite 'wrong': 1 is not 2; it is left out\n");
  EXPECT_INT(tenon__catalog_all(world.catalog, TENON_OFFER_REWRITE, NULL, NULL, 0), 1);
  tenon__catalog_destroy(world.catalog);
}

static bool check(tenon_allocator_t allocator, void* user) {
  world_t world = {0};
  const tenon_rewrite_t rewrite = {
      .size = sizeof(rewrite), .name = "tidy", .pattern = rows[0].pattern, .replacement = RIGHT};
  (void)user;
  const tenon_offering_t offering = {sizeof(offering), "rewrite/1", {&rewrite, 1, sizeof(rewrite)}};
  if (tenon__catalog_create(allocator, &world.catalog) != TENON_OK) {
    return false;
  }
  const bool good = tenon__catalog_add(world.catalog, &bond, &offering, NULL) == TENON_OK &&
                    tenon__catalog_check_texts(world.catalog, NULL) == TENON_OK;
  tenon__catalog_destroy(world.catalog);
  return good;
}

TENON_TEST(memory_that_is_out_is_no_fault_of_a_text) {
  tenon__test_each_allocation(check, NULL);
}
