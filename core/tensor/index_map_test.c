/* Index maps: composition, strides of views, boxes of moves, each against reading element by
 * element. */
#include "core/tensor/index_map.h"

#include "core/base/test.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_pool.h"
#include "core/tensor/index_map_run.h"

enum { RANK = 3, MOST = 256 };

typedef struct fixture_t {
  tenon__arena_t arena;
  tenon__dim_pool_t* pool;
  int64_t values[MOST];
  uint8_t known[MOST];
} fixture_t;

static void set_up(fixture_t* f) {
  memset(f, 0, sizeof(*f));
  tenon__arena_initialize(&f->arena, tenon__allocator_default());
  (void)tenon__dim_pool_create(tenon__allocator_default(), &f->pool);
}

static void tear_down(fixture_t* f) {
  tenon__dim_pool_destroy(f->pool);
  tenon__arena_deinitialize(&f->arena);
}

static tenon_dim_t num(fixture_t* f, int64_t value) {
  return tenon__dim_constant(f->pool, value);
}

/* scale * (coordinate of `axis`) + shift */
static tenon_dim_t line(fixture_t* f, const tenon__index_map_t* map, uint32_t axis, int64_t scale,
                        int64_t shift) {
  const tenon_dim_t o = tenon__dim_coordinate(f->pool, axis, map->dims[axis]);
  return tenon__dim_add(f->pool, tenon__dim_multiply(f->pool, o, num(f, scale)), num(f, shift));
}

static const tenon_dim_t* dims_of(fixture_t* f, uint32_t count, const int64_t* extents) {
  tenon_dim_t* dims = tenon__arena_allocate(&f->arena, count + 1u, sizeof(*dims));
  for (uint32_t i = 0; i < count; ++i) {
    dims[i] = num(f, extents[i]);
  }
  return dims;
}

static void evaluate(fixture_t* f) {
  REQUIRE(tenon__dim_pool_count(f->pool) <= MOST && tenon__symbol_count(f->pool) <= MOST);
  int64_t symbols[MOST] = {0};
  uint8_t symbols_known[MOST] = {0};
  tenon__dim_pool_evaluate(f->pool, symbols, symbols_known, f->values, f->known);
}

static tenon__extents_t extents_of(fixture_t* f) {
  return (tenon__extents_t){.pool = f->pool,
                            .dim_count = tenon__dim_pool_count(f->pool),
                            .values = f->values,
                            .known = f->known};
}

/* A map with one source of these extents; coordinates are set by the caller. */
static tenon__index_map_t one_source(fixture_t* f, uint32_t rank, const int64_t* extents,
                                     uint32_t source_rank, const int64_t* source_extents,
                                     tenon__map_source_t* source, tenon_dim_t* coordinates) {
  *source = (tenon__map_source_t){.rank = source_rank,
                                  .dims = dims_of(f, source_rank, source_extents),
                                  .coordinates = coordinates};
  return (tenon__index_map_t){.kind = coordinates == NULL ? TENON_MAP_LINEAR : TENON_MAP_GENERAL,
                              .rank = rank,
                              .dims = dims_of(f, rank, extents),
                              .source_count = 1,
                              .sources = source};
}

TENON_TEST(views_have_strides) {
  fixture_t f;
  set_up(&f);
  static const int64_t in[] = {4, 6};
  static const int64_t out[] = {3, 4};
  tenon__map_source_t source;
  tenon_dim_t coordinates[2];
  tenon__index_map_t map = one_source(&f, 2, out, 2, in, &source, coordinates);
  coordinates[0] = line(&f, &map, 1, -1, 3);
  coordinates[1] = line(&f, &map, 0, 2, 1);
  tenon__index_map_classify(f.pool, &map);
  EXPECT_INT(map.kind, TENON_MAP_AFFINE);
  EXPECT(tenon__index_map_is_view(f.pool, &map));
  EXPECT(!tenon__index_map_is_identity(f.pool, &map));
  evaluate(&f);
  const int64_t strides[] = {6, 1};
  int64_t made[2] = {0};
  int64_t offset = 0;
  const tenon__extents_t extents = extents_of(&f);
  EXPECT_STATUS(tenon__index_map_view(&extents, &map, in, strides, made, &offset), TENON_OK);
  EXPECT_INT(made[0], 2);
  EXPECT_INT(made[1], -6);
  EXPECT_INT(offset, 19);
  coordinates[1] = line(&f, &map, 0, 2, 2);
  EXPECT(!tenon__index_map_is_view(f.pool, &map));
  tear_down(&f);
}

/* Sources of `lengths` rows of three, of which number k begins at `begins[k]`. */
static bool joins(fixture_t* f, const int64_t* lengths, const int64_t* begins, uint32_t count,
                  int64_t total) {
  const int64_t out[] = {total, 3};
  tenon__map_source_t sources[3];
  tenon_dim_t coordinates[3][2];
  tenon__index_map_t map = {.rank = 2,
                            .dims = dims_of(f, 2, out),
                            .source_count = count,
                            .sources = sources,
                            .fill = TENON_FILL_NONE};
  for (uint32_t k = 0; k < count; ++k) {
    const int64_t in[] = {lengths[k], 3};
    coordinates[k][0] = line(f, &map, 0, 1, -begins[k]);
    coordinates[k][1] = line(f, &map, 1, 1, 0);
    sources[k] = (tenon__map_source_t){
        .input = k, .rank = 2, .dims = dims_of(f, 2, in), .coordinates = coordinates[k]};
  }
  tenon__index_map_classify(f->pool, &map);
  return tenon__index_map_joins(f->pool, &map);
}

TENON_TEST(joins_are_boxes_side_by_side) {
  fixture_t f;
  set_up(&f);
  static const int64_t lengths[] = {2, 1, 4};
  EXPECT(joins(&f, lengths, (const int64_t[]){0, 2, 3}, 3, 7));
  EXPECT(joins(&f, lengths, (const int64_t[]){0, 2}, 2, 3));
  EXPECT(!joins(&f, lengths, (const int64_t[]){0, 2}, 2, 4)); /* a row is left */
  EXPECT(!joins(&f, lengths, (const int64_t[]){0, 1}, 2, 3)); /* they overlap */
  EXPECT(!joins(&f, lengths, (const int64_t[]){0, 3}, 2, 4)); /* a gap */
  EXPECT(!joins(&f, lengths, (const int64_t[]){0}, 1, 2));
  tear_down(&f);
}

static void expect_linear(const int64_t* in, uint32_t in_rank, const int64_t* strides,
                          const int64_t* out, uint32_t rank, const int64_t* expected, int line) {
  fixture_t f;
  set_up(&f);
  tenon__map_source_t source;
  const tenon__index_map_t map = one_source(&f, rank, out, in_rank, in, &source, NULL);
  evaluate(&f);
  int64_t made[8] = {0};
  int64_t offset = 5;
  const tenon__extents_t extents = extents_of(&f);
  const tenon_status_t status = tenon__index_map_view(&extents, &map, in, strides, made, &offset);
  if (status != (expected != NULL ? TENON_OK : TENON_ERROR_UNSUPPORTED)) {
    tenon__test_fail(__FILE__, line, "status %d", status);
  }
  for (uint32_t i = 0; i < rank && expected != NULL; ++i) {
    if (out[i] != 1 && made[i] != expected[i]) {
      tenon__test_fail(__FILE__, line, "stride %u is %lld", i, (long long)made[i]);
    }
  }
  tear_down(&f);
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

TENON_TEST(linear_views_of_dense_groups) {
  expect_linear(DIMS(2, 6), 2, DIMS(6, 1), DIMS(2, 2, 3), 3, DIMS(6, 3, 1), __LINE__);
  expect_linear(DIMS(2, 2, 3), 3, DIMS(6, 3, 1), DIMS(4, 3), 2, DIMS(3, 1), __LINE__);
  expect_linear(DIMS(2, 2, 3), 3, DIMS(60, 3, 1), DIMS(2, 6), 2, DIMS(60, 1), __LINE__);
  expect_linear(DIMS(2, 2, 3), 3, DIMS(60, 3, 1), DIMS(4, 3), 2, NULL, __LINE__);
  expect_linear(DIMS(3, 2), 2, DIMS(1, 3), DIMS(6), 1, NULL, __LINE__);
  expect_linear(DIMS(3, 1, 2), 3, DIMS(2, 99, 1), DIMS(6), 1, DIMS(1), __LINE__);
  expect_linear(DIMS(3), 1, DIMS(7), DIMS(1, 3, 1), 3, DIMS(0, 7, 0), __LINE__);
  expect_linear(DIMS(0, 3), 2, DIMS(3, 1), DIMS(3, 0), 2, DIMS(1, 1), __LINE__);
  expect_linear(DIMS(4), 1, DIMS(1), DIMS(5), 1, NULL, __LINE__);
  expect_linear(DIMS(1), 1, DIMS(1), NULL, 0, DIMS(0), __LINE__);
}

TENON_TEST(composition_substitutes) {
  fixture_t f;
  set_up(&f);
  static const int64_t in[] = {4, 6};
  static const int64_t turned[] = {6, 4};
  static const int64_t cut[] = {2, 4};
  tenon__map_source_t sources[2];
  tenon_dim_t first[2];
  tenon_dim_t second[2];
  tenon__index_map_t turn = one_source(&f, 2, turned, 2, in, &sources[0], first);
  first[0] = line(&f, &turn, 1, 1, 0);
  first[1] = line(&f, &turn, 0, 1, 0);
  tenon__index_map_t slice = one_source(&f, 2, cut, 2, turned, &sources[1], second);
  second[0] = line(&f, &slice, 0, 2, 1);
  second[1] = line(&f, &slice, 1, 1, 0);
  tenon__index_map_t both;
  EXPECT_STATUS(tenon__index_map_compose(f.pool, &f.arena, &slice, &turn, &both), TENON_OK);
  EXPECT_INT(both.kind, TENON_MAP_AFFINE);
  EXPECT_INT(both.sources[0].coordinates[0].id, line(&f, &both, 1, 1, 0).id);
  EXPECT_INT(both.sources[0].coordinates[1].id, line(&f, &both, 0, 2, 1).id);
  /* There and back is the identity. */
  tenon__index_map_t back = one_source(&f, 2, in, 2, turned, &sources[1], second);
  second[0] = line(&f, &back, 1, 1, 0);
  second[1] = line(&f, &back, 0, 1, 0);
  EXPECT_STATUS(tenon__index_map_compose(f.pool, &f.arena, &back, &turn, &both), TENON_OK);
  EXPECT(tenon__index_map_is_identity(f.pool, &both));
  /* A fill forbids it. */
  slice.fill = TENON_FILL_VALUE;
  EXPECT_STATUS(tenon__index_map_compose(f.pool, &f.arena, &slice, &turn, &both),
                TENON_ERROR_UNSUPPORTED);
  tear_down(&f);
}

TENON_TEST(composition_of_linear_maps) {
  fixture_t f;
  set_up(&f);
  static const int64_t flat[] = {24};
  static const int64_t heads[] = {2, 3, 4};
  static const int64_t turned[] = {3, 2, 4};
  tenon__map_source_t sources[2];
  tenon_dim_t coordinates[3];
  const tenon__index_map_t split = one_source(&f, 3, heads, 1, flat, &sources[0], NULL);
  tenon__index_map_t turn = one_source(&f, 3, turned, 3, heads, &sources[1], coordinates);
  coordinates[0] = line(&f, &turn, 1, 1, 0);
  coordinates[1] = line(&f, &turn, 0, 1, 0);
  coordinates[2] = line(&f, &turn, 2, 1, 0);
  tenon__index_map_t both;
  /* Turning what was split: affine, a view, in three coordinates of the output. */
  EXPECT_STATUS(tenon__index_map_compose(f.pool, &f.arena, &turn, &split, &both), TENON_OK);
  EXPECT(tenon__index_map_is_view(f.pool, &both));
  evaluate(&f);
  const int64_t one[] = {1};
  int64_t strides[3] = {0};
  int64_t offset = 0;
  const tenon__extents_t extents = extents_of(&f);
  EXPECT_STATUS(tenon__index_map_view(&extents, &both, flat, one, strides, &offset), TENON_OK);
  EXPECT_INT(strides[0], 4);
  EXPECT_INT(strides[1], 12);
  EXPECT_INT(strides[2], 1);
  /* Flattening what was turned is no view. */
  tenon__map_source_t whole = sources[1];
  whole.dims = dims_of(&f, 3, turned);
  whole.coordinates = NULL;
  tenon__index_map_t flatten = {.kind = TENON_MAP_LINEAR,
                                .rank = 1,
                                .dims = dims_of(&f, 1, flat),
                                .source_count = 1,
                                .sources = &whole};
  EXPECT_STATUS(tenon__index_map_compose(f.pool, &f.arena, &flatten, &turn, &both),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(tenon__index_map_compose(f.pool, &f.arena, &flatten, &split, &both), TENON_OK);
  EXPECT(tenon__index_map_is_identity(f.pool, &both));
  tear_down(&f);
}

/* Reads the output of a map element by element through its pieces, and through its definition. */
static void expect_pieces(fixture_t* f, const tenon__index_map_t* map, const int64_t* out,
                          const int64_t (*in)[2], uint32_t piece_count, bool covers) {
  tenon_move_piece_t pieces[32];
  int64_t storage[32 * 3 * 2];
  int64_t strides[4][2];
  const int64_t* strides_of[4];
  tenon_move_t move;
  REQUIRE(map->source_count <= 3);
  for (uint32_t s = 0; s < map->source_count; ++s) {
    strides[s][0] = in[s][1] + 1;
    strides[s][1] = 1;
    strides_of[s] = strides[s];
  }
  evaluate(f);
  const tenon__extents_t extents = extents_of(f);
  const tenon__piece_room_t room = {32, pieces, storage};
  EXPECT_STATUS(tenon__index_map_pieces(&extents, map, strides_of, &room, &move), TENON_OK);
  EXPECT_INT(move.piece_count, piece_count);
  EXPECT_INT(move.covers_output, covers ? 1 : 0);
  for (int64_t i = 0; i < out[0] * out[1]; ++i) {
    const int64_t point[2] = {i / out[1], i % out[1]};
    int64_t expected = -1;
    const tenon__dim_point_t place = {.coordinates = point, .coordinate_count = 2};
    for (uint32_t s = 0; s < map->source_count && expected < 0; ++s) {
      int64_t at[2] = {0};
      (void)tenon__dim_value_at(f->pool, map->sources[s].coordinates[0], &place, &at[0]);
      (void)tenon__dim_value_at(f->pool, map->sources[s].coordinates[1], &place, &at[1]);
      if (at[0] >= 0 && at[0] < in[s][0] && at[1] >= 0 && at[1] < in[s][1]) {
        expected = (int64_t)s * 1000 + at[0] * strides[s][0] + at[1];
      }
    }
    int64_t found = -1;
    for (uint32_t k = 0; k < move.piece_count; ++k) {
      const tenon_move_piece_t* piece = &move.pieces[k];
      const int64_t u = point[0] - piece->begin[0];
      const int64_t v = point[1] - piece->begin[1];
      if (u >= 0 && v >= 0 && u < piece->extent[0] && v < piece->extent[1]) {
        EXPECT(found < 0);
        found = (int64_t)piece->input * 1000 + piece->offset + u * piece->strides[0] +
                v * piece->strides[1];
      }
    }
    EXPECT_INT(found, expected);
  }
}

TENON_TEST(pieces_of_concatenations_and_pads) {
  fixture_t f;
  set_up(&f);
  static const int64_t out[] = {4, 9};
  static const int64_t in[][2] = {{4, 3}, {4, 6}};
  tenon_dim_t coordinates[2][2];
  tenon__map_source_t sources[2];
  tenon__index_map_t map = {.rank = 2, .dims = dims_of(&f, 2, out), .sources = sources};
  map.source_count = 2;
  for (uint32_t s = 0; s < 2; ++s) {
    coordinates[s][0] = line(&f, &map, 0, 1, 0);
    coordinates[s][1] = line(&f, &map, 1, 1, s == 0 ? 0 : -3);
    sources[s] = (tenon__map_source_t){
        .input = s, .rank = 2, .dims = dims_of(&f, 2, in[s]), .coordinates = coordinates[s]};
  }
  tenon__index_map_classify(f.pool, &map);
  EXPECT_INT(map.kind, TENON_MAP_AFFINE);
  expect_pieces(&f, &map, out, in, 2, true);
  /* One source in the middle: a pad. */
  map.source_count = 1;
  coordinates[0][0] = line(&f, &map, 0, 1, 1);
  coordinates[0][1] = line(&f, &map, 1, 1, -2);
  expect_pieces(&f, &map, out, in, 1, false);
  /* Backwards, every other element. */
  coordinates[0][1] = line(&f, &map, 1, -2, 5);
  expect_pieces(&f, &map, out, in, 1, false);
  /* Never in range. */
  coordinates[0][0] = num(&f, 7);
  expect_pieces(&f, &map, out, in, 0, false);
  tear_down(&f);
}

TENON_TEST(overlapping_sources_are_cut) {
  fixture_t f;
  set_up(&f);
  static const int64_t out[] = {6, 7};
  static const int64_t in[][2] = {{2, 3}, {5, 6}, {9, 9}};
  tenon_dim_t coordinates[3][2];
  tenon__map_source_t sources[3];
  tenon__index_map_t map = {.rank = 2, .dims = dims_of(&f, 2, out), .sources = sources};
  map.source_count = 3;
  for (uint32_t s = 0; s < 3; ++s) {
    coordinates[s][0] = line(&f, &map, 0, 1, s == 2 ? 0 : -2 + (int64_t)s);
    coordinates[s][1] = line(&f, &map, 1, 1, s == 2 ? 0 : -2 + (int64_t)s);
    sources[s] = (tenon__map_source_t){
        .input = s, .rank = 2, .dims = dims_of(&f, 2, in[s]), .coordinates = coordinates[s]};
  }
  tenon__index_map_classify(f.pool, &map);
  expect_pieces(&f, &map, out, in, 9, true);
  /* The last lies behind the second, and yet not behind the first. */
  coordinates[0][0] = line(&f, &map, 0, 1, -2);
  coordinates[0][1] = line(&f, &map, 1, 1, -1);
  coordinates[1][0] = line(&f, &map, 0, 1, 4);
  coordinates[1][1] = line(&f, &map, 1, 1, 0);
  coordinates[2][0] = line(&f, &map, 0, 1, -2);
  coordinates[2][1] = line(&f, &map, 1, 1, 0);
  expect_pieces(&f, &map, out, in, 5, false);
  tear_down(&f);
}
