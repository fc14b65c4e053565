/* The algebra of a build, and folding of closed nodes by running a kernel on their constants. */
#include "core/builder/building.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/catalog/check.h"
#include "core/catalog/exclude.h"
#include "core/catalog/kernel_list.h"
#include "core/kernel/run.h"
#include "core/optimizer/optimizer.h"
#include "core/optimizer/rewrite_trial.h"
#include "core/region/region_finish.h"
#include "core/tensor/layout.h"

typedef struct folding_t {
  tenon__building_t* building;
  tenon__tuning_t tuning; /* estimates alone, in an arena of its own */
  tenon__arena_t arena;
  tenon__profile_t profile;
  struct tenon_region_t region;
  tenon__instance_t* instance;
  tenon__packed_store_t* store;
  tenon__bound_t* bound;
  tenon_argument_t* inputs;
  tenon_argument_t* outputs;
} folding_t;

static tenon_status_t make_inputs(folding_t* f) {
  const tenon__network_t* network = f->region.network;
  const tenon__graph_t* g = network->graphs[f->region.graph];
  TENON_EACH_REGION_INPUT(k, &f->region) {
    const uint32_t value = f->region.inputs[k].value;
    const tenon__value_node_t* v = &g->values[value];
    const uint32_t rank = v->type.rank;
    if (v->weights == TENON_NONE || rank > TENON_RANK_LIMIT) {
      return TENON_ERROR_UNSUPPORTED;
    }
    const tenon__weights_t* weights = &network->weights[v->weights];
    int64_t* strides = tenon__arena_allocate(&f->arena, rank + 1u, sizeof *strides);
    TENON_TRY_MEMORY(strides != NULL && tenon__strides_row_major(rank, weights->dims, strides));
    f->inputs[k] = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                                      .tensor = {.data = tenon__drop_const(weights->data),
                                                 .dims = weights->dims,
                                                 .strides = strides,
                                                 .rank = rank,
                                                 .dtype = v->type.dtype,
                                                 .layout = TENON_NONE}};
  }
  return TENON_OK;
}

static bool asks_for_order(const tenon_argument_rule_t* rules, uint32_t count) {
  if (rules == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (rules[k].kind == TENON_LAYOUT_EXACT) {
      return true;
    }
  }
  return false;
}

/* A candidate that takes and leaves rows: constants are dense. */
static const tenon__candidate_t* row_major_candidate(const struct tenon_region_t* region,
                                                     const tenon__candidates_t* found) {
  for (uint32_t k = 0; k < found->count; ++k) {
    const tenon__step_tactic_t* tactic = &found->items[k].tactic;
    if (!asks_for_order(tactic->input_rules, region->input_count) &&
        !asks_for_order(tactic->output_rules, region->output_count)) {
      return &found->items[k];
    }
  }
  return NULL;
}

static tenon_status_t run_kernel(folding_t* f, const tenon__candidate_t* candidate) {
  tenon__building_t* b = f->building;
  const tenon__kernel_binding_t binding =
      tenon__tuning_binding(&f->tuning, &f->region, candidate->kernel);
  TENON_TRY(tenon__packed_store_create(b->allocator, &f->store));
  const tenon__instance_request_t prepared = {
      .kernel = &binding, .region = &f->region, .tactic = &candidate->tactic, .store = f->store};
  TENON_TRY(tenon__instance_create(b->allocator, &prepared, NULL, &f->instance));
  const uint32_t threads = tenon__thread_pool_thread_count(b->pool);
  const tenon__bind_request_t request = {.extents = &f->profile.optimum,
                                         .inputs = f->inputs,
                                         .outputs = f->outputs,
                                         .thread_count = threads};
  TENON_TRY(tenon__bound_create(b->allocator, f->instance, &request, NULL, &f->bound));
  uint64_t sizes[] = {0, candidate->tactic.zeroed_bytes, candidate->tactic.persistent_bytes};
  TENON_TRY_MEMORY(tenon__tactic_scratch_bytes(&candidate->tactic, threads, &sizes[0]));
  void* memory[3];
  for (int k = 0; k < 3; ++k) {
    memory[k] = tenon__arena_allocate_aligned(&f->arena, sizes[k]);
    TENON_TRY_MEMORY(memory[k] != NULL);
  }
  struct tenon_run_t run = {.pool = b->pool,
                            .scratch = memory[0],
                            .zeroed = memory[1],
                            .persistent = memory[2],
                            .interrupt = b->options->tuning.interrupt};
  TENON_TRY(tenon__bound_run(f->bound, &run, f->inputs, f->outputs));
  return tenon__interrupt_is_wanted(run.interrupt) ? TENON_ERROR_CANCELLED : TENON_OK;
}

static tenon_status_t fold_node(folding_t* f, const tenon__network_t* network, uint32_t graph,
                                uint32_t node, const tenon_tensor_view_t* outputs) {
  const tenon__candidates_t* found = NULL;
  TENON_TRY(tenon__profile_open(&f->arena, network->pool, &f->profile));
  TENON_TRY(tenon__region_of_node(&f->arena, network, graph, node, &f->region));
  TENON_TRY(tenon__region_finish(&f->arena, &f->profile, &f->region));
  f->inputs = tenon__arena_allocate(&f->arena, f->region.input_count + 1u, sizeof *f->inputs);
  f->outputs = tenon__arena_allocate(&f->arena, f->region.output_count + 1u, sizeof *f->outputs);
  TENON_TRY_MEMORY(f->inputs != NULL && f->outputs != NULL);
  TENON_TRY(make_inputs(f));
  for (uint32_t k = 0; k < f->region.output_count; ++k) {
    if (outputs[k].data != NULL) {
      f->outputs[k] = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = outputs[k]};
    }
  }
  TENON_TRY(tenon__candidates_find(&f->tuning, &f->region, NULL, &found));
  const tenon__candidate_t* candidate = row_major_candidate(&f->region, found);
  return candidate == NULL ? TENON_ERROR_UNSUPPORTED : run_kernel(f, candidate);
}

static tenon_status_t fold(void* user, const tenon__network_t* network, uint32_t graph,
                           uint32_t node, const tenon_tensor_view_t* outputs) {
  tenon__building_t* b = user;
  folding_t f = {.building = b, .tuning = b->tuning};
  tenon__arena_initialize(&f.arena, b->allocator);
  f.tuning.arena = &f.arena;
  f.tuning.profile = &f.profile;
  f.tuning.options.no_measuring = true;
  f.tuning.sink = NULL;
  tenon__tuning_begin(&f.tuning);
  tenon_status_t status = fold_node(&f, network, graph, node, outputs);
  tenon__bound_destroy(f.bound);
  tenon__instance_release(f.instance);
  tenon__packed_store_destroy(f.store);
  tenon__tuning_end(&f.tuning);
  tenon__arena_deinitialize(&f.arena);
  if (status != TENON_OK && status != TENON_ERROR_OUT_OF_MEMORY) {
    status = TENON_ERROR_UNSUPPORTED; /* it stays, and says at run time what is wrong */
  }
  return status;
}

static const tenon__operator_t* find_operator(void* user, const char* name) {
  const tenon__building_t* b = user;
  return tenon__catalog_operator(b->catalog, name, b->options->sink);
}

/* By a kernel that the build asks: the oracle alone does not count, unless nobody else is asked. */
static bool has_kernel(void* user, const tenon__operator_t* op) {
  const tenon__building_t* b = user;
  const tenon_sink_t* sink = b->options->sink;
  tenon__kernel_list_t list;
  bool is_computed = false;
  /* Without memory the list is empty. */
  (void)tenon__kernel_list_initialize(b->allocator, b->catalog, op->name, 0, sink, &list);
  for (uint32_t k = 0; k < list.count && !is_computed; ++k) {
    const bool is_oracle = (list.entries[k]->kernel.flags & TENON_KERNEL_REFERENCE) != 0;
    is_computed = tenon__candidates_consider(&b->tuning, list.entries[k]) &&
                  (!is_oracle || b->options->tuning.reference_only);
  }
  tenon__kernel_list_deinitialize(&list);
  return is_computed;
}

/* "fold constants: blur1" for each patch, a line each. */
static const char* patch_lines(tenon__building_t* b, const tenon__optimize_report_t* report) {
  tenon__byte_writer_t writer;
  tenon__byte_writer_initialize(&writer, b->allocator);
  for (uint32_t k = 0; k < report->patch_count; ++k) {
    const char* const parts[] = {report->patches[k].label, ": ", report->patches[k].node, "\n"};
    for (int p = 0; p < 4; ++p) {
      tenon__write_bytes(&writer, parts[p], strlen(parts[p]));
    }
  }
  tenon__write_u8(&writer, 0);
  const char* text =
      writer.failed ? NULL : tenon__arena_copy(&b->plan->arena, writer.data, writer.size);
  tenon__byte_writer_deinitialize(&writer);
  return text;
}

/* "rewrite plugin:name: node" among a plan's patches? */
static bool was_applied(const char* patches, const tenon__rewrite_entry_t* entry,
                        tenon__arena_t* arena) {
  const char* message =
      tenon__arena_format(arena, "rewrite %s:%s: ", entry->owner->plugin, entry->rewrite.name);
  const size_t length = message == NULL ? 0 : strlen(message);
  const char* line = patches;
  while (message != NULL && line != NULL && strncmp(line, message, length) != 0) {
    line = strchr(line, '\n');
    line = line == NULL ? NULL : line + 1;
  }
  return message != NULL && line != NULL;
}

/* Those that the build may use, in place. */
static uint32_t permitted_rewrites(tenon__building_t* b, const tenon__rewrite_entry_t** entries,
                                   uint32_t count) {
  const tenon__build_options_t* o = b->options;
  uint32_t kept = 0;
  if (o->no_rewrites) {
    return 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const tenon__rewrite_entry_t* entry = entries[i];
    if (!tenon__is_excluded(o->tuning.exclude, entry->owner->plugin, entry->rewrite.name) &&
        (o->rewrites == NULL || was_applied(o->rewrites, entry, &b->plan->arena))) {
      entries[kept++] = entry;
    }
  }
  return kept;
}

tenon_status_t tenon__building_optimise(tenon__building_t* b) {
  TENON_TRY(tenon__catalog_check_texts(b->catalog, b->options->sink));
  const uint32_t room =
      tenon__catalog_all(b->catalog, TENON_OFFER_REWRITE, b->options->sink, NULL, 0);
  const tenon__rewrite_entry_t** rewrites =
      tenon__arena_allocate(&b->plan->arena, room + 1u, sizeof(void*));
  TENON_TRY_MEMORY(rewrites != NULL);
  const uint32_t found =
      tenon__catalog_all(b->catalog, TENON_OFFER_REWRITE, b->options->sink, rewrites, room);
  const uint32_t count = permitted_rewrites(b, rewrites, found < room ? found : room);
  const tenon__optimize_options_t options = {
      .passes = b->options->no_rewrites ? tenon__optimizer_passes_without_rewrites() : 0,
      .patch_limit = b->options->optimizer_limit,
      .strict = b->options->tuning.strict,
      .merges_siblings = b->options->merges_siblings,
      .fold = fold,
      .fold_user = b,
      .rewrites = rewrites,
      .rewrite_count = count,
      .admit = tenon__rewrite_admit,
      .catalog = b->catalog,
      .find = find_operator,
      .find_user = b,
      .is_computed = has_kernel,
      .computed_user = b,
  };
  tenon__optimize_report_t report;
  const tenon_status_t status =
      tenon__optimize(b->plan->network, &options, b->options->sink, &report);
  if (status == TENON_OK) {
    b->plan->patches = patch_lines(b, &report);
  }
  tenon__optimize_report_deinitialize(&report);
  TENON_TRY(status);
  return b->plan->patches == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
