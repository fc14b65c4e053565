/* The ordered table of passes, run until no list holds a node. */
#include "core/optimizer/optimizer.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/verify_rules.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/rewrite.h"

typedef struct pass_t {
  const char* name;
  bool believes;
  tenon_status_t (*visit)(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node);
} pass_t;

#define ROW(name, believes, file) {name, believes, tenon__pass_##file},
static const pass_t passes[] = {TENON_PASSES(ROW)};
#undef ROW
enum { PASS_COUNT = sizeof(passes) / sizeof(passes[0]) };
_Static_assert((int)PASS_COUNT <= (int)TENON_PASS_LIMIT, "each pass has a bit");

const char* tenon__optimizer_pass_name(uint32_t index) {
  return index < PASS_COUNT ? passes[index].name : NULL;
}

uint32_t tenon__optimizer_passes_without_rewrites(void) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < PASS_COUNT; ++i) {
    mask |= passes[i].believes ? 0 : 1u << i;
  }
  return mask;
}

static bool is_enabled(const tenon__rewriter_t* rewriter, uint32_t pass) {
  return rewriter->options->passes == 0 || (rewriter->options->passes & (1u << pass)) != 0;
}

/* Empties the list of one pass, as far as `most` patches go. */
static tenon_status_t run_pass(tenon__rewriter_t* rewriter, uint32_t pass, uint64_t most) {
  uint32_t graph = 0;
  uint32_t node = 0;
  tenon_status_t status = TENON_OK;
  while (status == TENON_OK && rewriter->patch_count <= most &&
         tenon__rewriter_next(rewriter, pass, &graph, &node)) {
    if (rewriter->report != NULL) {
      ++rewriter->report->visit_count;
    }
    if (tenon__interrupt_is_wanted(rewriter->network->interrupt)) {
      return TENON_ERROR_CANCELLED;
    }
    if (is_enabled(rewriter, pass)) {
      status = passes[pass].visit(rewriter, graph, node);
    }
    if (tenon__rewriter_end_visit(rewriter) && status == TENON_OK) {
      status = TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  return status;
}

/* Rewrites that undo one another, or match what they made, would never end: a generous bound on
 * patches, of the network as it came, catches them. */
static uint64_t most_patches(const tenon__rewriter_t* rewriter) {
  uint64_t most = 100;
  for (uint32_t g = 0; g < rewriter->graph_count; ++g) {
    most += (uint64_t)50 * rewriter->network->graphs[g]->node_count;
    most += rewriter->network->graphs[g]->value_count; /* equal constants are merged one by one */
  }
  return most;
}

static void report_endless(const tenon__rewriter_t* rewriter) {
  const tenon__rewrite_t* busiest = tenon__rewrite_busiest(rewriter);
  if (busiest != NULL) {
    tenon__report(rewriter->sink, TENON_SEVERITY_WARNING,
                  "optimising stopped after %u patches: rewrite '%s' of plugin %s was applied %u "
                  "times; it may match what it made, or undo another one (lately '%s')",
                  rewriter->patch_count, busiest->entry->rewrite.name,
                  busiest->entry->owner->plugin, busiest->patch_count, rewriter->label);
  } else {
    tenon__report(rewriter->sink, TENON_SEVERITY_WARNING,
                  "optimising stopped after %u patches: some undo one another, lately '%s'",
                  rewriter->patch_count, rewriter->label);
  }
}

/* The first pass with something on its list runs until its list is empty; then again the first. */
static tenon_status_t run(tenon__rewriter_t* rewriter, uint64_t most) {
  uint32_t pass = 0;
  while (pass < PASS_COUNT && rewriter->patch_count <= most) {
    const uint32_t patches = rewriter->patch_count;
    TENON_TRY(run_pass(rewriter, pass, most));
    pass = rewriter->patch_count > patches ? 0 : pass + 1;
  }
  return TENON_OK;
}

static tenon_status_t optimize(tenon__rewriter_t* rewriter) {
  const uint64_t most = most_patches(rewriter);
  TENON_TRY(tenon__rewriter_queue_all(rewriter));
  tenon_status_t status = TENON_OK;
  bool changed = true;
  while (status == TENON_OK && changed) {
    changed = false;
    status = run(rewriter, most);
    if (status == TENON_OK && is_enabled(rewriter, 0)) {
      status = tenon__sweep(rewriter, &changed);
    }
    if (rewriter->patch_count > most) {
      report_endless(rewriter);
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
  if (options->verifies) {
    TENON_TRY(tenon__network_verify(network, sink));
  }
  tenon__rewriter_t* rewriter = NULL;
  TENON_TRY(tenon__rewriter_create(network, options, PASS_COUNT, sink, out_report, &rewriter));
  const tenon_status_t status = optimize(rewriter);
  tenon__rewriter_destroy(rewriter);
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
