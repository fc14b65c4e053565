/*
 * A plan from a graph: cuDNN's heuristic proposes engines with their settings, best first; those
 * that compute otherwise than is permitted are passed over by their notes, and the one that is
 * asked for by number is built. The same graph on the same device and version gives the same list.
 */
#include <stdio.h>
#include <string.h>

#include "graph.h"

enum { PROPOSALS = 96, NOTES = 16 };

typedef struct proposals_t {
  const tenon__cudnn_library_t* library;
  cudnnBackendDescriptor_t graph;
  cudnnBackendDescriptor_t heuristic;
  cudnnBackendDescriptor_t items[PROPOSALS];
  int64_t made; /* descriptors among items */
  int64_t count;
} proposals_t;

static void end_proposals(proposals_t* proposals) {
  const tenon__cudnn_library_t* library = proposals->library;
  for (int64_t k = 0; k < proposals->made; k++) {
    (void)library->cudnnBackendDestroyDescriptor(proposals->items[k]);
  }
  if (proposals->heuristic != NULL) {
    (void)library->cudnnBackendDestroyDescriptor(proposals->heuristic);
  }
  if (proposals->graph != NULL) {
    (void)library->cudnnBackendDestroyDescriptor(proposals->graph);
  }
}

#define TRY(call)                        \
  do {                                   \
    const cudnnStatus_t tried = (call);  \
    if (tried != CUDNN_STATUS_SUCCESS) { \
      return tried;                      \
    }                                    \
  } while (0)

static cudnnStatus_t join_operations(const tenon__cudnn_graph_t* graph, proposals_t* proposals) {
  const tenon__cudnn_library_t* library = graph->library;
  TRY(library->cudnnBackendCreateDescriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
                                            &proposals->graph));
  TRY(library->cudnnBackendSetAttribute(proposals->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                                        CUDNN_TYPE_HANDLE, 1, (const void*)&graph->handle));
  TRY(library->cudnnBackendSetAttribute(proposals->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, graph->operation_count,
                                        (const void*)graph->operations));
  return library->cudnnBackendFinalize(proposals->graph);
}

static cudnnStatus_t ask(cudnnBackendHeurMode_t mode, proposals_t* proposals) {
  const tenon__cudnn_library_t* library = proposals->library;
  TRY(library->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
                                            &proposals->heuristic));
  TRY(library->cudnnBackendSetAttribute(proposals->heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                        (const void*)&proposals->graph));
  TRY(library->cudnnBackendSetAttribute(proposals->heuristic, CUDNN_ATTR_ENGINEHEUR_MODE,
                                        CUDNN_TYPE_HEUR_MODE, 1, &mode));
  TRY(library->cudnnBackendFinalize(proposals->heuristic));
  int64_t count = 0;
  TRY(library->cudnnBackendGetAttribute(proposals->heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL));
  count = count < PROPOSALS ? count : PROPOSALS;
  while (proposals->made < count) {
    TRY(library->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                              &proposals->items[proposals->made]));
    proposals->made++;
  }
  return count == 0 ? CUDNN_STATUS_SUCCESS
                    : library->cudnnBackendGetAttribute(proposals->heuristic,
                                                        CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                                                        &proposals->count, (void*)proposals->items);
}

/* ---- Which are wanted ---- */

typedef struct engine_t {
  int64_t index;
  uint32_t numerical; /* bits of cudnnBackendNumericalNote_t */
  uint32_t behavior;
} engine_t;

static uint32_t notes_of(const tenon__cudnn_library_t* library, cudnnBackendDescriptor_t engine,
                         cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         int64_t most) {
  int32_t notes[NOTES];
  int64_t count = 0;
  uint32_t bits = 0;
  if (library->cudnnBackendGetAttribute(engine, name, type, most, &count, notes) !=
      CUDNN_STATUS_SUCCESS) {
    return 0;
  }
  for (int64_t k = 0; k < count && k < most; k++) {
    bits |= 1U << ((uint32_t)notes[k] & 31U);
  }
  return bits;
}

static cudnnStatus_t read_engine(const tenon__cudnn_library_t* library,
                                 cudnnBackendDescriptor_t proposal, engine_t* out_engine) {
  cudnnBackendDescriptor_t engine = NULL;
  int64_t count = 0;
  TRY(library->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine));
  const cudnnStatus_t result =
      library->cudnnBackendGetAttribute(proposal, CUDNN_ATTR_ENGINECFG_ENGINE,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, (void*)&engine);
  if (result == CUDNN_STATUS_SUCCESS) {
    (void)library->cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                            CUDNN_TYPE_INT64, 1, &count, &out_engine->index);
    out_engine->numerical = notes_of(library, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                     CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    out_engine->behavior = notes_of(library, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                    CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  }
  (void)library->cudnnBackendDestroyDescriptor(engine);
  return result;
}

static bool is_wanted(const engine_t* engine, const tenon__cudnn_wish_t* wish) {
  const uint32_t never = 1U << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC |
                         1U << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION |
                         1U << CUDNN_NUMERICAL_NOTE_FFT | 1U << CUDNN_NUMERICAL_NOTE_WINOGRAD;
  const uint32_t inexact =
      1U << CUDNN_NUMERICAL_NOTE_TENSOR_CORE | 1U << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
  const uint32_t reorders = 1U << CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER |
                            1U << CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER;
  const uint32_t compiled = 1U << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
  return (engine->numerical & never) == 0 && (engine->behavior & reorders) == 0 &&
         (!wish->exact || (engine->numerical & inexact) == 0) &&
         (wish->compiled || (engine->behavior & compiled) == 0);
}

static int64_t workspace_of(const tenon__cudnn_library_t* library,
                            cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name) {
  int64_t bytes = 0;
  int64_t count = 0;
  return library->cudnnBackendGetAttribute(descriptor, name, CUDNN_TYPE_INT64, 1, &count, &bytes) ==
                 CUDNN_STATUS_SUCCESS
             ? bytes
             : 0;
}

/* The wanted one by its number; NULL: there are fewer. */
static cudnnBackendDescriptor_t choose(const proposals_t* proposals,
                                       const tenon__cudnn_wish_t* wish, int64_t* out_engine,
                                       uint32_t* out_found) {
  cudnnBackendDescriptor_t last = NULL;
  uint32_t found = 0;
  for (int64_t k = 0; k < proposals->count && found <= wish->index; k++) {
    engine_t engine = {.index = -1};
    if (read_engine(proposals->library, proposals->items[k], &engine) == CUDNN_STATUS_SUCCESS &&
        is_wanted(&engine, wish) &&
        workspace_of(proposals->library, proposals->items[k],
                     CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE) <= wish->workspace_bytes) {
      last = proposals->items[k];
      *out_engine = engine.index;
      found++;
    }
  }
  *out_found = found;
  return found > wish->index || wish->any_number ? last : NULL;
}

/* ---- Building ---- */

static cudnnStatus_t build(const tenon__cudnn_graph_t* graph, cudnnBackendDescriptor_t proposal,
                           tenon__cudnn_plan_t* plan) {
  const tenon__cudnn_library_t* library = graph->library;
  TRY(library->cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan->plan));
  TRY(library->cudnnBackendSetAttribute(plan->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                                        CUDNN_TYPE_HANDLE, 1, (const void*)&graph->handle));
  TRY(library->cudnnBackendSetAttribute(plan->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void*)&proposal));
  TRY(library->cudnnBackendFinalize(plan->plan));
  plan->workspace_bytes =
      workspace_of(library, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return CUDNN_STATUS_SUCCESS;
}

static tenon_status_t tell(const tenon__cudnn_graph_t* graph, const tenon_sink_t* sink,
                           cudnnStatus_t result, const char* what) {
  char words[256] = "";
  graph->library->cudnnGetLastErrorString(words, sizeof(words));
  words[strcspn(words, "\n")] = 0;
  return tenon__cudnn_say(sink, tenon__cudnn_status(result), "cuDNN refuses %s: %s (%s)", what,
                          graph->library->cudnnGetErrorString(result), words);
}

static tenon_status_t make_from(const tenon__cudnn_graph_t* graph, const proposals_t* proposals,
                                const tenon__cudnn_wish_t* wish, const tenon_sink_t* sink,
                                tenon__cudnn_plan_t* out_plan) {
  tenon__cudnn_plan_t plan = {.engine = -1};
  uint32_t found = 0;
  cudnnBackendDescriptor_t proposal = choose(proposals, wish, &plan.engine, &found);
  if (proposal == NULL) {
    return tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED,
                            "of cuDNN's %lld proposals %u can be used, number %u is asked for",
                            (long long)proposals->count, found, wish->index);
  }
  const cudnnStatus_t result = build(graph, proposal, &plan);
  tenon_status_t status = TENON_OK;
  if (result != CUDNN_STATUS_SUCCESS) {
    status = tell(graph, sink, result, "a plan");
  } else if (plan.workspace_bytes > wish->workspace_bytes) {
    status = tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED,
                              "cuDNN's engine %lld wants %lld bytes of workspace, more than %lld",
                              (long long)plan.engine, (long long)plan.workspace_bytes,
                              (long long)wish->workspace_bytes);
  }
  if (status == TENON_OK) {
    *out_plan = plan;
  } else if (plan.plan != NULL) {
    (void)graph->library->cudnnBackendDestroyDescriptor(plan.plan);
  }
  return status;
}

tenon_status_t tenon__cudnn_plan_make(tenon__cudnn_graph_t* graph, const tenon__cudnn_wish_t* wish,
                                      const tenon_sink_t* sink, tenon__cudnn_plan_t* out_plan) {
  if (graph->result != CUDNN_STATUS_SUCCESS) {
    return tell(graph, sink, graph->result, graph->failed);
  }
  proposals_t proposals = {.library = graph->library};
  const char* what = "the operations together";
  cudnnStatus_t result = join_operations(graph, &proposals);
  if (result == CUDNN_STATUS_SUCCESS) {
    what = "proposals";
    result = ask(CUDNN_HEUR_MODE_A, &proposals);
  }
  const tenon_status_t status = result != CUDNN_STATUS_SUCCESS
                                    ? tell(graph, sink, result, what)
                                    : make_from(graph, &proposals, wish, sink, out_plan);
  end_proposals(&proposals);
  return status;
}

void tenon__cudnn_pack_end(const tenon__cudnn_library_t* library, tenon__cudnn_pack_t* pack) {
  if (pack->descriptor != NULL) {
    (void)library->cudnnBackendDestroyDescriptor(pack->descriptor);
    pack->descriptor = NULL;
  }
}

cudnnStatus_t tenon__cudnn_pack_renew(const tenon__cudnn_library_t* library,
                                      const tenon__cudnn_tensors_t* tensors, void* const* pointers,
                                      void* workspace, tenon__cudnn_pack_t* pack) {
  const size_t bytes = tensors->count * sizeof(*pointers);
  cudnnBackendDescriptor_t* made = &pack->descriptor;
  if (*made != NULL && workspace == pack->workspace &&
      memcmp((const void*)pointers, (const void*)pack->pointers, bytes) == 0) {
    return CUDNN_STATUS_SUCCESS;
  }
  tenon__cudnn_pack_end(library, pack);
  memcpy((void*)pack->pointers, (const void*)pointers, bytes);
  pack->workspace = workspace;
  TRY(library->cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, made));
  TRY(library->cudnnBackendSetAttribute(*made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                                        tensors->count, tensors->names));
  TRY(library->cudnnBackendSetAttribute(*made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                        CUDNN_TYPE_VOID_PTR, tensors->count,
                                        (const void*)pack->pointers));
  TRY(library->cudnnBackendSetAttribute(*made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                                        CUDNN_TYPE_VOID_PTR, 1, (const void*)&pack->workspace));
  return library->cudnnBackendFinalize(*made);
}
