/* Removes nodes that nobody reads, and optional outputs that nobody reads. */
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

static bool is_unused(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value) {
  return tenon__rewriter_use_count(rewriter, graph, value) == 0 &&
         !tenon__rewriter_has_handle(rewriter, graph, value);
}

static bool may_lack(const tenon__node_t* node, uint32_t output) {
  if (node->op == NULL || output >= node->op->descriptor.output_count) {
    return false;
  }
  const uint32_t flags = node->op->descriptor.outputs[output].flags;
  return (flags & TENON_PORT_OPTIONAL) != 0 && (flags & TENON_PORT_VARIADIC) == 0;
}

tenon_status_t tenon__pass_remove_unused(tenon__rewriter_t* rewriter, uint32_t graph,
                                         uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  bool all = true;
  uint32_t optional = TENON_NONE;
  TENON_EACH_OUTPUT(i, node) {
    const uint32_t value = node->outputs[i];
    if (!is_unused(rewriter, graph, value)) {
      all = false;
    } else if (may_lack(node, i)) {
      optional = i;
    }
  }
  if ((!all && optional == TENON_NONE) ||
      !tenon__patch_begin(rewriter, "remove unused", graph, index)) {
    return TENON_OK;
  }
  if (all) {
    tenon__patch_remove(rewriter, index);
  } else {
    tenon__patch_drop_output(rewriter, index, optional);
  }
  return tenon__patch_end(rewriter);
}
