/* Where candidates differ: who is right, and what is said of the others. */
#include "core/rehearsal/verdict.h"

#include "core/base/test.h"
#include "core/rehearsal/test_rehearsal.h"

enum { ROWS = 2, TERMS = 4, COLUMNS = 3, COUNT = ROWS * COLUMNS };

/* ---- What the candidates compute ---- */

static float* output_of(const fake_call_t* call) {
  return call->outputs[0].tensor.data;
}

/* test.dense/1: rows of x by rows of w. */
static tenon_status_t right(const fake_call_t* call) {
  const float* x = call->inputs[0].tensor.data;
  const float* w = call->inputs[1].tensor.data;
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      float sum = 0;
      for (int k = 0; k < TERMS; ++k) {
        sum += x[i * TERMS + k] * w[j * TERMS + k];
      }
      output_of(call)[i * COLUMNS + j] = sum;
    }
  }
  return TENON_OK;
}

static tenon_status_t one_more(const fake_call_t* call) {
  (void)right(call);
  output_of(call)[4] += 1;
  return TENON_OK;
}

static tenon_status_t infinite(const fake_call_t* call) {
  (void)right(call);
  output_of(call)[1] = HUGE_VALF;
  return TENON_OK;
}

static tenon_status_t all_zero(const fake_call_t* call) {
  memset(output_of(call), 0, COUNT * sizeof(float));
  return TENON_OK;
}

/* ---- The judge ---- */

typedef struct judged_t {
  tenon__verdict_t verdict;
  uint32_t answers[4]; /* of each candidate */
  char messages[REHEARSAL_MOST_ANSWERS][256];
} judged_t;

/* `reference`: NULL, or who the operator's definition comes from. */
static judged_t judge_operator(const char* op, fake_t* fakes, uint32_t count, fake_t* reference) {
  judged_t judged = {.verdict = {.is_certain = false}};
  rehearsal_world_t world;
  EXPECT(rehearsal_world_open(&world));
  test_fixture_t* b = &world.fixture;
  if (reference != NULL) {
    rehearsal_world_offer(&world, reference);
  }
  rehearsal_world_begin(&world, test_binary(b, op, "y", test_input(b, "x", DIMS(ROWS, TERMS)),
                                            test_input(b, "w", DIMS(COLUMNS, TERMS))));
  for (uint32_t k = 0; k < count; ++k) {
    judged.answers[k] = rehearsal_world_try(&world, &fakes[k]).answer;
  }
  EXPECT_STATUS(tenon__rehearsal_judge(&world.rehearsal, &judged.verdict), TENON_OK);
  for (uint32_t k = 0; k < REHEARSAL_MOST_ANSWERS; ++k) {
    const char* message = judged.verdict.messages[k];
    (void)snprintf(judged.messages[k], sizeof judged.messages[k], "%s",
                   message == NULL ? "" : message);
  }
  rehearsal_world_close(&world);
  return judged;
}

static judged_t judge(fake_t* fakes, uint32_t count, fake_t* reference) {
  return judge_operator("test.dense/1", fakes, count, reference);
}

TENON_TEST(one_answer_is_right) {
  fake_t fakes[] = {{.compute = all_zero, .name = "a"}, {.compute = all_zero, .name = "b"}};
  const judged_t judged = judge(fakes, 2, NULL);
  EXPECT(judged.verdict.is_right[0]);
  EXPECT_INT(judged.answers[1], 0);
  EXPECT_TEXT(judged.messages[0], "");
}

TENON_TEST(the_meaning_is_right_against_many) {
  static const char* const takes[] = {"test.dense/1", NULL};
  fake_t reference = {
      .compute = right, .name = "oracle", .flags = TENON_KERNEL_REFERENCE, .operators = takes};
  fake_t fakes[] = {{.compute = one_more, .name = "a"},
                    {.compute = one_more, .name = "b"},
                    {.compute = right, .name = "c"}};
  const judged_t judged = judge(fakes, 3, &reference);
  EXPECT(judged.verdict.is_certain);
  EXPECT(!judged.verdict.is_right[0]);
  EXPECT(judged.verdict.is_right[1]);
  EXPECT_INT(judged.answers[2], 1);
  EXPECT_CONTAINS(judged.messages[0],
                  "computes something else than the operator's definition: largest difference 1 (");
  EXPECT_CONTAINS(judged.messages[0], "at [1, 1] of 'y', 1 of 6 elements differ");
}

TENON_TEST(nobody_may_be_right) {
  static const char* const takes[] = {"test.dense/1", NULL};
  fake_t reference = {
      .compute = right, .name = "oracle", .flags = TENON_KERNEL_REFERENCE, .operators = takes};
  fake_t fakes[] = {{.compute = one_more, .name = "a"}, {.compute = infinite, .name = "b"}};
  const judged_t judged = judge(fakes, 2, &reference);
  EXPECT(judged.verdict.is_certain);
  EXPECT(!judged.verdict.is_right[0] && !judged.verdict.is_right[1]);
  EXPECT_CONTAINS(judged.messages[1], "largest difference inf (inf, not ");
}

TENON_TEST(without_a_meaning_more_kernels_are_right) {
  fake_t fakes[] = {{.compute = one_more, .name = "a"},
                    {.compute = right, .name = "b"},
                    {.compute = right, .name = "c"}};
  const judged_t judged = judge(fakes, 3, NULL);
  EXPECT(!judged.verdict.is_certain);
  EXPECT(!judged.verdict.is_right[0] && judged.verdict.is_right[1]);
  EXPECT_CONTAINS(judged.messages[0], "computes something else than b:b ()");
}

TENON_TEST(of_two_the_one_of_better_numerics_is_right_then_the_earlier) {
  fake_t rough_first[] = {{.compute = one_more, .name = "a", .numerics = {.error_bound = 4}},
                          {.compute = right, .name = "b"}};
  judged_t judged = judge(rough_first, 2, NULL);
  EXPECT(!judged.verdict.is_right[0] && judged.verdict.is_right[1]);
  fake_t equals[] = {{.compute = one_more, .name = "a"}, {.compute = right, .name = "b"}};
  judged = judge(equals, 2, NULL);
  EXPECT(judged.verdict.is_right[0] && !judged.verdict.is_right[1]);
}

/* The oracle would take seconds: it is not asked. */
TENON_TEST(what_is_heavy_is_decided_by_votes) {
  static const char* const takes[] = {"test.heavy/1", NULL};
  fake_t reference = {
      .compute = one_more, .name = "oracle", .flags = TENON_KERNEL_REFERENCE, .operators = takes};
  fake_t fakes[] = {{.compute = one_more, .name = "a"},
                    {.compute = right, .name = "b"},
                    {.compute = right, .name = "c"}};
  judged_t judged = judge_operator("test.heavy/1", fakes, 3, &reference);
  EXPECT(judged.verdict.is_certain);
  EXPECT(!judged.verdict.is_right[0] && judged.verdict.is_right[1]);
  EXPECT_CONTAINS(judged.messages[0], "computes something else than b:b ()");
  EXPECT_CONTAINS(judged.messages[0], "the first of them [1, 1] of 'y', the last [1, 1] of 'y'");
  EXPECT_INT(reference.call_count, 0);
  judged = judge_operator("test.heavy/1", fakes, 2, &reference);
  EXPECT(!judged.verdict.is_certain);
  EXPECT(judged.verdict.is_right[0] && !judged.verdict.is_right[1]);
}
