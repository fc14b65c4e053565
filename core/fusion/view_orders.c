/* Orders of a region's inputs that are views: the strides of the source, followed through the maps
 * of the views. */
#include "core/fusion/view_orders.h"

#include "core/base/status.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

enum { MOST_VIEWS = 16 }; /* of one another */

typedef struct lying_t {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT + 1];
} lying_t;

/* The map that makes the value a view; NULL: none does. */
static const tenon__index_map_t* view_of(const tenon__network_t* network, const tenon__graph_t* g,
                                         uint32_t value, uint32_t* out_source) {
  const uint32_t producer = g->values[value].producer;
  const tenon__node_t* node = producer == TENON_NONE ? NULL : &g->nodes[producer];
  if (node == NULL || node->maps == NULL) {
    return NULL;
  }
  uint32_t output = 0;
  while (output < node->output_count && node->outputs[output] != value) {
    ++output;
  }
  const tenon__index_map_t* map = &node->maps[output];
  if (output == node->output_count || !tenon__index_map_is_view(network->pool, map)) {
    return NULL;
  }
  *out_source = node->inputs[map->sources[0].input];
  return map;
}

static bool lie_in_rows(const tenon__tuning_t* tuning, const tenon__value_node_t* value,
                        lying_t* out_lying) {
  return value->type.kind == TENON_ARGUMENT_TENSOR && value->type.rank <= TENON_RANK_LIMIT &&
         tenon__extents_shape(&tuning->profile->optimum, value->type.rank, value->type.dims,
                              out_lying->dims) &&
         tenon__strides_row_major(value->type.rank, out_lying->dims, out_lying->strides);
}

/* From what is no view on to the value. False: it is not known. */
static bool find_lying(const tenon__tuning_t* tuning, const tenon__graph_t* g, uint32_t value,
                       lying_t* out_lying) {
  uint32_t chain[MOST_VIEWS];
  const tenon__index_map_t* maps[MOST_VIEWS];
  uint32_t count = 0;
  while (count < MOST_VIEWS) {
    chain[count] = value;
    maps[count] = view_of(tuning->network, g, value, &value);
    if (maps[count] == NULL) {
      break;
    }
    ++count;
  }
  bool is_known = count > 0 && lie_in_rows(tuning, &g->values[value], out_lying);
  while (count > 0 && is_known) {
    const lying_t base = *out_lying;
    int64_t offset = 0;
    --count;
    is_known = lie_in_rows(tuning, &g->values[chain[count]], out_lying) &&
               tenon__index_map_view(&tuning->profile->optimum, maps[count], base.dims,
                                     base.strides, out_lying->strides, &offset) == TENON_OK;
  }
  return is_known;
}

static tenon_status_t find_order(tenon__tuning_t* tuning, const tenon__graph_t* g,
                                 tenon__region_input_t* input) {
  lying_t lying;
  int64_t rows[TENON_RANK_LIMIT + 1];
  if (input->value == TENON_NONE || !find_lying(tuning, g, input->value, &lying)) {
    return TENON_OK;
  }
  const uint32_t rank = g->values[input->value].type.rank;
  uint32_t order[TENON_RANK_LIMIT + 1];
  tenon__strides_order(rank, lying.strides, order);
  if (rank == 0 || !tenon__strides_ordered(rank, lying.dims, order, lying.strides) ||
      !tenon__strides_row_major(rank, lying.dims, rows) ||
      tenon__strides_equal(rank, lying.dims, lying.strides, rows)) {
    return TENON_OK;
  }
  input->order = tenon__arena_copy(tuning->arena, order, rank * sizeof *order);
  return input->order == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__view_orders_find(tenon__tuning_t* tuning,
                                       struct tenon_region_t* inout_region) {
  const tenon__graph_t* g = inout_region->network->graphs[inout_region->graph];
  tenon__region_input_t* inputs =
      tenon__arena_allocate(tuning->arena, inout_region->input_count + 1u, sizeof *inputs);
  TENON_TRY_MEMORY(inputs != NULL);
  for (uint32_t k = 0; k < inout_region->input_count; ++k) {
    inputs[k] = inout_region->inputs[k];
    TENON_TRY(find_order(tuning, g, &inputs[k]));
  }
  inout_region->inputs = inputs;
  return TENON_OK;
}
