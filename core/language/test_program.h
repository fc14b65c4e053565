/* For tests of this module: expressions built from texts. */
#ifndef TENON_CORE_LANGUAGE_TEST_PROGRAM_H_
#define TENON_CORE_LANGUAGE_TEST_PROGRAM_H_

#include "core/base/test.h"
#include "core/language/instantiate.h"
#include "core/language/test_scope.h"
#include "core/program/program.h"

/* An expression over inputs a, c, e, ... of the given shapes; NULL ends the list. */
typedef struct test_inputs_t {
  const char* names[6];
  const char* dims[6];
  tenon_dtype_t dtype;
} test_inputs_t;

/* Adds to the scope's arena; the scope is used for one text at a time. */
static inline tenon_status_t test_build(test_scope_t* t, const char* source,
                                        const test_inputs_t* inputs, bool keepdims,
                                        tenon__expression_t* out_expression,
                                        tenon__inferred_shape_t* out_shape) {
  tenon__text_t text = {0};
  t->scope.input_count = 0;
  t->scope.output_count = 0;
  t->scope.attribute_count = 0;
  t->arguments = 0;
  memset(t->inputs, 0, sizeof(t->inputs));
  for (uint32_t i = 0; i < 6 && inputs->names[i] != NULL; ++i) {
    test_input(t, inputs->names[i], inputs->dtype, inputs->dims[i]);
  }
  test_output(t, "y", inputs->dtype, 1);
  test_int(t, "keepdims", keepdims ? 1 : 0);
  const tenon_status_t status = tenon__text_parse(&t->arena, source, NULL, &text);
  const tenon__node_text_t node_text = {&t->scope, &text, &t->arena, NULL};
  return status != TENON_OK
             ? status
             : tenon__expression_instantiate(&node_text, NULL, out_expression, out_shape);
}

#endif
