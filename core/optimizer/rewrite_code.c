/*
 * Rewrites by code: the plugin's function reads the match as a region and builds through a builder
 * on the network, in the graph of the match. What it built is taken up by the patch, or taken back
 * with it.
 */
#include "core/optimizer/rewrite_code.h"

#include "core/base/call.h"
#include "core/base/status.h"
#include "core/network/builder.h"
#include "core/network/builder_values.h"
#include "core/optimizer/patch.h"
#include "core/region/region.h"
#include "core/region/region_finish.h"
#include "core/region/region_table.h"

static const tenon__operator_t* find_nothing(void* user, const char* name) {
  (void)user;
  (void)name;
  return NULL;
}

static tenon_status_t make_region(const tenon__rewriter_t* rewriter, const tenon__match_t* match,
                                  tenon__arena_t* arena, struct tenon_region_t* out_region) {
  tenon__profile_t* profile = tenon__arena_allocate(arena, 1, sizeof(*profile));
  uint32_t nodes[TENON_MATCH_NAMES];
  TENON_TRY_MEMORY(profile != NULL);
  TENON_TRY(tenon__profile_open(arena, rewriter->network->pool, profile));
  tenon__match_nodes(match, nodes);
  const tenon__node_group_t group = {
      nodes, match->node_count, match->inputs, match->input_count, &match->result, 1};
  TENON_TRY(tenon__region_of_nodes(arena, rewriter->network, match->graph, &group, out_region));
  return tenon__region_finish(arena, profile, out_region);
}

/* Runs the function; the value that it gives, TENON_NONE where it declines. */
static tenon_status_t run(tenon__rewriter_t* rewriter, const tenon__rewrite_entry_t* entry,
                          const tenon__match_t* match, const struct tenon_region_t* region,
                          tenon_builder_t* builder, uint32_t* out_value) {
  tenon_value_t inputs[TENON_MATCH_NAMES];
  tenon_value_t result = {0};
  for (uint32_t i = 0; i < match->input_count; ++i) {
    TENON_TRY(tenon__builder_handle(builder, match->graph, match->inputs[i], &inputs[i]));
  }
  const tenon_rewriting_t given = {.size = sizeof given,
                                   .state = entry->owner->state,
                                   .match = region,
                                   .table = tenon__region_table(),
                                   .builder = builder,
                                   .build = tenon__builder_table(),
                                   .inputs = inputs,
                                   .input_count = match->input_count};
  const tenon__call_t call = {entry->owner->plugin, "rewrite", entry->rewrite.name,
                              tenon__rewriter_node(rewriter, match->graph, match->root)->name};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const int32_t taken = entry->rewrite.rewrite(&given, &result);
  tenon__call_leave(outer);
  TENON_TRY(tenon__patch_take_up(rewriter));
  uint32_t graph = 0;
  *out_value = TENON_NONE;
  if (taken == 0) {
    return TENON_OK;
  }
  if (taken != 1 || tenon__builder_finish(builder) != TENON_OK ||
      !tenon__builder_look_up(builder, result, &graph, out_value) || graph != match->graph) {
    return TENON_ERROR_UNSUPPORTED;
  }
  return TENON_OK;
}

tenon_status_t tenon__rewrite_by_code(tenon__rewriter_t* rewriter,
                                      const tenon__rewrite_entry_t* entry,
                                      const tenon__match_t* match, uint32_t* out_value) {
  struct tenon_region_t region;
  tenon_builder_t* builder = NULL;
  TENON_TRY(make_region(rewriter, match, &rewriter->scratch, &region));
  TENON_TRY(tenon__builder_create(
      rewriter->network, rewriter->options->find == NULL ? find_nothing : rewriter->options->find,
      rewriter->options->find_user, rewriter->sink, &builder));
  tenon__builder_set_graph(builder, match->graph);
  const tenon_status_t status = run(rewriter, entry, match, &region, builder, out_value);
  tenon__builder_destroy(builder);
  return status;
}
