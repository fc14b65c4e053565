/* Pass: the rewrites that plugins offer, in their order, until one applies. Where one is to be
 * applied for the first time, it is tried on numbers before. */
#include "core/base/status.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/rewrite.h"

/* A rewrite with a fault was reported and is left out. */
static tenon__rewrites_t* rewrites_of(tenon__rewriter_t* rewriter) {
  if (rewriter->rewrites != NULL) {
    return rewriter->rewrites;
  }
  const uint32_t count = rewriter->options->rewrite_count;
  tenon__rewrites_t* rewrites = tenon__arena_allocate(&rewriter->arena, 1, sizeof(*rewrites));
  tenon__rewrite_t* items = tenon__arena_allocate(&rewriter->arena, count + 1u, sizeof(*items));
  if (rewrites == NULL || items == NULL) {
    rewriter->is_out_of_memory = true;
    return NULL;
  }
  rewrites->items = items;
  for (uint32_t i = 0; i < count; ++i) {
    const tenon_status_t status = tenon__rewrite_parse(
        &rewriter->arena, rewriter->options->rewrites[i], rewriter->sink, &items[rewrites->count]);
    if (status == TENON_ERROR_OUT_OF_MEMORY) {
      rewriter->is_out_of_memory = true;
      return NULL;
    }
    rewrites->count += status == TENON_OK;
  }
  rewriter->rewrites = rewrites;
  return rewrites;
}

static tenon_status_t visit(tenon__rewriter_t* rewriter, tenon__rewrite_t* rewrite, uint32_t graph,
                            uint32_t node, tenon__rewrite_outcome_t* out_outcome) {
  TENON_TRY(tenon__rewrite_visit(rewriter, rewrite, graph, node, out_outcome));
  if (*out_outcome != TENON_REWRITE_UNTRIED) {
    return TENON_OK;
  }
  TENON_TRY(rewriter->options->admit(rewriter->options, rewrite->entry,
                                     rewriter->network->allocator, rewriter->sink,
                                     &rewrite->is_refused));
  rewrite->is_tried = true;
  return tenon__rewrite_visit(rewriter, rewrite, graph, node, out_outcome);
}

tenon_status_t tenon__pass_rewrites(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index) {
  if (tenon__rewriter_node(rewriter, graph, index)->op == NULL ||
      rewriter->options->rewrite_count == 0) {
    return TENON_OK;
  }
  tenon__rewrites_t* rewrites = rewrites_of(rewriter);
  TENON_TRY_MEMORY(rewrites != NULL);
  tenon__rewrite_outcome_t outcome = TENON_REWRITE_NO_MATCH;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0;
       status == TENON_OK && outcome != TENON_REWRITE_APPLIED && i < rewrites->count; ++i) {
    status = visit(rewriter, &rewrites->items[i], graph, index, &outcome);
  }
  return status;
}
