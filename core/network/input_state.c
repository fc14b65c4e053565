/* A state made of an input and an output: both leave the interface of the network. */
#include "core/network/input_state.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/tensor/type.h"

static tenon_status_t find_extents(const tenon__network_t* network,
                                   const tenon__value_node_t* value, const tenon_sink_t* sink,
                                   int64_t* out_dims) {
  const tenon__type_t* type = &value->type;
  if (!tenon__type_is_plain(type) || type->rank > TENON_RANK_LIMIT) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' can be no state: it is no tensor of numbers whose rank is known",
                       value->name);
  }
  for (uint32_t d = 0; d < type->rank; ++d) {
    if (!tenon__dim_known(network->pool, type->dims[d], &out_dims[d])) {
      return tenon__fail(
          sink, TENON_ERROR_INVALID_ARGUMENT,
          "input '%s' can be no state: its axis %u is open, and a state has the same "
          "extents in each run; give the input its shape",
          value->name, d);
    }
  }
  return TENON_OK;
}

static void remove_input(tenon__graph_t* graph, uint32_t index) {
  graph->values[graph->inputs[index]].flags &= ~(uint32_t)TENON_VALUE_IS_INPUT;
  graph->input_count -= 1;
  memmove(&graph->inputs[index], &graph->inputs[index + 1],
          (graph->input_count - index) * sizeof *graph->inputs);
}

static void remove_output(tenon__graph_t* graph, uint32_t index) {
  const uint32_t value = graph->outputs[index];
  bool is_another = false;
  graph->output_count -= 1;
  const size_t behind = graph->output_count - index;
  memmove(&graph->outputs[index], &graph->outputs[index + 1], behind * sizeof *graph->outputs);
  memmove((void*)&graph->output_names[index], (const void*)&graph->output_names[index + 1],
          behind * sizeof *graph->output_names);
  for (uint32_t k = 0; k < graph->output_count; ++k) {
    is_another = is_another || graph->outputs[k] == value;
  }
  if (!is_another) {
    graph->values[value].flags &= ~(uint32_t)TENON_VALUE_IS_OUTPUT;
  }
}

tenon_status_t tenon__network_make_state(tenon__network_t* network, uint32_t input, uint32_t output,
                                         const tenon_sink_t* sink) {
  tenon__graph_t* graph = network->graphs[0];
  const tenon__value_node_t* read = &graph->values[graph->inputs[input]];
  const tenon__value_node_t* update = &graph->values[graph->outputs[output]];
  int64_t dims[TENON_RANK_LIMIT];
  uint32_t index = 0;
  TENON_TRY(find_extents(network, read, sink, dims));
  if (!tenon__type_is_tensor_of(network->pool, &update->type, read->type.dtype, read->type.rank,
                                dims)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' cannot become what output '%s' is: that is of another type, or "
                       "has other extents",
                       read->name, graph->output_names[output]);
  }
  const tenon__state_node_t state = {.name = read->name,
                                     .dtype = read->type.dtype,
                                     .rank = read->type.rank,
                                     .dims = dims,
                                     .initial = TENON_NONE,
                                     .read = graph->inputs[input],
                                     .update = graph->outputs[output]};
  TENON_TRY(tenon__network_add_state(network, &state, sink, &index));
  remove_input(graph, input);
  remove_output(graph, output);
  return TENON_OK;
}
