/* What is derived from a region: its values, numbered and described for a profile, and its accesses
 * taken apart. */
#include "core/region/region_finish.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/region/region.h"
#include "core/region/retype.h"
#include "core/tensor/layout.h"

typedef struct derivation_t {
  tenon__arena_t* arena;
  const tenon__profile_t* profile;
  struct tenon_region_t* region;
  tenon_value_info_t* values;
  uint32_t* graph_values;
  uint32_t count;
} derivation_t;

/* The most that only a run finds may be far above what any run finds, and what is derived from it
 * more than a kernel need count with: then what is open is without a bound. */
static void leave_open(uint32_t rank, const int64_t* min, int64_t* dims) {
  if (tenon__extents_fit(rank, dims)) {
    return;
  }
  for (uint32_t k = 0; k < rank; ++k) {
    dims[k] = dims[k] == min[k] ? dims[k] : -1;
  }
}

static tenon_status_t describe_value(derivation_t* d, uint32_t value,
                                     tenon_value_info_t* out_info) {
  const tenon__network_t* network = d->region->network;
  const tenon__value_node_t* v = &network->graphs[d->region->graph]->values[value];
  const uint32_t rank = v->type.rank == TENON_NONE ? 0 : v->type.rank;
  int64_t* dims = tenon__arena_allocate(d->arena, 3u * (size_t)rank + 1u, sizeof *dims);
  TENON_TRY_MEMORY(dims != NULL);
  int64_t* min = dims;
  int64_t* optimum = dims + rank;
  int64_t* max = dims + 2u * (size_t)rank;
  (void)tenon__extents_bounds(&d->profile->min, rank, v->type.dims, min);
  (void)tenon__extents_shape(&d->profile->optimum, rank, v->type.dims, optimum);
  (void)tenon__extents_bounds(&d->profile->max, rank, v->type.dims, max);
  leave_open(rank, min, optimum);
  leave_open(rank, min, max);
  for (uint32_t k = 0; k < rank; ++k) {
    min[k] = min[k] < 0 ? 0 : min[k];
    optimum[k] = optimum[k] < 0 ? 1 : optimum[k];
  }
  *out_info = (tenon_value_info_t){
      .name = v->name,
      .dims_min = min,
      .dims_opt = optimum,
      .dims_max = max,
      .constant_data = v->weights == TENON_NONE ? NULL : network->weights[v->weights].data,
      .dtype = v->type.dtype,
      .rank = rank,
      .input = TENON_NONE,
      .output = TENON_NONE,
      .kind = v->type.kind,
      .flags = v->weights == TENON_NONE ? 0u : TENON_VALUE_CONSTANT,
  };
  return TENON_OK;
}

static tenon_status_t number_value(derivation_t* d, uint32_t value, uint32_t* out_number) {
  if (value == TENON_NONE) {
    *out_number = TENON_NONE;
    return TENON_OK;
  }
  for (uint32_t k = 0; k < d->count; ++k) {
    if (d->graph_values[k] == value) {
      *out_number = k;
      return TENON_OK;
    }
  }
  TENON_TRY(describe_value(d, value, &d->values[d->count]));
  d->graph_values[d->count] = value;
  *out_number = d->count++;
  return TENON_OK;
}

static void set_dtype(derivation_t* d, uint32_t number, tenon_dtype_t dtype) {
  if (number != TENON_NONE && dtype != TENON_DTYPE_UNDEFINED) {
    d->values[number].dtype = dtype;
  }
}

/* A value that is read in one type and written in another is two of the region's. */
static tenon_status_t tell_apart(derivation_t* d, uint32_t output, uint32_t* inout_number) {
  const uint32_t value = d->region->outputs[output].value;
  const tenon_dtype_t dtype = tenon__region_output_dtype(d->region, output, NULL);
  if (d->values[*inout_number].input != TENON_NONE && d->values[*inout_number].dtype != dtype) {
    TENON_TRY(describe_value(d, value, &d->values[d->count]));
    d->graph_values[d->count] = value;
    *inout_number = d->count++;
    d->values[*inout_number].constant_data = NULL;
    d->values[*inout_number].flags = 0;
  }
  d->values[*inout_number].dtype = dtype;
  return TENON_OK;
}

/* The last port stands for all behind it. */
static bool is_shape_operand(const tenon__operator_t* op, uint32_t input) {
  const tenon__descriptor_t* o =
      op == NULL || op->descriptor.input_count == 0 ? NULL : &op->descriptor;
  const uint32_t port = o == NULL || input < o->input_count ? input : o->input_count - 1;
  return o != NULL && (o->inputs[port].flags & TENON_PORT_SHAPE_OPERAND) != 0;
}

static tenon_status_t number_all(derivation_t* d, uint32_t* input_values, uint32_t* output_values) {
  struct tenon_region_t* region = d->region;
  uint32_t number = 0;
  for (uint32_t k = 0; k < region->input_count; ++k) {
    TENON_TRY(number_value(d, region->inputs[k].value, &input_values[k]));
    if (input_values[k] != TENON_NONE && d->values[input_values[k]].input == TENON_NONE) {
      d->values[input_values[k]].input = k;
    }
    set_dtype(d, input_values[k], region->inputs[k].dtype);
  }
  for (uint32_t k = 0; k < region->output_count; ++k) {
    TENON_TRY(number_value(d, region->outputs[k].value, &output_values[k]));
    if (output_values[k] != TENON_NONE) {
      TENON_TRY(tell_apart(d, k, &output_values[k]));
      d->values[output_values[k]].output = k;
    }
  }
  for (uint32_t n = 0; n < region->node_count; ++n) {
    const tenon__node_t* node = &region->network->graphs[region->graph]->nodes[region->nodes[n]];
    for (uint32_t k = 0; k < node->input_count; ++k) {
      TENON_TRY(number_value(d, node->inputs[k], &number));
      if (number != TENON_NONE && is_shape_operand(node->op, k)) {
        d->values[number].flags |= TENON_VALUE_SHAPE_OPERAND;
      }
    }
    for (uint32_t k = 0; k < node->output_count; ++k) {
      TENON_TRY(number_value(d, node->outputs[k], &number));
    }
  }
  return TENON_OK;
}

/* Contexts of several threads align at the same time: nothing may be added to the pool then. */
static tenon_status_t take_apart(tenon__arena_t* arena, struct tenon_region_t* region) {
  tenon__region_affine_t* affines =
      tenon__arena_allocate(arena, region->input_count + 1u, sizeof *affines);
  TENON_TRY_MEMORY(affines != NULL);
  for (uint32_t i = 0; i < region->input_count; ++i) {
    const tenon__region_input_t* in = &region->inputs[i];
    uint32_t rank = 0;
    if (!in->aligned) {
      continue;
    }
    (void)tenon__region_space(region, in->space, &rank);
    const size_t count = in->access.rank;
    tenon_dim_t* base = tenon__arena_allocate(arena, count + 1, sizeof *base);
    tenon_dim_t* coefficients = tenon__arena_allocate(arena, count * rank + 1, sizeof *base);
    TENON_TRY_MEMORY(base != NULL && coefficients != NULL);
    for (uint32_t d = 0; d < count; ++d) {
      if (!tenon__dim_affine(region->network->pool, in->access.coordinates[d], rank, &base[d],
                             coefficients + (size_t)d * rank)) {
        return TENON_ERROR_INTERNAL;
      }
    }
    affines[i] = (tenon__region_affine_t){.base = base, .coefficients = coefficients};
  }
  region->affines = affines;
  return tenon__dim_pool_failed(region->network->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__region_finish(tenon__arena_t* arena, const tenon__profile_t* profile,
                                    struct tenon_region_t* inout_region) {
  size_t most = (size_t)inout_region->input_count + inout_region->output_count;
  for (uint32_t n = 0; n < inout_region->node_count; ++n) {
    const tenon__node_t* node =
        &inout_region->network->graphs[inout_region->graph]->nodes[inout_region->nodes[n]];
    most += (size_t)node->input_count + node->output_count;
  }
  derivation_t d = {.arena = arena, .profile = profile, .region = inout_region};
  d.values = tenon__arena_allocate(arena, most + 1u, sizeof *d.values);
  d.graph_values = tenon__arena_allocate(arena, most + 1u, sizeof *d.graph_values);
  uint32_t* input_values =
      tenon__arena_allocate(arena, inout_region->input_count + 1u, sizeof *input_values);
  uint32_t* output_values =
      tenon__arena_allocate(arena, inout_region->output_count + 1u, sizeof *output_values);
  TENON_TRY_MEMORY(d.values != NULL && d.graph_values != NULL && input_values != NULL &&
                   output_values != NULL);
  TENON_TRY(number_all(&d, input_values, output_values));
  TENON_TRY(take_apart(arena, inout_region));
  inout_region->values = d.values;
  inout_region->graph_values = d.graph_values;
  inout_region->value_count = d.count;
  inout_region->input_values = input_values;
  inout_region->output_values = output_values;
  inout_region->arena = arena;
  inout_region->profile = profile;
  return TENON_OK;
}

void tenon__region_renew(struct tenon_region_t* region) {
  const tenon__graph_t* graph = region->network->graphs[region->graph];
  tenon_value_info_t* values = tenon__drop_const(region->values);
  for (uint32_t k = 0; k < region->value_count; ++k) {
    const uint32_t weights = graph->values[region->graph_values[k]].weights;
    values[k].constant_data = weights == TENON_NONE ? NULL : region->network->weights[weights].data;
  }
}
