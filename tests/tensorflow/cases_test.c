/*
 * Every operation of the UFF parser against TensorFlow: small frozen graphs and UFF files with what
 * goes in and must come out, in expected.bin (make_expected.py says how).
 *
 *   test_tensorflow_cases     with the environment variable TENSORFLOW_CASE: the cases whose name
 *                             begins with it
 */
#include "tests/support/cases.h"

static tenon_status_t parse(case_session_t* session, const case_t* from) {
  return tenon_network_parse_memory(session->network, from->texts[0].data, from->texts[0].size,
                                    from->name, NULL);
}

static void check(const case_session_t* session, const case_t* from, bool is_reference) {
  /* Channels last without a permutation between layers: three convolutions with what follows them,
   * a pool, a mean, a product. */
  if (strcmp(from->name, "chain") == 0 && !is_reference) {
    EXPECT_INT(tenon_engine_step_count(session->engine), 6);
  }
  if (strstr(session->messages.text, "is not known") != NULL) { /* an attribute nobody read */
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", from->name, session->messages.text);
  }
}

TENON_TEST(networks_give_what_tensorflow_says) {
  static const case_kind_t kind = {.file = EXPECTED_FILE,
                                   .letters = "TNTF0001",
                                   .variable = "TENSORFLOW_CASE",
                                   .text_count = 1,
                                   .has_types = true,
                                   .no_measuring = true,
                                   .parse = parse,
                                   .check = check};
  case_run_all(&kind);
}
