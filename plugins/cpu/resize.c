/*
 * standard.resize/1 of f32, row-major or with channels last: one pass for each axis that changes.
 *
 * A pass sees the tensor as [outer, axis, inner]. Where `inner` is long, a row of the output is a
 * sum of rows of the input, by vectors. Where it is short, each element is a sum of elements that
 * are gathered. Axes that shrink come first, so that later passes have less to do, and of those that
 * grow the innermost: the last pass writes most, and writes whole rows.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"
#include "loops.h"
#include "resize.h"

enum { SHORT_ROW = 16 }; /* elements of `inner` below which elements are gathered */

/* ---- Matching ---- */

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* scales = tenon__cpu_region_input(region, 2);
  tenon__cpu_sampler_t sampler;
  if (x->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank == 0 || x->rank > TENON_CPU_RESIZE_AXES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (!tenon__cpu_sampler_read(region, &sampler)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "crops");
  }
  if (scales != NULL && scales->constant_data == NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "scales are not constant");
  }
  return 1;
}

/* One for each axis; NULL: the extents decide. */
static const float* find_scales(tenon__cpu_region_t region) {
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* scales = tenon__cpu_region_input(region, 2);
  const bool is_given = scales != NULL && scales->rank == 1 && scales->dims_max[0] == x->rank;
  return is_given ? scales->constant_data : NULL;
}

/* ---- Passes ---- */

/* The axis of the tensor that lies at `place` in memory, from the outermost. */
static uint32_t axis_at(bool channels_last, uint32_t rank, uint32_t place) {
  return channels_last ? tenon__cpu_channels_last(rank)->order[place] : place;
}

/* Does the pass over axis a come before that over axis b? */
static bool comes_before(const int64_t* from, const int64_t* to, uint32_t a, uint32_t b) {
  const double growth_a = (double)to[a] / (double)from[a];
  const double growth_b = (double)to[b] / (double)from[b];
  if (growth_a < 1.0 || growth_b < 1.0) {
    return growth_a < growth_b || (growth_a == growth_b && a < b);
  }
  return growth_a < growth_b || (growth_a == growth_b && a > b);
}

/* The axes that change, by place in memory, in the order of the passes. Returns how many. */
static uint32_t order_passes(uint32_t rank, const int64_t* from, const int64_t* to,
                             const bool* changes, uint32_t* out_places) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < rank; place++) {
    if (changes[place]) {
      uint32_t k = count++;
      for (; k > 0 && comes_before(from, to, place, out_places[k - 1]); k--) {
        out_places[k] = out_places[k - 1];
      }
      out_places[k] = place;
    }
  }
  return count;
}

static int64_t product(const int64_t* dims, uint32_t begin, uint32_t end) {
  int64_t count = 1;
  for (uint32_t k = begin; k < end; k++) {
    count = tenon__cpu_times(count, dims[k]);
  }
  return count;
}

/* Does a run change the axis, as far as the build knows? */
static bool may_change(const tenon_value_info_t* x, const tenon_value_info_t* y,
                       const float* scales, uint32_t axis) {
  const bool stays = x->dims_min[axis] == x->dims_max[axis] &&
                     y->dims_min[axis] == x->dims_max[axis] &&
                     y->dims_max[axis] == x->dims_max[axis];
  return !stays || (scales != NULL && scales[axis] != 1.0F);
}

/* Bytes for the results between passes, whichever order they are made in: each axis is as long as
 * it is before or after. Two results lie side by side. 0 where an extent has no bound: then bind
 * allocates them. */
static uint64_t scratch_of(tenon__cpu_region_t region) {
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const float* scales = find_scales(region);
  int64_t largest[TENON_CPU_RESIZE_AXES];
  uint32_t changes = 0;
  for (uint32_t k = 0; k < x->rank; k++) {
    if (x->dims_max[k] < 0 || y->dims_max[k] < 0) {
      return 0;
    }
    largest[k] = x->dims_max[k] > y->dims_max[k] ? x->dims_max[k] : y->dims_max[k];
    changes += may_change(x, y, scales, k) ? 1 : 0;
  }
  const int64_t count = product(largest, 0, x->rank);
  const int64_t most = INT64_MAX / (int64_t)(4 * sizeof(float));
  return changes < 2 ? 0 : 2 * sizeof(float) * (uint64_t)(count > most ? most : count);
}

/* ---- Tactics ---- */

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const double elements = (double)product(y->dims_opt, 0, y->rank);
  tenon_argument_rule_t rules[4] = {{.kind = TENON_LAYOUT_ROW_MAJOR}};
  tenon_tactic_t tactic = {.size = sizeof(tactic),
                           .name = "row-major",
                           .inputs = rules,
                           .outputs = rules,
                           .numerics = &numerics,
                           .scratch_bytes = scratch_of(region),
                           .estimate_seconds = 1e-6 + elements * 5e-10,
                           .launches = 1};
  tenon_status_t status = add(emit, &tactic);
  const tenon_layout_t* last = tenon__cpu_channels_last(x->rank);
  if (status == TENON_OK && last != NULL) {
    rules[0] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_EXACT, .layout = last};
    tactic.name = "channels last";
    status = add(emit, &tactic);
  }
  return status;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const float* scales = find_scales(region);
  tenon__cpu_resize_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->isa = cpu->isa;
  self->channels_last = strcmp(call->tactic->name, "channels last") == 0;
  self->scratch_bytes = call->tactic->scratch_bytes;
  (void)tenon__cpu_sampler_read(region, &self->sampler);
  self->has_scales = scales != NULL;
  if (self->has_scales) {
    memcpy(self->scales, scales, x->rank * sizeof(float));
  }
  *out_instance = self;
  return TENON_OK;
}

/* ---- Binding ---- */

/* Every element of a short `inner` gets taps of its own. */
static void spread(const tenon__cpu_taps_t* taps, int64_t inner, tenon__cpu_taps_t* out_taps) {
  out_taps->input = taps->input * inner;
  out_taps->output = taps->output * inner;
  out_taps->count = taps->count;
  for (int64_t k = 0; k < (int64_t)taps->count * taps->output; k++) {
    for (int64_t i = 0; i < inner; i++) {
      out_taps->index[k * inner + i] = taps->index[k] * (int32_t)inner + (int32_t)i;
      out_taps->weights[k * inner + i] = taps->weights[k];
    }
  }
}

static tenon_status_t allocate_taps(tenon_binding_t* binding, const tenon_bind_table_t* host,
                                    int64_t count, tenon__cpu_taps_t* out_taps) {
  if (count > INT32_MAX) {
    return TENON_ERROR_UNSUPPORTED;
  }
  out_taps->index = host->allocate(binding, (size_t)count * sizeof(int32_t));
  out_taps->weights = host->allocate(binding, (size_t)count * sizeof(float));
  return out_taps->index == NULL || out_taps->weights == NULL ? TENON_ERROR_OUT_OF_MEMORY
                                                              : TENON_OK;
}

static tenon_status_t refuse_scale(tenon_binding_t* binding, const tenon_bind_table_t* host,
                                   double scale, const tenon__cpu_resize_pass_t* pass) {
  const tenon_sink_t* sink = host->sink == NULL ? NULL : host->sink(binding);
  char message[128];
  (void)snprintf(message, sizeof(message), "a scale is %g, from extent %lld to %lld", scale,
                 (long long)pass->axis_in, (long long)pass->axis_out);
  if (sink != NULL) {
    sink->report(sink->user, TENON_SEVERITY_ERROR, message);
  }
  return TENON_ERROR_INVALID_DATA;
}

static tenon_status_t make_taps(const tenon__cpu_resize_t* self, tenon_binding_t* binding,
                                const tenon_bind_table_t* host, double scale,
                                tenon__cpu_resize_pass_t* inout_pass) {
  tenon__cpu_resize_pass_t* pass = inout_pass;
  const int64_t limit = tenon__cpu_taps_limit(&self->sampler, pass->axis_in, pass->axis_out);
  tenon__cpu_taps_t taps = {.input = pass->axis_in, .output = pass->axis_out};
  double* scratch = host->allocate(binding, (size_t)limit * sizeof(double));
  if (scratch == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon_status_t status = allocate_taps(binding, host, limit * pass->axis_out, &taps);
  if (status != TENON_OK) {
    return status;
  }
  if (!tenon__cpu_taps_fill(&self->sampler, scale, scratch, &taps)) {
    return refuse_scale(binding, host, scale, pass);
  }
  if (!pass->gathers || pass->inner == 1) {
    pass->taps = taps;
    return TENON_OK;
  }
  status =
      allocate_taps(binding, host, (int64_t)taps.count * taps.output * pass->inner, &pass->taps);
  if (status == TENON_OK) {
    spread(&taps, pass->inner, &pass->taps);
  }
  return status;
}

static bool is_nearest_pair(const tenon__cpu_resize_t* self, uint32_t pass_count,
                            const uint32_t* places) {
  return self->sampler.filter == TENON_CPU_FILTER_NEAREST && !self->sampler.exclude_outside &&
         pass_count == 2 && places[0] == places[1] + 1;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_resize_t* self = instance;
  const tenon_tensor_view_t* x = &host->input(binding, 0)->tensor;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  int64_t dims[TENON_CPU_RESIZE_AXES] = {0};
  int64_t to[TENON_CPU_RESIZE_AXES] = {0};
  double scales[TENON_CPU_RESIZE_AXES] = {0};
  bool changes[TENON_CPU_RESIZE_AXES] = {false};
  uint32_t places[TENON_CPU_RESIZE_AXES] = {0};
  tenon__cpu_resize_bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->resize = self;
  bound->count = product(y->dims, 0, y->rank);
  if (bound->count == 0) {
    return TENON_OK;
  }
  for (uint32_t place = 0; place < x->rank; place++) {
    const uint32_t axis = axis_at(self->channels_last, x->rank, place);
    dims[place] = x->dims[axis];
    to[place] = y->dims[axis];
    scales[place] = self->has_scales
                        ? (double)self->scales[axis]
                        : (double)to[place] / (double)(dims[place] > 0 ? dims[place] : 1);
    changes[place] = dims[place] != to[place] || fabs(scales[place] - 1.0) >= 1e-9;
  }
  bound->pass_count = order_passes(x->rank, dims, to, changes, places);
  uint32_t first = x->rank; /* the outermost that changes */
  for (uint32_t k = 0; k < bound->pass_count; k++) {
    first = places[k] < first ? places[k] : first;
  }
  bound->slices = product(dims, 0, first);
  bound->slice_in = product(dims, first, x->rank);
  bound->slice_out = bound->count / bound->slices;
  for (uint32_t k = 0; k < bound->pass_count; k++) {
    const uint32_t place = places[k];
    tenon__cpu_resize_pass_t* pass = &bound->passes[k];
    pass->axis_in = dims[place];
    pass->axis_out = to[place];
    pass->outer = product(dims, first, place);
    pass->inner = product(dims, place + 1, x->rank);
    pass->gathers = pass->inner < SHORT_ROW && pass->axis_in < INT32_MAX / SHORT_ROW;
    const tenon_status_t status = make_taps(self, binding, host, scales[place], pass);
    if (status != TENON_OK) {
      return status;
    }
    dims[place] = to[place];
    const int64_t count = product(dims, first, x->rank);
    bound->slice_between =
        k + 1 < bound->pass_count && count > bound->slice_between ? count : bound->slice_between;
  }
  bound->nearest_pair = is_nearest_pair(self, bound->pass_count, places);
  const size_t bytes = tenon__cpu_resize_scratch(bound, bound->slices) * sizeof(float);
  if (bytes > self->scratch_bytes) {
    bound->own_scratch = host->allocate(binding, bytes);
  }
  return bytes > self->scratch_bytes && bound->own_scratch == NULL ? TENON_ERROR_OUT_OF_MEMORY
                                                                   : TENON_OK;
}

static const char* const operators[] = {"standard.resize/1", NULL};
static const char* const attributes[] = {"mode",
                                         "coordinate_mode",
                                         "nearest_mode",
                                         "cubic_coeff_a",
                                         "exclude_outside",
                                         "antialias",
                                         "extrapolation_value",
                                         NULL};

const tenon_kernel_t tenon__cpu_resize_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "resize",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .version = 1,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = tenon__cpu_resize_run,
};
