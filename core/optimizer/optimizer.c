/* The ordered table of passes, run until no list holds a node. */
#include "core/optimizer/optimizer.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/optimizer/merge_equal.h"
#include "core/optimizer/passes.h"

typedef struct pass_t {
  const char* name;
  tenon_status_t (*visit)(tenon__bench_t* bench, uint32_t graph, uint32_t node);
} pass_t;

/* Cheap and freeing passes first. */
static const pass_t passes[] = {
    {"remove unused", tenon__pass_remove_unused},
    {"decompose", tenon__pass_decompose},
    {"enter bodies", tenon__pass_enter_bodies},
    {"choose branch", tenon__pass_choose_branch},
    {"fold constants", tenon__pass_fold_constants},
    {"merge equal", tenon__pass_merge_equal},
    {"cancel moves", tenon__pass_cancel_moves},
    {"sink moves", tenon__pass_sink_moves},
    {"rewrites", tenon__pass_rewrites},
    {"move scales", tenon__pass_move_scales},
};
enum { PASS_COUNT = sizeof(passes) / sizeof(passes[0]) };
_Static_assert((int)PASS_COUNT <= (int)TENON_PASS_LIMIT, "each pass has a bit");

const char* tenon__optimizer_pass_name(uint32_t index) {
  return index < PASS_COUNT ? passes[index].name : NULL;
}

static bool is_enabled(const tenon__bench_t* bench, uint32_t pass) {
  return bench->options->passes == 0 || (bench->options->passes & (1u << pass)) != 0;
}

/* The first pass with something on its list runs until its list is empty; then again the first. A
 * rewrite that undoes what another does would never end: a generous bound on patches catches it. */
static tenon_status_t run(tenon__bench_t* bench) {
  uint32_t pass = 0;
  uint64_t nodes = 0;
  for (uint32_t g = 0; g < bench->graph_count; ++g) {
    nodes += bench->network->graphs[g]->node_count;
  }
  while (pass < PASS_COUNT) {
    uint32_t graph = 0;
    uint32_t node = 0;
    const uint32_t patches = bench->patch_count;
    while (tenon__bench_next(bench, pass, &graph, &node)) {
      if (bench->report != NULL) {
        ++bench->report->visit_count;
      }
      if (is_enabled(bench, pass)) {
        TENON_TRY(passes[pass].visit(bench, graph, node));
      }
      if (bench->is_out_of_memory) {
        return tenon__fail_memory(bench->sink);
      }
      if (bench->patch_count > 100 + 50 * nodes) {
        tenon__report(bench->sink, TENON_SEVERITY_WARNING,
                      "optimising stopped after %u patches: some undo one another, lately '%s'",
                      bench->patch_count, bench->label);
        return TENON_OK;
      }
    }
    pass = bench->patch_count > patches ? 0 : pass + 1;
  }
  return TENON_OK;
}

static tenon_status_t optimize(tenon__bench_t* bench) {
  TENON_TRY(tenon__bench_queue_all(bench));
  bool changed = true;
  while (changed) {
    TENON_TRY(run(bench));
    changed = false;
    if (is_enabled(bench, 0)) {
      TENON_TRY(tenon__sweep(bench, &changed));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__optimize(tenon__network_t* network, const tenon__optimize_options_t* options,
                               const tenon_sink_t* sink, tenon__optimize_report_t* out_report) {
  if (out_report != NULL) {
    *out_report = (tenon__optimize_report_t){0};
    tenon__arena_initialize(&out_report->arena, network->allocator);
  }
  if (options->is_disabled) {
    return TENON_OK;
  }
  if (options->verifies) {
    TENON_TRY(tenon__network_verify(network, sink));
  }
  tenon__bench_t* bench = NULL;
  TENON_TRY(tenon__bench_create(network, options, sink, out_report, &bench));
  const tenon_status_t status = optimize(bench);
  tenon__equals_destroy(bench);
  tenon__bench_destroy(bench);
  return status;
}

void tenon__optimize_report_deinitialize(tenon__optimize_report_t* report) {
  tenon__free(report->arena.allocator, report->patches,
              report->patch_capacity * sizeof(*report->patches));
  tenon__arena_deinitialize(&report->arena);
  report->patches = NULL;
  report->patch_count = 0;
  report->patch_capacity = 0;
}
