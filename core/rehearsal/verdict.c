/* Which of several answers is right: the region's meaning says so; where nobody knows it, or where
 * it would take long, the answer that most kernels give, of two the one of better numerics, then
 * the earlier. */
#include "core/rehearsal/verdict.h"

#include <math.h>

#include "core/base/status.h"
#include "core/rehearsal/reference_result.h"
#include "core/rehearsal/rehearsal.h"
#include "core/rehearsal/trial_check.h"

/* "fast:blur (channels last)" */
static const char* who(const tenon__rehearsal_t* r, const tenon__answer_t* answer) {
  const tenon__candidate_t* c = answer->first;
  const char* text = c == NULL ? "its nodes one by one"
                               : tenon__arena_format(r->subject->tuning->arena, "%s:%s (%s)",
                                                     c->kernel->owner->plugin,
                                                     c->kernel->kernel.name, c->tactic.name);
  return text == NULL ? "another" : text;
}

/* "[1, 2] of 'y'", of the element that stands at `number` in rows of what was looked at. */
static const char* place_of(const tenon__rehearsal_t* r, uint32_t output,
                            const tenon_tensor_view_t* view, uint64_t number) {
  int64_t index[TENON_RANK_LIMIT] = {0};
  for (uint32_t k = view->rank; k-- > 0;) {
    index[k] = (int64_t)(number % (uint64_t)view->dims[k]);
    number /= (uint64_t)view->dims[k];
  }
  index[0] = tenon__part_index(&r->data.parts[output], index[0]);
  return tenon__element_name(r, output, index, view->rank);
}

/* What is wrong with an answer: where it is furthest from the right one. */
static const char* describe(tenon__rehearsal_t* r, tenon__answer_t* wrong, const char* right_name,
                            const tenon_tensor_view_t* right,
                            const tenon__candidate_t* right_maker) {
  tenon__difference_t d = {0};
  uint32_t output = 0;
  tenon__arena_t* arena = r->subject->tuning->arena;
  if (!tenon__answers_differ(r, wrong, right, right_maker, &output, &d)) {
    return tenon__arena_format(arena, "computes something else than %s", right_name);
  }
  const tenon_tensor_view_t* view = &wrong->outputs[output];
  if (d.is_shape) {
    return tenon__arena_format(arena, "computes something else than %s: other extents of output %u",
                               right_name, output);
  }
  return tenon__arena_format(arena,
                             "computes something else than %s: largest difference %.4g (%.6g, not "
                             "%.6g) at %s, %llu of %llu "
                             "elements differ, the first of them %s, the last %s",
                             right_name, fabs(d.first - d.second), d.first, d.second,
                             place_of(r, output, view, d.at), (unsigned long long)d.count,
                             (unsigned long long)d.total, place_of(r, output, view, d.from),
                             place_of(r, output, view, d.to));
}

static double roughness(const tenon__answer_t* answer) {
  const double bound = answer->first == NULL ? 0 : answer->first->tactic.numerics.error_bound;
  return bound > 1 ? bound : 1;
}

static bool is_better(const tenon__answer_t* a, const tenon__answer_t* b) {
  return a->kernel_count != b->kernel_count         ? a->kernel_count > b->kernel_count
         : (a->first == NULL) != (b->first == NULL) ? a->first == NULL
                                                    : roughness(a) < roughness(b);
}

/* Nobody knows the meaning, or it would take long. */
static uint32_t prefer_one(tenon__rehearsal_t* r, tenon__verdict_t* verdict) {
  uint32_t best = 0;
  for (uint32_t k = 1; k < r->answer_count; ++k) {
    best = is_better(&r->answers[k], &r->answers[best]) ? k : best;
  }
  const tenon__answer_t* right = &r->answers[best];
  for (uint32_t k = 0; k < r->answer_count; ++k) {
    verdict->is_right[k] = k == best;
    if (k != best) {
      verdict->messages[k] =
          describe(r, &r->answers[k], who(r, right), right->outputs, right->first);
    }
  }
  return best;
}

/* By votes: sure where one answer alone was given by several kernels. */
static void vote(tenon__rehearsal_t* r, tenon__verdict_t* verdict) {
  const uint32_t best = prefer_one(r, verdict);
  verdict->is_certain = r->answers[best].kernel_count > 1;
  for (uint32_t k = 0; k < r->answer_count; ++k) {
    verdict->is_certain = verdict->is_certain && (k == best || r->answers[k].kernel_count == 1);
  }
}

tenon_status_t tenon__rehearsal_judge(tenon__rehearsal_t* r, tenon__verdict_t* out_verdict) {
  *out_verdict = (tenon__verdict_t){.is_right = {true}};
  if (r->answer_count < 2) {
    return TENON_OK;
  }
  /* Reference kernels perform about 1e9 operations per second: 2 s at most for one operator of a
   * large batch. */
  static const double most_operations = 2e9;
  bool would_take_long = false;
  TENON_TRY(tenon__rehearsal_exceeds(r, most_operations, &would_take_long));
  if (would_take_long) {
    vote(r, out_verdict);
    return TENON_OK;
  }
  tenon_tensor_view_t* meant =
      tenon__arena_allocate(&r->data.arena, r->subject->region->output_count + 1u, sizeof *meant);
  TENON_TRY_MEMORY(meant != NULL);
  TENON_TRY(tenon__reference_compute(&r->data, r->subject->ask_node, true, &r->data.arena, meant,
                                     &out_verdict->is_certain));
  if (!out_verdict->is_certain) {
    (void)prefer_one(r, out_verdict);
    return TENON_OK;
  }
  for (uint32_t k = 0; k < r->answer_count; ++k) {
    uint32_t output = 0;
    tenon__difference_t difference;
    out_verdict->is_right[k] =
        !tenon__answers_differ(r, &r->answers[k], meant, NULL, &output, &difference);
    if (!out_verdict->is_right[k]) {
      out_verdict->messages[k] =
          describe(r, &r->answers[k], "the operator's definition", meant, NULL);
    }
  }
  return TENON_OK;
}
