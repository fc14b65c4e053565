/* How long a tactic takes here: prepared, bound and run on made-up data, the smallest of several
 * times. */
#include "core/timing/timer.h"

#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/noise.h"
#include "core/base/processor.h"
#include "core/base/status.h"
#include "core/kernel/run.h"
#include "core/timing/trial_inputs.h"
#include "core/timing/trial_outputs.h"

/* ---- Words ---- */

static void hear(void* user, int32_t severity, const char* message) {
  tenon__trial_t* trial = user;
  if (severity == TENON_SEVERITY_ERROR && trial->message[0] == '\0') {
    (void)snprintf(trial->message, sizeof(trial->message), "%s", message);
  }
  tenon__report(trial->data->tuning->sink, TENON_SEVERITY_INFO, "%s%s", trial->prefix, message);
}

static tenon_status_t lacks(tenon__trial_t* trial, const char* what, uint64_t size_bytes) {
  (void)snprintf(trial->message, sizeof(trial->message), "there is no memory for %llu bytes of %s",
                 (unsigned long long)size_bytes, what);
  return TENON_ERROR_OUT_OF_MEMORY;
}

/* ---- Preparing ---- */

/* Between red zones. NULL if memory is out. */
static void* take_on_host(tenon__trial_t* trial, uint64_t size_bytes) {
  if (size_bytes > tenon__machine_memory_bytes()) {
    return NULL;
  }
  const size_t size = (size_t)size_bytes;
  void* block = tenon__blocks_take(&trial->data->tuning->blocks, tenon__red_zone_block_bytes(size));
  const tenon__zoned_t zoned = {tenon__red_zone_data(block), size, size};
  if (block != NULL) {
    tenon__red_zones_fill(&zoned);
  }
  return zoned.data;
}

static tenon_status_t provide_workspace(tenon__trial_t* trial, const char* what,
                                        uint64_t size_bytes, void** out_memory) {
  if (tenon__trial_mirror_is_used(&trial->mirror)) {
    TENON_TRY(tenon__trial_mirror_take_zoned(&trial->mirror, (size_t)size_bytes, out_memory));
  } else {
    *out_memory = take_on_host(trial, size_bytes);
  }
  return *out_memory == NULL ? lacks(trial, what, size_bytes) : TENON_OK;
}

static tenon_status_t provide_workspaces(tenon__trial_t* trial) {
  tenon__tuning_t* tuning = trial->data->tuning;
  const tenon__step_tactic_t* tactic = &trial->candidate->tactic;
  const tenon__memory_t memory = tenon__tuning_memory(tuning, trial->data->region->device);
  trial->scratch_bytes = UINT64_MAX;
  (void)tenon__tactic_scratch_bytes(tactic, tenon__thread_pool_thread_count(tuning->pool),
                                    &trial->scratch_bytes);
  trial->run = (struct tenon_run_t){.pool = tuning->pool,
                                    .stream = memory.stream,
                                    .sink = &trial->sink,
                                    .interrupt = tuning->options.interrupt,
                                    .buffers = trial->outputs->buffers,
                                    .dynamic_count = trial->data->region->output_count};
  TENON_TRY(provide_workspace(trial, "scratch", trial->scratch_bytes, &trial->run.scratch));
  TENON_TRY(provide_workspace(trial, "zeroed memory", tactic->zeroed_bytes, &trial->run.zeroed));
  TENON_TRY(tenon__memory_clear(&memory, trial->run.zeroed, tactic->zeroed_bytes));
  trial->zeroed_bytes = (size_t)tactic->zeroed_bytes;
  TENON_TRY(provide_workspace(trial, "persistent memory", tactic->persistent_bytes,
                              &trial->run.persistent));
  return tenon__memory_clear(&memory, trial->run.persistent, tactic->persistent_bytes);
}

/* For reports; what memory is too short for is left out. */
static void note_preparing(tenon__tuning_t* tuning, const tenon__kernel_entry_t* kernel,
                           double seconds) {
  tenon__kernel_spent_t* spent = tuning->spent.kernels;
  while (spent != NULL && spent->kernel != kernel) {
    spent = spent->next;
  }
  if (spent == NULL) {
    spent = tenon__arena_allocate(tuning->arena, 1, sizeof *spent);
    if (spent == NULL) {
      return;
    }
    *spent = (tenon__kernel_spent_t){.next = tuning->spent.kernels, .kernel = kernel};
    tuning->spent.kernels = spent;
  }
  spent->preparing += seconds;
  spent->count += 1;
}

tenon_status_t tenon__trial_begin(tenon__trial_t* trial, tenon__trial_data_t* data,
                                  const tenon__candidate_t* candidate) {
  tenon__tuning_t* tuning = data->tuning;
  const tenon__kernel_entry_t* kernel = candidate->kernel;
  const tenon__kernel_binding_t binding = tenon__tuning_binding(tuning, data->region, kernel);
  *trial = (tenon__trial_t){.data = data, .candidate = candidate};
  trial->sink = (tenon_sink_t){trial, hear};
  tenon__arena_initialize(&trial->arena, tuning->allocator);
  trial->prefix = tenon__arena_format(
      &trial->arena, "%s, trying %s:%s (%s): ", tenon__region_text(tuning, data->region),
      kernel->owner->plugin, kernel->kernel.name, candidate->tactic.name);
  if (trial->prefix == NULL) {
    trial->prefix = "";
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  TENON_TRY(tenon__trial_inputs_provide(data, &candidate->tactic));
  TENON_TRY(tenon__trial_outputs_provide(data, &candidate->tactic, &trial->outputs));
  TENON_TRY(tenon__trial_mirror_begin(&trial->mirror, data, trial->outputs,
                                      candidate->tactic.input_rules, &trial->arena, &trial->sink));
  TENON_TRY(provide_workspaces(trial));
  const tenon__instance_request_t prepared = {.kernel = &binding,
                                              .region = data->region,
                                              .tactic = &candidate->tactic,
                                              .store = data->store};
  const double begun = tenon__seconds();
  TENON_TRY(tenon__instance_create(tuning->allocator, &prepared, &trial->sink, &trial->instance));
  const double was_prepared = tenon__seconds();
  tuning->spent.preparing += was_prepared - begun;
  const tenon__bind_request_t request = {
      .extents = &data->region->profile->optimum,
      .inputs = data->arguments,
      .outputs = trial->outputs->arguments,
      .thread_count = tenon__thread_pool_thread_count(tuning->pool)};
  const tenon_status_t status = tenon__bound_create(tuning->allocator, trial->instance, &request,
                                                    &trial->sink, &trial->bound);
  const double was_bound = tenon__seconds();
  tuning->spent.binding += was_bound - was_prepared;
  note_preparing(tuning, kernel, was_bound - begun);
  return status;
}

static void give_back(tenon__trial_t* trial, void* block, uint64_t size_bytes) {
  if (tenon__trial_mirror_is_used(&trial->mirror)) {
    tenon__trial_mirror_free_zoned(&trial->mirror, block, (size_t)size_bytes);
  } else {
    tenon__blocks_give_back(&trial->data->tuning->blocks, tenon__red_zone_block(block));
  }
}

void tenon__trial_end(tenon__trial_t* trial) {
  tenon__bound_destroy(trial->bound);
  tenon__instance_release(trial->instance);
  give_back(trial, trial->run.scratch, trial->scratch_bytes);
  give_back(trial, trial->run.zeroed, trial->candidate->tactic.zeroed_bytes);
  give_back(trial, trial->run.persistent, trial->candidate->tactic.persistent_bytes);
  tenon__trial_mirror_end(&trial->mirror);
  tenon__trial_outputs_give_back(trial->data, trial->outputs);
  tenon__arena_deinitialize(&trial->arena);
}

/* ---- Running ---- */

/* By the device's clock, from when it begins to when it is done; by ours where the host waits
 * within the call. */
static tenon_status_t run_mirror(tenon__trial_t* trial, double* out_seconds) {
  tenon__trial_mirror_t* mirror = &trial->mirror;
  const bool host_waits = (trial->candidate->tactic.flags & TENON_TACTIC_HOST_WAITS) != 0;
  const double begin = tenon__seconds();
  TENON_TRY(tenon__trial_mirror_mark(mirror, mirror->begin));
  TENON_TRY(tenon__bound_run(trial->bound, &trial->run, mirror->input_arguments,
                             mirror->output_arguments));
  TENON_TRY(tenon__trial_mirror_mark(mirror, mirror->end));
  TENON_TRY(tenon__trial_mirror_elapsed(mirror, out_seconds));
  *out_seconds = host_waits ? tenon__seconds() - begin : *out_seconds;
  return TENON_OK;
}

static tenon_status_t run_host(tenon__trial_t* trial, double* out_seconds) {
  const double begin = tenon__seconds();
  const tenon_status_t status = tenon__bound_run(trial->bound, &trial->run, trial->data->arguments,
                                                 trial->outputs->arguments);
  *out_seconds = tenon__seconds() - begin;
  return status;
}

static tenon_status_t run_once(tenon__trial_t* trial, double* out_seconds) {
  tenon__interrupt_t* interrupt = trial->data->tuning->options.interrupt;
  const tenon_status_t status = tenon__trial_mirror_is_used(&trial->mirror)
                                    ? run_mirror(trial, out_seconds)
                                    : run_host(trial, out_seconds);
  /* What is short need not ask, and is not measured asking. */
  trial->run.interrupt = *out_seconds > TENON_NOISE_LONG_RUN_SECONDS ? interrupt : NULL;
  /* Whatever the trial gave, it was not let alone. */
  return tenon__interrupt_is_wanted(interrupt) ? TENON_ERROR_CANCELLED : status;
}

tenon_status_t tenon__trial_run(tenon__trial_t* trial, uint32_t pattern) {
  const uint32_t count = trial->data->region->output_count;
  TENON_TRY(tenon__trial_outputs_clear(trial->outputs, count, pattern));
  double seconds = 0;
  TENON_TRY(tenon__trial_mirror_send(&trial->mirror, trial->data, trial->outputs));
  TENON_TRY(run_once(trial, &seconds));
  tenon__trial_outputs_collect(trial->outputs, count);
  return tenon__trial_mirror_fetch(&trial->mirror, trial->data, trial->outputs);
}

static tenon_status_t check_workspace(const tenon__trial_t* trial, void* memory,
                                      uint64_t size_bytes, tenon__overrun_t* out_overrun) {
  const tenon__zoned_t zoned = {memory, (size_t)size_bytes, (size_t)size_bytes};
  *out_overrun = TENON_OVERRUN_NONE;
  if (memory != NULL && tenon__trial_mirror_is_used(&trial->mirror)) {
    return tenon__red_zones_fetch(&trial->mirror.memory, &zoned, trial->mirror.seen, out_overrun);
  }
  *out_overrun = memory == NULL ? TENON_OVERRUN_NONE : tenon__red_zones_check(&zoned);
  return TENON_OK;
}

tenon_status_t tenon__trial_find_overrun(tenon__trial_t* trial, const char** out_text) {
  const tenon__step_tactic_t* tactic = &trial->candidate->tactic;
  const struct {
    const char* name;
    void* memory;
    uint64_t size_bytes;
  } workspaces[] = {{"scratch", trial->run.scratch, trial->scratch_bytes},
                    {"zeroed memory", trial->run.zeroed, tactic->zeroed_bytes},
                    {"persistent memory", trial->run.persistent, tactic->persistent_bytes}};
  const uint32_t count = trial->data->region->output_count;
  tenon__arena_t* arena = trial->data->tuning->arena;
  tenon__overrun_t overrun = TENON_OVERRUN_NONE;
  uint32_t output = 0;
  if (tenon__trial_mirror_is_used(&trial->mirror)) {
    TENON_TRY(tenon__trial_mirror_overrun(&trial->mirror, &output, &overrun));
  } else {
    overrun = tenon__trial_outputs_overrun(trial->outputs, count, &output);
  }
  const char* const sides[] = {"", "in front of", "behind"};
  *out_text = overrun == TENON_OVERRUN_NONE
                  ? NULL
                  : tenon__arena_format(arena, "writes %s its output %u", sides[overrun], output);
  for (size_t k = 0; k < sizeof workspaces / sizeof *workspaces && *out_text == NULL; ++k) {
    TENON_TRY(check_workspace(trial, workspaces[k].memory, workspaces[k].size_bytes, &overrun));
    *out_text =
        overrun == TENON_OVERRUN_NONE
            ? NULL
            : tenon__arena_format(arena, "writes %s its %llu bytes of %s", sides[overrun],
                                  (unsigned long long)workspaces[k].size_bytes, workspaces[k].name);
  }
  return TENON_OK;
}

/* What it allocates itself it allocates anew each time, as between two runs of a context. */
static void forget_dynamic(tenon__trial_t* trial) {
  for (uint32_t k = 0; k < trial->data->region->output_count; ++k) {
    if (trial->outputs->items[k].kind == TENON_ARGUMENT_ALLOCATE) {
      tenon__dynamic_buffer_clear(trial->outputs->buffers[k]);
    }
  }
}

/* ---- Chains ---- */

/* The tactic again and again in one recording: how long it takes behind another step of a network,
 * where nobody waits for the host to ask. A single call is as long as asking for it takes. */
typedef struct chain_t {
  void* recording; /* NULL: single calls are timed */
  uint32_t count;
} chain_t;

static bool may_be_chained(const tenon__trial_t* trial) {
  const uint32_t flags = trial->candidate->tactic.flags;
  bool may = tenon__trial_mirror_is_used(&trial->mirror) &&
             tenon__device_records(trial->mirror.memory.device) &&
             (flags & TENON_TACTIC_RECORDABLE) != 0 && (flags & TENON_TACTIC_HOST_WAITS) == 0;
  for (uint32_t k = 0; k < trial->data->region->output_count && may; ++k) {
    may = trial->outputs->items[k].kind != TENON_ARGUMENT_ALLOCATE;
  }
  return may;
}

static tenon_status_t ask_for_chain(tenon__trial_t* trial, uint32_t count) {
  const bool releases = (trial->candidate->tactic.flags & TENON_TACTIC_RELEASES_EARLY) != 0;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
    trial->run.edge =
        k == 0 ? 0 : TENON_EDGE_KERNEL | (releases ? (uint32_t)TENON_EDGE_RELEASES_EARLY : 0);
    status = tenon__bound_run(trial->bound, &trial->run, trial->mirror.input_arguments,
                              trial->mirror.output_arguments);
  }
  trial->run.edge = 0;
  return status;
}

/* Records a chain of calls. `seconds`: the time of one call. A tactic that is declared RECORDABLE
 * and cannot be recorded is refused, because a plan with it enqueues all steps around it one by
 * one. A call that takes too long for a chain is recorded once, to see that it can be, and is timed
 * without the recording. */
static tenon_status_t make_chain(tenon__trial_t* trial, double seconds, chain_t* out_chain) {
  const tenon__device_t* device = trial->mirror.memory.device;
  tenon_stream_t* stream = trial->mirror.memory.stream;
  const double wanted = TENON_NOISE_CHAIN_SECONDS / seconds;
  const uint32_t count = wanted > TENON_NOISE_MAX_CHAIN ? TENON_NOISE_MAX_CHAIN : (uint32_t)wanted;
  *out_chain = (chain_t){.count = count < TENON_NOISE_MIN_CHAIN ? 1 : count};
  if (tenon__device_begin_record(device, stream) != TENON_OK) {
    return TENON_OK; /* the device's failure, not the tactic's */
  }
  const tenon_status_t asked = ask_for_chain(trial, out_chain->count);
  const tenon_status_t ended = tenon__device_end_record(device, stream, &out_chain->recording);
  const tenon_status_t status = asked == TENON_OK ? ended : asked;
  if (status != TENON_OK || out_chain->count == 1) {
    tenon__device_destroy_recording(device, out_chain->recording);
    out_chain->recording = NULL;
  }
  if (status != TENON_OK) {
    char reason[sizeof trial->message];
    (void)snprintf(reason, sizeof reason, "%s",
                   trial->message[0] != '\0' ? trial->message : tenon__status_text(status));
    (void)snprintf(trial->message, sizeof trial->message,
                   "is declared RECORDABLE and cannot be recorded: %.400s", reason);
  }
  return status;
}

static void destroy_chain(tenon__trial_t* trial, const chain_t* chain) {
  if (chain->recording != NULL) {
    tenon__device_destroy_recording(trial->mirror.memory.device, chain->recording);
  }
}

/* Seconds of the whole chain. */
static tenon_status_t run_chain(tenon__trial_t* trial, const chain_t* chain, double* out_seconds) {
  tenon__trial_mirror_t* mirror = &trial->mirror;
  TENON_TRY(tenon__trial_mirror_mark(mirror, mirror->begin));
  TENON_TRY(tenon__device_replay(mirror->memory.device, mirror->memory.stream, chain->recording));
  TENON_TRY(tenon__trial_mirror_mark(mirror, mirror->end));
  TENON_TRY(tenon__trial_mirror_elapsed(mirror, out_seconds));
  return tenon__interrupt_is_wanted(trial->data->tuning->options.interrupt) ? TENON_ERROR_CANCELLED
                                                                            : TENON_OK;
}

/* ---- Times ---- */

typedef struct times_t {
  double best;
  double next;  /* the second smallest */
  double total; /* of all that ran, chains as a whole */
  uint32_t count;
} times_t;

/* `spent`: in measuring it. */
static void add_time(times_t* times, double seconds, double spent) {
  if (seconds < times->best) {
    times->next = times->best;
    times->best = seconds;
  } else if (seconds < times->next) {
    times->next = seconds;
  }
  times->total += spent;
  times->count += 1;
}

static bool is_enough(const times_t* times, double best_so_far) {
  const bool is_hopeless = times->best > TENON_NOISE_HOPELESS_RATIO * best_so_far;
  const bool is_sure = times->total > TENON_NOISE_ENOUGH_SECONDS &&
                       times->next <= times->best * TENON_NOISE_EQUAL_RATIO;
  return times->count < TENON_NOISE_MIN_RUNS
             ? is_hopeless && times->total > TENON_NOISE_PATIENCE_SECONDS
             : is_hopeless || is_sure || times->total > TENON_NOISE_PATIENCE_SECONDS ||
                   times->count == TENON_NOISE_MAX_RUNS;
}

static tenon_status_t repeat(tenon__trial_t* trial, const chain_t* chain, double best_so_far,
                             times_t* out_times) {
  *out_times = (times_t){.best = 1e30, .next = 1e30};
  while (!is_enough(out_times, best_so_far)) {
    double seconds = 0;
    if (chain->recording != NULL) {
      TENON_TRY(run_chain(trial, chain, &seconds));
      add_time(out_times, seconds / chain->count, seconds);
    } else {
      forget_dynamic(trial);
      TENON_TRY(run_once(trial, &seconds));
      add_time(out_times, seconds, seconds);
    }
  }
  return TENON_OK;
}

static tenon_status_t time_chain(tenon__trial_t* trial, double best_so_far, times_t* out_times) {
  chain_t chain = {.recording = NULL};
  if (may_be_chained(trial)) {
    double least = 1e30; /* a device that has slept takes longer for the first */
    for (uint32_t k = 0; k < TENON_NOISE_SINGLE_RUNS; ++k) {
      double single = 0;
      TENON_TRY(run_once(trial, &single));
      least = single < least ? single : least;
    }
    TENON_TRY(make_chain(trial, least > 0 ? least : 1e-9, &chain));
  }
  const tenon_status_t status = repeat(trial, &chain, best_so_far, out_times);
  destroy_chain(trial, &chain);
  return status;
}

/* By the device's clock it does not matter who else wants the host's processors, threads that
 * compile ahead among them; and those should have them. */
static bool is_by_host(const tenon__trial_t* trial) {
  return !tenon__trial_mirror_is_used(&trial->mirror) ||
         (trial->candidate->tactic.flags & TENON_TACTIC_HOST_WAITS) != 0;
}

tenon_status_t tenon__trial_time(tenon__trial_t* trial, double best_so_far, double* out_seconds,
                                 bool* out_disturbed) {
  tenon__thread_pool_t* pool = trial->data->tuning->pool;
  const bool by_host = is_by_host(trial);
  const double waited = by_host ? tenon__waited_seconds() : 0;
  times_t times = {.best = 0};
  if (by_host) {
    tenon__thread_pool_wake(pool);
  }
  const tenon_status_t status = time_chain(trial, best_so_far, &times);
  if (by_host) {
    tenon__thread_pool_rest(pool);
  }
  *out_seconds = times.best;
  *out_disturbed =
      by_host && tenon__waited_seconds() - waited > TENON_NOISE_WAITED_SHARE * times.total;
  return status;
}

bool tenon__trial_zeroed_is_zero(tenon__trial_t* trial) {
  const tenon__memory_t* memory = &trial->mirror.memory;
  const unsigned char* bytes = trial->run.zeroed;
  if (tenon__trial_mirror_is_used(&trial->mirror)) {
    void* copy = tenon__trial_data_take(trial->data, trial->zeroed_bytes);
    if (copy == NULL ||
        tenon__memory_read(memory, copy, trial->run.zeroed, trial->zeroed_bytes) != TENON_OK ||
        tenon__device_synchronize(memory->device, memory->stream) != TENON_OK) {
      return false;
    }
    bytes = copy;
  }
  for (size_t k = 0; k < trial->zeroed_bytes; ++k) {
    if (bytes[k] != 0) {
      return false;
    }
  }
  return true;
}
