/*
 * Decomposes nodes that nobody here computes as they are: the operator's own text, with the node's
 * inputs and attributes by name, becomes nodes of other operators.
 */
#include <string.h>

#include "core/base/status.h"
#include "core/language/condition.h"
#include "core/language/text.h"
#include "core/network/match.h"
#include "core/network/node.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"
#include "core/optimizer/rewrite.h"
#include "core/optimizer/rewriter.h"

/* The first decomposition whose condition holds. */
static const tenon__calls_t* applicable(tenon__rewriter_t* rewriter, uint32_t graph,
                                        uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  tenon__scope_t scope;
  if (tenon__node_scope(rewriter->network, graph, index, &rewriter->scratch, &scope) != TENON_OK) {
    return NULL;
  }
  for (uint32_t i = 0; i < node->op->descriptor.decomposition_count; ++i) {
    const tenon__operator_case_t* one = &node->op->decompositions[i];
    bool holds = one->when == NULL;
    if (holds ||
        (tenon__condition_evaluate(&scope, one->when, NULL, &holds) == TENON_OK && holds)) {
      return &one->calls;
    }
  }
  return NULL;
}

/* The names that the text may use: the operator's inputs and attributes. */
static bool bind_node(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index,
                      tenon__match_t* out_match) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  const tenon__descriptor_t* descriptor = &node->op->descriptor;
  memset(out_match, 0, sizeof(*out_match));
  out_match->graph = graph;
  out_match->root = index;
  if (node->attribute_count > TENON_MATCH_ATTRIBUTES ||
      (descriptor->outputs[descriptor->output_count - 1].flags & TENON_PORT_VARIADIC) != 0) {
    return false;
  }
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    out_match->attributes[out_match->attribute_count++] = node->attributes[i];
  }
  for (uint32_t i = 0; i < descriptor->input_count; ++i) {
    const uint32_t value = i < node->input_count ? node->inputs[i] : TENON_NONE;
    if ((descriptor->inputs[i].flags & TENON_PORT_VARIADIC) != 0) {
      return false;
    }
    if (!tenon__match_bind(out_match, descriptor->inputs[i].name, value)) {
      return false;
    }
  }
  return true;
}

/* The nodes of the text; each output must have something to stand for it. */
static tenon_status_t add_all(tenon__rewriter_t* rewriter, const tenon__calls_t* calls,
                              tenon__match_t* match) {
  uint32_t value = TENON_NONE;
  for (uint32_t i = 0; i < calls->statement_count; ++i) {
    TENON_TRY(tenon__rewrite_add_call(rewriter, match, &calls->statements[i], &value));
  }
  const tenon__node_t* node = tenon__rewriter_node(rewriter, match->graph, match->root);
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const uint32_t old = node->outputs[i];
    value = tenon__match_value(match, node->op->descriptor.outputs[i].name);
    if (old != TENON_NONE &&
        (value == TENON_NONE || !tenon__patch_fits(rewriter, match->graph, old, value))) {
      return TENON_ERROR_UNSUPPORTED;
    }
  }
  return TENON_OK;
}

/* Each output's name is the result of a statement, so what stands for it was made for it alone. */
static tenon_status_t decompose(tenon__rewriter_t* rewriter, const tenon__calls_t* calls,
                                tenon__match_t* match) {
  if (!tenon__patch_begin(rewriter, "decompose", match->graph, match->root)) {
    return TENON_OK;
  }
  const tenon_status_t status = add_all(rewriter, calls, match);
  if (status == TENON_OK) {
    const tenon__node_t* node = tenon__rewriter_node(rewriter, match->graph, match->root);
    TENON_EACH_OUTPUT(i, node) {
      tenon__patch_replace(rewriter, node->outputs[i],
                           tenon__match_value(match, node->op->descriptor.outputs[i].name));
    }
    tenon__patch_remove(rewriter, match->root);
  }
  return tenon__patch_settle(rewriter, status);
}

tenon_status_t tenon__pass_decompose(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  const tenon__optimize_options_t* options = rewriter->options;
  if (node->op == NULL || node->expression != NULL || node->maps != NULL ||
      node->op->descriptor.decomposition_count == 0 || options->find == NULL ||
      options->is_computed == NULL || options->is_computed(options->computed_user, node->op)) {
    return TENON_OK;
  }
  tenon__match_t match;
  const tenon__calls_t* calls = applicable(rewriter, graph, index);
  return calls != NULL && bind_node(rewriter, graph, index, &match)
             ? decompose(rewriter, calls, &match)
             : TENON_OK;
}
