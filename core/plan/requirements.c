/* Requirements of operators at run time, with extents as numbers. */
#include "core/plan/requirements.h"

#include <string.h>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

enum { MAX_NUMBERS = 8 };

/* "4, 3": dimensions as numbers, with "?" for those that are not known. */
static const char* numbers(const tenon_dim_t* dims, uint32_t count, const tenon__extents_t* extents,
                           tenon__arena_t* arena) {
  const char* text = "";
  for (uint32_t d = 0; text != NULL && d < count; ++d) {
    const char* comma = d == 0 ? "" : ", ";
    int64_t number = 0;
    text = tenon__extents_get(extents, dims[d], &number)
               ? tenon__arena_format(arena, "%s%s%lld", text, comma, (long long)number)
               : tenon__arena_format(arena, "%s%s?", text, comma);
  }
  return text == NULL ? "?" : text;
}

/* "[4, 3], [2] (5, 4)": the node's inputs, with what small ones hold. */
static const char* input_shapes(const tenon__graph_t* graph, const tenon__node_t* node,
                                const tenon__extents_t* extents, tenon__arena_t* arena) {
  const char* text = "";
  for (uint32_t k = 0; text != NULL && k < node->input_count; ++k) {
    const tenon__value_node_t* value =
        node->inputs[k] == TENON_NONE ? NULL : &graph->values[node->inputs[k]];
    const char* comma = text[0] == '\0' ? "" : ", ";
    if (value == NULL) {
      text = tenon__arena_format(arena, "%s%s-", text, comma);
      continue;
    }
    const uint32_t rank = value->type.rank == TENON_NONE ? 0 : value->type.rank;
    text = tenon__arena_format(arena, "%s%s[%s]", text, comma,
                               numbers(value->type.dims, rank, extents, arena));
    const bool is_integer = strchr("iu", tenon__dtype_class(value->type.dtype)) != NULL;
    const uint32_t count =
        value->type.contents == NULL || !is_integer ? 0 : value->type.content_count;
    if (text != NULL && count > 0 && count <= MAX_NUMBERS) {
      text = tenon__arena_format(arena, "%s (%s)", text,
                                 numbers(value->type.contents, count, extents, arena));
    }
  }
  return text == NULL ? "?" : text;
}

static tenon_status_t refuse(const tenon__requirement_t* broken, const tenon__network_t* network,
                             const tenon__extents_t* extents, const char* prefix,
                             const tenon_sink_t* sink) {
  const tenon__graph_t* graph = network->graphs[broken->graph];
  const tenon__node_t* node = &graph->nodes[broken->node];
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, network->allocator);
  const tenon_status_t status = tenon__fail(
      sink, TENON_ERROR_INVALID_ARGUMENT, "%snode '%s'%s%s%s: %s; its inputs are %s", prefix,
      node->name, node->op == NULL ? "" : " (", node->op == NULL ? "" : node->op->name,
      node->op == NULL ? "" : ")", broken->message, input_shapes(graph, node, extents, &arena));
  tenon__arena_deinitialize(&arena);
  return status;
}

tenon_status_t tenon__requirements_check(const tenon__requirement_t* items, uint32_t count,
                                         const tenon__network_t* network,
                                         const tenon__extents_t* extents, const char* prefix,
                                         const tenon_sink_t* sink) {
  for (uint32_t k = 0; k < count; ++k) {
    int64_t holds = 1;
    if (tenon__extents_get(extents, items[k].condition, &holds) && holds == 0) {
      return refuse(&items[k], network, extents, prefix, sink);
    }
  }
  return TENON_OK;
}
