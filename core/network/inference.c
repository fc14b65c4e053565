/*
 * What inference is made of: extents that only the run knows, and the numbers by which they are
 * read; shapes; contents through a node's meaning.
 */
#include "core/network/inference.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/move_rule.h"
#include "core/program/contents.h"
#include "core/tensor/layout.h"

bool tenon__infer_pend(tenon__inference_t* inference, uint32_t handle, uint32_t output,
                       tenon_dim_t dim) {
  if (!TENON_ARENA_GROW(inference->scratch, inference->pending, inference->pending_capacity,
                        inference->pending_count + 1)) {
    return false;
  }
  inference->pending[inference->pending_count++] = (tenon__pending_handle_t){handle, output, dim};
  return true;
}

tenon_dim_t tenon__infer_verified_extent(tenon__dim_pool_t* pool) {
  const tenon__symbol_t any = {.kind = TENON_SYMBOL_EXTENT,
                               .name = "found when running",
                               .a = TENON_NONE,
                               .max = INT64_MAX,
                               .bound = TENON_DIM_INVALID};
  return tenon__dim_symbol(pool, &any);
}

tenon_dim_t tenon__infer_fresh(void* user, uint32_t output, uint32_t axis, tenon_dim_t bound) {
  tenon__inference_t* inference = user;
  tenon__network_t* network = inference->network;
  if (output >= inference->output_count) {
    return TENON_DIM_INVALID;
  }
  if (inference->existing != NULL) {
    const uint32_t index = inference->existing->outputs[output];
    const tenon__value_node_t* value =
        index == TENON_NONE ? NULL : &network->graphs[inference->graph]->values[index];
    if (value != NULL && value->type.rank != TENON_NONE && axis < value->type.rank) {
      return value->type.dims[axis];
    }
    return tenon__infer_verified_extent(network->pool);
  }
  uint32_t* handle = &inference->outputs[output].handle;
  if (*handle == TENON_NONE) {
    if (tenon__value_handle_reserve(network, inference->graph, TENON_NONE, TENON_NONE, handle) !=
            TENON_OK ||
        !tenon__infer_pend(inference, *handle, output, TENON_DIM_INVALID)) {
      inference->failed = true;
      return TENON_DIM_INVALID;
    }
  }
  return tenon__handle_extent(network, *handle, axis, bound);
}

/* Extents are neither negative nor beyond what a number can count. */
static tenon_status_t check_shape(const tenon__inference_t* inference, uint32_t output) {
  const tenon__type_t* type = &inference->outputs[output].type;
  tenon__dim_pool_t* pool = inference->network->pool;
  int64_t extents[TENON_RANK_LIMIT];
  for (uint32_t i = 0; i < type->rank; ++i) {
    int64_t min = 0;
    int64_t max = 0;
    if (type->dims[i].id == TENON_NONE) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "extent %u of output %u overflows or divides by zero", i, output);
    }
    tenon__dim_range(pool, type->dims[i], &min, &max);
    if (max < 0) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                         "extent %u of output %u would be negative: %s", i, output,
                         tenon__dim_text(pool, type->dims[i], inference->scratch));
    }
    if (min < 0 && tenon__dim_pool_collects(pool)) {
      const char* message =
          tenon__arena_format(inference->scratch, "extent %u of output %u would be negative: %s", i,
                              output, tenon__dim_text(pool, type->dims[i], inference->scratch));
      const tenon_dim_t zero = tenon__dim_constant(pool, 0);
      tenon__dim_require(pool, tenon__dim_combine(pool, TENON_OPCODE_GE, type->dims[i], zero),
                         message == NULL ? "an extent would be negative" : message);
    }
  }
  (void)tenon__type_extents(pool, type, extents);
  return tenon__extents_fit(type->rank, extents)
             ? TENON_OK
             : tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA,
                           "output %u has more than 2^48 elements", output);
}

tenon_status_t tenon__infer_set_shape(tenon__inference_t* inference, uint32_t output,
                                      const tenon__inferred_shape_t* shape) {
  tenon__type_t* type = &inference->outputs[output].type;
  type->rank = shape->rank;
  type->dims = NULL;
  if (shape->rank != TENON_NONE && shape->rank > TENON_RANK_LIMIT) {
    return tenon__fail(inference->sink, TENON_ERROR_UNSUPPORTED,
                       "output %u has %u dimensions, more than %d", output, shape->rank,
                       TENON_RANK_LIMIT);
  }
  if (shape->rank != TENON_NONE) {
    type->dims = tenon__arena_copy(&inference->network->arena, shape->dims,
                                   shape->rank * sizeof(*shape->dims));
    TENON_TRY_MEMORY(type->dims != NULL);
    TENON_TRY(check_shape(inference, output));
  }
  if (inference->output_values != NULL) {
    inference->output_values[output].type = tenon__type_tensor(type->dtype, type->rank, type->dims);
  }
  return TENON_OK;
}

bool tenon__type_is_followed(const tenon__network_t* network, const tenon__type_t* type) {
  uint64_t count = 0;
  return tenon__type_element_count(network->pool, type, &count) && count <= TENON_CONTENT_LIMIT;
}

static bool may_have_contents(const tenon__network_t* network, const tenon__type_t* type) {
  const char type_class = tenon__dtype_class(type->dtype);
  return strchr("biuf", type_class) != NULL && tenon__type_is_followed(network, type);
}

static const tenon__type_t* input_type(const tenon__inference_t* inference, uint32_t input) {
  const tenon__graph_t* graph = inference->network->graphs[inference->graph];
  return &graph->values[inference->inputs[input]].type;
}

tenon_status_t tenon__infer_expression_contents(tenon__inference_t* inference,
                                                const tenon__expression_t* expression,
                                                uint32_t output, tenon__type_t* inout_type) {
  const tenon_program_t* program = &expression->program;
  const size_t count = program->operand_count;
  if (!may_have_contents(inference->network, inout_type)) {
    return TENON_OK;
  }
  tenon__type_t* operands = tenon__arena_allocate(inference->scratch, count + 1, sizeof(*operands));
  TENON_TRY_MEMORY(operands != NULL);
  bool any = count == 0;
  for (size_t k = 0; k < count; ++k) {
    operands[k] = *input_type(inference, program->operands[k].index);
    any = any || operands[k].contents != NULL;
  }
  return any ? tenon__program_contents(inference->network->pool, expression, output, operands,
                                       &inference->network->arena, inout_type)
             : TENON_OK;
}

tenon_status_t tenon__infer_move_contents(tenon__inference_t* inference,
                                          const tenon__index_map_t* map,
                                          tenon__type_t* inout_type) {
  bool any = false;
  for (uint32_t i = 0; i < map->source_count; ++i) {
    any = any || input_type(inference, map->sources[i].input)->contents != NULL;
  }
  if (!any || !may_have_contents(inference->network, inout_type)) {
    return TENON_OK;
  }
  return tenon__move_contents(&inference->scope, map, &inference->network->arena, inout_type);
}
