#include "core/tensor/type.h"

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/dimension/dimension_pool.h"

typedef struct fixture_t {
  tenon__dim_pool_t* pool;
  tenon__arena_t arena;
  tenon_dim_t batch;
  tenon_dim_t three;
  tenon_dim_t four;
} fixture_t;

static fixture_t open(void) {
  fixture_t fixture = {0};
  EXPECT_STATUS(tenon__dim_pool_create(tenon__allocator_default(), &fixture.pool), TENON_OK);
  tenon__arena_initialize(&fixture.arena, tenon__allocator_default());
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_INPUT, .name = "batch", .max = INT64_MAX, .bound = TENON_DIM_INVALID};
  fixture.batch = tenon__dim_symbol(fixture.pool, &symbol);
  fixture.three = tenon__dim_constant(fixture.pool, 3);
  fixture.four = tenon__dim_constant(fixture.pool, 4);
  return fixture;
}

static void close(fixture_t* fixture) {
  tenon__arena_deinitialize(&fixture->arena);
  tenon__dim_pool_destroy(fixture->pool);
}

TENON_TEST(what_no_run_can_mend_is_told_apart) {
  const tenon__type_t f32 = tenon__type_tensor(TENON_DTYPE_FLOAT32, 0, NULL);
  const tenon__type_t f16 = tenon__type_tensor(TENON_DTYPE_FLOAT16, 0, NULL);
  const tenon__type_t list = {.kind = TENON_ARGUMENT_SEQUENCE, .dtype = TENON_DTYPE_FLOAT32};
  EXPECT(tenon__type_same_elements(&f32, &f32));
  EXPECT(!tenon__type_same_elements(&f32, &f16));
  EXPECT(!tenon__type_same_elements(&f32, &list));
}

TENON_TEST(an_open_extent_agrees_with_each_but_is_the_same_as_itself_alone) {
  fixture_t fixture = open();
  const tenon_dim_t open_dims[2] = {fixture.batch, fixture.three};
  const tenon_dim_t known_dims[2] = {fixture.four, fixture.three};
  const tenon_dim_t other_dims[2] = {fixture.four, fixture.four};
  const tenon__type_t any = tenon__type_tensor(TENON_DTYPE_INT64, 2, open_dims);
  const tenon__type_t known = tenon__type_tensor(TENON_DTYPE_INT64, 2, known_dims);
  const tenon__type_t other = tenon__type_tensor(TENON_DTYPE_INT64, 2, other_dims);
  const tenon__type_t vector = tenon__type_tensor(TENON_DTYPE_INT64, 1, known_dims);
  EXPECT(tenon__type_agrees(fixture.pool, &any, &known));
  EXPECT(!tenon__type_agrees(fixture.pool, &known, &other));
  EXPECT(!tenon__type_agrees(fixture.pool, &any, &other));
  EXPECT(!tenon__type_agrees(fixture.pool, &known, &vector));
  EXPECT(tenon__type_same_shape(&any, &any));
  EXPECT(!tenon__type_same_shape(&any, &known));
  EXPECT(!tenon__type_same_shape(&known, &vector));
  close(&fixture);
}

TENON_TEST(types_of_unknown_rank_are_alike) {
  fixture_t fixture = open();
  const tenon__type_t a = {
      .kind = TENON_ARGUMENT_SEQUENCE, .dtype = TENON_DTYPE_INT64, .rank = TENON_NONE};
  const tenon__type_t b = {.kind = TENON_ARGUMENT_SEQUENCE, .dtype = TENON_DTYPE_INT64};
  int64_t extent = 0;
  EXPECT(tenon__type_same_shape(&a, &a) && tenon__type_agrees(fixture.pool, &a, &a));
  EXPECT(!tenon__type_same_shape(&a, &b) && !tenon__type_agrees(fixture.pool, &a, &b));
  EXPECT(!tenon__type_extents(fixture.pool, &a, &extent));
  EXPECT_TEXT(tenon__type_text(fixture.pool, &a, &fixture.arena), "sequence i64[...]");
  close(&fixture);
}

TENON_TEST(contents_that_nobody_follows_are_not_those_of_an_empty_tensor) {
  fixture_t fixture = open();
  const tenon_dim_t none[1] = {{0}};
  tenon__type_t unknown = tenon__type_tensor(TENON_DTYPE_INT64, 1, &fixture.three);
  tenon__type_t empty = unknown;
  tenon__type_t one = unknown;
  empty.contents = none;
  one.contents = &fixture.four;
  one.content_count = 1;
  EXPECT(tenon__type_same_contents(&unknown, &unknown));
  EXPECT(!tenon__type_same_contents(&unknown, &empty));
  EXPECT(!tenon__type_same_contents(&empty, &one));
  EXPECT(tenon__type_same_contents(&one, &one));
  close(&fixture);
}

TENON_TEST(extents_come_out_as_far_as_they_are_known) {
  fixture_t fixture = open();
  const tenon_dim_t dims[2] = {fixture.batch, fixture.three};
  const tenon__type_t any = tenon__type_tensor(TENON_DTYPE_FLOAT32, 2, dims);
  const tenon__type_t known = tenon__type_tensor(TENON_DTYPE_FLOAT32, 1, dims + 1);
  const int64_t three = 3;
  const int64_t four = 4;
  int64_t extents[2] = {0, 0};
  uint64_t count = 0;
  EXPECT(!tenon__type_extents(fixture.pool, &any, extents));
  EXPECT_INT(extents[0], -1);
  EXPECT_INT(extents[1], 3);
  EXPECT(!tenon__type_element_count(fixture.pool, &any, &count));
  EXPECT(tenon__type_element_count(fixture.pool, &known, &count) && count == 3);
  EXPECT(tenon__type_is_tensor_of(fixture.pool, &known, TENON_DTYPE_FLOAT32, 1, &three));
  EXPECT(!tenon__type_is_tensor_of(fixture.pool, &known, TENON_DTYPE_FLOAT32, 1, &four));
  EXPECT(!tenon__type_is_tensor_of(fixture.pool, &known, TENON_DTYPE_FLOAT16, 1, &three));
  EXPECT(!tenon__type_is_tensor_of(fixture.pool, &any, TENON_DTYPE_FLOAT32, 1, &three));
  close(&fixture);
}

TENON_TEST(more_elements_than_can_be_counted_are_not_counted) {
  fixture_t fixture = open();
  const tenon_dim_t large = tenon__dim_constant(fixture.pool, INT64_MAX);
  const tenon_dim_t dims[3] = {large, large, large};
  const tenon__type_t type = tenon__type_tensor(TENON_DTYPE_BOOL, 3, dims);
  uint64_t count = 0;
  EXPECT(!tenon__type_element_count(fixture.pool, &type, &count));
  close(&fixture);
}

TENON_TEST(a_type_reads_as_people_write_it) {
  fixture_t fixture = open();
  const tenon_dim_t dims[2] = {fixture.batch, fixture.three};
  tenon__type_t type = tenon__type_tensor(TENON_DTYPE_FLOAT32, 2, dims);
  EXPECT_TEXT(tenon__type_text(fixture.pool, &type, &fixture.arena), "f32[batch, 3]");
  type.kind = TENON_ARGUMENT_OPTIONAL;
  type.rank = 0;
  EXPECT_TEXT(tenon__type_text(fixture.pool, &type, &fixture.arena), "optional f32[]");
  close(&fixture);
}

TENON_TEST(contents_are_found_where_they_stand) {
  fixture_t fixture = open();
  const tenon_dim_t two = tenon__dim_constant(fixture.pool, 2);
  const tenon_dim_t dims[2] = {two, fixture.three};
  tenon_dim_t contents[6];
  for (int64_t k = 0; k < 6; ++k) {
    contents[k] = tenon__dim_constant(fixture.pool, 10 + k);
  }
  tenon__type_t type = tenon__type_tensor(TENON_DTYPE_INT64, 2, dims);
  tenon_dim_t found = TENON_DIM_INVALID;
  EXPECT_INT(tenon__type_content(fixture.pool, &type, (int64_t[]){1, 1}, &found),
             TENON_CONTENT_UNKNOWN);
  type.contents = contents;
  type.content_count = 6;
  EXPECT_INT(tenon__type_content(fixture.pool, &type, (int64_t[]){1, 1}, &found),
             TENON_CONTENT_FOUND);
  EXPECT(tenon__dim_equal(found, contents[4]));
  EXPECT_INT(tenon__type_content(fixture.pool, &type, (int64_t[]){1, 3}, &found),
             TENON_CONTENT_OUTSIDE);
  EXPECT_INT(tenon__type_content(fixture.pool, &type, (int64_t[]){-1, 0}, &found),
             TENON_CONTENT_OUTSIDE);
  const tenon_dim_t open_dims[2] = {fixture.batch, fixture.three};
  type.dims = open_dims;
  EXPECT_INT(tenon__type_content(fixture.pool, &type, (int64_t[]){0, 0}, &found),
             TENON_CONTENT_UNKNOWN);
  close(&fixture);
}

TENON_TEST(small_is_what_contents_are_followed_of) {
  fixture_t fixture = open();
  const tenon_dim_t half = tenon__dim_constant(fixture.pool, TENON_CONTENT_LIMIT / 2);
  const tenon_dim_t two = tenon__dim_constant(fixture.pool, 2);
  const tenon_dim_t dims[2] = {half, two};
  const tenon_dim_t more[2] = {half, fixture.three};
  const tenon_dim_t open_dims[2] = {two, fixture.batch};
  int64_t extents[TENON_RANK_LIMIT];
  uint32_t count = 0;
  EXPECT(tenon__type_is_small(fixture.pool, 2, dims, extents, &count));
  EXPECT_INT(count, TENON_CONTENT_LIMIT);
  EXPECT_INT(extents[0], TENON_CONTENT_LIMIT / 2);
  EXPECT(!tenon__type_is_small(fixture.pool, 2, more, extents, &count));
  EXPECT(!tenon__type_is_small(fixture.pool, 2, open_dims, extents, &count));
  EXPECT(!tenon__type_is_small(fixture.pool, TENON_RANK_LIMIT + 1u, dims, extents, &count));
  EXPECT(tenon__type_is_small(fixture.pool, 0, NULL, extents, &count));
  EXPECT_INT(count, 1);
  close(&fixture);
}
