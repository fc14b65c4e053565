/* Moves from their texts: what kind of map each is, whether it is a view, what contents go through.
 */
#include "core/language/move_rule.h"
#include "core/base/test.h"
#include "core/dimension/dimension_algebra.h"
#include "core/language/shape_rule.h"
#include "core/language/test_scope.h"

static tenon_status_t map_of(test_scope_t* t, const char* source, uint32_t output, const char* dims,
                             const tenon_sink_t* sink, tenon__index_map_t* out_map) {
  tenon__text_t text = {0};
  tenon__inferred_shape_t shape = {0, NULL};
  shape.rank = test_dims(t, dims, &shape.dims);
  const tenon_status_t status = tenon__text_parse(&t->arena, source, sink, &text);
  const tenon__node_text_t rule = {&t->scope, &text, &t->arena, sink};
  return status != TENON_OK ? status : tenon__move_evaluate(&rule, output, &shape, out_map);
}

/* "affine view: x(o1, o0)": kind, whether a view, coordinates of each source. */
static const char* map_text(test_scope_t* t, const tenon__index_map_t* map) {
  static const char* const kinds[] = {"linear", "affine", "general"};
  tenon__dim_pool_t* pool = t->scope.pool;
  const char* text = tenon__arena_format(&t->arena, "%s%s%s:", kinds[map->kind],
                                         tenon__index_map_is_identity(pool, map) ? " identity" : "",
                                         tenon__index_map_is_view(pool, map) ? " view" : "");
  for (uint32_t s = 0; s < map->source_count && text != NULL; ++s) {
    const tenon__map_source_t* source = &map->sources[s];
    text = tenon__arena_format(
        &t->arena, "%s %u(%s)", text, source->input,
        source->coordinates == NULL ? "" : test_list_text(t, source->coordinates, source->rank));
  }
  return text == NULL ? "?" : text;
}

static void expect_map(test_scope_t* t, const char* source, const char* dims, const char* expected,
                       int line) {
  tenon__index_map_t map = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  if (map_of(t, source, 0, dims, sink, &map) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s: %s", source, messages.text);
    return;
  }
  const char* text = map_text(t, &map);
  if (strcmp(text, expected) != 0) {
    tenon__test_fail(__FILE__, line, "%s gives %s, expected %s", source, text, expected);
  }
}

#define EXPECT_MAP(source, dims, expected) expect_map(&t, source, dims, expected, __LINE__)
#define WITH_SCOPE \
  test_scope_t t;  \
  REQUIRE(test_begin(&t, tenon__allocator_default()))

TENON_TEST(views) {
  static const int64_t perm[] = {0, 2, 1};
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 768");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_ints(&t, "perm", perm, 3);
  EXPECT_MAP("x[d] = o(d)", "b s 768", "affine identity view: 0(o0, o1, o2)");
  EXPECT_MAP("x[d] = o(axis_of(perm, d, rank(x)))", "b 768 s", "affine view: 0(o0, o2, o1)");
  EXPECT_MAP("x = linear", "b s 12 64", "linear view: 0()");
  EXPECT_MAP("x = linear", "b s 768", "linear identity view: 0()");
  EXPECT_MAP("x[d] = d == 2 ? dim(x, 2) - 1 - o(2) : o(d)", "b s 768",
             "affine view: 0(o0, o1, -o2 + 767)");
  EXPECT_MAP("x[d] = d == 1 ? 2 * o(1) : o(d)", "b s 768", "affine: 0(o0, 2*o1, o2)");
  EXPECT_MAP("x[d] = d == 0 ? o(0) + o(1) : 0", "1 1", "affine view: 0(0, 0, 0)");
  test_end(&t);
}

TENON_TEST(broadcasts) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 1");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_MAP("x[d] = dim(x, d) == 1 ? 0 : o(d + rank(y) - rank(x))", "4 b 7",
             "affine view: 0(o1, 0)");
  EXPECT_MAP("x[d] = dim(x, d) == 1 ? 0 : o(d + rank(y) - rank(x))", "4 s 7",
             "affine: 0(b == 1 ? 0 : o1, 0)");
  test_end(&t);
}

TENON_TEST(slices_of_symbolic_extents_are_views) {
  static const char bounds[] =
      "let n = dim(x, d); let k = axis_of(axes, d, rank(x)); let step = steps[k];"
      "let low = step > 0 ? 0 : -1;"
      "let begin = clamp(wrap(starts[k], n), low, n + low);"
      "x[d] = k < 0 ? o(d) : begin + o(d) * step";
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 768");
  test_contents(&t, "starts", 1, "1 -1");
  test_contents(&t, "axes", 1, "1 2");
  test_contents(&t, "steps", 1, "2 -1");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  tenon__index_map_t map = {0};
  REQUIRE(map_of(&t, bounds, 0, "b s 768", NULL, &map) == TENON_OK);
  EXPECT_TEXT(map_text(&t, &map), "affine: 0(o0, 2*o1 + 1, -o2 + 767)");
  /* With the extent that the slice really has it is a view: s/2. */
  tenon_dim_t dims[3] = {test_dim(&t, "b"), test_dim(&t, "s"), test_dim(&t, "768")};
  dims[1] = tenon__dim_combine(t.scope.pool, TENON_OPCODE_FLOOR_DIV, dims[1], test_dim(&t, "2"));
  const tenon__inferred_shape_t shape = {3, dims};
  tenon__text_t text = {0};
  EXPECT_STATUS(tenon__text_parse(&t.arena, bounds, NULL, &text), TENON_OK);
  const tenon__node_text_t rule = {&t.scope, &text, &t.arena, NULL};
  EXPECT_STATUS(tenon__move_evaluate(&rule, 0, &shape, &map), TENON_OK);
  EXPECT_TEXT(map_text(&t, &map), "affine view: 0(o0, 2*o1 + 1, -o2 + 767)");
  test_end(&t);
}

TENON_TEST(pads_concatenations_and_splits) {
  WITH_SCOPE;
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "b 3");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "b s");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_int(&t, "axis", -1);
  EXPECT_MAP("let a = wrap(axis, rank(y)); xs[d] = d == a ? o(d) - before(k, a) : o(d)", "b 9",
             "affine: 0(o0, o1) 1(o0, o1 - 3)");
  test_end(&t);
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 9");
  test_output(&t, "ys", TENON_DTYPE_FLOAT32, 2);
  tenon__index_map_t map = {0};
  t.output_values[0][0].type.rank = test_dims(&t, "b 4", &t.output_values[0][0].type.dims);
  EXPECT_STATUS(map_of(&t, "ys: x[d] = d == 1 ? o(d) + before(k, 1) : o(d)", 1, "b 5", NULL, &map),
                TENON_OK);
  EXPECT_TEXT(map_text(&t, &map), "affine view: 0(o0, o1 + 4)");
  EXPECT_STATUS(map_of(&t, "ys: x[d] = d == 1 ? o(d) + k * 4 : o(d)", 1, "b 5", NULL, &map),
                TENON_OK);
  EXPECT_TEXT(map_text(&t, &map), "affine view: 0(o0, o1 + 4)");
  test_end(&t);
}

TENON_TEST(fills) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT16, "3");
  test_input(&t, "value", TENON_DTYPE_FLOAT16, "");
  test_input(&t, "absent", TENON_DTYPE_FLOAT16, NULL);
  test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
  test_float(&t, "alpha", 0.1);
  tenon__index_map_t map = {0};
  EXPECT_STATUS(map_of(&t, "x[d] = o(d) - 1; fill = value", 0, "5", NULL, &map), TENON_OK);
  EXPECT_INT(map.fill, TENON_FILL_INPUT);
  EXPECT_INT(map.fill_input, 1);
  EXPECT_STATUS(map_of(&t, "x[d] = o(d) - 1; fill = absent", 0, "5", NULL, &map), TENON_OK);
  EXPECT_INT(map.fill, TENON_FILL_VALUE);
  EXPECT_NEAR(map.fill_value.f, 0, 0);
  EXPECT_STATUS(map_of(&t, "x[d] = o(d) - 1; fill = alpha", 0, "5", NULL, &map), TENON_OK);
  EXPECT_NEAR(map.fill_value.f, (double)0.1f, 0);
  EXPECT_INT(map.fill_dtype, TENON_DTYPE_FLOAT32);
  EXPECT_STATUS(map_of(&t, "x[d] = o(d); fill = present(absent) ? absent : 3", 0, "5", NULL, &map),
                TENON_OK);
  EXPECT_NEAR(map.fill_value.f, 3, 0);
  test_end(&t);
}

TENON_TEST(what_fills_is_known_to_be_one_element) {
  static const struct {
    const char* dims;
    tenon_status_t status;
  } rows[] = {{"1 1", TENON_OK},
              {"2", TENON_ERROR_UNSUPPORTED},
              {"0", TENON_ERROR_UNSUPPORTED},
              {"n", TENON_ERROR_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    WITH_SCOPE;
    test_input(&t, "x", TENON_DTYPE_FLOAT32, "3");
    test_input(&t, "value", TENON_DTYPE_FLOAT32, rows[i].dims);
    test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
    tenon__index_map_t map = {0};
    tenon__test_messages_t messages;
    const tenon_sink_t* sink = tenon__test_listen(&messages);
    EXPECT_STATUS(map_of(&t, "x[d] = o(d) - 1; fill = value", 0, "5", sink, &map), rows[i].status);
    if (rows[i].status != TENON_OK) {
      EXPECT_CONTAINS(messages.text, "what fills must be known to be one element");
    }
    test_end(&t);
  }
}

TENON_TEST(elements_of_other_inputs) {
  static const char gather[] =
      "let a = wrap(axis, rank(x));"
      "x[d] = d < a ? o(d) : d == a ? wrap(element(indices, o(a..a + rank(indices))), dim(x, a))"
      " : o(d + rank(indices) - 1)";
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 9 4");
  test_input(&t, "indices", TENON_DTYPE_INT64, "s");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_int(&t, "axis", 1);
  EXPECT_MAP(gather, "b s 4", "general: 0(o0, in1(o1) < 0 ? in1(o1) + 9 : in1(o1), o2)");
  test_end(&t);
  /* A known scalar index leaves a view. */
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 9 4");
  test_contents(&t, "indices", 0, "-1");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_int(&t, "axis", 1);
  EXPECT_MAP(gather, "b 4", "affine view: 0(o0, 8, o1)");
  test_end(&t);
}

TENON_TEST(spatial_rearrangements) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 12 h w");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_MAP(
      "let b = 2; x[d] = d == 0 ? o(0) : d == 1 ? (o(1) * b + o(2) % b) * b + o(3) % b"
      " : o(d) / b",
      "b 3 h w", "general: 0(o0, 4*o1 + 2*(o2%2) + o3%2, o2/2, o3/2)");
  EXPECT_MAP("x[d] = d < 2 ? o(d) : clamp(o(d) - 1, 0, dim(x, d) - 1)", "b 12 h w",
             "general: 0(o0, o1, max(0, o2 - 1), max(0, o3 - 1))");
  test_end(&t);
}

TENON_TEST(contents_go_through) {
  WITH_SCOPE;
  test_contents(&t, "x", 1, "b s 768 4");
  test_contents(&t, "i", 1, "2 -1");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  tenon__index_map_t map = {0};
  tenon__type_t type = {0};
  EXPECT_STATUS(map_of(&t, "x[d] = o(d) + 1", 0, "2", NULL, &map), TENON_OK);
  EXPECT_STATUS(tenon__move_contents(&t.scope, &map, &t.arena, &type), TENON_OK);
  EXPECT_TEXT(test_list_text(&t, type.contents, type.content_count), "s, 768");
  EXPECT_STATUS(map_of(&t, "x[d] = wrap(element(i, o(0)), 4)", 0, "2", NULL, &map), TENON_OK);
  EXPECT_STATUS(tenon__move_contents(&t.scope, &map, &t.arena, &type), TENON_OK);
  EXPECT_TEXT(test_list_text(&t, type.contents, type.content_count), "768, 4");
  EXPECT_STATUS(map_of(&t, "x[d] = o(d) - 1; fill = 7", 0, "6", NULL, &map), TENON_OK);
  EXPECT_STATUS(tenon__move_contents(&t.scope, &map, &t.arena, &type), TENON_OK);
  EXPECT_TEXT(test_list_text(&t, type.contents, type.content_count), "7, b, s, 768, 4, 7");
  EXPECT_STATUS(map_of(&t, "x = linear", 0, "2 2", NULL, &map), TENON_OK);
  EXPECT_STATUS(tenon__move_contents(&t.scope, &map, &t.arena, &type), TENON_OK);
  EXPECT_TEXT(test_list_text(&t, type.contents, type.content_count), "b, s, 768, 4");
  type = (tenon__type_t){0};
  EXPECT_STATUS(map_of(&t, "x[d] = o(d) % 4", 0, "s", NULL, &map), TENON_OK);
  EXPECT_STATUS(tenon__move_contents(&t.scope, &map, &t.arena, &type), TENON_OK);
  EXPECT(type.contents == NULL);
  test_end(&t);
}

TENON_TEST(faults) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  tenon__index_map_t map = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  EXPECT_STATUS(map_of(&t, "x[d] = o(5)", 0, "b 4", sink, &map), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(messages.text, "coordinate 5 of an output of rank 2");
  EXPECT_STATUS(map_of(&t, "x = o(1)", 0, "b 4", sink, &map), TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(map_of(&t, "x[0] = o(0)", 0, "b 4", sink, &map), TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(map_of(&t, "z: x[d] = o(d)", 0, "b 4", sink, &map), TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(map_of(&t, "x[d] = element(x, o(0))", 0, "b 4", sink, &map),
                TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(map_of(&t, "x[d] = o(d); fill = x[0]", 0, "b 4", sink, &map),
                TENON_ERROR_UNSUPPORTED);
  test_end(&t);
}

static bool evaluate_moves(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_scope_t t;
  tenon__index_map_t map = {0};
  tenon__index_map_t inner = {0};
  tenon__index_map_t composed = {0};
  tenon__type_t type = {0};
  bool fine = test_begin(&t, allocator);
  if (fine) {
    test_contents(&t, "x", 1, "b s 768 4");
    test_input(&t, "z", TENON_DTYPE_FLOAT32, "b s");
    test_output(&t, "y", TENON_DTYPE_INT64, 1);
    fine =
        t.fine && map_of(&t, "x[d] = 3 - o(d)", 0, "4", NULL, &map) == TENON_OK &&
        tenon__move_contents(&t.scope, &map, &t.arena, &type) == TENON_OK &&
        map_of(&t, "z = linear", 0, "b s 1", NULL, &inner) == TENON_OK &&
        map_of(&t, "z[d] = o(1 - d)", 0, "s b", NULL, &map) == TENON_OK &&
        tenon__index_map_compose(t.scope.pool, &t.arena, &inner, &inner, &composed) == TENON_OK &&
        tenon__index_map_compose(t.scope.pool, &t.arena, &inner, &map, &composed) == TENON_OK;
  }
  test_end(&t);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(evaluate_moves, NULL);
}
