/* Checks of one candidate: it runs with two patterns in its outputs, and elements that keep both
 * patterns were not written. Checksums of the inputs show writes to them. A second run shows other
 * extents. */
#include "core/rehearsal/trial_check.h"

#include <string.h>

#include "core/base/status.h"
#include "core/tensor/layout.h"
#include "core/timing/trial_inputs.h"
#include "core/timing/trial_memory.h"

/* ---- Words ---- */

static const char* name_of_output(const tenon__rehearsal_t* r, uint32_t output) {
  const struct tenon_region_t* region = r->subject->region;
  return region->values[region->output_values[output]].name;
}

const char* tenon__element_name(const tenon__rehearsal_t* rehearsal, uint32_t output,
                                const int64_t* index, uint32_t rank) {
  tenon__arena_t* arena = rehearsal->subject->tuning->arena;
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

/* ---- A run ---- */

static bool is_checked(const tenon__trial_output_t* output) {
  return output->kind != TENON_ARGUMENT_ABSENT && output->view.data != NULL &&
         output->size_bytes > 0 && output->view.dtype != TENON_DTYPE_STRING;
}

void tenon__outcome_is_wrong(tenon__outcome_t* outcome, const char* detail) {
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
tenon_status_t tenon__rehearsal_lacks_memory(tenon__rehearsal_t* r) {
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
    return tenon__rehearsal_lacks_memory(r);
  }
  TENON_TRY(tenon__trial_run(trial, pattern));
  for (uint32_t k = 0; k < trial->data->region->output_count && *out_alike; ++k) {
    *out_alike = same_extents(&before[k], &trial->outputs->items[k].view);
    if (!*out_alike && r->compares) {
      tenon__outcome_is_wrong(
          outcome, tenon__arena_format(r->subject->tuning->arena,
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
    return tenon__rehearsal_lacks_memory(r);
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
      index[0] = tenon__part_index(&output->part, index[0]);
      tenon__outcome_is_wrong(
          outcome, tenon__arena_format(r->subject->tuning->arena,
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

tenon_status_t tenon__trial_check(tenon__rehearsal_t* r, tenon__trial_t* trial,
                                  tenon__outcome_t* outcome) {
  const struct tenon_region_t* region = r->subject->region;
  const bool is_mirrored = tenon__trial_mirror_is_used(&trial->mirror);
  uint32_t changed = TENON_NONE;
  if (!is_mirrored) {
    tenon__trial_inputs_guard(&r->data, trial->instance);
  }
  TENON_TRY(tenon__trial_run(trial, TENON_PATTERN_FIRST));
  if (allocates(trial)) {
    bool is_alike = true;
    TENON_TRY(run_again(r, trial, TENON_PATTERN_FIRST, outcome, &is_alike));
  }
  if (count_pattern(trial, TENON_PATTERN_FIRST, NULL) > 0 &&
      outcome->tried != TENON_TRIED_WRONGLY) {
    TENON_TRY(look_again(r, trial, outcome));
  }
  const char* overrun = NULL;
  TENON_TRY(tenon__trial_find_overrun(trial, &overrun));
  if (overrun != NULL) {
    tenon__outcome_is_wrong(outcome, overrun);
  }
  if (is_mirrored) {
    TENON_TRY(tenon__trial_mirror_changed(&trial->mirror, &r->data, trial->instance, &changed));
  } else {
    changed = tenon__trial_inputs_changed(&r->data, trial->instance);
  }
  if (changed == TENON_NONE) {
    return TENON_OK;
  }
  const tenon_value_info_t* value = &region->values[region->input_values[changed]];
  const tenon__trial_input_t* input = &r->data.inputs[changed];
  if (!is_mirrored && value->constant_data != NULL && input->current == &input->rows) {
    r->failure = tenon__fail(r->subject->tuning->sink, TENON_ERROR_INTERNAL,
                             "%sthe kernel writes to the constant '%s', which the network needs as "
                             "it was: exclude the kernel",
                             trial->prefix, value->name);
    return r->failure;
  }
  tenon__outcome_is_wrong(
      outcome, tenon__arena_format(r->subject->tuning->arena, "writes to its input %u, '%s'",
                                   changed, value->name));
  return TENON_OK;
}
