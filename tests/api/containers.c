/* Sequences and optionals as inputs and outputs of a context. */
#include "tests/api/scene.h"

static const int64_t two[] = {2};

static tenon_argument_t pair(float data[2]) {
  return (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                            .tensor = {.data = data,
                                       .dims = two,
                                       .rank = 1,
                                       .dtype = TENON_DTYPE_FLOAT32,
                                       .layout = TENON_NONE}};
}

TENON_TEST(sequences_go_in_and_out) {
  scene_t scene;
  const int64_t last = -1;
  tenon_value_t sequence = ABSENT;
  tenon_value_t position = ABSENT;
  tenon_value_t item = ABSENT;
  tenon_value_t longer = ABSENT;
  float parts[2][2] = {{1, 2}, {3, 4}};
  const tenon_argument_t* out = NULL;
  REQUIRE(scene_begin(&scene));
  tenon_network_t* network = scene.session.network;
  EXPECT_STATUS(tenon_builder_get_table()->input_container(tenon_network_get_builder(network),
                                                           "parts", TENON_ARGUMENT_SEQUENCE,
                                                           TENON_DTYPE_FLOAT32, 1, two, &sequence),
                TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_constant(network, "last", TENON_DTYPE_INT64, 0, NULL, &last, &position),
      TENON_OK);
  EXPECT_STATUS(tenon_network_add(network, "standard.sequence_at/1", NULL,
                                  VALUES(sequence, position), NULL, &item, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add(network, "standard.sequence_insert/1", NULL,
                                  VALUES(sequence, item), NULL, &longer, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, longer, "longer"), TENON_OK);
  REQUIRE(scene_start(&scene, NULL));
  tenon_argument_t items[] = {pair(parts[0]), pair(parts[1])};
  const tenon_argument_t given = {.kind = TENON_ARGUMENT_SEQUENCE, .count = 2, .items = items};
  EXPECT_STATUS(tenon_context_set_input_argument(scene.context, 0, &given), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output_argument(scene.context, 0, &out), TENON_OK);
  REQUIRE(out != NULL && out->count == 3);
  EXPECT_NEAR(((const float*)out->items[2].tensor.data)[1], 4, 0);
  items[1].tensor.dtype = TENON_DTYPE_INT32;
  EXPECT_STATUS(tenon_context_set_input_argument(scene.context, 0, &given),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.session.messages.text, "item 1 is i32");
  scene_end(&scene);
}

/* The nodes behind the optional get the sequence that it holds, or the run fails. */
TENON_TEST(a_sequence_in_an_optional_goes_in_and_out) {
  scene_t scene;
  tenon_value_t optional = ABSENT;
  tenon_value_t held = ABSENT;
  tenon_value_t has = ABSENT;
  float part[2] = {1, 2};
  const tenon_argument_t* out = NULL;
  REQUIRE(scene_begin(&scene));
  tenon_network_t* network = scene.session.network;
  tenon_builder_t* builder = tenon_network_get_builder(network);
  EXPECT_STATUS(
      tenon_builder_get_table()->input_container(builder, "some", TENON_ARGUMENT_OPTIONAL_SEQUENCE,
                                                 TENON_DTYPE_FLOAT32, 1, two, &optional),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add(network, "standard.optional_get/1", NULL, VALUES(optional), NULL, &held, 1),
      TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(scene.session.messages.text, "must be of kind 'optional'");
  EXPECT_STATUS(tenon_network_add(network, "standard.optional_get_sequence/1", NULL,
                                  VALUES(optional), NULL, &held, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add(network, "standard.optional_has_sequence/1", NULL,
                                  VALUES(optional), NULL, &has, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, held, "held"), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, has, "has"), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, optional, "same"), TENON_OK);
  REQUIRE(scene_start(&scene, NULL));
  const tenon_argument_t item = pair(part);
  const tenon_argument_t sequence = {.kind = TENON_ARGUMENT_SEQUENCE, .count = 1, .items = &item};
  tenon_argument_t given = {
      .kind = TENON_ARGUMENT_OPTIONAL_SEQUENCE, .count = 1, .items = &sequence};
  EXPECT_STATUS(tenon_context_set_input_argument(scene.context, 0, &given), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output_argument(scene.context, 0, &out), TENON_OK);
  REQUIRE(out != NULL && out->kind == TENON_ARGUMENT_SEQUENCE && out->count == 1);
  EXPECT_NEAR(((const float*)out->items[0].tensor.data)[1], 2, 0);
  EXPECT_STATUS(tenon_context_get_output_argument(scene.context, 2, &out), TENON_OK);
  REQUIRE(out != NULL && out->kind == given.kind && out->count == 1 && out->items[0].count == 1);
  EXPECT_NEAR(((const float*)out->items[0].items[0].tensor.data)[1], 2, 0);
  given.items = &item;
  EXPECT_STATUS(tenon_context_set_input_argument(scene.context, 0, &given),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.session.messages.text, "item 0 is f32, the engine expects a sequence");
  given.count = 0;
  EXPECT_STATUS(tenon_context_set_input_argument(scene.context, 0, &given), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(scene.session.messages.text, "the optional is empty");
  scene_end(&scene);
}
