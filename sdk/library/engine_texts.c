/* What an engine says of itself. Inputs and outputs are described when it is loaded, steps when
 * they are first asked for: a load must not wait for texts. */
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/engine/engine.h"
#include "core/engine/uploads.h"
#include "core/plan/place.h"
#include "core/plan/report.h"
#include "sdk/library/library.h"
#include "sdk/library/step_sources.h"

struct tenon__engine_texts_t {
  tenon__arena_t arena; /* inputs, outputs, totals */
  uint32_t input_count;
  tenon_io_info_t* inputs;
  const int64_t** profiles; /* three for each input: minimum, optimum, maximum */
  uint32_t output_count;
  tenon_io_info_t* outputs;
  tenon_engine_info_t info;
  pthread_mutex_t mutex; /* for what follows */
  tenon__arena_t step_arena;
  bool steps_made;
  uint32_t step_count; /* known from the beginning */
  tenon_step_info_t* steps;
  tenon__step_sources_t* sources;
  uint32_t block_count;
  tenon_block_info_t* blocks;
};

/* ---- Inputs and outputs ---- */

static tenon_status_t make_profile(const tenon__plan_t* plan, uint32_t value, tenon__arena_t* arena,
                                   const int64_t** out_profile) {
  const tenon__value_node_t* node = &plan->network->graphs[0]->values[value];
  const tenon__extents_t* const points[] = {&plan->profile.min, &plan->profile.optimum,
                                            &plan->profile.max};
  const uint32_t rank = node->type.rank == TENON_NONE ? 0 : node->type.rank;
  for (uint32_t which = 0; which < 3; ++which) {
    int64_t* dims = tenon__arena_allocate(arena, rank + 1u, sizeof(*dims));
    if (dims == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    (void)tenon__extents_shape(points[which], rank, node->type.dims, dims);
    out_profile[which] = dims;
  }
  return TENON_OK;
}

static tenon_status_t make_ios(const tenon__plan_t* plan, tenon__engine_texts_t* texts) {
  const tenon__graph_t* graph = plan->network->graphs[0];
  tenon__arena_t* arena = &texts->arena;
  texts->input_count = graph->input_count;
  texts->output_count = graph->output_count;
  texts->inputs = tenon__arena_allocate(arena, graph->input_count + 1u, sizeof(*texts->inputs));
  texts->outputs = tenon__arena_allocate(arena, graph->output_count + 1u, sizeof(*texts->outputs));
  texts->profiles =
      tenon__arena_allocate(arena, 3 * (size_t)graph->input_count + 1, sizeof(*texts->profiles));
  if (texts->inputs == NULL || texts->outputs == NULL || texts->profiles == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    TENON_TRY(tenon__io_info(plan->network, &plan->profile, graph->inputs[i], NULL, arena,
                             &texts->inputs[i]));
    TENON_TRY(make_profile(plan, graph->inputs[i], arena, &texts->profiles[3 * (size_t)i]));
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    TENON_TRY(tenon__io_info(plan->network, &plan->profile, graph->outputs[i],
                             graph->output_names[i], arena, &texts->outputs[i]));
  }
  return TENON_OK;
}

/* ---- Totals ---- */

static const char* plugin_lines(const tenon__plan_t* plan, tenon__arena_t* arena) {
  const char* lines = "";
  for (uint32_t i = 0; i < plan->plugin_count && lines != NULL; ++i) {
    char digest[65];
    tenon__digest_text(&plan->plugins[i].digest, digest);
    lines = tenon__arena_format(arena, "%s%s %s %s\n", lines, plan->plugins[i].name,
                                plan->plugins[i].version, digest);
  }
  return lines;
}

static tenon_status_t make_info(const tenon_engine_t* engine, tenon__engine_texts_t* texts) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  const uint32_t main = tenon__plan_main_device(plan);
  uint64_t original_bytes = 0;
  for (uint32_t i = 0; i < plan->network->weights_count; ++i) {
    const bool kept = plan->weights_kept == NULL || plan->weights_kept[i];
    original_bytes += kept ? plan->network->weights[i].size_bytes : 0;
  }
  uint64_t weights_bytes = original_bytes;
  for (uint32_t i = 0; i < plan->packed_count; ++i) {
    weights_bytes += plan->packed[i].size_bytes;
  }
  texts->info = (tenon_engine_info_t){
      .size = sizeof(texts->info),
      .device = plan->device,
      .fingerprint = plan->devices[main].fingerprint,
      .plugins = plugin_lines(plan, &texts->arena),
      .patches = plan->patches != NULL ? plan->patches : "",
      .plan_bytes = engine->plan_size,
      .weights_bytes = weights_bytes,
      .arena_bytes = plan->schedules[0].memory_bytes[main],
      .state_bytes = tenon__plan_state_bytes(plan, main),
      .scratch_bytes = plan->devices[main].scratch_bytes,
      .peak_alive_bytes = plan->schedules[0].alive_bytes[main],
      .thread_count = plan->thread_count,
      .tuned_only = (plan->flags & TENON_PLAN_TUNED_ONLY) != 0 ? 1 : 0,
      .rebuilt = engine->is_made_again ? 1 : 0,
      .original_bytes = original_bytes,
  };
  return texts->info.plugins != NULL ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

/* ---- Steps ---- */

static uint32_t graph_depth(const tenon__network_t* network, uint32_t graph) {
  uint32_t depth = 0;
  while (network->graphs[graph]->parent != TENON_NONE) {
    graph = network->graphs[graph]->parent;
    ++depth;
  }
  return depth;
}

static const char* or_empty(const char* text) {
  return text != NULL ? text : "";
}

static tenon_status_t describe_step(const tenon__plan_t* plan, uint32_t graph, uint32_t index,
                                    tenon__arena_t* arena, tenon_step_info_t* out_info) {
  const tenon__step_t* step = &plan->schedules[graph].steps[index];
  tenon__step_report_t report;
  TENON_TRY(tenon__step_describe(plan, graph, index, arena, &report));
  const bool is_kernel = step->kind == TENON_STEP_KERNEL;
  *out_info = (tenon_step_info_t){
      .name = or_empty(step->name),
      .kind = report.kind,
      .kernel = is_kernel ? or_empty(step->kernel) : "",
      .plugin = is_kernel ? or_empty(step->plugin) : "",
      .tactic = is_kernel ? or_empty(step->tactic.name) : "",
      .nodes = report.nodes,
      .expression = report.expression,
      .inputs = report.inputs,
      .outputs = report.outputs,
      .layout = report.layout,
      .measured_seconds = step->measured_seconds,
      .refusals = report.faults[0] != '\0' ? report.faults : or_empty(step->refusals),
      .depth = graph_depth(plan->network, graph),
      .stream = step->lane,
      .device = tenon__plan_device_text(plan, step->device, arena),
  };
  return out_info->device == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t make_steps(const tenon__plan_t* plan, tenon__engine_texts_t* texts) {
  tenon__arena_t* arena = &texts->step_arena;
  const size_t count = texts->step_count + (size_t)1;
  texts->steps = tenon__arena_allocate(arena, count, sizeof(*texts->steps));
  texts->sources = tenon__arena_allocate(arena, count, sizeof(*texts->sources));
  if (texts->steps == NULL || texts->sources == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  uint32_t first = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &plan->schedules[g];
    for (uint32_t k = 0; k < schedule->step_count; ++k) {
      TENON_TRY(describe_step(plan, g, k, arena, &texts->steps[first + k]));
    }
    TENON_TRY(tenon__step_sources_find(schedule, first, arena, &texts->sources[first]));
    first += schedule->step_count;
  }
  return tenon__engine_list_blocks(plan, arena, &texts->blocks, &texts->block_count);
}

/* Makes the steps' texts unless they are there. */
static tenon_status_t need_steps(const tenon_engine_t* engine) {
  tenon__engine_texts_t* texts = engine->texts;
  tenon_status_t status = TENON_OK;
  (void)pthread_mutex_lock(&texts->mutex);
  if (!texts->steps_made) {
    status = make_steps(tenon__engine_plan(engine->engine), texts);
    texts->steps_made = status == TENON_OK;
    if (status != TENON_OK) {
      tenon__arena_deinitialize(&texts->step_arena);
      tenon__arena_initialize(&texts->step_arena, engine->registry->allocator);
      status = tenon__fail_memory(&engine->sink);
    }
  }
  (void)pthread_mutex_unlock(&texts->mutex);
  return status;
}

/* ---- Life ---- */

tenon_status_t tenon__engine_texts_create(tenon_engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  tenon__engine_texts_t* texts = tenon__allocate(engine->registry->allocator, 1, sizeof(*texts));
  if (texts == NULL) {
    return tenon__fail_memory(&engine->sink);
  }
  tenon__arena_initialize(&texts->arena, engine->registry->allocator);
  tenon__arena_initialize(&texts->step_arena, engine->registry->allocator);
  (void)pthread_mutex_init(&texts->mutex, NULL);
  engine->texts = texts;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    texts->step_count += plan->schedules[g].step_count;
  }
  tenon_status_t status = make_ios(plan, texts);
  status = status == TENON_OK ? make_info(engine, texts) : status;
  return status == TENON_OK ? TENON_OK : tenon__fail_memory(&engine->sink);
}

void tenon__engine_texts_destroy(tenon_engine_t* engine) {
  tenon__engine_texts_t* texts = engine->texts;
  if (texts != NULL) {
    tenon__arena_deinitialize(&texts->arena);
    tenon__arena_deinitialize(&texts->step_arena);
    (void)pthread_mutex_destroy(&texts->mutex);
    tenon__free(engine->registry->allocator, texts, sizeof(*texts));
  }
}

/* ---- tenon.h ---- */

uint32_t tenon_engine_input_count(const tenon_engine_t* engine) {
  return engine != NULL ? engine->texts->input_count : 0;
}

uint32_t tenon_engine_output_count(const tenon_engine_t* engine) {
  return engine != NULL ? engine->texts->output_count : 0;
}

/* The inputs or the outputs. */
typedef struct ios_t {
  const tenon_engine_t* engine;
  const char* what; /* "input" */
  const tenon_io_info_t* infos;
  uint32_t count;
} ios_t;

static ios_t inputs_of(const tenon_engine_t* engine) {
  return (ios_t){engine, "input", engine->texts->inputs, engine->texts->input_count};
}

static ios_t outputs_of(const tenon_engine_t* engine) {
  return (ios_t){engine, "output", engine->texts->outputs, engine->texts->output_count};
}

/* "image, mask": as many as there is room for. */
static const char* names_of(const ios_t* ios, char* out_text, size_t capacity) {
  size_t used = 0;
  out_text[0] = '\0';
  for (uint32_t i = 0; i < ios->count && used < capacity; ++i) {
    used += (size_t)snprintf(out_text + used, capacity - used, "%s%s", i == 0 ? "" : ", ",
                             ios->infos[i].name);
  }
  return out_text;
}

static tenon_status_t get_io(const ios_t* ios, const char* function, uint32_t index,
                             const tenon_io_info_t** out_info) {
  if (index >= ios->count) {
    char names[512];
    return tenon__fail(&ios->engine->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "%s: there is no %s %u, the engine has %u%s%s", function, ios->what, index,
                       ios->count, ios->count > 0 ? ": " : "", names_of(ios, names, sizeof(names)));
  }
  *out_info = &ios->infos[index];
  return TENON_OK;
}

tenon_status_t tenon__engine_input(const tenon_engine_t* engine, const char* function,
                                   uint32_t index, const tenon_io_info_t** out_info) {
  const ios_t ios = inputs_of(engine);
  return get_io(&ios, function, index, out_info);
}

tenon_status_t tenon__engine_output(const tenon_engine_t* engine, const char* function,
                                    uint32_t index, const tenon_io_info_t** out_info) {
  const ios_t ios = outputs_of(engine);
  return get_io(&ios, function, index, out_info);
}

static tenon_status_t check_index(const tenon_engine_t* engine, const char* function,
                                  const char* what, uint32_t index, uint32_t count) {
  if (index < count) {
    return TENON_OK;
  }
  return tenon__fail(&engine->sink, TENON_ERROR_INVALID_ARGUMENT, "%s: there is no %s %u, only %u",
                     function, what, index, count);
}

tenon_status_t tenon_engine_get_input(const tenon_engine_t* engine, uint32_t index,
                                      tenon_io_info_t* out_info) {
  const tenon_io_info_t* info = NULL;
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__engine_input(engine, __func__, index, &info));
  return TENON_RESULT_FILL(&engine->sink, tenon_io_info_t, info, out_info);
}

tenon_status_t tenon_engine_get_output(const tenon_engine_t* engine, uint32_t index,
                                       tenon_io_info_t* out_info) {
  const tenon_io_info_t* info = NULL;
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__engine_output(engine, __func__, index, &info));
  return TENON_RESULT_FILL(&engine->sink, tenon_io_info_t, info, out_info);
}

static tenon_status_t find_io(const ios_t* ios, const char* name, uint32_t* out_index) {
  char names[512];
  for (uint32_t i = 0; i < ios->count; ++i) {
    if (strcmp(ios->infos[i].name, name) == 0) {
      *out_index = i;
      return TENON_OK;
    }
  }
  return tenon__fail(&ios->engine->sink, TENON_ERROR_NOT_FOUND,
                     "there is no %s '%s'; the %ss are: %s", ios->what, name, ios->what,
                     names_of(ios, names, sizeof(names)));
}

tenon_status_t tenon_engine_find_input(const tenon_engine_t* engine, const char* name,
                                       uint32_t* out_index) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "name", name != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_index", out_index != NULL));
  const ios_t ios = inputs_of(engine);
  return find_io(&ios, name, out_index);
}

tenon_status_t tenon_engine_find_output(const tenon_engine_t* engine, const char* name,
                                        uint32_t* out_index) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "name", name != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_index", out_index != NULL));
  const ios_t ios = outputs_of(engine);
  return find_io(&ios, name, out_index);
}

tenon_status_t tenon_engine_get_profile(const tenon_engine_t* engine, uint32_t input,
                                        uint32_t which, const int64_t** out_dims) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_dims", out_dims != NULL));
  TENON_TRY(check_index(engine, __func__, "input", input, engine->texts->input_count));
  TENON_TRY(check_index(engine, __func__, "point of a profile", which, 3));
  *out_dims = engine->texts->profiles[3 * (size_t)input + which];
  return TENON_OK;
}

uint32_t tenon_engine_step_count(const tenon_engine_t* engine) {
  return engine != NULL ? engine->texts->step_count : 0;
}

tenon_status_t tenon_engine_get_step(const tenon_engine_t* engine, uint32_t index,
                                     tenon_step_info_t* out_info) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(check_index(engine, __func__, "step", index, engine->texts->step_count));
  TENON_TRY(need_steps(engine));
  return TENON_RESULT_FILL(&engine->sink, tenon_step_info_t, &engine->texts->steps[index],
                           out_info);
}

tenon_status_t tenon_engine_get_step_sources(const tenon_engine_t* engine, uint32_t index,
                                             const uint32_t** out_steps, uint32_t* out_count) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_steps", out_steps != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_count", out_count != NULL));
  TENON_TRY(check_index(engine, __func__, "step", index, engine->texts->step_count));
  TENON_TRY(need_steps(engine));
  *out_steps = engine->texts->sources[index].steps;
  *out_count = engine->texts->sources[index].count;
  return TENON_OK;
}

uint32_t tenon_engine_block_count(const tenon_engine_t* engine) {
  return engine != NULL && need_steps(engine) == TENON_OK ? engine->texts->block_count : 0;
}

tenon_status_t tenon_engine_get_block(const tenon_engine_t* engine, uint32_t index,
                                      tenon_block_info_t* out_info) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(need_steps(engine));
  TENON_TRY(check_index(engine, __func__, "block", index, engine->texts->block_count));
  return TENON_RESULT_FILL(&engine->sink, tenon_block_info_t, &engine->texts->blocks[index],
                           out_info);
}

tenon_status_t tenon_engine_get_info(const tenon_engine_t* engine, tenon_engine_info_t* out_info) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  tenon_engine_info_t info = engine->texts->info;
  info.uploaded_bytes = tenon__engine_uploaded_bytes(engine->engine);
  return TENON_RESULT_FILL(&engine->sink, tenon_engine_info_t, &info, out_info);
}

uint64_t tenon_engine_scratch_bytes(const tenon_engine_t* engine, uint32_t thread_count) {
  if (engine == NULL) {
    return 0;
  }
  const tenon__plan_t* plan = tenon__engine_plan(engine->engine);
  uint64_t bytes = UINT64_MAX;
  (void)tenon__plan_scratch_bytes(plan, tenon__plan_main_device(plan),
                                  thread_count == 0 ? plan->thread_count : thread_count, &bytes,
                                  NULL);
  return bytes;
}
