/* A tactic with one argument in a box: two trials of the same data run in turns, their outputs are
 * compared, and the ratio of their smallest times counts. The timing cache remembers it. */
#include "core/timing/box_time.h"

#include <string.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/strided_copy.h"
#include "core/timing/timer.h"
#include "core/timing/trial_inputs.h"
#include "core/timing/trial_memory.h"

/* The same tactic twice: with arguments in memory of their own, and with one in the box. */
typedef struct pair_t {
  const tenon__box_t* box;
  tenon__trial_data_t data;
  tenon_argument_t* own_arguments;
  tenon_argument_t* boxed_arguments;
  tenon__trial_t own;
  tenon__trial_t boxed;
} pair_t;

/* Two trials of one data: the second gets outputs of its own, since the first keeps its. */
static tenon_status_t begin(pair_t* p, const tenon__candidate_t* candidate) {
  p->data.is_whole = true; /* of which a box is compared */
  TENON_TRY(tenon__trial_inputs_make(&p->data, NULL));
  TENON_TRY(tenon__trial_begin(&p->own, &p->data, candidate));
  p->own_arguments = p->data.arguments;
  p->data.arguments = tenon__arena_allocate(&p->data.arena, p->data.region->input_count + 1u,
                                            sizeof *p->data.arguments);
  TENON_TRY_MEMORY(p->data.arguments != NULL);
  p->boxed_arguments = p->data.arguments;
  p->data.box = p->box;
  return tenon__trial_begin(&p->boxed, &p->data, candidate);
}

/* Arguments are the data's: those of the trial at hand. */
static tenon__trial_t* take_up(pair_t* p, bool boxed) {
  p->data.arguments = boxed ? p->boxed_arguments : p->own_arguments;
  return boxed ? &p->boxed : &p->own;
}

/* Are the bytes of an output those that it has where nothing lies in a box? */
static tenon_status_t compare(pair_t* p, uint32_t output, bool* out_same) {
  const tenon__trial_output_t* own = &p->own.outputs->items[output];
  tenon_tensor_view_t copy = own->view;
  *out_same = own->kind == TENON_ARGUMENT_ABSENT;
  if (own->kind != TENON_ARGUMENT_TENSOR || own->view.dtype == TENON_DTYPE_STRING ||
      tenon__dtype_bits(own->view.dtype) < 8) {
    return TENON_OK;
  }
  copy.data = tenon__trial_data_take(&p->data, own->size_bytes);
  TENON_TRY_MEMORY(copy.data != NULL);
  tenon__strided_copy(&p->boxed.outputs->items[output].view, &copy);
  *out_same = memcmp(copy.data, own->view.data, own->size_bytes) == 0;
  return TENON_OK;
}

static tenon_status_t run_both(pair_t* p, bool* out_same) {
  uint32_t differing = 0;
  TENON_TRY(tenon__trial_run(take_up(p, false), TENON_PATTERN_FIRST));
  TENON_TRY(tenon__trial_run(take_up(p, true), TENON_PATTERN_FIRST));
  for (uint32_t k = 0; k < p->data.region->output_count; ++k) {
    bool is_same = false;
    TENON_TRY(compare(p, k, &is_same));
    differing += is_same ? 0 : 1;
  }
  *out_same = differing == 0;
  return TENON_OK;
}

/* The smallest time, and whether somebody disturbed it. */
typedef struct look_t {
  double seconds;
  bool is_disturbed;
} look_t;

static tenon_status_t look(tenon__trial_t* trial, look_t* best) {
  look_t own = {0};
  TENON_TRY(tenon__trial_time(trial, best->seconds, &own.seconds, &own.is_disturbed));
  *best = own.seconds < best->seconds ? own : *best;
  return TENON_OK;
}

/* How many times longer it takes in the box. What was disturbed says nothing against the box,
 * unless it is much. */
static tenon_status_t time_both(pair_t* p, double* out_ratio) {
  look_t own = {.seconds = 1e30};
  look_t boxed = {.seconds = 1e30};
  bool is_clear = false;
  for (uint32_t round = 0; round < TENON_NOISE_MAX_BOX_ROUNDS && !is_clear; ++round) {
    TENON_TRY(look(take_up(p, false), &own));
    TENON_TRY(look(take_up(p, true), &boxed));
    is_clear = round + 1 >= TENON_NOISE_MIN_BOX_ROUNDS && !own.is_disturbed && !boxed.is_disturbed;
  }
  const double ratio = own.seconds > 0 ? boxed.seconds / own.seconds : 1;
  *out_ratio = is_clear || ratio < 1 || ratio > TENON_NOISE_DISTURBED_RATIO ? ratio : 1;
  return TENON_OK;
}

/* A kernel that fails has no say; memory and the wish to end are the build's. */
static tenon_status_t try_pair(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                               const tenon__candidate_t* candidate, const tenon__box_t* box,
                               double* out_ratio, bool* out_same) {
  pair_t p = {.box = box};
  tenon_status_t status = tenon__trial_data_begin(tuning, region, &p.data);
  status = status == TENON_OK ? begin(&p, candidate) : status;
  status = status == TENON_OK ? run_both(&p, out_same) : status;
  status = status == TENON_OK && *out_same ? time_both(&p, out_ratio) : status;
  *out_same = *out_same && status == TENON_OK;
  if (p.own.data != NULL) {
    tenon__trial_end(&p.own);
  }
  if (p.boxed.data != NULL) {
    tenon__trial_end(&p.boxed);
  }
  tenon__trial_data_end(&p.data);
  return status == TENON_ERROR_OUT_OF_MEMORY || status == TENON_ERROR_CANCELLED ? status : TENON_OK;
}

static tenon__digest_t key_of(const tenon__candidate_t* candidate, const tenon__box_t* box) {
  tenon__digest_state_t state;
  const size_t bytes = box->rank * sizeof(int64_t);
  const uint32_t argument[] = {box->is_input ? 1 : 0, box->argument};
  tenon__digest_begin(&state);
  tenon__digest_add(&state, &candidate->key, sizeof candidate->key);
  tenon__digest_add(&state, argument, sizeof argument);
  tenon__digest_add(&state, box->dims, bytes);
  tenon__digest_add(&state, box->begin, bytes);
  if (box->order != NULL) {
    tenon__digest_add(&state, box->order, box->rank * sizeof *box->order);
  }
  return tenon__digest_end(&state);
}

tenon_status_t tenon__candidate_time_in_box(tenon__tuning_t* tuning,
                                            const struct tenon_region_t* region,
                                            const tenon__candidate_t* candidate,
                                            const tenon__box_t* box, tenon__box_time_t* out_time) {
  tenon__timing_t timing = {.checked = TENON_CHECKED_AGREES};
  const tenon__digest_t key = key_of(candidate, box);
  double ratio = 1;
  bool is_same = false;
  *out_time = (tenon__box_time_t){.time = {.figure = TENON_FIGURE_NONE}};
  if (candidate->time.figure != TENON_FIGURE_MEASURED || region->device != 0) {
    return TENON_OK;
  }
  if (!tenon__timing_cache_find(tuning->cache, &key, &timing)) {
    if (!tenon__tuning_may_measure(tuning)) {
      return TENON_OK;
    }
    TENON_TRY(try_pair(tuning, region, candidate, box, &ratio, &is_same));
    timing.seconds = candidate->time.seconds * ratio;
    timing.checked = is_same ? TENON_CHECKED_AGREES : TENON_CHECKED_WRONG;
    tuning->measured_count += 1;
    TENON_TRY(tenon__timing_cache_add(tuning->cache, &key, timing));
  }
  out_time->time = (tenon__time_t){TENON_FIGURE_MEASURED, timing.seconds};
  out_time->is_wrong = timing.checked == TENON_CHECKED_WRONG;
  return TENON_OK;
}
