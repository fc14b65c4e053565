/* Any bytes as a rule and as an expression, evaluated for a node that has something of everything.
 */
#include "core/language/evaluator.h"

#include "core/base/allocator.h"
#include "core/language/instantiate.h"
#include "core/language/move_rule.h"
#include "core/language/shape_rule.h"
#include "core/language/test_scope.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static tenon_dim_t make_fresh(void* user, uint32_t output, uint32_t axis, tenon_dim_t bound) {
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_EXTENT, .a = output, .b = axis, .max = INT64_MAX, .bound = bound};
  return tenon__dim_symbol(user, &symbol);
}

static void fill(test_scope_t* t) {
  static const int64_t axes[] = {1, -1};
  test_input(t, "x", TENON_DTYPE_FLOAT32, "b s 4");
  test_input(t, "i", TENON_DTYPE_INT32, "s 1");
  test_contents(t, "sizes", 1, "2 b");
  test_input(t, "absent", TENON_DTYPE_BOOL, NULL);
  test_input(t, "xs", TENON_DTYPE_FLOAT16, "4");
  test_input(t, "xs", TENON_DTYPE_FLOAT16, "1");
  test_output(t, "y", TENON_DTYPE_FLOAT16, 1);
  test_int(t, "axis", -1);
  test_float(t, "alpha", 0.5);
  test_string(t, "mode", "edge");
  test_dtype(t, "to", TENON_DTYPE_INT4);
  test_ints(t, "axes", axes, 2);
  test_type(t, "T", TENON_DTYPE_FLOAT16);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  test_scope_t t;
  tenon__text_t text = {0};
  if (test_begin(&t, tenon__allocator_default())) {
    const char* source = tenon__arena_copy_text(&t.arena, (const char*)data, size);
    const tenon__node_text_t node_text = {&t.scope, &text, &t.arena, NULL};
    tenon__expression_t expression = {0};
    tenon__inferred_shape_t shape = {0, NULL};
    tenon__index_map_t map = {0};
    tenon__type_t type = {0};
    fill(&t);
    if (source != NULL && tenon__text_parse(&t.arena, source, NULL, &text) == TENON_OK) {
      const tenon__fresh_t fresh = {make_fresh, t.scope.pool};
      (void)tenon__expression_instantiate(&node_text, NULL, &expression, &shape);
      (void)tenon__shape_rule_evaluate(&node_text, fresh, &shape, 1);
      shape.rank = test_dims(&t, "2 3", &shape.dims);
      (void)tenon__contents_evaluate(&node_text, 0, &shape, &type);
      if (tenon__move_evaluate(&node_text, 0, &shape, &map) == TENON_OK) {
        (void)tenon__move_contents(&t.scope, &map, &t.arena, &type);
      }
    }
  }
  test_end(&t);
  return 0;
}
