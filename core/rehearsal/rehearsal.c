/* Candidates on trial: each runs on the data of the region, is checked and timed, and its outputs
 * join an equal answer or become a new one. */
#include "core/rehearsal/rehearsal.h"

#include <string.h>

#include "core/base/file.h"
#include "core/base/status.h"
#include "core/plan/work.h"
#include "core/region/retype.h"
#include "core/rehearsal/reference_result.h"
#include "core/rehearsal/trial_check.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"
#include "core/timing/timer.h"
#include "core/timing/trial_inputs.h"
#include "core/timing/trial_memory.h"

/* ---- Answers ---- */

static double magnitude_of(tenon__answer_t* answer, uint32_t output) {
  if (answer->magnitudes[output] < 0) {
    answer->magnitudes[output] = tenon__tensor_magnitude(&answer->outputs[output]);
  }
  return answer->magnitudes[output];
}

static tenon__making_t making_of(const tenon__rehearsal_t* r, const tenon__candidate_t* candidate,
                                 uint32_t output) {
  static const tenon_numerics_t exact = {0};
  if (candidate == NULL) {
    return (tenon__making_t){.numerics = &exact};
  }
  const tenon_argument_rule_t* rule = tenon__rule_at(candidate->tactic.output_rules, output);
  return (tenon__making_t){.numerics = &candidate->tactic.numerics,
                           .stored = tenon__region_output_dtype(r->subject->region, output, rule)};
}

bool tenon__answers_differ(tenon__rehearsal_t* r, tenon__answer_t* first,
                           const tenon_tensor_view_t* second,
                           const tenon__candidate_t* second_maker, uint32_t* out_output,
                           tenon__difference_t* out_difference) {
  for (uint32_t k = 0; k < r->subject->region->output_count; ++k) {
    if (first->outputs[k].data == NULL || second[k].data == NULL) {
      continue;
    }
    const tenon__tolerance_t tolerance =
        tenon__tolerance_of(r->subject->region, k, magnitude_of(first, k),
                            making_of(r, first->first, k), making_of(r, second_maker, k));
    if (tenon__tensors_differ(&first->outputs[k], &second[k], &tolerance, out_difference)) {
      *out_output = k;
      return true;
    }
  }
  return false;
}

/* One more independent kernel that gives this answer. */
static void add_kernel(tenon__answer_t* answer, const void* kernel) {
  for (uint32_t k = 0; k < answer->kernel_count; ++k) {
    if (answer->kernels[k] == kernel) {
      return;
    }
  }
  if (answer->kernel_count < REHEARSAL_MOST_KERNELS) {
    answer->kernels[answer->kernel_count++] = kernel;
  }
}

/* The answer that agrees with the outputs, or a new one that keeps them. TENON_NONE: too many
 * differ already. */
static tenon_status_t find_answer(tenon__rehearsal_t* r, const tenon_tensor_view_t* outputs,
                                  const tenon__candidate_t* candidate, uint32_t* out_answer) {
  const void* kernel = candidate == NULL ? (const void*)r : (const void*)candidate->kernel;
  uint32_t output = 0;
  tenon__difference_t difference;
  for (uint32_t k = 0; k < r->answer_count; ++k) {
    if (!tenon__answers_differ(r, &r->answers[k], outputs, candidate, &output, &difference)) {
      add_kernel(&r->answers[k], kernel);
      *out_answer = k;
      return TENON_OK;
    }
  }
  *out_answer = TENON_NONE;
  if (r->answer_count == REHEARSAL_MOST_ANSWERS) {
    return TENON_OK;
  }
  tenon__answer_t* answer = &r->answers[r->answer_count];
  const uint32_t count = r->subject->region->output_count;
  *answer = (tenon__answer_t){.outputs = outputs, .first = candidate};
  answer->magnitudes =
      tenon__arena_allocate(&r->data.arena, count + 1u, sizeof *answer->magnitudes);
  if (answer->magnitudes == NULL) {
    return tenon__rehearsal_lacks_memory(r);
  }
  for (uint32_t k = 0; k < count; ++k) {
    answer->magnitudes[k] = -1;
  }
  add_kernel(answer, kernel);
  *out_answer = r->answer_count++;
  return TENON_OK;
}

/* In the value's own type, where a tactic or a region of other types left it in another: answers
 * are compared in one, and with what the operators mean. */
static tenon_status_t widen(tenon__rehearsal_t* r, uint32_t output, const tenon_tensor_view_t* made,
                            tenon_tensor_view_t* out_view) {
  const struct tenon_region_t* region = r->subject->region;
  const tenon_dtype_t own =
      region->network->graphs[region->graph]->values[region->outputs[output].value].type.dtype;
  uint64_t count = 0;
  size_t bytes = 0;
  *out_view = *made;
  if (made->dtype == own || made->data == NULL) {
    return TENON_OK;
  }
  if (!tenon__element_count(made->rank, made->dims, &count) ||
      !tenon__dtype_bytes(own, count, &bytes)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  out_view->dtype = own;
  out_view->data = tenon__trial_data_take(&r->data, bytes);
  if (out_view->data == NULL) {
    return tenon__rehearsal_lacks_memory(r);
  }
  tenon__strided_copy(made, out_view);
  return TENON_OK;
}

static tenon_status_t compare_outputs(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                      tenon__outcome_t* outcome) {
  const uint32_t count = r->subject->region->output_count;
  tenon_tensor_view_t* views = tenon__arena_allocate(&r->data.arena, count + 1u, sizeof *views);
  if (views == NULL) {
    return tenon__rehearsal_lacks_memory(r);
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (trial->outputs->items[k].kind != TENON_ARGUMENT_ABSENT) {
      TENON_TRY(widen(r, k, &trial->outputs->items[k].view, &views[k]));
    }
  }
  TENON_TRY(find_answer(r, views, trial->candidate, &outcome->answer));
  if (outcome->answer == TENON_NONE) {
    tenon__outcome_is_wrong(outcome,
                            "eight other tactics of this region give eight different answers");
  }
  return TENON_OK;
}

/* ---- One candidate ---- */

/* Ends well, or says why not in the outcome. */
static tenon_status_t try_trial(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                const double* best_so_far, tenon__outcome_t* outcome) {
  tenon__spent_t* spent = &r->subject->tuning->spent;
  const double begun = tenon__seconds();
  TENON_TRY(tenon__trial_check(r, trial, outcome));
  if (outcome->tried == TENON_TRIED_WRONGLY) {
    return TENON_OK;
  }
  if (r->compares) {
    TENON_TRY(compare_outputs(r, trial, outcome));
  }
  const double compared = tenon__seconds();
  spent->comparing += compared - begun;
  if (outcome->tried != TENON_TRIED_WRONGLY && best_so_far != NULL) {
    TENON_TRY(tenon__trial_time(trial, *best_so_far, &outcome->seconds, &outcome->is_disturbed));
    spent->timing += tenon__seconds() - compared;
  }
  if (outcome->tried != TENON_TRIED_WRONGLY && !tenon__trial_zeroed_is_zero(trial)) {
    tenon__outcome_is_wrong(outcome, "does not leave its zeroed memory zero");
  }
  return TENON_OK;
}

/* Memory that the host has not for its own part ends a build, and so does a device that is lost;
 * whatever else is the kernel's. */
static tenon_status_t judge(tenon__rehearsal_t* r, const tenon__trial_t* trial,
                            tenon_status_t status, tenon__outcome_t* outcome) {
  if (r->failure != TENON_OK) {
    return r->failure;
  }
  if (tenon__interrupt_is_wanted(r->subject->tuning->options.interrupt)) {
    return TENON_ERROR_CANCELLED;
  }
  if (trial->outputs == NULL && status != TENON_ERROR_OUT_OF_MEMORY) {
    /* Its rules cannot be met here, or guessed extents do not fit together. */
    outcome->tried = TENON_TRIED_NOT;
    return TENON_OK;
  }
  if (trial->outputs == NULL && trial->message[0] == '\0') {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon__tuning_t* tuning = r->subject->tuning;
  if (status == TENON_ERROR_DEVICE &&
      !tenon__device_is_well(&tuning->devices[r->subject->region->device])) {
    return tenon__fail(tuning->sink, status, "%s%s", trial->prefix, trial->message);
  }
  outcome->tried = TENON_TRIED_FAILED;
  outcome->refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_FAILED};
  outcome->refusal.detail = tenon__arena_copy_string(
      r->subject->tuning->arena,
      trial->message[0] != '\0' ? trial->message : tenon__status_text(status));
  return TENON_OK;
}

static tenon_status_t try_candidate(tenon__rehearsal_t* r, const tenon__candidate_t* candidate,
                                    const double* best_so_far, tenon__outcome_t* out_outcome) {
  *out_outcome = (tenon__outcome_t){.tried = TENON_TRIED_NOT, .answer = TENON_NONE};
  if (!r->has_data) {
    tenon_status_t status =
        tenon__trial_data_begin(r->subject->tuning, r->subject->region, &r->data);
    r->has_data = true;
    r->data.conversion = r->subject->conversion;
    status = status == TENON_OK ? tenon__trial_inputs_make(&r->data, NULL) : status;
    r->can_be_tried = status == TENON_OK;
    TENON_TRY(status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_OK);
  }
  if (!r->can_be_tried) {
    return TENON_OK;
  }
  tenon__trial_t trial;
  const uint32_t known = r->answer_count;
  out_outcome->tried = TENON_TRIED_WELL;
  tenon_status_t status = tenon__trial_begin(&trial, &r->data, candidate);
  if (status == TENON_OK) {
    status = try_trial(r, &trial, best_so_far, out_outcome);
  }
  status = status == TENON_OK ? TENON_OK : judge(r, &trial, status, out_outcome);
  if (r->answer_count > known) {
    trial.outputs = NULL; /* the answer keeps them */
  }
  tenon__trial_end(&trial);
  return status;
}

tenon_status_t tenon__rehearsal_try(tenon__rehearsal_t* r, const tenon__candidate_t* candidate,
                                    const double* best_so_far, tenon__outcome_t* out_outcome) {
  tenon__spent_t* spent = &r->subject->tuning->spent;
  const double begun = tenon__seconds();
  const tenon_status_t status = try_candidate(r, candidate, best_so_far, out_outcome);
  spent->seconds += tenon__seconds() - begun;
  spent->count += 1;
  return status;
}

/* ---- The region as a whole ---- */

static bool is_repeatable(const struct tenon_region_t* region) {
  const tenon__graph_t* g = region->network->graphs[region->graph];
  for (uint32_t k = 0; k < region->covered_count; ++k) {
    const tenon__operator_t* op = g->nodes[region->covered[k]].op;
    if (op != NULL && op->traits.impure) {
      return false;
    }
  }
  return true;
}

void tenon__rehearsal_begin(const tenon__subject_t* subject, tenon__rehearsal_t* out_rehearsal) {
  *out_rehearsal =
      (tenon__rehearsal_t){.subject = subject, .compares = is_repeatable(subject->region)};
}

void tenon__rehearsal_end(tenon__rehearsal_t* rehearsal) {
  if (rehearsal->has_data) {
    tenon__trial_data_end(&rehearsal->data);
  }
}

static double elements_of(const struct tenon_region_t* region, uint32_t rank,
                          const tenon_dim_t* dims) {
  int64_t extents[TENON_RANK_LIMIT];
  double count = 1;
  if (rank > TENON_RANK_LIMIT ||
      !tenon__extents_shape(&region->profile->optimum, rank, dims, extents)) {
    return 0;
  }
  for (uint32_t d = 0; d < rank; ++d) {
    count *= (double)extents[d];
  }
  return count;
}

/* What the core's evaluator has to do for one node, in instructions and elements. */
static double work_of(const struct tenon_region_t* region, const tenon__node_t* node) {
  const tenon__value_node_t* values = region->network->graphs[region->graph]->values;
  const tenon__expression_t* expression = node->expression;
  double work = 0;
  if (expression != NULL) {
    return expression->program.instruction_count *
           elements_of(region, expression->program.rank, expression->space);
  }
  const uint32_t move_count = node->maps == NULL ? 0 : node->output_count;
  for (uint32_t k = 0; k < move_count; ++k) {
    if (node->outputs[k] != TENON_NONE) {
      const tenon__value_node_t* value = &values[node->outputs[k]];
      work += elements_of(region, value->type.rank, value->type.dims);
    }
  }
  return work;
}

/* The core's evaluator takes some nanoseconds for each instruction and element, and each step with
 * slots asks it: more than a few milliseconds would show in the time that a build takes. A kernel
 * that fills its slots wrongly does so in small tensors as well. What is claimed is less often, and
 * nobody else computes it: a tenth of a second. */
static bool is_dear(const struct tenon_region_t* region) {
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const double most = region->slot_count > 0 ? 1e6 : 3e7;
  double work = 0;
  for (uint32_t k = 0; k < region->covered_count; ++k) {
    work += work_of(region, &g->nodes[region->covered[k]]);
  }
  return work > most;
}

/* Could the nodes be computed otherwise than by a kernel for this region? */
static bool has_other_ways(const tenon__subject_t* subject) {
  const struct tenon_region_t* region = subject->region;
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const bool is_operator = region->kind == TENON_REGION_OPERATOR;
  const tenon__node_t* node = is_operator ? &g->nodes[region->nodes[0]] : NULL;
  return subject->claimant != NULL || region->slot_count > 0 ||
         (is_operator && (node->expression != NULL || node->maps != NULL));
}

tenon_status_t tenon__rehearsal_exceeds(const tenon__rehearsal_t* r, double most_operations,
                                        bool* out_exceeds) {
  const struct tenon_region_t* region = r->subject->region;
  double operations = 0;
  TENON_TRY(tenon__region_operations(r->subject->tuning->allocator, region,
                                     &region->profile->optimum, &operations));
  *out_exceeds = operations > most_operations;
  return TENON_OK;
}

/* The record of the only kernel that was tried; NULL if there was no memory for it. */
static tenon__kernel_spent_t* lone_kernel(const tenon__rehearsal_t* r) {
  const tenon__candidate_t* first = r->answers[0].first;
  tenon__kernel_spent_t* kernel = r->subject->tuning->spent.kernels;
  while (kernel != NULL && (first == NULL || kernel->kernel != first->kernel)) {
    kernel = kernel->next;
  }
  return kernel;
}

static const tenon__node_t* node_of(const struct tenon_region_t* region) {
  return &region->network->graphs[region->graph]->nodes[region->nodes[0]];
}

static tenon_dtype_t dtype_of(const struct tenon_region_t* region) {
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const tenon__node_t* node = node_of(region);
  return node->input_count > 0 && node->inputs[0] != TENON_NONE
             ? g->values[node->inputs[0]].type.dtype
             : TENON_DTYPE_FLOAT32;
}

/* Reference kernels perform 1e8 to 1e9 operations per second. A kernel's first comparison for an
 * operator and type takes at most 20 ms if the operator declares its work. After one that agreed, the
 * others take 2 ms each, because a network has dozens of regions with different extents. */
static const double most_operations_first = 2e6;
static const double most_operations_again = 2e5;

static tenon_status_t is_reference_dear(const tenon__rehearsal_t* r,
                                        const tenon__kernel_spent_t* lone, bool* out_dear) {
  const struct tenon_region_t* region = r->subject->region;
  const bool agreed = lone != NULL && lone->compared == node_of(region)->op &&
                      lone->compared_dtype == dtype_of(region);
  return tenon__rehearsal_exceeds(r, agreed ? most_operations_again : most_operations_first,
                                  out_dear);
}

/* A small region says little of a kernel's large ones. */
static tenon_status_t remember_agreement(const tenon__rehearsal_t* r, tenon__kernel_spent_t* lone) {
  const struct tenon_region_t* region = r->subject->region;
  bool is_large = false;
  TENON_TRY(tenon__rehearsal_exceeds(r, most_operations_again, &is_large));
  if (is_large) {
    lone->compared = node_of(region)->op;
    lone->compared_dtype = dtype_of(region);
  }
  return TENON_OK;
}

tenon_status_t tenon__rehearsal_ask_nodes(tenon__rehearsal_t* r) {
  const struct tenon_region_t* region = r->subject->region;
  const bool by_reference = !has_other_ways(r->subject);
  bool is_too_dear = !r->compares || !r->can_be_tried || r->answer_count == 0 ||
                     r->answers[0].kernel_count > 1 || is_dear(region) ||
                     (by_reference && region->kind != TENON_REGION_OPERATOR);
  tenon__kernel_spent_t* lone = by_reference && !is_too_dear ? lone_kernel(r) : NULL;
  bool known = false;
  uint32_t answer = 0;
  if (!is_too_dear && by_reference) {
    TENON_TRY(is_reference_dear(r, lone, &is_too_dear));
  }
  if (is_too_dear) {
    return TENON_OK;
  }
  tenon_tensor_view_t* outputs =
      tenon__arena_allocate(&r->data.arena, region->output_count + 1u, sizeof *outputs);
  TENON_TRY_MEMORY(outputs != NULL);
  TENON_TRY(tenon__reference_compute(&r->data, r->subject->ask_node, by_reference, &r->data.arena,
                                     outputs, &known));
  if (known) {
    TENON_TRY(find_answer(r, outputs, NULL, &answer));
  }
  return known && lone != NULL && answer == 0 ? remember_agreement(r, lone) : TENON_OK;
}
