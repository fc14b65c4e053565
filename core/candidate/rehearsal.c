#include "core/candidate/rehearsal.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/reference_result.h"
#include "core/candidate/timer.h"
#include "core/candidate/trial_inputs.h"
#include "core/candidate/trial_memory.h"
#include "core/region/retype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"

/* ---- Words ---- */

static const char* name_of_output(const tenon__rehearsal_t* r, uint32_t output) {
  const struct tenon_region_t* region = r->search->region;
  return region->values[region->output_values[output]].name;
}

const char* tenon__element_name(const tenon__rehearsal_t* rehearsal, uint32_t output,
                                const int64_t* index, uint32_t rank) {
  tenon__arena_t* arena = rehearsal->search->tuning->arena;
  const char* name = name_of_output(rehearsal, output);
  const char* text = "[";
  for (uint32_t k = 0; k < rank && text != NULL; ++k) {
    text = tenon__arena_format(arena, "%s%s%lld", text, k > 0 ? ", " : "", (long long)index[k]);
  }
  text = text == NULL ? NULL : tenon__arena_format(arena, "%s] of '%s'", text, name);
  return text == NULL ? name : text;
}

/* Where element number `place` of a dense tensor's memory stands in it. */
static void index_of_place(const tenon_tensor_view_t* view, uint64_t place,
                           int64_t out_index[TENON_RANK_LIMIT]) {
  bool used[TENON_RANK_LIMIT] = {false};
  for (uint32_t step = 0; step < view->rank; ++step) {
    uint32_t axis = TENON_NONE; /* of the largest stride left; of equals the longest */
    for (uint32_t d = 0; d < view->rank; ++d) {
      const bool is_larger =
          axis == TENON_NONE || view->strides[d] > view->strides[axis] ||
          (view->strides[d] == view->strides[axis] && view->dims[d] > view->dims[axis]);
      axis = !used[d] && is_larger ? d : axis;
    }
    used[axis] = true;
    const uint64_t stride = (uint64_t)(view->strides[axis] < 1 ? 1 : view->strides[axis]);
    out_index[axis] = view->dims[axis] == 1 ? 0 : (int64_t)(place / stride);
    place = view->dims[axis] == 1 ? place : place % stride;
  }
}

/* ---- A run, and what it must not do ---- */

static bool is_checked(const tenon__trial_output_t* output) {
  return output->kind != TENON_ARGUMENT_ABSENT && output->view.data != NULL &&
         output->size_bytes > 0 && output->view.dtype != TENON_DTYPE_STRING;
}

static void wrongly(tenon__outcome_t* outcome, const char* detail) {
  outcome->tried = TENON_TRIED_WRONGLY;
  outcome->refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_WRONG, .detail = detail};
}

static uint64_t count_pattern(const tenon__trial_t* trial, uint32_t pattern, uint8_t** marks) {
  uint64_t count = 0;
  for (uint32_t k = 0; k < trial->data->region->output_count; ++k) {
    const tenon__trial_output_t* output = &trial->outputs->items[k];
    if (is_checked(output)) {
      count += tenon__pattern_count(output->view.data, output->view.dtype, output->size_bytes,
                                    pattern, marks == NULL ? NULL : marks[k]);
    }
  }
  return count;
}

/* Memory that the host needs for its own part is no matter of the kernel. */
static tenon_status_t lacks_memory(tenon__rehearsal_t* r) {
  r->failure = TENON_ERROR_OUT_OF_MEMORY;
  return r->failure;
}

static bool same_extents(const tenon_tensor_view_t* a, const tenon_tensor_view_t* b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/* What the outputs' extents are, until the trial ends; NULL when memory is out. */
static tenon_tensor_view_t* copy_extents(tenon__trial_t* trial) {
  const uint32_t count = trial->data->region->output_count;
  tenon_tensor_view_t* views = tenon__arena_allocate(&trial->arena, count + 1u, sizeof *views);
  for (uint32_t k = 0; k < count && views != NULL; ++k) {
    const tenon_tensor_view_t* view = &trial->outputs->items[k].view;
    views[k].rank = view->rank;
    views[k].dims = tenon__arena_copy(&trial->arena, view->dims, view->rank * sizeof *view->dims);
    views = view->rank > 0 && views[k].dims == NULL ? NULL : views;
  }
  return views;
}

/* One run more. *out_alike false: it found other extents than the run before, so that nothing which
 * was counted then holds now; wrong where the same inputs give the same outputs. */
static tenon_status_t run_again(tenon__rehearsal_t* r, tenon__trial_t* trial, uint32_t pattern,
                                tenon__outcome_t* outcome, bool* out_alike) {
  const tenon_tensor_view_t* before = copy_extents(trial);
  *out_alike = true;
  if (before == NULL) {
    return lacks_memory(r);
  }
  TENON_TRY(tenon__trial_run(trial, pattern));
  for (uint32_t k = 0; k < trial->data->region->output_count && *out_alike; ++k) {
    *out_alike = same_extents(&before[k], &trial->outputs->items[k].view);
    if (!*out_alike && r->compares) {
      wrongly(outcome,
              tenon__arena_format(r->search->tuning->arena,
                                  "finds other extents from the same inputs: of output %u, "
                                  "'%s'",
                                  k, name_of_output(r, k)));
    }
  }
  return TENON_OK;
}

/* For each element a mark: to be looked at. NULL when memory is out. */
static uint8_t** make_marks(tenon__trial_t* trial) {
  const uint32_t count = trial->data->region->output_count;
  uint8_t** marks = tenon__arena_allocate(&trial->arena, count + 1u, sizeof *marks);
  if (marks == NULL) {
    return NULL;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__trial_output_t* output = &trial->outputs->items[k];
    const uint64_t elements = tenon__pattern_elements(output->view.dtype, output->size_bytes);
    marks[k] = tenon__arena_allocate(&trial->arena, elements + 1u, 1);
    if (marks[k] == NULL) {
      return NULL;
    }
    memset(marks[k], 1, elements);
  }
  return marks;
}

/* What holds the first pattern may be right; what holds the second after another run was not
 * written. */
static tenon_status_t look_again(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                 tenon__outcome_t* outcome) {
  const uint32_t count = trial->data->region->output_count;
  bool is_alike = true;
  uint8_t** marks = make_marks(trial);
  if (marks == NULL) {
    return lacks_memory(r);
  }
  (void)count_pattern(trial, TENON_PATTERN_FIRST, marks);
  TENON_TRY(run_again(r, trial, TENON_PATTERN_SECOND, outcome, &is_alike));
  if (!is_alike) {
    return TENON_OK;
  }
  const uint64_t unwritten = count_pattern(trial, TENON_PATTERN_SECOND, marks);
  if (unwritten == 0) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__trial_output_t* output = &trial->outputs->items[k];
    const uint64_t elements =
        is_checked(output) ? tenon__pattern_elements(output->view.dtype, output->size_bytes) : 0;
    const uint8_t* first = elements == 0 ? NULL : memchr(marks[k], 1, elements);
    if (first != NULL) {
      int64_t index[TENON_RANK_LIMIT] = {0};
      index_of_place(&output->view, (uint64_t)(first - marks[k]), index);
      wrongly(outcome,
              tenon__arena_format(r->search->tuning->arena,
                                  "does not write %llu of %llu elements, the first of them %s",
                                  (unsigned long long)unwritten, (unsigned long long)elements,
                                  tenon__element_name(r, k, index, output->view.rank)));
      return TENON_OK;
    }
  }
  return TENON_OK;
}

/* What a kernel allocates holds a pattern only once it is there. */
static bool allocates(const tenon__trial_t* trial) {
  for (uint32_t k = 0; k < trial->data->region->output_count; ++k) {
    if (trial->outputs->items[k].kind == TENON_ARGUMENT_ALLOCATE) {
      return true;
    }
  }
  return false;
}

static tenon_status_t run_and_check(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                    tenon__outcome_t* outcome) {
  const struct tenon_region_t* region = r->search->region;
  tenon__trial_inputs_guard(&r->data, trial->instance);
  TENON_TRY(tenon__trial_run(trial, TENON_PATTERN_FIRST));
  if (allocates(trial)) {
    bool is_alike = true;
    TENON_TRY(run_again(r, trial, TENON_PATTERN_FIRST, outcome, &is_alike));
  }
  if (count_pattern(trial, TENON_PATTERN_FIRST, NULL) > 0 &&
      outcome->tried != TENON_TRIED_WRONGLY) {
    TENON_TRY(look_again(r, trial, outcome));
  }
  const uint32_t changed = tenon__trial_inputs_changed(&r->data, trial->instance);
  if (changed == TENON_NONE) {
    return TENON_OK;
  }
  const tenon_value_info_t* value = &region->values[region->input_values[changed]];
  const tenon__trial_input_t* input = &r->data.inputs[changed];
  if (value->constant_data != NULL && input->current == &input->rows) {
    r->failure = tenon__fail(r->search->tuning->sink, TENON_ERROR_INTERNAL,
                             "%sthe kernel writes to the constant '%s', which the network needs as "
                             "it was: exclude the kernel",
                             trial->prefix, value->name);
    return r->failure;
  }
  wrongly(outcome, tenon__arena_format(r->search->tuning->arena, "writes to its input %u, '%s'",
                                       changed, value->name));
  return TENON_OK;
}

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
                           .stored = tenon__region_output_dtype(r->search->region, output, rule)};
}

bool tenon__answers_differ(tenon__rehearsal_t* r, tenon__answer_t* first,
                           const tenon_tensor_view_t* second,
                           const tenon__candidate_t* second_maker, uint32_t* out_output,
                           tenon__difference_t* out_difference) {
  for (uint32_t k = 0; k < r->search->region->output_count; ++k) {
    if (first->outputs[k].data == NULL || second[k].data == NULL) {
      continue;
    }
    const tenon__tolerance_t tolerance =
        tenon__tolerance_of(r->search->region, k, magnitude_of(first, k),
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
  const uint32_t count = r->search->region->output_count;
  *answer = (tenon__answer_t){.outputs = outputs, .first = candidate};
  answer->magnitudes =
      tenon__arena_allocate(&r->data.arena, count + 1u, sizeof *answer->magnitudes);
  if (answer->magnitudes == NULL) {
    return lacks_memory(r);
  }
  for (uint32_t k = 0; k < count; ++k) {
    answer->magnitudes[k] = -1;
  }
  add_kernel(answer, kernel);
  *out_answer = r->answer_count++;
  return TENON_OK;
}

/* In the value's own type, where a tactic or a region of other types left it in another: answers are
 * compared in one, and with what the operators mean. */
static tenon_status_t widen(tenon__rehearsal_t* r, uint32_t output, const tenon_tensor_view_t* made,
                            tenon_tensor_view_t* out_view) {
  const struct tenon_region_t* region = r->search->region;
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
    return lacks_memory(r);
  }
  tenon__strided_copy(made, out_view);
  return TENON_OK;
}

static tenon_status_t compare_outputs(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                      tenon__outcome_t* outcome) {
  const uint32_t count = r->search->region->output_count;
  tenon_tensor_view_t* views = tenon__arena_allocate(&r->data.arena, count + 1u, sizeof *views);
  if (views == NULL) {
    return lacks_memory(r);
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (trial->outputs->items[k].kind != TENON_ARGUMENT_ABSENT) {
      TENON_TRY(widen(r, k, &trial->outputs->items[k].view, &views[k]));
    }
  }
  TENON_TRY(find_answer(r, views, trial->candidate, &outcome->answer));
  if (outcome->answer == TENON_NONE) {
    wrongly(outcome, "eight other tactics of this region give eight different answers");
  }
  return TENON_OK;
}

/* ---- One candidate ---- */

/* Ends well, or says why not in the outcome. */
static tenon_status_t try_trial(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                const double* best_so_far, tenon__outcome_t* outcome) {
  TENON_TRY(run_and_check(r, trial, outcome));
  if (outcome->tried == TENON_TRIED_WRONGLY) {
    return TENON_OK;
  }
  if (r->compares) {
    TENON_TRY(compare_outputs(r, trial, outcome));
  }
  if (outcome->tried != TENON_TRIED_WRONGLY && best_so_far != NULL) {
    TENON_TRY(tenon__trial_time(trial, *best_so_far, &outcome->seconds, &outcome->is_disturbed));
  }
  if (outcome->tried != TENON_TRIED_WRONGLY && !tenon__trial_zeroed_is_zero(trial)) {
    wrongly(outcome, "does not leave its zeroed memory zero");
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
  if (tenon__interrupt_is_wanted(r->search->tuning->options.interrupt)) {
    return TENON_ERROR_CANCELLED;
  }
  if (trial->outputs == NULL && status == TENON_ERROR_UNSUPPORTED) {
    outcome->tried = TENON_TRIED_NOT; /* its rules cannot be met here */
    return TENON_OK;
  }
  if (trial->outputs == NULL && status != TENON_OK && trial->message[0] == '\0') {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon__tuning_t* tuning = r->search->tuning;
  if (status == TENON_ERROR_DEVICE &&
      !tenon__device_is_well(&tuning->devices[r->search->region->device])) {
    return tenon__fail(tuning->sink, status, "%s", trial->message);
  }
  outcome->tried = TENON_TRIED_FAILED;
  outcome->refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_FAILED};
  outcome->refusal.detail = tenon__arena_copy_string(
      r->search->tuning->arena,
      trial->message[0] != '\0' ? trial->message : tenon__status_text(status));
  return TENON_OK;
}

tenon_status_t tenon__rehearsal_try(tenon__rehearsal_t* r, const tenon__candidate_t* candidate,
                                    const double* best_so_far, tenon__outcome_t* out_outcome) {
  *out_outcome = (tenon__outcome_t){.tried = TENON_TRIED_NOT, .answer = TENON_NONE};
  if (!r->has_data) {
    tenon_status_t status = tenon__trial_data_begin(r->search->tuning, r->search->region, &r->data);
    r->has_data = true;
    r->data.conversion = r->search->conversion;
    status = status == TENON_OK ? tenon__trial_inputs_make(&r->data, NULL) : status;
    r->can_be_tried = status == TENON_OK;
    TENON_TRY(status == TENON_ERROR_UNSUPPORTED ? TENON_OK : status);
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

void tenon__rehearsal_begin(search_t* search, tenon__rehearsal_t* out_rehearsal) {
  *out_rehearsal =
      (tenon__rehearsal_t){.search = search, .compares = is_repeatable(search->region)};
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
static bool has_other_ways(const search_t* search) {
  const struct tenon_region_t* region = search->region;
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const bool is_operator = region->kind == TENON_REGION_OPERATOR;
  const tenon__node_t* node = is_operator ? &g->nodes[region->nodes[0]] : NULL;
  return search->claimant != NULL || region->slot_count > 0 ||
         (is_operator && (node->expression != NULL || node->maps != NULL));
}

tenon_status_t tenon__rehearsal_ask_nodes(tenon__rehearsal_t* r) {
  const struct tenon_region_t* region = r->search->region;
  bool known = false;
  uint32_t answer = 0;
  if (!has_other_ways(r->search) || is_dear(region) || !r->compares || !r->can_be_tried ||
      r->answer_count == 0 || r->answers[0].kernel_count > 1) {
    return TENON_OK;
  }
  tenon_tensor_view_t* outputs =
      tenon__arena_allocate(&r->data.arena, region->output_count + 1u, sizeof *outputs);
  TENON_TRY_MEMORY(outputs != NULL);
  TENON_TRY(tenon__reference_compute(&r->data, r->search->ask_node, false, &r->data.arena, outputs,
                                     &known));
  return known ? find_answer(r, outputs, NULL, &answer) : TENON_OK;
}
