/* The result of a region without its kernels: nodes are computed one by one, as soon as their
 * inputs are known, by the evaluator of programs or by a kernel for the single node. */
#include "core/rehearsal/reference_result.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/kernel/align.h"
#include "core/program/evaluate.h"
#include "core/program/normalise.h"
#include "core/region/region_finish.h"
#include "core/rehearsal/node_expression.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"
#include "core/timing/timer.h"
#include "core/timing/trial_inputs.h"

typedef struct computation_t {
  tenon__tuning_t* tuning;
  const struct tenon_region_t* region;
  const tenon__graph_t* g;
  tenon__arena_t* arena;
  tenon_tensor_view_t* values; /* of the graph: dense rows; data NULL: not there yet */
  tenon__ask_node_t ask_node;
  bool by_reference;
} computation_t;

/* A value at the optimum, in memory of its own unless `bytes` are given. UNSUPPORTED where it has
 * no extents, or no elements of whole bytes. */
static tenon_status_t make_value(computation_t* m, uint32_t value, const void* bytes) {
  const tenon__value_node_t* v = &m->g->values[value];
  uint64_t count = 0;
  size_t size = 0;
  if (v->type.kind != TENON_ARGUMENT_TENSOR || v->type.rank == TENON_NONE ||
      v->type.rank > TENON_RANK_LIMIT || v->type.dtype == TENON_DTYPE_STRING ||
      tenon__dtype_bits(v->type.dtype) % 8 != 0) {
    return TENON_ERROR_UNSUPPORTED;
  }
  int64_t* dims = tenon__arena_allocate(m->arena, v->type.rank + 1u, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(m->arena, v->type.rank + 1u, sizeof *strides);
  TENON_TRY_MEMORY(dims != NULL && strides != NULL);
  if (!tenon__extents_shape(&m->region->profile->optimum, v->type.rank, v->type.dims, dims) ||
      !tenon__strides_row_major(v->type.rank, dims, strides) ||
      !tenon__element_count(v->type.rank, dims, &count) ||
      !tenon__dtype_bytes(v->type.dtype, count, &size)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  void* data = bytes == NULL ? tenon__arena_allocate(m->arena, size, 1) : tenon__drop_const(bytes);
  m->values[value] = (tenon_tensor_view_t){.data = data,
                                           .dims = dims,
                                           .strides = strides,
                                           .rank = v->type.rank,
                                           .dtype = v->type.dtype,
                                           .layout = TENON_NONE};
  return data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* ---- Expressions ---- */

static tenon_status_t align(computation_t* m, const struct tenon_region_t* region, bool is_output,
                            uint32_t index, tenon_tensor_view_t* out_view) {
  const uint32_t value = is_output ? region->outputs[index].value : region->inputs[index].value;
  int64_t* dims = tenon__arena_allocate(m->arena, TENON_RANK_LIMIT, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(m->arena, TENON_RANK_LIMIT, sizeof *strides);
  const tenon__extents_t* extents = &m->region->profile->optimum;
  TENON_TRY_MEMORY(dims != NULL && strides != NULL);
  if (m->values[value].data == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon__axes_t axes = {dims, strides};
  return is_output
             ? tenon__region_align_output(region, index, extents, &m->values[value], axes, out_view)
             : tenon__region_align_input(region, index, extents, &m->values[value], axes, out_view);
}

/* `values[o]`: what output o of the expression is in the graph. */
static tenon_status_t evaluate(computation_t* m, uint32_t node,
                               const tenon__expression_t* expression, const uint32_t* values) {
  struct tenon_region_t region;
  tenon_tensor_view_t in[GROUP_MOST_OPERANDS];
  tenon_tensor_view_t out[GROUP_MOST_NODES];
  int64_t space[TENON_RANK_LIMIT];
  const tenon__graph_expression_t source = {
      .expression = expression, .values = values, .covered = &node, .covered_count = 1};
  TENON_TRY(tenon__region_of_expression(m->arena, m->tuning->network, m->region->graph, &source,
                                        &region));
  TENON_TRY(tenon__region_finish(m->arena, m->region->profile, &region));
  const tenon_program_t* program = &region.expression->program;
  if (program->operand_count > GROUP_MOST_OPERANDS || program->output_count > GROUP_MOST_NODES ||
      !tenon__extents_shape(&m->region->profile->optimum, program->rank, region.expression->space,
                            space)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    TENON_TRY(align(m, &region, false, program->operands[k].index, &in[k]));
  }
  for (uint32_t k = 0; k < program->output_count; ++k) {
    TENON_TRY(align(m, &region, true, program->outputs[k].index, &out[k]));
  }
  return tenon__program_evaluate(program, space, in, out, m->tuning->allocator, NULL);
}

static tenon_status_t evaluate_node(computation_t* m, uint32_t node) {
  const tenon__node_t* n = &m->g->nodes[node];
  const uint32_t steps = n->expression != NULL ? 1 : n->output_count;
  for (uint32_t k = 0; k < steps; ++k) {
    const tenon__expression_t* expression = NULL;
    tenon__expression_t normal;
    if (n->expression == NULL && n->outputs[k] == TENON_NONE) {
      continue;
    }
    TENON_TRY(tenon__node_expression(m->tuning, m->region->graph, node, k, &expression));
    if (expression == NULL) {
      return TENON_ERROR_UNSUPPORTED;
    }
    TENON_TRY(tenon__expression_normalise(expression, m->arena, &normal));
    TENON_TRY(evaluate(m, node, &normal, &n->outputs[k]));
  }
  return TENON_OK;
}

/* ---- Closed operators ---- */

/* What the kernel allocated. Who reads it counts on other extents, so it must be the last. */
static tenon_status_t keep_found(computation_t* m, const tenon_tensor_view_t* view,
                                 size_t size_bytes, uint32_t value) {
  if (m->region->covered_count > 1 || view->dtype == TENON_DTYPE_STRING) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon_tensor_view_t* kept = &m->values[value];
  *kept = *view;
  kept->data = tenon__arena_allocate(m->arena, size_bytes, 1);
  kept->dims = tenon__arena_copy(m->arena, view->dims, view->rank * sizeof *view->dims);
  kept->strides = tenon__arena_copy(m->arena, view->strides, view->rank * sizeof *view->strides);
  TENON_TRY_MEMORY(kept->data != NULL && kept->dims != NULL && kept->strides != NULL);
  memcpy(kept->data, view->data, size_bytes);
  return TENON_OK;
}

static tenon_status_t run_candidate(computation_t* m, const struct tenon_region_t* region,
                                    const tenon__candidate_t* candidate,
                                    const tenon_tensor_view_t* given) {
  tenon__trial_data_t data;
  tenon__trial_t trial = {0};
  tenon_status_t status = tenon__trial_data_begin(m->tuning, region, &data);
  data.is_whole = true;
  status = status == TENON_OK ? tenon__trial_inputs_make(&data, given) : status;
  const bool has_trial = status == TENON_OK;
  if (has_trial) {
    status = tenon__trial_begin(&trial, &data, candidate);
    if (status == TENON_OK) {
      status = tenon__trial_run(&trial, 0);
    }
    for (uint32_t k = 0; k < region->output_count && status == TENON_OK; ++k) {
      const tenon__trial_output_t* output = &trial.outputs->items[k];
      if (output->kind == TENON_ARGUMENT_ALLOCATE) {
        status = keep_found(m, &output->view, output->size_bytes, region->outputs[k].value);
      } else if (output->kind == TENON_ARGUMENT_TENSOR &&
                 m->values[region->outputs[k].value].data == NULL) {
        status = TENON_ERROR_UNSUPPORTED;
      } else if (output->kind == TENON_ARGUMENT_TENSOR) {
        tenon__strided_copy(&output->view, &m->values[region->outputs[k].value]);
      }
    }
    tenon__trial_end(&trial);
  }
  tenon__trial_data_end(&data);
  return status;
}

static tenon_status_t run_node(computation_t* m, uint32_t node) {
  struct tenon_region_t* region = tenon__arena_allocate(m->tuning->arena, 1, sizeof *region);
  const tenon__candidate_t* candidate = NULL;
  TENON_TRY_MEMORY(region != NULL);
  TENON_TRY(
      tenon__region_of_node(m->tuning->arena, m->tuning->network, m->region->graph, node, region));
  TENON_TRY(tenon__region_finish(m->tuning->arena, m->region->profile, region));
  TENON_TRY(m->ask_node(m->tuning, region, m->by_reference, &candidate));
  tenon_tensor_view_t* given =
      tenon__arena_allocate(m->arena, region->input_count + 1u, sizeof *given);
  TENON_TRY_MEMORY(given != NULL);
  TENON_EACH_REGION_INPUT(k, region) {
    given[k] = m->values[region->inputs[k].value];
    candidate = given[k].data == NULL ? NULL : candidate;
  }
  return candidate == NULL ? TENON_ERROR_UNSUPPORTED : run_candidate(m, region, candidate, given);
}

/* ---- All nodes ---- */

/* Is nothing that it reads still to be made by another node of the region? */
static bool is_ready(const computation_t* m, uint32_t node, const uint8_t* done) {
  const tenon__node_t* n = &m->g->nodes[node];
  for (uint32_t k = 0; k < m->region->covered_count; ++k) {
    const uint32_t input_count = done[k] == 0 ? n->input_count : 0;
    for (uint32_t i = 0; i < input_count; ++i) {
      if (n->inputs[i] != TENON_NONE &&
          m->g->values[n->inputs[i]].producer == m->region->covered[k]) {
        return false;
      }
    }
  }
  return true;
}

/* Constants that only shape a node are no inputs of the region. */
static tenon_status_t take_constants(computation_t* m, uint32_t node) {
  const tenon__node_t* n = &m->g->nodes[node];
  for (uint32_t k = 0; k < n->input_count; ++k) {
    const uint32_t value = n->inputs[k];
    const uint32_t weights = value == TENON_NONE ? TENON_NONE : m->g->values[value].weights;
    if (weights != TENON_NONE && m->values[value].data == NULL) {
      TENON_TRY(make_value(m, value, m->tuning->network->weights[weights].data));
    }
  }
  return TENON_OK;
}

static tenon_status_t compute_node(computation_t* m, uint32_t node) {
  const tenon__node_t* n = &m->g->nodes[node];
  TENON_TRY(take_constants(m, node));
  for (uint32_t k = 0; k < n->output_count; ++k) {
    const tenon_status_t status =
        n->outputs[k] == TENON_NONE ? TENON_OK : make_value(m, n->outputs[k], NULL);
    if (status != TENON_OK && (status != TENON_ERROR_UNSUPPORTED || n->op == NULL)) {
      return status; /* a kernel may find its extents yet */
    }
  }
  return n->expression != NULL || n->maps != NULL ? evaluate_node(m, node) : run_node(m, node);
}

static tenon_status_t compute_all(computation_t* m) {
  const struct tenon_region_t* region = m->region;
  uint8_t* done = tenon__arena_allocate(m->arena, region->covered_count + 1u, 1);
  TENON_TRY_MEMORY(done != NULL);
  for (uint32_t left = region->covered_count; left > 0; --left) {
    uint32_t k = 0;
    while (k < region->covered_count && (done[k] != 0 || !is_ready(m, region->covered[k], done))) {
      ++k;
    }
    if (k == region->covered_count) {
      return TENON_ERROR_UNSUPPORTED;
    }
    TENON_TRY(compute_node(m, region->covered[k]));
    done[k] = 1;
  }
  return TENON_OK;
}

/* Of a result as a whole what is looked at, where that is a part. */
static tenon_status_t cut(const computation_t* m, const tenon__part_t* part,
                          tenon_tensor_view_t* view) {
  const tenon_tensor_view_t whole = *view;
  if (view->data == NULL || tenon__part_is_whole(part)) {
    return TENON_OK;
  }
  uint64_t count = 0;
  size_t bytes = 0;
  int64_t* dims = tenon__arena_copy(m->arena, view->dims, view->rank * sizeof *dims);
  TENON_TRY_MEMORY(dims != NULL);
  dims[0] = tenon__part_extent(part);
  view->dims = dims; /* rows: strides stay */
  if (!tenon__element_count(view->rank, dims, &count) ||
      !tenon__dtype_bytes(view->dtype, count, &bytes)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  view->data = tenon__arena_allocate(m->arena, bytes, 1);
  TENON_TRY_MEMORY(view->data != NULL);
  tenon__part_cut(part, &whole, view);
  return TENON_OK;
}

tenon_status_t tenon__reference_compute(const tenon__trial_data_t* data, tenon__ask_node_t ask_node,
                                        bool by_reference, tenon__arena_t* arena,
                                        tenon_tensor_view_t* out_outputs, bool* out_known) {
  const struct tenon_region_t* region = data->region;
  computation_t m = {.tuning = data->tuning,
                     .region = region,
                     .g = region->network->graphs[region->graph],
                     .arena = arena,
                     .ask_node = ask_node,
                     .by_reference = by_reference};
  *out_known = false;
  m.values = tenon__arena_allocate(arena, m.g->value_count + 1u, sizeof *m.values);
  TENON_TRY_MEMORY(m.values != NULL);
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const tenon_tensor_view_t* rows = tenon__trial_inputs_rows(data, k);
    if (rows != NULL) {
      m.values[region->inputs[k].value] = *rows;
    }
  }
  const tenon_status_t status =
      region->covered_count == 0 ? TENON_ERROR_UNSUPPORTED : compute_all(&m);
  *out_known = status == TENON_OK;
  TENON_EACH_REGION_OUTPUT(k, region) {
    out_outputs[k] = m.values[region->outputs[k].value];
    TENON_TRY(cut(&m, &data->parts[k], &out_outputs[k]));
    *out_known = *out_known && out_outputs[k].data != NULL;
  }
  return status == TENON_ERROR_OUT_OF_MEMORY || status == TENON_ERROR_CANCELLED ? status : TENON_OK;
}
