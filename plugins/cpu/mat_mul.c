/*
 * Matrix products, batched, transposed, broadcast, in any strides. A constant b is packed into
 * panels when building; any other is packed at the beginning of each call. Leading axes of a that
 * continue its rows become rows, so that a batch shares one b in one product.
 */
#include "mat_mul.h"

#include <stdio.h>
#include <string.h>

#include "kernels.h"

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* a = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 1);
  const tenon_program_t* program = table->slot_program(handle, 0);
  if (a->dtype != TENON_DTYPE_FLOAT32 || b->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (a->rank == 0 || b->rank == 0 || a->rank > TENON_CPU_MATRIX_AXES ||
      b->rank > TENON_CPU_MATRIX_AXES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (b->constant_data == NULL) {
    for (uint32_t k = 0; k < b->rank; k++) {
      if (b->dims_max[k] < 0) {
        return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "b has no bound");
      }
    }
  }
  if (table->input_count(handle) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT, "too many operands");
  }
  return program == NULL || tenon__cpu_rows_accepts(cpu->isa->elements, program, out_refusal);
}

/* The last two extents of b, as k and n. */
static void matrix_extents(tenon__cpu_region_t region, size_t* out_depth, size_t* out_columns) {
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 1);
  const bool transposed = tenon__cpu_region_int(region, "transpose_b", 0) != 0;
  const int64_t* last = b->dims_max + b->rank - (b->rank > 1 ? 2 : 1);
  *out_depth = (size_t)(b->rank > 1 && transposed ? last[1] : last[0]);
  *out_columns = b->rank == 1 ? 1 : (size_t)(transposed ? last[0] : last[1]);
}

static size_t matrix_count(const tenon_value_info_t* b) {
  size_t count = 1;
  for (uint32_t k = 0; k + 2 < b->rank; k++) {
    count *= (size_t)b->dims_max[k];
  }
  return count;
}

/* Scratch: b packed, then for each thread rows of a and the epilogue's buffers. */
typedef struct sizes_t {
  size_t shared;
  size_t gather;
  size_t slot;
} sizes_t;

static size_t round_up(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static sizes_t scratch_sizes(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region) {
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 1);
  size_t depth = 0;
  size_t columns = 0;
  matrix_extents(region, &depth, &columns);
  sizes_t sizes = {0};
  if (b->constant_data == NULL) {
    sizes.shared = round_up(matrix_count(b) * tenon__cpu_packed_size(isa->tiles, depth, columns) *
                            sizeof(float));
  }
  sizes.gather =
      round_up(tenon__cpu_product_scratch((size_t)2 * TENON_CPU_ROW_BLOCK, depth) * sizeof(float));
  sizes.slot = sizes.gather + tenon__cpu_rows_scratch(region.table->slot_program(region.handle, 0));
  return sizes;
}

static double estimate(const tenon__cpu_isa_t* isa, const tenon_value_info_t* y, size_t depth) {
  double work = 2.0 * (double)depth;
  for (uint32_t k = 0; k < y->rank; k++) {
    work *= (double)y->dims_opt[k];
  }
  return work / (4e9 * isa->tiles->vector_floats) + 1e-6;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  static const uint32_t heads[] = {0, 2, 1, 3};
  static const tenon_layout_t heads_last = {
      .size = sizeof(tenon_layout_t), .name = "rows of all heads", .order = heads, .rank = 4};
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const sizes_t sizes = scratch_sizes(cpu->isa, region);
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES];
  tenon_argument_rule_t output = {.kind = TENON_LAYOUT_ROW_MAJOR, .flags = TENON_RULE_STRIDED};
  size_t depth = 0;
  size_t columns = 0;
  matrix_extents(region, &depth, &columns);
  for (uint32_t k = 0; k < TENON_CPU_MAX_RULES; k++) {
    rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const uint8_t once = tenon__cpu_region_input(region, 1)->constant_data != NULL;
  tenon_tactic_t tactic = {.size = sizeof(tactic),
                           .name = "tiles",
                           .configuration = &once,
                           .configuration_size = sizeof(once),
                           .inputs = rules,
                           .outputs = &output,
                           .numerics = &numerics,
                           .scratch_bytes = once ? 0 : sizes.shared,
                           .estimate_seconds = estimate(cpu->isa, y, depth),
                           .launches = 1,
                           .scratch_bytes_per_thread = sizes.slot};
  const tenon_status_t status = add(emit, &tactic);
  if (status != TENON_OK || y->rank != 4) {
    return status;
  }
  tactic.name = "tiles, rows of all heads";
  output.kind = TENON_LAYOUT_EXACT;
  output.layout = &heads_last;
  return add(emit, &tactic);
}

/* ---- Preparing ---- */

static tenon_status_t pack_constant(tenon__cpu_mat_mul_t* self, tenon__cpu_region_t region,
                                    const tenon__cpu_preparation_t* preparation) {
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 1);
  const uint32_t source = region.table->node_input(region.handle, 0, 1);
  const size_t count = matrix_count(b);
  size_t depth = 0;
  size_t columns = 0;
  char parameters[48];
  void* data = NULL;
  int32_t ready = 0;
  matrix_extents(region, &depth, &columns);
  (void)snprintf(parameters, sizeof(parameters), "%u floats%s", self->isa->tiles->vector_floats,
                 self->transpose_b ? ", transposed" : "");
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "cpu.matrix/1",
                                   .parameters = parameters,
                                   .sources = &source,
                                   .source_count = 1,
                                   .size_bytes = count * self->packed_batch * sizeof(float)};
  const tenon_status_t status =
      preparation->host->pack(preparation->handle, &packing, &data, &ready);
  self->packed = data;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (b->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  for (size_t k = 0; k < count; k++) {
    tenon__cpu_pack(self->isa->tiles, (const float*)b->constant_data + k * depth * columns, NULL,
                    self->transpose_b ? 1 : columns, self->transpose_b ? depth : 1, depth, columns,
                    (float*)data + k * self->packed_batch);
  }
  return TENON_OK;
}

/* Is b packed when building? At load its data may be gone, so the tactic remembers. */
static bool packs_once(const tenon_tactic_t* tactic) {
  return tactic->configuration_size == 1 && *(const uint8_t*)tactic->configuration != 0;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  tenon__cpu_mat_mul_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const sizes_t sizes = scratch_sizes(cpu->isa, region);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 1);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  size_t depth = 0;
  size_t columns = 0;
  matrix_extents(region, &depth, &columns);
  const bool once = packs_once(call->tactic);
  self->isa = cpu->isa;
  self->transpose_a = tenon__cpu_region_int(region, "transpose_a", 0) != 0;
  self->transpose_b = b->rank > 1 && tenon__cpu_region_int(region, "transpose_b", 0) != 0;
  self->a = tenon__cpu_region_argument(region, 0);
  self->b = tenon__cpu_region_argument(region, 1);
  self->packed_batch = tenon__cpu_packed_size(cpu->isa->tiles, depth, columns);
  self->gather_bytes = sizes.gather;
  self->slot_bytes = sizes.slot;
  self->shared_bytes = once ? 0 : sizes.shared;
  *out_instance = self;
  if (call->tactic->scratch_bytes < self->shared_bytes || /* a plan may say so */
      call->tactic->scratch_bytes_per_thread < self->slot_bytes) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  /* A vector b leaves no columns: no axis of y has what varies along them. */
  const uint32_t columns_axis = b->rank > 1 ? y->rank - 1 : y->rank;
  const tenon_status_t status = once ? pack_constant(self, region, &preparation) : TENON_OK;
  return status != TENON_OK ? status
                            : tenon__cpu_epilogue_prepare(cpu->isa->elements, region, columns_axis,
                                                          tenon__cpu_allocate_prepared,
                                                          &preparation, &self->epilogue);
}

/* ---- Binding ---- */

/* Axis `axis` of the result's batch, counted from the innermost, as an operand has it. */
static int64_t batch_stride(const tenon_tensor_view_t* view, uint32_t from_inner) {
  if (from_inner + 2 >= view->rank) {
    return 0;
  }
  const uint32_t axis = view->rank - 3 - from_inner;
  return view->dims[axis] == 1 ? 0 : view->strides[axis];
}

static uint32_t larger(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* The batch axes, then M, outermost first. */
static uint32_t read_axes(const tenon__cpu_bound_mat_mul_t* bound, const tenon_tensor_view_t* a,
                          const tenon_tensor_view_t* b, const tenon_tensor_view_t* y,
                          tenon__cpu_matrix_axis_t* out_axes) {
  const uint32_t batch = larger(larger(a->rank, b->rank), 2) - 2;
  for (uint32_t k = 0; k < batch; k++) {
    const uint32_t from_inner = batch - 1 - k;
    out_axes[k] = (tenon__cpu_matrix_axis_t){.extent = y->dims[k],
                                             .a = batch_stride(a, from_inner),
                                             .b = batch_stride(b, from_inner),
                                             .y = y->strides[k]};
  }
  int64_t matrices = 1; /* of b, from the innermost axis */
  for (uint32_t k = batch; k-- > 0;) {
    const uint32_t from_inner = batch - 1 - k;
    const int64_t extent = from_inner + 2 < b->rank ? b->dims[b->rank - 3 - from_inner] : 1;
    out_axes[k].packed = extent == 1 ? 0 : matrices;
    matrices *= extent;
  }
  if (a->rank > 1) {
    const uint32_t m = a->rank - (bound->product->transpose_a ? 1 : 2);
    out_axes[batch] = (tenon__cpu_matrix_axis_t){
        .extent = a->dims[m], .a = a->strides[m], .y = y->strides[batch]};
    return batch + 1;
  }
  return batch;
}

/* The innermost axes whose rows follow one another, with one matrix of b, become rows. */
static void find_rows(tenon__cpu_bound_mat_mul_t* bound, const tenon__cpu_matrix_axis_t* axes,
                      uint32_t count) {
  int64_t rows = 1;
  bound->a_row = (int64_t)bound->depth;
  bound->y_row = (int64_t)bound->columns;
  uint32_t k = count;
  for (; k > 0; k--) {
    const tenon__cpu_matrix_axis_t* axis = &axes[k - 1];
    if (axis->extent == 1) {
      continue;
    }
    const bool follows =
        axis->packed == 0 &&
        (rows == 1 || (axis->a == bound->a_row * rows && axis->y == bound->y_row * rows));
    if (!follows) {
      break;
    }
    if (rows == 1) {
      bound->a_row = axis->a;
      bound->y_row = axis->y;
    }
    rows *= axis->extent;
  }
  bound->rows = (size_t)rows;
  bound->outer_rank = k;
  bound->units = 1;
  for (uint32_t j = 0; j < k; j++) {
    bound->outer[j] = axes[j];
    bound->units *= (size_t)axes[j].extent;
  }
}

static void read_matrices(tenon__cpu_bound_mat_mul_t* bound, const tenon_tensor_view_t* b) {
  bound->b_count = 1;
  bound->b_rank = b->rank > 2 ? b->rank - 2 : 0;
  for (uint32_t k = 0; k < bound->b_rank; k++) {
    bound->b_extents[k] = b->dims[k];
    bound->b_strides[k] = b->strides[k];
    bound->b_count *= (size_t)b->dims[k];
  }
}

/* Does b, packed, fit into the scratch that was planned for its largest extents? */
static bool fits_scratch(const tenon__cpu_bound_mat_mul_t* bound) {
  const tenon__cpu_mat_mul_t* self = bound->product;
  const size_t rows = (size_t)2 * TENON_CPU_ROW_BLOCK;
  const size_t packed = tenon__cpu_packed_size(self->isa->tiles, bound->depth, bound->columns);
  return tenon__cpu_product_scratch(rows, bound->depth) * sizeof(float) <= self->gather_bytes &&
         packed <= self->packed_batch &&
         (self->packed != NULL ||
          bound->b_count * self->packed_batch * sizeof(float) <= self->shared_bytes);
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_mat_mul_t* self = instance;
  tenon__cpu_bound_mat_mul_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* a = &host->input(handle, self->a)->tensor;
  const tenon_tensor_view_t* b = &host->input(handle, self->b)->tensor;
  const tenon_tensor_view_t* y = &host->output(handle, 0)->tensor;
  tenon__cpu_matrix_axis_t axes[TENON_CPU_MATRIX_AXES + 1];
  bound->product = self;
  const uint32_t a_k = a->rank - (a->rank > 1 && self->transpose_a ? 2 : 1);
  const uint32_t b_k = b->rank - (b->rank > 1 && !self->transpose_b ? 2 : 1);
  const uint32_t b_n = b->rank - (self->transpose_b ? 2 : 1);
  bound->depth = (size_t)a->dims[a_k];
  bound->columns = b->rank > 1 ? (size_t)b->dims[b_n] : 1;
  bound->a_depth = a->dims[a_k] == 1 ? 1 : a->strides[a_k];
  bound->b_depth = b->strides[b_k];
  bound->b_column = b->rank > 1 && b->dims[b_n] != 1 ? b->strides[b_n] : 1;
  read_matrices(bound, b);
  if (!fits_scratch(bound)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  find_rows(bound, axes, read_axes(bound, a, b, y, axes));
  tenon__cpu_row_shape_t shape = {.rank = b->rank > 1 ? y->rank - 1 : y->rank,
                                  .column_axis = b->rank > 1 ? y->rank - 1 : TENON_NONE,
                                  .c_stride = (size_t)bound->y_row};
  for (uint32_t k = 0; k < shape.rank; k++) {
    shape.axes[k] = k;
  }
  *out_bound = bound;
  return tenon__cpu_epilogue_bind(&self->epilogue, &shape, true, false, handle, host,
                                  &bound->epilogue);
}

static const char* const operators[] = {"standard.mat_mul/1", NULL};
static const char* const attributes[] = {"transpose_a", "transpose_b", NULL};

const tenon_kernel_t tenon__cpu_mat_mul_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "mat_mul",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .slots = TENON_LIST(tenon__cpu_any_slot),
    .version = 2,
    .input_limit = 2,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = tenon__cpu_mat_mul_enqueue,
};
