/* See execution.h. */
#include "session/execution.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/file.h"
#include "data/npy.h"
#include "data/value_file.h"
#include "session/common.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

/* ---- Loading ---- */

static tenon_status_t read_infos(tool_execution_t* execution) {
  const tenon_engine_t* engine = execution->engine;
  execution->input_count = tenon_engine_input_count(engine);
  execution->output_count = tenon_engine_output_count(engine);
  execution->inputs = tool_allocate(execution->input_count, sizeof(*execution->inputs));
  execution->values = tool_allocate(execution->input_count, sizeof(*execution->values));
  execution->outputs = tool_allocate(execution->output_count, sizeof(*execution->outputs));
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < execution->input_count && status == TENON_OK; ++i) {
    execution->inputs[i].size = sizeof(execution->inputs[i]);
    status = tenon_engine_get_input(engine, i, &execution->inputs[i]);
  }
  for (uint32_t i = 0; i < execution->output_count && status == TENON_OK; ++i) {
    execution->outputs[i].size = sizeof(execution->outputs[i]);
    status = tenon_engine_get_output(engine, i, &execution->outputs[i]);
  }
  return status;
}

/* Those asked for, else those that the plan was tuned for. */
static tenon_status_t count_threads(uint32_t asked_for, tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  const tenon_status_t status = tenon_engine_get_info(execution->engine, &info);
  execution->thread_count = asked_for > 0 ? asked_for : info.thread_count;
  return status;
}

tenon_status_t tool_execution_open(tenon_registry_t* registry, const tool_plan_file_t* file,
                                   uint32_t thread_count, uint32_t verify,
                                   tool_execution_t* out_execution) {
  tool_execution_t execution = {0};
  tenon_engine_options_t engine_options = TENON_OPTIONS(tenon_engine_options_t);
  tenon_context_options_t context_options = TENON_OPTIONS(tenon_context_options_t);
  context_options.thread_count = thread_count;
  engine_options.verify = verify;
  const double begin = tool_seconds();
  tenon_status_t status =
      file->plan != NULL
          ? tenon_engine_create_from_plan(registry, file->plan, &engine_options, &execution.engine)
          : tenon_engine_create_from_file(registry, file->path, &engine_options, &execution.engine);
  if (status == TENON_OK) {
    status = tenon_context_create(execution.engine, &context_options, &execution.context);
  }
  execution.load_seconds = tool_seconds() - begin;
  if (status == TENON_OK) {
    status = read_infos(&execution);
  }
  if (status == TENON_OK) {
    status = count_threads(thread_count, &execution);
  }
  if (status != TENON_OK) {
    tool_execution_close(&execution);
    return status;
  }
  *out_execution = execution;
  return TENON_OK;
}

void tool_execution_close(tool_execution_t* execution) {
  tenon_context_destroy(execution->context);
  tenon_engine_release(execution->engine);
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    tool_value_free(&execution->values[i]);
  }
  tool_free(execution->values);
  tool_free(execution->inputs);
  tool_free(execution->outputs);
  *execution = (tool_execution_t){0};
}

tenon_status_t tool_execution_renew(tool_execution_t* execution, uint32_t thread_count) {
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = thread_count;
  tenon_context_destroy(execution->context);
  execution->context = NULL;
  execution->thread_count = thread_count;
  return tenon_context_create(execution->engine, &options, &execution->context);
}

/* ---- Inputs ---- */

/* The extent of an open axis of an input that is not given: as --shapes says, as another input with
 * the same symbol has it, as --batch says, else the profile's optimum. */
static int64_t find_extent(const tool_execution_t* execution, const tool_feed_t* feed,
                           const tool_named_shapes_t* shapes, uint32_t input, uint32_t axis) {
  const tenon_io_info_t* info = &execution->inputs[input];
  const tool_named_shape_t* fixed =
      shapes != NULL ? tool_named_shapes_find(shapes, info->name) : NULL;
  if (fixed != NULL && axis < fixed->shapes[0].rank && fixed->shapes[0].dims[axis] >= 0) {
    return fixed->shapes[0].dims[axis];
  }
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    const tenon_io_info_t* other = &execution->inputs[i];
    const tool_value_t* value = &execution->values[i];
    const uint32_t value_rank = value->kind == TENON_ARGUMENT_TENSOR ? value->rank : 0;
    for (uint32_t k = 0; k < value_rank && k < other->rank; ++k) {
      if (other->dims[k] < 0 && strcmp(other->symbols[k], info->symbols[axis]) == 0) {
        return value->dims[k];
      }
    }
  }
  if (axis == 0 && feed->batch > 0) {
    return feed->batch;
  }
  const int64_t* optimum = NULL;
  if (tenon_engine_get_profile(execution->engine, input, 1, &optimum) == TENON_OK &&
      optimum[axis] >= 0) {
    return optimum[axis];
  }
  return 1;
}

static tenon_status_t make_random(tool_execution_t* execution, const tool_feed_t* feed,
                                  const tool_named_shapes_t* shapes, uint32_t input) {
  const tenon_io_info_t* info = &execution->inputs[input];
  int64_t dims[TOOL_RANK_MAX];
  char text[256];
  if (info->kind != TENON_ARGUMENT_TENSOR || info->rank > TOOL_RANK_MAX) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "input '%s' is a sequence or an optional and must be given", info->name);
  }
  for (uint32_t k = 0; k < info->rank; ++k) {
    dims[k] = info->dims[k] >= 0 ? info->dims[k] : find_extent(execution, feed, shapes, input, k);
  }
  double min = 0;
  double max = 0;
  char range[64] = "";
  TOOL_TRY(tenon_engine_get_input_range(execution->engine, input, &min, &max));
  TOOL_TRY(tool_value_make(info->name, info->dtype, info->rank, dims, &execution->values[input]));
  if (isfinite(min) && isfinite(max)) {
    (void)snprintf(range, sizeof range, " from %.9g to %.9g", min, max);
  }
  tool_shape_print(info->rank, dims, text, sizeof(text));
  tool_warn("input '%s' (%s %s) is not given: random numbers%s, seed %llu", info->name,
            tool_dtype_name(info->dtype), text, range, (unsigned long long)feed->seed);
  tool_value_randomize(&execution->values[input], feed->seed * 1000 + input, min, max);
  return TENON_OK;
}

/* --shapes must be what the inputs have now, given or made. */
static tenon_status_t check_shapes(const tool_execution_t* execution,
                                   const tool_named_shapes_t* shapes) {
  for (size_t i = 0; shapes != NULL && i < shapes->count; ++i) {
    const tool_named_shape_t* wanted = &shapes->items[i];
    uint32_t k = 0;
    while (k < execution->input_count && strcmp(execution->inputs[k].name, wanted->name) != 0) {
      ++k;
    }
    if (k == execution->input_count) {
      char* names = tool_input_names(execution->inputs, execution->input_count);
      (void)tool_misuse("--shapes: there is no input '%s'; the inputs are: %s", wanted->name,
                        names);
      tool_free(names);
      return TENON_ERROR_INVALID_ARGUMENT;
    }
    const tool_value_t* value = &execution->values[k];
    bool same = value->kind == TENON_ARGUMENT_TENSOR && value->rank == wanted->shapes[0].rank;
    for (uint32_t axis = 0; same && axis < value->rank; ++axis) {
      const int64_t extent = wanted->shapes[0].dims[axis];
      same = extent < 0 || extent == value->dims[axis];
      if (!same && execution->inputs[k].dims[axis] >= 0) {
        return tool_misuse("--shapes: axis %u of input '%s' is fixed at %lld, not %lld", axis,
                           wanted->name, (long long)value->dims[axis], (long long)extent);
      }
    }
    if (!same) {
      char shape[512];
      tool_shape_print(value->rank, value->dims, shape, sizeof(shape));
      return tool_misuse("--shapes gives '%s' another shape than it has, which is %s", wanted->name,
                         shape);
    }
  }
  return TENON_OK;
}

tenon_status_t tool_execution_set(const tool_execution_t* execution, tenon_context_t* context) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < execution->input_count && status == TENON_OK; ++i) {
    tenon_argument_t argument;
    tool_argument_make(&execution->values[i], &argument);
    status = argument.kind == TENON_ARGUMENT_TENSOR
                 ? tenon_context_set_input(context, i, &argument.tensor)
                 : tenon_context_set_input_argument(context, i, &argument);
    tool_argument_free(&argument);
  }
  return status;
}

tenon_status_t tool_execution_feed(tool_execution_t* execution, const tool_feed_t* feed,
                                   const tool_named_shapes_t* shapes) {
  TOOL_TRY(tool_feed_check(feed, execution->inputs, execution->input_count));
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    const tool_feed_item_t* item = tool_feed_find(feed, execution->inputs[i].name, i);
    tool_value_free(&execution->values[i]);
    if (item != NULL) {
      TOOL_TRY(tool_feed_value(feed, item, &execution->inputs[i], &execution->values[i]));
    }
  }
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    if (execution->values[i].kind == TENON_ARGUMENT_ABSENT) {
      TOOL_TRY(make_random(execution, feed, shapes, i));
    }
  }
  TOOL_TRY(check_shapes(execution, shapes));
  return tool_execution_set(execution, execution->context);
}

/* ---- Running ---- */

typedef struct step_progress_t {
  const char* message;
  uint64_t done;
  uint64_t total;
} step_progress_t;

/* Bodies run more than once: the bar is full then. */
static void on_step(void* user, uint32_t step, double seconds) {
  step_progress_t* progress = user;
  (void)step, (void)seconds;
  progress->done += progress->done < progress->total ? 1 : 0;
  tool_progress(progress->message, progress->done, progress->total);
}

tenon_status_t tool_execution_run(tool_execution_t* execution, const char* message) {
  step_progress_t progress = {.message = message,
                              .total = tenon_engine_step_count(execution->engine)};
  const bool shown = message != NULL && tool_progress_is_shown();
  if (tool_interrupted()) {
    return TENON_ERROR_CANCELLED;
  }
  if (shown) {
    tool_progress(message, 0, progress.total);
    (void)tenon_context_set_profiler(execution->context, on_step, &progress);
  }
  const tenon_status_t status = tenon_context_run(execution->context);
  if (shown) {
    (void)tenon_context_set_profiler(execution->context, NULL, NULL);
    tool_progress_end();
  }
  return status == TENON_OK && tool_interrupted() ? TENON_ERROR_CANCELLED : status;
}

/* ---- Outputs ---- */

tenon_status_t tool_execution_get(const tool_execution_t* execution, uint32_t index,
                                  tool_value_t* out_value) {
  const tenon_argument_t* argument = NULL;
  TOOL_TRY(tenon_context_get_output_argument(execution->context, index, &argument));
  return tool_value_copy_argument(execution->outputs[index].name, argument, out_value);
}

/* Letters, digits and "-_." of a name; everything else becomes '_'. */
static char* file_name(const char* name) {
  char* copy = tool_copy_text(name);
  for (char* c = copy; *c != '\0'; ++c) {
    const bool plain = isalnum((unsigned char)*c) != 0 || strchr("-_.", *c) != NULL;
    *c = (char)(plain ? *c : '_');
  }
  if (strlen(copy) > 120) {
    copy[120] = '\0';
  }
  return copy;
}

tenon_status_t tool_execution_write(const tool_execution_t* execution, const char* folder) {
  tenon_status_t status = tool_folder_make(folder);
  for (uint32_t i = 0; i < execution->output_count && status == TENON_OK; ++i) {
    tool_value_t value;
    status = tool_execution_get(execution, i, &value);
    if (status == TENON_OK) {
      char* name = file_name(execution->outputs[i].name);
      char* path = tool_format("%s/output_%u_%s.npy", folder, i, name);
      status = tool_npy_write(path, &value);
      tool_free(path);
      tool_free(name);
      tool_value_free(&value);
    }
  }
  return status;
}

/* ---- Comparing ---- */

static void repeat_recorded(const tool_value_t* ours, int64_t batch, tool_value_t* recorded) {
  tool_value_t repeated;
  const bool larger = batch > 1 && ours->kind == TENON_ARGUMENT_TENSOR &&
                      recorded->kind == TENON_ARGUMENT_TENSOR && ours->rank == recorded->rank &&
                      ours->rank > 0 && recorded->dims[0] > 0 &&
                      ours->dims[0] > recorded->dims[0] && ours->dims[0] % recorded->dims[0] == 0;
  if (larger && tool_value_repeat("recorded output", recorded, ours->dims[0] / recorded->dims[0],
                                  &repeated) == TENON_OK) {
    tool_value_free(recorded);
    *recorded = repeated;
  }
}

static tenon_status_t compare_one(const tool_execution_t* execution, uint32_t index,
                                  const char* path, const tool_tolerance_t* tolerance,
                                  int64_t batch, tool_difference_t* out_difference) {
  tool_value_t recorded;
  tool_value_t ours;
  tenon_status_t status = tool_value_read(path, execution->outputs[index].kind, &recorded);
  if (status != TENON_OK) {
    return status;
  }
  status = tool_execution_get(execution, index, &ours);
  if (status == TENON_OK) {
    repeat_recorded(&ours, batch, &recorded);
    tool_difference_find(&ours, &recorded, tolerance, out_difference);
    tool_value_free(&ours);
  }
  tool_value_free(&recorded);
  return status;
}

tenon_status_t tool_execution_compare(const tool_execution_t* execution, const char* folder,
                                      const tool_tolerance_t* tolerance, int64_t batch,
                                      tool_verdicts_t* out_verdicts) {
  tool_verdicts_t verdicts = {.equal = true};
  size_t capacity = 0;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; status == TENON_OK; ++i) {
    char* path = tool_recorded_path(folder, "output", i);
    const bool recorded = path != NULL;
    const bool ours = i < execution->output_count;
    if (recorded || ours) {
      verdicts.items =
          tool_grow(verdicts.items, &capacity, verdicts.count + 1, sizeof(*verdicts.items));
      tool_verdict_t* verdict = &verdicts.items[verdicts.count++];
      *verdict = (tool_verdict_t){.name = ours ? tool_copy_text(execution->outputs[i].name)
                                               : tool_format("output %u", i)};
      if (recorded && ours) {
        status = compare_one(execution, i, path, tolerance, batch, &verdict->difference);
      } else {
        (void)snprintf(verdict->difference.reason, sizeof(verdict->difference.reason), "%s",
                       ours ? "is not among the recorded ones" : "is missing");
      }
      verdicts.equal = verdicts.equal && verdict->difference.equal;
    }
    tool_free(path);
    if (!recorded && !ours) {
      break;
    }
  }
  if (status != TENON_OK) {
    tool_verdicts_free(&verdicts);
    return status;
  }
  *out_verdicts = verdicts;
  return TENON_OK;
}

void tool_verdicts_free(tool_verdicts_t* verdicts) {
  for (size_t i = 0; i < verdicts->count; ++i) {
    tool_free(verdicts->items[i].name);
  }
  tool_free(verdicts->items);
  *verdicts = (tool_verdicts_t){0};
}
