/*
 * Constants that a control node passes to its bodies become constants of the bodies, where other
 * passes and kernels see their values; what a body then no longer reads is no longer passed.
 */
#include "core/network/control.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

static tenon_status_t enter(tenon__rewriter_t* rewriter, const char* node_name, uint32_t body,
                            uint32_t parameter, uint32_t weights) {
  if (!tenon__patch_begin(rewriter, "enter bodies", body, TENON_NONE)) {
    return TENON_OK;
  }
  rewriter->patch_node = node_name;
  uint32_t constant = 0;
  const tenon_status_t status = tenon__patch_add_value_of(rewriter, NULL, weights, &constant);
  if (status == TENON_OK) {
    tenon__patch_replace(rewriter, parameter, constant);
  }
  return tenon__patch_settle(rewriter, status);
}

/* One that cannot run reads nothing. */
static bool reads(const tenon__rewriter_t* rewriter, uint32_t body, uint32_t value) {
  return tenon__rewriter_graph(rewriter, body)->fault == NULL &&
         tenon__rewriter_use_count(rewriter, body, value) > 0;
}

/* Does no body read that parameter? */
static bool is_idle(const tenon__rewriter_t* rewriter, const tenon__node_t* node,
                    uint32_t parameter) {
  for (uint32_t b = 0; b < node->body_count; ++b) {
    const uint32_t value = tenon__rewriter_graph(rewriter, node->bodies[b])->inputs[parameter];
    if (reads(rewriter, node->bodies[b], value) ||
        tenon__rewriter_has_handle(rewriter, node->bodies[b], value)) {
      return false;
    }
  }
  return true;
}

tenon_status_t tenon__pass_enter_bodies(tenon__rewriter_t* rewriter, uint32_t graph,
                                        uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  tenon__control_layout_t layout;
  if (node->body_count == 0 ||
      tenon__control_layout_of(rewriter->network, graph, index, NULL, &layout) != TENON_OK) {
    return TENON_OK;
  }
  const uint32_t skipped = layout.carried_count + layout.scanned_count;
  for (uint32_t i = 0; i < layout.captured_count; ++i) {
    const uint32_t input = node->inputs[layout.first_value + skipped + i];
    const uint32_t parameter = layout.first_parameter + skipped + i;
    const tenon__weights_t* weights = tenon__rewriter_constant(rewriter, graph, input);
    const uint32_t body_count = weights == NULL ? 0 : node->body_count;
    for (uint32_t b = 0; b < body_count; ++b) {
      const uint32_t value = tenon__rewriter_graph(rewriter, node->bodies[b])->inputs[parameter];
      if (reads(rewriter, node->bodies[b], value)) {
        return enter(rewriter, node->name, node->bodies[b], value,
                     tenon__rewriter_value(rewriter, graph, input)->weights);
      }
    }
  }
  for (uint32_t i = 0; i < layout.captured_count; ++i) {
    if (is_idle(rewriter, node, layout.first_parameter + skipped + i)) {
      if (!tenon__patch_begin(rewriter, "enter bodies", graph, index)) {
        return TENON_OK;
      }
      tenon__patch_drop_captured(rewriter, index, layout.first_value + skipped + i,
                                 layout.first_parameter + skipped + i);
      return tenon__patch_end(rewriter);
    }
  }
  return TENON_OK;
}
