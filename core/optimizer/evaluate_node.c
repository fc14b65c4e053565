/*
 * Evaluation on known extents. An access that is affine becomes strides: for each dimension of the
 * operand the base moves the beginning and each coefficient adds to the stride of that axis of the
 * space.
 */
#include "core/optimizer/evaluate_node.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/evaluate.h"
#include "core/tensor/layout.h"

tenon_tensor_view_t tenon__weights_view(const tenon__weights_t* weights) {
  return (tenon_tensor_view_t){.data = tenon__drop_const(weights->data),
                               .dims = weights->dims,
                               .rank = weights->rank,
                               .dtype = weights->dtype,
                               .layout = TENON_NONE};
}

static bool known_extents(const tenon__dim_pool_t* pool, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_extents) {
  for (uint32_t i = 0; i < rank; ++i) {
    if (!tenon__dim_known(pool, dims[i], &out_extents[i]) || out_extents[i] < 0) {
      return false;
    }
  }
  return true;
}

static int64_t* dense_strides(tenon__arena_t* arena, uint32_t rank, const int64_t* dims) {
  int64_t* strides = tenon__arena_allocate(arena, rank + 1u, sizeof(*strides));
  return strides != NULL && tenon__strides_row_major(rank, dims, strides) ? strides : NULL;
}

/* Extents in numbers. */
typedef struct space_t {
  uint32_t rank;
  const int64_t* dims;
} space_t;

/* `view` is dense, its axes are read at the coordinates; comes out over the space. */
static bool through_access(tenon__dim_pool_t* pool, const tenon_dim_t* coordinates, space_t space,
                           tenon__arena_t* arena, tenon_tensor_view_t* view) {
  const uint32_t access_rank = view->rank;
  const uint32_t rank = space.rank;
  const int64_t* source = dense_strides(arena, access_rank, view->dims);
  int64_t* strides = tenon__arena_allocate(arena, rank + 1u, sizeof(*strides));
  tenon_dim_t* coefficients = tenon__arena_allocate(arena, rank + 1u, sizeof(*coefficients));
  if (source == NULL || strides == NULL || coefficients == NULL) {
    return false;
  }
  int64_t offset = 0;
  for (uint32_t d = 0; d < access_rank; ++d) {
    tenon_dim_t base = TENON_DIM_INVALID;
    int64_t number = 0;
    if (!tenon__dim_affine(pool, coordinates[d], rank, &base, coefficients) ||
        !tenon__dim_known(pool, base, &number)) {
      return false;
    }
    offset += number * source[d];
    for (uint32_t j = 0; j < rank; ++j) {
      if (!tenon__dim_known(pool, coefficients[j], &number)) {
        return false;
      }
      strides[j] += number * source[d];
    }
  }
  const int64_t bits = (int64_t)tenon__dtype_bits(view->dtype);
  view->dims = space.dims;
  view->strides = strides;
  view->rank = rank;
  view->data = (uint8_t*)view->data + offset * bits / 8;
  view->bit_offset = (uint32_t)(offset * bits % 8);
  return true;
}

static bool align_output(const tenon__expression_t* expression, uint32_t output,
                         const int64_t* space, tenon__arena_t* arena, tenon_tensor_view_t* view) {
  const uint32_t rank = expression->program.rank;
  const uint64_t reduced = expression->program.outputs[output].reduced_axes;
  const int64_t* own = dense_strides(arena, view->rank, view->dims);
  int64_t* dims = tenon__arena_allocate(arena, rank + 1u, sizeof(*dims));
  int64_t* strides = tenon__arena_allocate(arena, rank + 1u, sizeof(*strides));
  if (own == NULL || dims == NULL || strides == NULL) {
    return false;
  }
  for (uint32_t j = 0; j < rank; ++j) {
    dims[j] = (reduced >> j & 1u) != 0 ? 1 : space[j];
  }
  for (uint32_t k = 0; k < expression->output_ranks[output]; ++k) {
    const uint32_t axis = expression->output_axes[output][k];
    strides[axis] = dims[axis] == 1 ? 0 : own[k];
  }
  view->dims = dims;
  view->strides = strides;
  view->rank = rank;
  return true;
}

tenon_status_t tenon__evaluate_expression(tenon__dim_pool_t* pool,
                                          const tenon__expression_t* expression,
                                          const tenon_tensor_view_t* tensors,
                                          const tenon_tensor_view_t* outputs,
                                          tenon__arena_t* arena) {
  const tenon_program_t* program = &expression->program;
  int64_t* space = tenon__arena_allocate(arena, program->rank + 1u, sizeof(*space));
  tenon_tensor_view_t* in = tenon__arena_allocate(arena, program->operand_count + 1u, sizeof(*in));
  tenon_tensor_view_t* out = tenon__arena_allocate(arena, program->output_count + 1u, sizeof(*out));
  TENON_TRY_MEMORY(space != NULL && in != NULL && out != NULL);
  if (!known_extents(pool, program->rank, expression->space, space)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    in[k] = tensors[k];
    if (program->operands[k].indexed != 0) {
      in[k].strides = dense_strides(arena, in[k].rank, in[k].dims);
    } else if (!through_access(pool, expression->accesses[k].coordinates,
                               (space_t){program->rank, space}, arena, &in[k])) {
      return TENON_ERROR_UNSUPPORTED;
    }
  }
  for (uint32_t o = 0; o < program->output_count; ++o) {
    out[o] = outputs[o];
    if (out[o].data != NULL && !align_output(expression, o, space, arena, &out[o])) {
      return TENON_ERROR_UNSUPPORTED;
    }
  }
  return tenon__program_evaluate(program, space, in, out, arena->allocator, NULL);
}

bool tenon__view_of_constant(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                             const tenon__weights_t* source, tenon__arena_t* arena,
                             tenon_tensor_view_t* out_view) {
  int64_t* dims = tenon__arena_allocate(arena, map->rank + 1u, sizeof(*dims));
  if (dims == NULL || map->kind != TENON_MAP_AFFINE || !tenon__index_map_is_view(pool, map) ||
      !known_extents(pool, map->rank, map->dims, dims)) {
    return false;
  }
  tenon_tensor_view_t view = tenon__weights_view(source);
  if (!through_access(pool, map->sources[0].coordinates, (space_t){map->rank, dims}, arena,
                      &view)) {
    return false;
  }
  *out_view = view;
  return true;
}

/* A source of the output's rank whose coordinates are the output's, but on one axis less a number:
 * where it begins there. TENON_NONE: on no axis. */
static bool shift_of(tenon__dim_pool_t* pool, const tenon__map_source_t* source, uint32_t rank,
                     tenon_dim_t* coefficients, uint32_t* out_axis, int64_t* out_begin) {
  *out_axis = TENON_NONE;
  *out_begin = 0;
  if (source->rank != rank) {
    return false;
  }
  for (uint32_t d = 0; d < rank; ++d) {
    tenon_dim_t base = TENON_DIM_INVALID;
    int64_t number = 0;
    if (!tenon__dim_affine(pool, source->coordinates[d], rank, &base, coefficients) ||
        !tenon__dim_known(pool, base, &number) || number == INT64_MIN ||
        (number != 0 && *out_axis != TENON_NONE)) {
      return false;
    }
    *out_axis = number != 0 ? d : *out_axis;
    *out_begin = number != 0 ? -number : *out_begin;
    for (uint32_t j = 0; j < rank; ++j) {
      if (!tenon__dim_known(pool, coefficients[j], &number) || number != (j == d ? 1 : 0)) {
        return false;
      }
    }
  }
  return true;
}

static bool same_beside(uint32_t axis, uint32_t rank, const int64_t* a, const int64_t* b) {
  bool same = true;
  for (uint32_t d = 0; d < rank; ++d) {
    same = same && (d == axis || a[d] == b[d]);
  }
  return same;
}

/* The axis along which each source begins where the one before ends, the last ending with the
 * output; TENON_NONE: they do not. */
static uint32_t joined_axis(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                            const tenon_tensor_view_t* sources, tenon_dim_t* coefficients,
                            const int64_t* dims) {
  uint32_t joined = TENON_NONE;
  uint32_t axis = TENON_NONE;
  int64_t begin = 0;
  int64_t end = 0;
  if (!shift_of(pool, &map->sources[map->source_count - 1], map->rank, coefficients, &joined,
                &begin) ||
      joined == TENON_NONE) {
    return TENON_NONE;
  }
  for (uint32_t s = 0; s < map->source_count; ++s) {
    if (!shift_of(pool, &map->sources[s], map->rank, coefficients, &axis, &begin) ||
        (axis != TENON_NONE && axis != joined) || begin != end ||
        !same_beside(joined, map->rank, sources[s].dims, dims)) {
      return TENON_NONE;
    }
    end += sources[s].dims[joined];
  }
  return end == dims[joined] ? joined : TENON_NONE;
}

bool tenon__join_constants(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                           const tenon_tensor_view_t* sources, tenon__arena_t* arena,
                           const tenon_tensor_view_t* output) {
  tenon_dim_t* coefficients = tenon__arena_allocate(arena, map->rank + 1u, sizeof(*coefficients));
  const uint32_t bits = tenon__dtype_bits(output->dtype);
  if (coefficients == NULL || map->kind == TENON_MAP_LINEAR || map->source_count < 2 ||
      output->rank != map->rank || bits % 8 != 0) {
    return false;
  }
  const uint32_t axis = joined_axis(pool, map, sources, coefficients, output->dims);
  if (axis == TENON_NONE) {
    return false;
  }
  size_t inner = bits / 8;
  size_t outer = 1;
  for (uint32_t d = 0; d < map->rank; ++d) {
    inner *= d > axis ? (size_t)output->dims[d] : 1;
    outer *= d < axis ? (size_t)output->dims[d] : 1;
  }
  uint8_t* place = output->data;
  for (uint32_t s = 0; s < map->source_count; ++s) {
    const size_t bytes = inner * (size_t)sources[s].dims[axis];
    const size_t rows = bytes > 0 ? outer : 0;
    for (size_t row = 0; row < rows; ++row) {
      memcpy(place + row * inner * (size_t)output->dims[axis],
             (const uint8_t*)sources[s].data + row * bytes, bytes);
    }
    place += bytes;
  }
  return true;
}

tenon_status_t tenon__allocate_output(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index,
                                      tenon_tensor_view_t* out_view, size_t* out_size_bytes) {
  tenon__arena_t* arena = &rewriter->scratch;
  const tenon__value_node_t* value = tenon__rewriter_value(rewriter, graph, index);
  if (value->type.kind != TENON_ARGUMENT_TENSOR || value->type.rank == TENON_NONE) {
    return TENON_ERROR_UNSUPPORTED;
  }
  int64_t* dims = tenon__arena_allocate(arena, value->type.rank + 1u, sizeof(*dims));
  uint64_t count = 0;
  size_t size = 0;
  TENON_TRY_MEMORY(dims != NULL);
  if (!known_extents(rewriter->network->pool, value->type.rank, value->type.dims, dims) ||
      !tenon__element_count(value->type.rank, dims, &count) ||
      !tenon__dtype_bytes(value->type.dtype, count, &size)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const int64_t* strides = dense_strides(arena, value->type.rank, dims);
  void* data = strides == NULL ? NULL : tenon__allocate(rewriter->network->allocator, size, 1);
  TENON_TRY_MEMORY(data != NULL);
  *out_view = (tenon_tensor_view_t){.data = data,
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = value->type.rank,
                                    .dtype = value->type.dtype,
                                    .layout = TENON_NONE};
  *out_size_bytes = size;
  return TENON_OK;
}
