/* Two regions that differ in one thing: does the signature see it? */
#include "core/region/region_signature.h"
#include "core/base/status.h"
#include "core/base/test.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/region/region.h"
#include "core/region/region_finish.h"

/* What a region of one node, y = op(x, w), is made of. */
typedef struct recipe_t {
  const char* names; /* prefix of all names */
  uint32_t unused_values;
  const char* op;
  uint8_t contract;
  int64_t attribute;
  const char* mode;
  tenon_dtype_t dtype;
  int64_t min;
  int64_t max;
  bool w_is_constant;
  uint32_t w_extent;
  float w_first;
  bool swapped;
  /* Slot: max(value + x, constant), x perhaps transposed. */
  bool has_slot;
  double slot_constant;
  bool slot_transposed;
  uint16_t slot_opcode;
} recipe_t;

static const recipe_t plain = {.names = "a",
                               .op = "test.thing/1",
                               .contract = 1,
                               .attribute = 3,
                               .mode = "fast",
                               .dtype = TENON_DTYPE_FLOAT32,
                               .min = 1,
                               .max = 8,
                               .w_extent = 4,
                               .slot_constant = 0.5,
                               .slot_opcode = TENON_OPCODE_ADD};

typedef struct kitchen_t {
  const recipe_t* recipe;
  tenon__network_t* network;
  tenon__arena_t arena;
  tenon_dim_t batch;
  uint32_t x;
  uint32_t w;
  uint32_t y;
  float data[8];
} kitchen_t;

static uint32_t add_value(kitchen_t* k, const char* name, const tenon_dim_t* dims) {
  uint32_t value = 0;
  const char* full = tenon__arena_format(&k->arena, "%s_%s", k->recipe->names, name);
  EXPECT_STATUS(tenon__graph_add_value(k->network, 0, full, &value), TENON_OK);
  tenon__value_node_t* v = &k->network->graphs[0]->values[value];
  v->type.dtype = k->recipe->dtype;
  v->type.rank = 2;
  v->type.dims = tenon__arena_copy(&k->arena, dims, 2 * sizeof *dims);
  return value;
}

static void add_values(kitchen_t* k) {
  const recipe_t* r = k->recipe;
  tenon__dim_pool_t* pool = k->network->pool;
  const tenon__symbol_t symbol = {.kind = TENON_SYMBOL_INPUT,
                                  .name = r->names,
                                  .min = 0,
                                  .max = INT64_MAX,
                                  .bound = TENON_DIM_INVALID};
  k->batch = tenon__dim_symbol(pool, &symbol);
  const tenon_dim_t square[2] = {k->batch, k->batch};
  const tenon_dim_t small[2] = {tenon__dim_constant(pool, 1),
                                tenon__dim_constant(pool, (int64_t)r->w_extent)};
  for (uint32_t i = 0; i < r->unused_values; ++i) {
    (void)add_value(k, "unused", square);
  }
  k->x = add_value(k, "x", square);
  k->w = add_value(k, "w", small);
  k->y = add_value(k, "y", square);
  if (r->w_is_constant) {
    static const int64_t row_of_four[2] = {1, 4};
    static const int64_t one_by_one[2] = {1, 1};
    k->data[0] = r->w_first;
    const tenon__weights_t weights = {.name = r->names,
                                      .dtype = r->dtype,
                                      .rank = 2,
                                      .dims = r->w_extent == 1 ? one_by_one : row_of_four,
                                      .data = k->data,
                                      .size_bytes = r->w_extent * sizeof(float)};
    EXPECT_STATUS(tenon__network_add_weights(k->network, &weights,
                                             &k->network->graphs[0]->values[k->w].weights),
                  TENON_OK);
  }
}

static tenon_status_t fill_slot(kitchen_t* k, struct tenon_region_t* region) {
  const recipe_t* r = k->recipe;
  const tenon_dim_t square[2] = {k->batch, k->batch};
  const tenon_dim_t c0 = tenon__dim_coordinate(k->network->pool, 0, k->batch);
  const tenon_dim_t c1 = tenon__dim_coordinate(k->network->pool, 1, k->batch);
  const tenon_dim_t straight[2] = {c0, c1};
  const tenon_dim_t transposed[2] = {c1, c0};
  const tenon_instruction_t instructions[4] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32, .immediate.i = 0},
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32, .immediate.i = 1},
      {.opcode = r->slot_opcode, .dtype = TENON_DTYPE_FLOAT32, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_CONSTANT,
       .dtype = TENON_DTYPE_FLOAT32,
       .immediate.f = r->slot_constant},
  };
  const tenon_operand_t operands[2] = {
      {.kind = TENON_OPERAND_SLOT_VALUE, .dtype = r->dtype},
      {.kind = TENON_OPERAND_ARGUMENT, .index = k->x, .dtype = r->dtype}};
  const tenon_program_output_t outputs[1] = {{.instruction = 2, .dtype = r->dtype}};
  const tenon__access_t accesses[2] = {
      {.rank = 2, .coordinates = straight},
      {.rank = 2, .coordinates = r->slot_transposed ? transposed : straight}};
  const tenon__expression_t expression = {.program = {.instructions = instructions,
                                                      .operands = operands,
                                                      .outputs = outputs,
                                                      .instruction_count = 4,
                                                      .operand_count = 2,
                                                      .output_count = 1,
                                                      .rank = 2},
                                          .accesses = accesses,
                                          .space = square};
  /* The region borrows what the expression points to: into the arena with it. */
  tenon__expression_t own = expression;
  own.program.instructions = tenon__arena_copy(&k->arena, instructions, sizeof instructions);
  tenon__access_t* own_accesses = tenon__arena_copy(&k->arena, accesses, sizeof accesses);
  for (int i = 0; i < 2; ++i) {
    own_accesses[i].coordinates =
        tenon__arena_copy(&k->arena, accesses[i].coordinates, sizeof straight);
  }
  own.accesses = own_accesses;
  own.space = tenon__arena_copy(&k->arena, square, sizeof square);
  const tenon__slot_filling_t filling = {
      .kind = TENON_SLOT_EPILOGUE, .expression = &own, .value = k->y};
  return tenon__region_fill_slot(&k->arena, region, &filling);
}

static tenon_status_t make_profile(kitchen_t* k, tenon__profile_t* profile) {
  tenon__extents_t* points[3] = {&profile->min, &profile->optimum, &profile->max};
  const int64_t values[3] = {k->recipe->min, k->recipe->min, k->recipe->max};
  for (int i = 0; i < 3; ++i) {
    TENON_TRY(tenon__extents_create(&k->arena, k->network->pool, points[i]));
    tenon__extents_set(points[i], tenon__dim_get(k->network->pool, k->batch).index, values[i]);
    tenon__extents_update(points[i]);
  }
  return TENON_OK;
}

static tenon__digest_t sign(const recipe_t* recipe) {
  kitchen_t k = {.recipe = recipe};
  tenon__arena_initialize(&k.arena, tenon__allocator_default());
  EXPECT_STATUS(tenon__network_create(tenon__allocator_default(), &k.network), TENON_OK);
  add_values(&k);
  const tenon__operator_t op = {.name = recipe->op, .contract = {{recipe->contract}}};
  const tenon__scope_attribute_t attributes[2] = {
      {.name = "group", .kind = TENON_ATTRIBUTE_INT, .integer = recipe->attribute},
      {.name = "mode", .kind = TENON_ATTRIBUTE_STRING, .string = recipe->mode}};
  uint32_t inputs[2] = {recipe->swapped ? k.w : k.x, recipe->swapped ? k.x : k.w};
  uint32_t outputs[1] = {k.y};
  tenon__node_t node = {.name = recipe->names,
                        .alive = true,
                        .op = &op,
                        .input_count = 2,
                        .inputs = inputs,
                        .output_count = 1,
                        .outputs = outputs,
                        .attribute_count = 2,
                        .attributes = attributes};
  tenon__graph_t* graph = k.network->graphs[0];
  graph->nodes = &node;
  graph->node_count = 1;
  struct tenon_region_t region;
  tenon__profile_t profile;
  EXPECT_STATUS(make_profile(&k, &profile), TENON_OK);
  EXPECT_STATUS(tenon__region_of_node(&k.arena, k.network, 0, 0, &region), TENON_OK);
  if (recipe->has_slot) {
    EXPECT_STATUS(fill_slot(&k, &region), TENON_OK);
  }
  EXPECT_STATUS(tenon__region_finish(&k.arena, &profile, &region), TENON_OK);
  const tenon__digest_t signature = tenon__region_signature(&region);
  graph->nodes = NULL;
  graph->node_count = 0;
  tenon__network_destroy(k.network);
  tenon__arena_deinitialize(&k.arena);
  return signature;
}

static bool same(const recipe_t* a, const recipe_t* b) {
  const tenon__digest_t x = sign(a);
  const tenon__digest_t y = sign(b);
  return memcmp(&x, &y, sizeof x) == 0;
}

#define EXPECT_SEEN(base, change)                                              \
  do {                                                                         \
    recipe_t changed = (base);                                                 \
    changed.change;                                                            \
    if (same(&(base), &changed)) {                                             \
      tenon__test_fail(__FILE__, __LINE__, "%s makes no difference", #change); \
    }                                                                          \
  } while (0)

#define EXPECT_IGNORED(base, change)                                          \
  do {                                                                        \
    recipe_t changed = (base);                                                \
    changed.change;                                                           \
    if (!same(&(base), &changed)) {                                           \
      tenon__test_fail(__FILE__, __LINE__, "%s makes a difference", #change); \
    }                                                                         \
  } while (0)

TENON_TEST(names_and_numbers_of_values_do_not_matter) {
  EXPECT_IGNORED(plain, names = "b");
  EXPECT_IGNORED(plain, unused_values = 5);
  recipe_t with_slot = plain;
  with_slot.has_slot = true;
  EXPECT_IGNORED(with_slot, names = "b");
  EXPECT_IGNORED(with_slot, unused_values = 3);
}

TENON_TEST(what_is_computed_matters) {
  EXPECT_SEEN(plain, op = "test.thing/2");
  EXPECT_SEEN(plain, contract = 2);
  EXPECT_SEEN(plain, attribute = 4);
  EXPECT_SEEN(plain, mode = "slow");
  EXPECT_SEEN(plain, swapped = true);
  EXPECT_SEEN(plain, has_slot = true);
}

TENON_TEST(types_and_extents_matter) {
  EXPECT_SEEN(plain, dtype = TENON_DTYPE_FLOAT16);
  EXPECT_SEEN(plain, min = 2);
  EXPECT_SEEN(plain, max = 9);
  EXPECT_SEEN(plain, w_extent = 1);
  EXPECT_SEEN(plain, w_is_constant = true);
}

TENON_TEST(only_single_constants_matter) {
  recipe_t constant = plain;
  constant.w_is_constant = true;
  EXPECT_IGNORED(constant, w_first = 2.0F);
  constant.w_extent = 1;
  EXPECT_SEEN(constant, w_first = 2.0F);
}

TENON_TEST(programs_and_accesses_matter) {
  recipe_t with_slot = plain;
  with_slot.has_slot = true;
  EXPECT_SEEN(with_slot, slot_constant = 0.25);
  EXPECT_SEEN(with_slot, slot_transposed = true);
  EXPECT_SEEN(with_slot, slot_opcode = TENON_OPCODE_MUL);
}
