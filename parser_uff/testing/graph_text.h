/* Graphs as text, and what becomes of them: for tests of the parser. */
#ifndef TENON_PARSER_UFF_TESTING_GRAPH_TEXT_H_
#define TENON_PARSER_UFF_TESTING_GRAPH_TEXT_H_

#include "core/base/test.h"
#include "testing/under_test.h"

/* A frozen graph: the input x, f32 [2, -1]; a node, its inputs as "input: 'x'"; a constant of i32
 * [1]. */
#define X                                                                               \
  "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }\n" \
  " attr { key: 'shape' value { shape { dim { size: 2 } dim { size: -1 } } } } }\n"
#define NODE(name, op, inputs) "node { name: '" name "' op: '" op "' " inputs " }\n"
#define INTS(name, values)                                                                         \
  "node { name: '" name                                                                            \
  "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }"                                   \
  " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } " values \
  " } } } }\n"

/* A UFF file; its input x, f32 [1, 4]. */
#define UFF(nodes) "version: 1 graphs { id: 'main'\n" nodes "}\n"
#define INPUT                                                                                    \
  "nodes { id: 'x' operation: 'Input' fields { key: 'shape' value { i_list { val: [1, 4] } } } " \
  "}\n"

static tenon__fake_t fake;

static inline tenon_status_t parse_bytes(const void* data, size_t size, const char* outputs) {
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, data, size);
  fake.setting_name = "outputs";
  fake.setting_value = outputs;
  const tenon_status_t status = tenon__fake_parse(&fake);
  tenon__fake_deinitialize(&fake);
  return status;
}

static inline tenon_status_t parse(const char* text) {
  return parse_bytes(text, strlen(text), NULL);
}

static inline void expect_refused(const char* text, tenon_status_t status, const char* expected) {
  EXPECT_STATUS(parse(text), status);
  EXPECT_CONTAINS(fake.messages, expected);
  EXPECT_INT(fake.error_count, 1);
}

#endif
