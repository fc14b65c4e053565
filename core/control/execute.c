/* The only place where graphs run within graphs: a step that chooses, repeats or maps runs a body's
 * frame as the main graph's is run. */
#include "core/control/execute.h"

#include "core/base/file.h"
#include "core/base/status.h"
#include "core/control/crossing.h"
#include "core/control/repeat.h"
#include "core/frame/data_dependent.h"
#include "core/frame/frame.h"
#include "core/frame/requirements.h"
#include "core/kernel/run.h"
#include "core/plan/place.h"
#include "core/step/bind.h"
#include "core/step/chains.h"
#include "core/step/device_words.h"
#include "core/step/numbers.h"
#include "core/step/transfer.h"

/* ---- Kernels ---- */

static inline void refresh(tenon_argument_t* arguments, const tenon__bound_argument_t* bindings,
                           uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__bound_argument_t* binding = &bindings[k];
    if (binding->root == NULL) {
      continue;
    }
    if (arguments[k].kind == TENON_ARGUMENT_TENSOR) {
      char* data = binding->root->data; /* NULL: weights that the kernel packed and nobody kept */
      arguments[k].tensor.data = data == NULL ? NULL : data + binding->byte_offset;
    }
  }
}

static tenon_status_t run_kernel(tenon__frame_t* frame, uint32_t index) {
  tenon__run_state_t* run = frame->run;
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon__step_state_t* state = &frame->steps[index];
  if (step->is_dynamic) {
    TENON_TRY(tenon__frame_bind_step(frame, index));
  }
  if (tenon__bound_writes_nothing(state->bound)) {
    return TENON_OK;
  }
  if (state->reads_host) {
    TENON_TRY(tenon__run_settle(run, 0));
  }
  refresh(state->inputs, state->input_bindings, step->input_count);
  refresh(state->outputs, state->output_bindings, step->output_count);
  tenon__space_t* space = &run->spaces[step->device];
  struct tenon_run_t* lent = &space->run;
  lent->scratch = space->scratch + space->lane_scratch[step->lane];
  lent->zeroed = space->zeroed + step->zeroed_offset;
  lent->persistent = space->persistent + step->persistent_offset;
  lent->fault = state->fault;
  lent->buffers = state->buffers;
  lent->dynamic_count = step->output_count;
  space->is_busy = step->device != 0;
  const tenon_status_t status = tenon__bound_run(state->bound, lent, state->inputs, state->outputs);
  lent->edge = TENON_EDGE_KERNEL | ((step->tactic.flags & TENON_TACTIC_RELEASES_EARLY) != 0
                                        ? (uint32_t)TENON_EDGE_RELEASES_EARLY
                                        : 0u);
  return status;
}

static tenon_status_t run_contents(tenon__frame_t* frame, const tenon__step_t* step) {
  TENON_EACH_OUTPUT(k, step) {
    TENON_TRY(tenon__frame_write_numbers(frame, step->outputs[k]));
  }
  return TENON_OK;
}

/* ---- Bodies ---- */

static tenon_status_t run_choose(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  const tenon__node_t* node =
      &frame->run->engine->plan->network->graphs[frame->graph]->nodes[step->node];
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  tenon_argument_t argument;
  int64_t taken = 0;
  TENON_TRY(tenon__frame_scalar(frame, step->inputs[0], &taken));
  const uint32_t branch = node->bodies[taken != 0 ? 0 : 1];
  tenon__frame_t* body = &frame->run->frames[branch];
  const tenon__graph_t* graph = frame->run->engine->plan->network->graphs[branch];
  if (graph->fault != NULL) {
    return tenon__fail(frame->run->engine->options.sink, graph->fault_status,
                       "'%s' takes its branch '%s', which cannot run: %s", node->name, graph->name,
                       graph->fault);
  }
  for (uint32_t k = 1; k < step->input_count; ++k) {
    TENON_TRY(tenon__frame_argument(frame, step->inputs[k], dims, strides, &argument));
    TENON_TRY(tenon__frame_set_parameter(body, k - 1, &argument));
  }
  TENON_TRY(tenon__frame_run(body));
  TENON_EACH_OUTPUT(k, step) {
    TENON_TRY(tenon__frame_argument(body, body->schedule->outputs[k], dims, strides, &argument));
    TENON_TRY(tenon__frame_store(frame, step->outputs[k], &argument));
  }
  return TENON_OK;
}

static tenon_status_t run_repeat(tenon__frame_t* frame, uint32_t index) {
  tenon__repeat_t repeat;
  TENON_TRY(tenon__repeat_begin(frame, index, &repeat));
  while (tenon__repeat_goes_on(&repeat)) {
    if (tenon__interrupt_is_wanted(&frame->run->interrupt)) {
      return TENON_ERROR_CANCELLED;
    }
    TENON_TRY(tenon__repeat_set_parameters(&repeat));
    TENON_TRY(tenon__frame_run(repeat.body));
    TENON_TRY(tenon__repeat_take(&repeat));
  }
  return tenon__repeat_end(&repeat);
}

/* ---- Steps ---- */

static tenon_status_t compute(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  if (step->is_dynamic || tenon__step_is_control(step)) {
    TENON_TRY(tenon__frame_read_extents(frame, index));
  }
  if (step->device == 0 && !tenon__step_is_control(step)) { /* control waits for what it reads */
    TENON_TRY(tenon__run_settle(frame->run, 0));
  }
  switch (step->kind) {
    case TENON_STEP_KERNEL:
      return run_kernel(frame, index);
    case TENON_STEP_CONTENTS:
      return run_contents(frame, step);
    case TENON_STEP_CHOOSE:
      return run_choose(frame, index);
    case TENON_STEP_COPY:
      return tenon__frame_transfer(frame, index);
    default:
      return run_repeat(frame, index);
  }
}

/* Views of a place that has its numbers now. */
static tenon_status_t learn_views_of(tenon__frame_t* frame, uint32_t root) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < frame->sizing_count && status == TENON_OK; ++k) {
    if (tenon__place_root(frame->schedule, frame->sizing[k]) == root) {
      status = tenon__frame_learn(frame, frame->sizing[k]);
    }
  }
  return status;
}

/* What a step's output says, itself and through its views. */
static tenon_status_t learn_output(tenon__frame_t* frame, uint32_t place) {
  if (frame->schedule->places[place].storage == TENON_STORAGE_GROWING ||
      frame->numbers[place] != 0) {
    TENON_TRY(tenon__frame_learn(frame, place));
  }
  return learn_views_of(frame, tenon__place_root(frame->schedule, place));
}

static tenon_status_t do_step(tenon__frame_t* frame, uint32_t index) {
  const tenon__step_t* step = &frame->schedule->steps[index];
  tenon_status_t status = compute(frame, index);
  if (tenon__interrupt_is_wanted(&frame->run->interrupt)) {
    return TENON_ERROR_CANCELLED; /* whatever the step left is not looked at */
  }
  for (uint32_t k = 0; k < step->output_count && status == TENON_OK; ++k) {
    if (step->outputs[k] != TENON_NONE) {
      status = learn_output(frame, step->outputs[k]);
    }
  }
  return status == TENON_OK ? tenon__frame_check(frame) : status;
}

/* Under its name, where a tool wants to show it. */
static tenon_status_t run_step(tenon__frame_t* frame, uint32_t index) {
  const tenon__device_t* watched = frame->run->watched;
  if (watched == NULL) {
    return do_step(frame, index);
  }
  tenon__device_begin_range(watched, frame->schedule->steps[index].name);
  const tenon_status_t status = do_step(frame, index);
  tenon__device_end_range(watched);
  return status;
}

/* Places with contents that symbols read and that no step makes. */
static tenon_status_t learn_given(tenon__frame_t* frame) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < frame->given_count && status == TENON_OK; ++k) {
    const uint32_t p = frame->given[k];
    if (frame->numbers[p] != 0) {
      status = tenon__frame_learn(frame, p);
    }
    if (status == TENON_OK) {
      status = learn_views_of(frame, p);
    }
  }
  return status;
}

static tenon_status_t run_steps(tenon__frame_t* frame) {
  for (uint32_t k = 0; k < frame->schedule->step_count;) {
    tenon__chain_t* chain = tenon__frame_chain_at(frame, k);
    TENON_TRY(chain == NULL ? run_step(frame, k) : tenon__frame_run_chain(frame, chain, run_step));
    k += chain == NULL ? 1 : chain->count;
  }
  return TENON_OK;
}

static tenon_status_t show(tenon__frame_t* frame, const tenon__step_t* step) {
  const tenon__run_state_t* run = frame->run;
  const uint32_t count = step->kind == TENON_STEP_KERNEL ? step->output_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    int64_t dims[TENON_RANK_LIMIT];
    int64_t strides[TENON_RANK_LIMIT];
    tenon_argument_t argument = {0};
    if (step->outputs[k] == TENON_NONE || frame->schedule->places[step->outputs[k]].space != 0) {
      continue;
    }
    TENON_TRY(tenon__frame_argument(frame, step->outputs[k], dims, strides, &argument));
    if (argument.kind == TENON_ARGUMENT_TENSOR) {
      run->observer.watcher(run->observer.watcher_user, frame->graph,
                            frame->schedule->places[step->outputs[k]].value, &argument.tensor);
    }
  }
  return TENON_OK;
}

/* Each step by itself, until it is done: the time of the work, not of asking for it. */
static tenon_status_t run_profiled(tenon__frame_t* frame) {
  tenon__run_state_t* run = frame->run;
  for (uint32_t k = 0; k < frame->schedule->step_count; ++k) {
    const double begin = tenon__seconds();
    TENON_TRY(run_step(frame, k));
    TENON_TRY(tenon__run_settle(run, 0));
    if (run->observer.profiler != NULL) {
      run->observer.profiler(run->observer.profiler_user,
                             run->engine->steps[frame->graph][k].number, tenon__seconds() - begin);
    }
    if (run->observer.watcher != NULL) {
      TENON_TRY(show(frame, &frame->schedule->steps[k]));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__frame_run(tenon__frame_t* frame) {
  tenon__run_state_t* run = frame->run;
  tenon__frame_forget_data_dependent(frame);
  tenon__frame_forget_extents(frame);
  tenon__frame_follow(frame);
  TENON_TRY(learn_given(frame));
  TENON_TRY(tenon__frame_check(frame));
  if (!frame->is_bound) {
    TENON_TRY(tenon__frame_bind(frame));
  }
  TENON_TRY(run->observer.profiler == NULL && run->observer.watcher == NULL ? run_steps(frame)
                                                                            : run_profiled(frame));
  if (frame->graph == 0) {
    return TENON_OK;
  }
  return tenon__frame_read_extents(frame, TENON_NONE);
}
