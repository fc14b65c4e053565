/* A network of the LeNet kind, built layer by layer: two convolutions with pooling, a fully
 * connected layer, softmax. Every tensor has a name, weights those of the samples. */
#ifndef TENON_TESTS_API_LENET_H_
#define TENON_TESTS_API_LENET_H_

#include "tests/api/session.h"

static inline tenon_value_t lenet_node(session_t* s, const char* op, const char* name,
                                       const tenon_value_t* inputs, uint32_t count,
                                       const tenon_attribute_t* attributes) {
  tenon_value_t value = ABSENT;
  uint32_t attribute_count = 0;
  while (attributes != NULL && attributes[attribute_count].name != NULL) {
    ++attribute_count;
  }
  EXPECT_STATUS(
      tenon_network_add(s->network, op, name, inputs, count,
                        &(tenon_list_t){attributes, attribute_count, sizeof(tenon_attribute_t)},
                        &value, 1),
      TENON_OK);
  EXPECT_STATUS(
      tenon_builder_get_table()->set_name(tenon_network_get_builder(s->network), value, name),
      TENON_OK);
  return value;
}

static inline void lenet_build(session_t* s) {
  const tenon_value_t x = session_input(s, "lenet.x");
  const tenon_value_t w1 = session_constant(s, "lenet.w1");
  const tenon_value_t b1 = session_constant(s, "lenet.b1");
  const tenon_value_t w2 = session_constant(s, "lenet.w2");
  const tenon_value_t b2 = session_constant(s, "lenet.b2");
  const tenon_value_t w3 = session_constant(s, "lenet.w3");
  const tenon_value_t b3 = session_constant(s, "lenet.b3");
  const tenon_attribute_t* halves =
      ATTRIBUTES(TENON_INTS("kernel_shape", 2, 2), TENON_INTS("strides", 2, 2));
  tenon_value_t y = lenet_node(s, "standard.convolution/1", "conv1", VALUES(x, w1, b1),
                               ATTRIBUTES(TENON_INTS("pads", 2, 2, 2, 2)));
  y = lenet_node(s, "standard.relu/1", "relu1", &y, 1, NO_ATTRIBUTES);
  y = lenet_node(s, "standard.max_pool/1", "pool1", &y, 1, halves);
  y = lenet_node(s, "standard.convolution/1", "conv2", VALUES(y, w2, b2), NO_ATTRIBUTES);
  y = lenet_node(s, "standard.relu/1", "relu2", &y, 1, NO_ATTRIBUTES);
  y = lenet_node(s, "standard.max_pool/1", "pool2", &y, 1, halves);
  y = lenet_node(s, "standard.flatten/1", "flatten", &y, 1, NO_ATTRIBUTES);
  y = lenet_node(s, "standard.mat_mul/1", "dense", VALUES(y, w3), NO_ATTRIBUTES);
  y = lenet_node(s, "standard.add/1", "scores", VALUES(y, b3), NO_ATTRIBUTES);
  y = lenet_node(s, "standard.softmax/1", "softmax", &y, 1, NO_ATTRIBUTES);
  session_output(s, y, "lenet.y");
}

/* Runs the engine once and compares output `index`. */
static inline void lenet_run(session_t* s, tenon_engine_t* engine, uint32_t index,
                             const char* expected) {
  tenon_context_t* context = NULL;
  const tenon_tensor_view_t x = session_view(expected_get("lenet.x"));
  tenon_tensor_view_t y;
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  if (tenon_context_get_output(context, index, &y) == TENON_OK) {
    EXPECT_TENSOR(&y, expected, s->tolerance);
  } else {
    tenon__test_fail(__FILE__, __LINE__, "no output %u: %s", index, s->messages.text);
  }
  tenon_context_destroy(context);
}

#endif
