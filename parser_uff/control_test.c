/* Conditions of TensorFlow 1: Switch, Merge, and what lies between them. */
#include "testing/graph_text.h"

#define SCALAR(name)                                                  \
  "node { name: '" name                                               \
  "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } }" \
  " attr { key: 'shape' value { shape { } } } }\n"
#define FLAG(name, value)                                     \
  "node { name: '" name                                       \
  "' op: 'Const' attr { key: 'value' value { tensor { dtype:" \
  " DT_BOOL bool_val: " value " } } } }\n"
#define SIDES                                  \
  NODE("s", "Switch", "input: 'x' input: 'p'") \
  NODE("f", "Neg", "input: 's'")               \
  NODE("t", "Relu", "input: 's:1'") NODE("m", "Merge", "input: 'f' input: 't'")
#define VERSIONS "versions { producer: 22 }\n"
/* The pivots of a condition, that its constants refer to. */
#define PIVOTS(name, flag)                                    \
  NODE(name, "Switch", "input: '" flag "' input: '" flag "'") \
  NODE(name "_f", "Identity", "input: '" name "'")            \
  NODE(name "_t", "Identity", "input: '" name ":1'")
#define NUMBER(name, pivot, value)                      \
  "node { name: '" name "' op: 'Const' input: '^" pivot \
  "' attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: " value " } } } }\n"

TENON_TEST(takes_the_side_that_is_known) {
  EXPECT_STATUS(parse(X FLAG("p", "true") SIDES), TENON_OK);
  EXPECT_INT(fake.node_count, 1);
  EXPECT_STATUS(parse(X FLAG("p", "true") NODE("s", "Switch", "input: 'x' input: 'p'")
                          NODE("f", "Neg", "input: 's'")),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fake.messages, "output 'f' is not made");
}

TENON_TEST(computes_both_sides_of_what_the_run_knows) {
  EXPECT_STATUS(parse(VERSIONS X SCALAR("p") SIDES), TENON_OK);
  EXPECT_INT(fake.node_count, 3); /* both sides, and what picks among them */
  expect_refused(X NODE("m", "Merge", "input: 'x' input: 'x'"), TENON_ERROR_UNSUPPORTED,
                 "Merge 'm' (line 3, column 6): the sides of a Switch for its inputs are "
                 "unknown");
}

TENON_TEST(conditions_are_single) {
  expect_refused(X
                 "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } }"
                 " attr { key: 'shape' value { shape { dim { size: 2 } } } } }\n" SIDES,
                 TENON_ERROR_INVALID_DATA,
                 "Switch 's' (line 4, column 6): its condition has rank 1, it must be a scalar");
}

/* ---- What the other side needs ---- */

#define STRANGE                                       \
  NODE("s", "Switch", "input: 'x' input: 'p'")        \
  NODE("r", "RandomUniform", "input: 's:1'")          \
  NODE("q", "RandomGamma", "input: 'r' input: 's:1'") \
  NODE("t", "AddV2", "input: 'q' input: 's:1'")       \
  NODE("f", "Neg", "input: 's'") NODE("m", "Merge", "input: 'f' input: 't'")

TENON_TEST(asks_for_no_converter_of_a_side_that_is_not_taken) {
  EXPECT_STATUS(parse(X FLAG("p", "false") STRANGE), TENON_OK);
  EXPECT_INT(fake.node_count, 1);
  EXPECT_TEXT(fake.messages, "");
}

/* All that is missing on sides that may be taken. */
TENON_TEST(names_what_is_missing_behind_switches) {
  static const char both[] = "tensorflow:RandomUniform:1:r\ntensorflow:RandomGamma:1:q\n";
  EXPECT_STATUS(parse(X FLAG("p", "true") STRANGE), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, both);
  EXPECT_STATUS(parse(VERSIONS X SCALAR("p") STRANGE NODE("v", "StatelessCase", "input: 's'")
                          NODE("w", "Merge", "input: 'v' input: 't'")),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fake.missing, both);
  EXPECT_CONTAINS(fake.missing, "tensorflow:StatelessCase:1:v\n");
  /* After a Merge there is no other side. */
  EXPECT_STATUS(parse(X FLAG("p", "false") SIDES NODE("a", "Strange", "input: 'm'")),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, "tensorflow:Strange:1:a\n");
}

/* ---- Constants ---- */

TENON_TEST(constants_are_of_the_side_that_they_wait_for) {
#define TWO_NUMBERS       \
  PIVOTS("c", "p")        \
  NUMBER("a", "c_f", "1") \
  NUMBER("b", "c_t", "2") \
  NODE("m", "Merge", "input: 'a' input: 'b'") NODE("y", "Mul", "input: 'x' input: 'm'")
  EXPECT_STATUS(parse(X FLAG("p", "true") TWO_NUMBERS), TENON_OK);
  EXPECT_INT(fake.output_count, 1); /* pivots are no results */
  EXPECT_INT(fake.node_count, 1);
  EXPECT_STATUS(parse(VERSIONS X SCALAR("p") TWO_NUMBERS), TENON_OK);
  EXPECT_INT(fake.node_count, 2);
}

/* A side is dead with all that waits for it, also where it asks for nothing else. */
TENON_TEST(sides_without_inputs_are_not_converted) {
  EXPECT_STATUS(
      parse(X FLAG("p", "false") PIVOTS("c", "p") NODE("s", "Switch", "input: 'x' input: 'p'") INTS(
          "k",
          "int_val: 3") "node { name: 'n' op: 'Const' input: '^c_t' attr {"
                        " key: 'value' value { tensor { dtype: DT_INT32 int_val: 3 } } } }\n" NODE(
                            "r", "RandomUniform", "input: 'n'") NODE("f", "Neg", "input: 's'")
                            NODE("m", "Merge", "input: 'f' input: 'r'")),
      TENON_OK);
  EXPECT_TEXT(fake.messages, "");
}

/* What is only done before is not converted. */
TENON_TEST(waits_for_nothing_else) {
  EXPECT_STATUS(parse(X "node { name: 'w' op: 'Assert' input: 'x' input: 'x' }\n" NUMBER(
                    "a", "w", "1") NODE("y", "Mul", "input: 'x' input: 'a'")),
                TENON_OK);
  EXPECT_STATUS(parse(X NUMBER("a", "nowhere", "1") NODE("y", "Mul", "input: 'x' input: 'a'")),
                TENON_OK);
  EXPECT_TEXT(fake.messages, "");
}

/* ---- One within another ---- */

/* outer (p): false: Neg; true: inner (q): false: Relu, true: Exp. */
#define NESTED                                   \
  NODE("o", "Switch", "input: 'x' input: 'p'")   \
  NODE("of", "Neg", "input: 'o'")                \
  NODE("i", "Switch", "input: 'o:1' input: 'q'") \
  NODE("if", "Relu", "input: 'i'")               \
  NODE("it", "Exp", "input: 'i:1'")              \
  NODE("im", "Merge", "input: 'if' input: 'it'") \
  NODE("om", "Merge", "input: 'of' input: 'im'")

TENON_TEST(known_conditions_within_others_and_around_them) {
  EXPECT_STATUS(parse(VERSIONS X SCALAR("p") SCALAR("q") NESTED), TENON_OK);
  EXPECT_INT(fake.node_count, 5);
  EXPECT_STATUS(parse(VERSIONS X SCALAR("p") FLAG("q", "true") NESTED), TENON_OK);
  EXPECT_INT(fake.node_count, 3);
  EXPECT_STATUS(parse(VERSIONS X FLAG("p", "true") SCALAR("q") NESTED), TENON_OK);
  EXPECT_INT(fake.node_count, 3);
  EXPECT_STATUS(parse(VERSIONS X FLAG("p", "false") SCALAR("q") NESTED), TENON_OK);
  EXPECT_INT(fake.node_count, 1);
}

/* A constant of the inner condition is of the outer one too. */
TENON_TEST(constants_of_inner_conditions) {
  EXPECT_STATUS(
      parse(VERSIONS X SCALAR("p") FLAG("q", "true") NODE("o", "Switch", "input: 'x' input: 'p'")
                NODE("of", "Neg", "input: 'o'") NODE("oq", "Switch", "input: 'q' input: 'p'")
                    PIVOTS("c", "oq:1") NUMBER("a", "c_f", "1") NUMBER("b", "c_t", "2")
                        NODE("im", "Merge", "input: 'a' input: 'b'")
                            NODE("ia", "AddV2", "input: 'o:1' input: 'im'")
                                NODE("om", "Merge", "input: 'of' input: 'ia'")),
      TENON_OK);
  EXPECT_INT(fake.node_count, 3);
}
