/* The ordered table of passes, run until no list holds a node. */
#include "core/optimizer/optimizer.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/verify_rules.h"
#include "core/optimizer/merge_equal.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/rewrite.h"

typedef struct pass_t {
  const char* name;
  bool believes;
  tenon_status_t (*visit)(tenon__bench_t* bench, uint32_t graph, uint32_t node);
} pass_t;

#define ROW(name, believes, file) {name, believes, tenon__pass_##file},
static const pass_t passes[] = {TENON_PASSES(ROW)};
#undef ROW
enum { PASS_COUNT = sizeof(passes) / sizeof(passes[0]) };
_Static_assert((int)PASS_COUNT <= (int)TENON_PASS_LIMIT, "each pass has a bit");

const char* tenon__optimizer_pass_name(uint32_t index) {
  return index < PASS_COUNT ? passes[index].name : NULL;
}

uint32_t tenon__optimizer_passes_of_meaning(void) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < PASS_COUNT; ++i) {
    mask |= passes[i].believes ? 0 : 1u << i;
  }
  return mask;
}

static bool is_enabled(const tenon__bench_t* bench, uint32_t pass) {
  return bench->options->passes == 0 || (bench->options->passes & (1u << pass)) != 0;
}

static bool is_cancelled(const tenon__bench_t* bench) {
  return bench->options->is_cancelled != NULL &&
         bench->options->is_cancelled(bench->options->cancel_user);
}

/* Empties the list of one pass, as far as `most` patches go. */
static tenon_status_t run_pass(tenon__bench_t* bench, uint32_t pass, uint64_t most) {
  uint32_t graph = 0;
  uint32_t node = 0;
  tenon_status_t status = TENON_OK;
  while (status == TENON_OK && bench->patch_count <= most &&
         tenon__bench_next(bench, pass, &graph, &node)) {
    if (bench->report != NULL) {
      ++bench->report->visit_count;
    }
    if (is_cancelled(bench)) {
      return TENON_ERROR_CANCELLED;
    }
    if (is_enabled(bench, pass)) {
      status = passes[pass].visit(bench, graph, node);
    }
    if (status == TENON_OK && tenon__bench_failed(bench)) {
      status = tenon__fail_memory(bench->sink);
    }
  }
  return status;
}

/* Rewrites that undo one another, or match what they made, would never end: a generous bound on
 * patches, of the network as it came, catches them. */
static uint64_t most_patches(const tenon__bench_t* bench) {
  uint64_t most = 100;
  for (uint32_t g = 0; g < bench->graph_count; ++g) {
    most += (uint64_t)50 * bench->network->graphs[g]->node_count;
    most += bench->network->graphs[g]->value_count; /* equal constants are merged one by one */
  }
  return most;
}

static void report_endless(const tenon__bench_t* bench) {
  const tenon__rewrite_t* busiest = tenon__rewrite_busiest(bench);
  if (busiest != NULL) {
    tenon__report(bench->sink, TENON_SEVERITY_WARNING,
                  "optimising stopped after %u patches: rewrite '%s' of plugin %s was applied %u "
                  "times; it may match what it made, or undo another one (lately '%s')",
                  bench->patch_count, busiest->entry->rewrite.name, busiest->entry->owner->plugin,
                  busiest->patch_count, bench->label);
  } else {
    tenon__report(bench->sink, TENON_SEVERITY_WARNING,
                  "optimising stopped after %u patches: some undo one another, lately '%s'",
                  bench->patch_count, bench->label);
  }
}

/* The first pass with something on its list runs until its list is empty; then again the first. */
static tenon_status_t run(tenon__bench_t* bench, uint64_t most) {
  uint32_t pass = 0;
  while (pass < PASS_COUNT && bench->patch_count <= most) {
    const uint32_t patches = bench->patch_count;
    TENON_TRY(run_pass(bench, pass, most));
    pass = bench->patch_count > patches ? 0 : pass + 1;
  }
  return TENON_OK;
}

static tenon_status_t optimize(tenon__bench_t* bench) {
  const uint64_t most = most_patches(bench);
  TENON_TRY(tenon__bench_queue_all(bench));
  tenon_status_t status = TENON_OK;
  bool changed = true;
  while (status == TENON_OK && changed) {
    changed = false;
    status = run(bench, most);
    if (status == TENON_OK && is_enabled(bench, 0)) {
      status = tenon__sweep(bench, &changed);
    }
    if (bench->patch_count > most) {
      report_endless(bench);
      changed = false;
    }
  }
  return status;
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
  TENON_TRY(tenon__bench_create(network, options, PASS_COUNT, sink, out_report, &bench));
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
