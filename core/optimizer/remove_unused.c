/* Removes nodes that nobody reads, and optional outputs that nobody reads. */
#include "core/base/status.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

static bool is_unused(const tenon__bench_t* bench, uint32_t graph, uint32_t value) {
  return tenon__bench_use_count(bench, graph, value) == 0 &&
         !tenon__bench_has_number(bench, graph, value);
}

static bool may_lack(const tenon__node_t* node, uint32_t output) {
  if (node->op == NULL || output >= node->op->descriptor.output_count) {
    return false;
  }
  const uint32_t flags = node->op->descriptor.outputs[output].flags;
  return (flags & TENON_PORT_OPTIONAL) != 0 && (flags & TENON_PORT_VARIADIC) == 0;
}

tenon_status_t tenon__pass_remove_unused(tenon__bench_t* bench, uint32_t graph, uint32_t index) {
  const tenon__node_t* node = tenon__bench_node(bench, graph, index);
  bool all = true;
  uint32_t optional = TENON_NONE;
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const uint32_t value = node->outputs[i];
    if (value == TENON_NONE) {
      continue;
    }
    if (!is_unused(bench, graph, value)) {
      all = false;
    } else if (may_lack(node, i)) {
      optional = i;
    }
  }
  if ((!all && optional == TENON_NONE) ||
      !tenon__patch_begin(bench, "remove unused", graph, index)) {
    return TENON_OK;
  }
  if (all) {
    tenon__patch_remove(bench, index);
  } else {
    tenon__patch_drop_output(bench, index, optional);
  }
  return tenon__patch_end(bench);
}
