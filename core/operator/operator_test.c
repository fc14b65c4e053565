/* Admission of operators. */
#include "core/operator/operator.h"

#include "core/network/test_operators.h"

typedef struct admission_t {
  tenon__arena_t arena;
  tenon__test_messages_t messages;
  const tenon__operator_t* op;
} admission_t;

static tenon_status_t admit(admission_t* admission, const tenon_operator_t* descriptor) {
  tenon__arena_initialize(&admission->arena, tenon__allocator_default());
  admission->op = NULL;
  return tenon__operator_admit(&admission->arena, descriptor, "tests", NULL,
                               tenon__test_listen(&admission->messages), &admission->op);
}

static void expect_refused(const tenon_operator_t* descriptor, const char* message) {
  admission_t admission;
  EXPECT_STATUS(admit(&admission, descriptor), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(admission.messages.text, message);
  tenon__arena_deinitialize(&admission.arena);
}

TENON_TEST(admits_the_test_operators) {
  for (uint32_t i = 0; i < TEST_OPERATOR_COUNT; ++i) {
    admission_t admission;
    EXPECT_STATUS(admit(&admission, &test_operators[i]), TENON_OK);
    EXPECT_TEXT(admission.messages.text, "");
    tenon__arena_deinitialize(&admission.arena);
  }
}

TENON_TEST(reads_a_short_descriptor_as_zeros) {
  /* As an old plugin has it: ports and types end before fields that are known here. */
  typedef struct old_port_t {
    size_t size;
    const char* name;
    const char* type;
  } old_port_t;
  const old_port_t inputs[] = {{sizeof(old_port_t), "x", "f32"}};
  const old_port_t outputs[] = {{sizeof(old_port_t), "y", "f32"}};
  tenon_operator_t op = {OPERATOR("old.same/1"), .shape = "y = x", .traits = (const char*)1};
  op.inputs = (tenon_list_t)TENON_LIST(inputs);
  op.outputs = (tenon_list_t)TENON_LIST(outputs);
  op.size = offsetof(tenon_operator_t, traits); /* what follows is poison */
  admission_t admission;
  EXPECT_STATUS(admit(&admission, &op), TENON_OK);
  EXPECT_TEXT(admission.messages.text, "");
  EXPECT(admission.op != NULL && admission.op->descriptor.inputs[0].domain == NULL);
  EXPECT(admission.op != NULL && admission.op->descriptor.inputs[0].flags == 0);
  tenon__arena_deinitialize(&admission.arena);
}

TENON_TEST(skips_what_a_newer_plugin_adds_to_items) {
  typedef struct new_port_t {
    tenon_port_t known;
    uint64_t added;
  } new_port_t;
  const new_port_t inputs[] = {{PORT("x", "T", 0), 7}, {PORT("z", "T", 0), 7}};
  const new_port_t outputs[] = {{PORT("y", "T", 0), 7}};
  tenon_operator_t op = {OPERATOR("new.pick/1"), FLOATS, .shape = "y = z"};
  op.inputs = (tenon_list_t)TENON_LIST(inputs);
  op.outputs = (tenon_list_t)TENON_LIST(outputs);
  admission_t admission;
  EXPECT_STATUS(admit(&admission, &op), TENON_OK);
  EXPECT(admission.op != NULL && strcmp(admission.op->descriptor.inputs[1].name, "z") == 0);
  tenon__arena_deinitialize(&admission.arena);
}

TENON_TEST(refuses_names_that_are_no_identity) {
  static const char* const names[] = {"add",    "a.b",    "a.b/0",  "a.b/01",  "a..b/1",
                                      "a.b/1x", ".a.b/1", "a.b./1", "a b.c/1", "/1"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    tenon_operator_t op = {OPERATOR(names[i]), OUTPUTS(PORT("y", "f32", 0)), .shape = "y = []"};
    expect_refused(&op, "identity");
  }
}

TENON_TEST(refuses_a_name_that_nothing_defines) {
  tenon_operator_t op = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0)), CASES(CASE(NULL, "y = x * alhpa"))};
  expect_refused(&op, "column 9: unknown name 'alhpa'");
}

TENON_TEST(refuses_an_unknown_function) {
  tenon_operator_t op = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0)), .shape = "y.rank = 1; y[d] = dimm(x, 0)"};
  expect_refused(&op, "column 20: unknown function 'dimm'");
}

TENON_TEST(refuses_an_output_that_no_statement_defines) {
  tenon_operator_t op = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0), PORT("z", "T", 0)), CASES(CASE(NULL, "y = x"))};
  expect_refused(&op, "nothing defines output 'z'");
}

TENON_TEST(refuses_shapes_that_nothing_tells) {
  tenon_operator_t op = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0))};
  expect_refused(&op, "nothing tells the shape of output 'y'");
}

TENON_TEST(refuses_defaults_of_the_wrong_kind) {
  tenon_operator_t op = {OPERATOR("t.x/1"),
                         FLOATS,
                         ATTRIBUTES(ATTRIBUTE("axis", INT, "'first'")),
                         INPUTS(PORT("x", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0)),
                         .shape = "y = x"};
  expect_refused(&op, "attribute 'axis': its default ''first'' is not of kind int");
}

TENON_TEST(refuses_a_default_outside_the_choices) {
  tenon_operator_t op = {
      OPERATOR("t.x/1"),
      FLOATS,
      ATTRIBUTES({sizeof(tenon_attribute_descriptor_t), .name = "mode", .default_text = "'c'",
                  .choices = "a|b", .kind = TENON_ATTRIBUTE_STRING}),
      INPUTS(PORT("x", "T", 0)),
      OUTPUTS(PORT("y", "T", 0)),
      .shape = "y = x"};
  expect_refused(&op, "do not include its default");
}

TENON_TEST(refuses_a_variadic_port_before_others) {
  tenon_operator_t op = {OPERATOR("t.x/1"), FLOATS,
                         INPUTS(PORT("xs", "T", TENON_PORT_VARIADIC), PORT("x", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0)), .shape = "y = x"};
  expect_refused(&op, "variadic but not the last");
}

TENON_TEST(refuses_a_port_of_no_type) {
  tenon_operator_t op = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "U", 0)),
                         OUTPUTS(PORT("y", "T", 0)), .shape = "y = x"};
  expect_refused(&op, "'U' is no type");
}

TENON_TEST(refuses_a_domain_that_is_none) {
  tenon_operator_t op = {
      OPERATOR("t.x/1"), FLOATS,
      INPUTS({sizeof(tenon_port_t), .name = "x", .type = "T", .domain = "positive rubbish"}),
      OUTPUTS(PORT("y", "T", 0)), .shape = "y = x"};
  expect_refused(&op, "port 'x': its domain, column 10: 'rubbish' is unknown (see plugin.h)");
}

TENON_TEST(reads_traits) {
  tenon_operator_t op = {OPERATOR("t.x/1"),
                         FLOATS,
                         INPUTS(PORT("x", "T", 0), PORT("w", "T", 0), PORT("b", "T", 0)),
                         OUTPUTS(PORT("y", "T", 0)),
                         .shape = "y = x",
                         .traits =
                             "pure; linear(input=w, axis=0, output_axis=-1, bias=2);  transparent; "
                             "in_place(input=0); from_the_future(x|y)"};
  admission_t admission;
  EXPECT_STATUS(admit(&admission, &op), TENON_OK);
  EXPECT_CONTAINS(admission.messages.text, "'from_the_future' is not known here");
  if (admission.op != NULL) {
    const tenon__operator_traits_t* traits = &admission.op->traits;
    EXPECT(traits->linear && !traits->impure);
    EXPECT_INT(traits->linear_input, 1);
    EXPECT_INT(traits->linear_axis, 0);
    EXPECT_INT(traits->linear_output_axis, -1);
    EXPECT_INT(traits->linear_bias, 2);
  }
  tenon__arena_deinitialize(&admission.arena);
}

TENON_TEST(refuses_a_count_of_operations_over_what_is_not_there) {
  const tenon_operator_t op = {OPERATOR("test.worth/1"),  FLOATS,
                               INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
                               .shape = "y = x",          .operations = "2 * elements(z)"};
  expect_refused(&op, "operations: column ");
}

TENON_TEST(refuses_malformed_traits) {
  static const char* const texts[] = {"linear(input=1)",
                                      "linear(input=9, axis=0, output_axis=1)",
                                      "in_place(",
                                      "linear(input=1, axis=x, output_axis=1)",
                                      "in_place(input=2)",
                                      "concatenable(axis=0)",
                                      "concatenable(axis=0, output_axis=1, single=none)"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    tenon_operator_t op = {
        OPERATOR("t.x/1"),          FLOATS,           INPUTS(PORT("x", "T", 0), PORT("w", "T", 0)),
        OUTPUTS(PORT("y", "T", 0)), .shape = "y = x", .traits = texts[i]};
    expect_refused(&op, "traits: malformed");
  }
}

static tenon__digest_t contract_of(const tenon_operator_t* op) {
  admission_t admission;
  tenon__digest_t digest = {{0}};
  EXPECT_STATUS(admit(&admission, op), TENON_OK);
  if (admission.op != NULL) {
    digest = admission.op->contract;
  }
  tenon__arena_deinitialize(&admission.arena);
  return digest;
}

TENON_TEST(digests_meaning_and_not_spelling) {
  const tenon_operator_t plain = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                                  OUTPUTS(PORT("y", "T", 0)), CASES(CASE(NULL, "y = x + 1.0"))};
  const tenon_operator_t spaced = {
      OPERATOR("t.x/1"),         FLOATS,
      INPUTS(PORT("x", "T", 0)), OUTPUTS(PORT("y", "T", 0)),
      .summary = "adds one",     CASES(CASE(NULL, " y =(x)+1.0  # one more"))};
  const tenon_operator_t optional = {OPERATOR("t.x/1"),
                                     FLOATS,
                                     ATTRIBUTES(ATTRIBUTE("extra", INT, "0")),
                                     INPUTS(PORT("x", "T", 0)),
                                     OUTPUTS(PORT("y", "T", 0)),
                                     CASES(CASE(NULL, "y = x + 1.0"))};
  const tenon_operator_t other = {OPERATOR("t.x/1"), FLOATS, INPUTS(PORT("x", "T", 0)),
                                  OUTPUTS(PORT("y", "T", 0)), CASES(CASE(NULL, "y = x + 2.0"))};
  const tenon__digest_t digest = contract_of(&plain);
  const tenon__digest_t digests[] = {contract_of(&spaced), contract_of(&optional),
                                     contract_of(&other)};
  EXPECT(memcmp(&digest, &digests[0], sizeof(digest)) == 0);
  EXPECT(memcmp(&digest, &digests[1], sizeof(digest)) == 0);
  EXPECT(memcmp(&digest, &digests[2], sizeof(digest)) != 0);
}

static bool admit_all(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_fixture_t fixture;
  const bool good = test_fixture_open(&fixture, allocator);
  if (good) {
    test_fixture_close(&fixture);
  }
  return good;
}

TENON_TEST(survives_each_failing_allocation) {
  tenon__test_each_allocation(admit_all, NULL);
}
