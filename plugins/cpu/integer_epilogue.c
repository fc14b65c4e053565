/* The common parts of the kernels of integer products. */
#include "integer_epilogue.h"

#include <stdio.h>
#include <string.h>

static bool is_byte(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_INT8 || dtype == TENON_DTYPE_UINT8;
}

bool tenon__cpu_integer_accepts(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region,
                                tenon_refusal_t* out_refusal) {
  const tenon_program_t* program = region.table->slot_program(region.handle, 0);
  if (!is_byte(tenon__cpu_region_input(region, TENON_CPU_INTEGER_A)->dtype) ||
      !is_byte(tenon__cpu_region_input(region, TENON_CPU_INTEGER_B)->dtype)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL) != 0;
  }
  if (region.table->input_count(region.handle) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT, "too many operands") != 0;
  }
  return program == NULL || tenon__cpu_rows_accepts_any(isa->elements, program, out_refusal);
}

void tenon__cpu_integer_operand_rules(tenon__cpu_region_t region,
                                      tenon_argument_rule_t* out_rules) {
  for (uint32_t k = 0; k < region.table->input_count(region.handle); k++) {
    bool is_own = false;
    for (uint32_t port = 0; port < TENON_CPU_INTEGER_INPUTS; port++) {
      is_own = is_own || tenon__cpu_region_argument(region, port) == k;
    }
    if (!is_own) {
      out_rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
    }
  }
}

bool tenon__cpu_integer_packs_once(const tenon_tactic_t* tactic) {
  return tactic->configuration_size == 1 && *(const uint8_t*)tactic->configuration != 0;
}

tenon_status_t tenon__cpu_integer_prepare(const tenon_prepare_t* call,
                                          tenon__cpu_integer_kernel_t* out_kernel) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  const tenon_program_t* program = call->table->slot_program(call->region, 0);
  *out_kernel =
      (tenon__cpu_integer_kernel_t){.isa = cpu->isa,
                                    .shared_bytes = call->tactic->scratch_bytes,
                                    .thread_bytes = call->tactic->scratch_bytes_per_thread};
  for (uint32_t k = 0; k < TENON_CPU_INTEGER_INPUTS; k++) {
    out_kernel->inputs[k] = tenon__cpu_region_argument(region, k);
  }
  return program == NULL ? TENON_OK
                         : tenon__cpu_program_create(program, tenon__cpu_allocate_prepared,
                                                     &preparation, &out_kernel->program);
}

tenon_status_t tenon__cpu_integer_request(const tenon_prepare_t* call,
                                          const tenon__cpu_integer_packing_t* packing,
                                          tenon__cpu_integer_kernel_t* inout_kernel,
                                          void** out_data) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon_value_info_t* b = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  const uint32_t source = call->table->node_input(call->region, 0, TENON_CPU_INTEGER_B);
  void* data = NULL;
  int32_t ready = 0;
  const tenon_packing_t all = {.size = sizeof(all),
                               .format = packing->format,
                               .parameters = packing->parameters,
                               .sources = &source,
                               .source_count = 1,
                               .size_bytes = packing->bytes};
  const tenon_status_t status = call->host->pack(call->preparation, &all, &data, &ready);
  inout_kernel->packed = data;
  *out_data = NULL;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (b->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  *out_data = data;
  return TENON_OK;
}

tenon_status_t tenon__cpu_integer_pack_constant(const tenon_prepare_t* call,
                                                const tenon__cpu_integer_constant_t* constant,
                                                tenon__cpu_integer_kernel_t* inout_kernel) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon__cpu_integers_t* integers = inout_kernel->isa->integers;
  const tenon_value_info_t* b = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  tenon__cpu_integer_source_t matrix = constant->source;
  char parameters[160];
  void* data = NULL;
  (void)snprintf(parameters, sizeof(parameters),
                 "%u bytes, %u columns, step %u, %zu matrices, depth %zu, inner %zu",
                 integers->number_bytes, integers->columns, integers->depth_step, constant->count,
                 matrix.depth, matrix.inner);
  const tenon__cpu_integer_packing_t packing = {.format = "cpu.integers/1",
                                                .parameters = parameters,
                                                .bytes = constant->count * constant->bytes};
  const tenon_status_t status = tenon__cpu_integer_request(call, &packing, inout_kernel, &data);
  for (size_t k = 0; k < (data == NULL ? 0 : constant->count); k++) {
    matrix.data = (const char*)b->constant_data + k * constant->stride;
    tenon__cpu_integer_pack(integers, &matrix, 0,
                            tenon__cpu_integer_panels(integers, matrix.columns),
                            (char*)data + k * constant->bytes);
  }
  return status;
}

/* ---- Binding ---- */

size_t tenon__cpu_integer_thread_bytes(const tenon__cpu_integers_t* integers,
                                       const tenon_program_t* program, size_t depth) {
  return (tenon__cpu_integer_scratch(integers, depth) + tenon__cpu_rows_scratch(program) + 63) /
         64 * 64;
}

tenon_status_t tenon__cpu_integer_bind(const tenon__cpu_integer_request_t* request,
                                       tenon_binding_t* binding, const tenon_bind_table_t* host,
                                       tenon__cpu_integer_bound_t* out_bound) {
  const tenon__cpu_integer_kernel_t* kernel = request->kernel;
  const tenon__cpu_integers_t* integers = kernel->isa->integers;
  tenon__cpu_integer_bound_t* bound = out_bound;
  *bound = (tenon__cpu_integer_bound_t){
      .kernel = kernel,
      .product_bytes = tenon__cpu_integer_scratch(integers, request->depth),
      .a_zero_count = request->rows,
      .columns = request->columns,
      .y_stride = request->shape.c_stride};
  bound->thread_bytes = tenon__cpu_integer_thread_bytes(
      integers, kernel->program == NULL ? NULL : &kernel->program->source, request->depth);
  bound->a_zeros = host->allocate(binding, (request->rows + 1) * sizeof(int32_t));
  bound->b_zeros = host->allocate(binding, (request->columns + 1) * sizeof(int32_t));
  if (bound->a_zeros == NULL || bound->b_zeros == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (bound->thread_bytes > kernel->thread_bytes) {
    bound->threads = host->allocate(binding, host->thread_count(binding) * bound->thread_bytes);
    if (bound->threads == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  } else {
    bound->thread_bytes = kernel->thread_bytes;
  }
  if (kernel->packed == NULL && request->packed_bytes > kernel->shared_bytes) {
    bound->shared = host->allocate(binding, request->packed_bytes);
    if (bound->shared == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  if (kernel->program == NULL) {
    return TENON_OK;
  }
  const size_t strip = tenon__cpu_integer_strip(integers, request->strip_columns);
  const tenon__cpu_rows_request_t rows = {.elements = kernel->isa->elements,
                                          .program = kernel->program,
                                          .shape = &request->shape,
                                          .extents = host->space(binding, 0),
                                          .value = {(int64_t)strip, 1},
                                          .made = {(int64_t)request->shape.c_stride, 1}};
  return rows.extents == NULL ? TENON_ERROR_OUT_OF_MEMORY
                              : tenon__cpu_rows_bind(&rows, binding, host, &bound->rows);
}

/* ---- Running ---- */

static int32_t number_at(const tenon_tensor_view_t* view, size_t index) {
  return view->dtype == TENON_DTYPE_INT8 ? ((const int8_t*)view->data)[index]
                                         : ((const uint8_t*)view->data)[index];
}

/* Encodes the zero points of rows or columns. The input has one for all, or a list. Returns true if
 * an encoded one is not 0. */
static bool read_zeros(const tenon__cpu_integer_call_t* call, uint32_t port, size_t count,
                       int32_t* out_zeros) {
  const tenon__cpu_integer_kernel_t* kernel = call->bound->kernel;
  const tenon__cpu_integers_t* integers = kernel->isa->integers;
  const bool of_a = port == TENON_CPU_INTEGER_A_ZERO;
  const uint32_t matrix = kernel->inputs[of_a ? TENON_CPU_INTEGER_A : TENON_CPU_INTEGER_B];
  const bool is_signed = call->inputs[matrix].tensor.dtype == TENON_DTYPE_INT8;
  const uint32_t number = kernel->inputs[port];
  const tenon_tensor_view_t* view = number == TENON_NONE ? NULL : &call->inputs[number].tensor;
  size_t elements = 1;
  for (uint32_t k = 0; k < (view == NULL ? 0 : view->rank); k++) {
    elements *= (size_t)view->dims[k];
  }
  const bool is_list = elements > 1;
  bool has_some = false;
  for (size_t k = 0; k < count; k++) {
    const int32_t zero = view == NULL ? 0 : number_at(view, is_list ? k : 0);
    out_zeros[k] = of_a ? tenon__cpu_integer_a_zero(integers, zero, is_signed)
                        : tenon__cpu_integer_b_zero(integers, zero, is_signed);
    has_some = has_some || out_zeros[k] != 0;
  }
  return has_some;
}

void tenon__cpu_integer_start(const tenon_enqueue_t* call, const tenon__cpu_integer_bound_t* bound,
                              tenon__cpu_integer_call_t* out_call) {
  const tenon__cpu_integer_kernel_t* kernel = bound->kernel;
  char* scratch = call->host->scratch(call->run);
  *out_call = (tenon__cpu_integer_call_t){
      .bound = bound,
      .inputs = call->inputs,
      .packed = bound->shared != NULL ? bound->shared : scratch,
      .threads = bound->threads != NULL ? bound->threads : scratch + kernel->shared_bytes,
      .y = call->outputs[0].tensor.data,
      .y_bytes = tenon__cpu_element_bytes(call->outputs[0].tensor.dtype)};
  (void)read_zeros(out_call, TENON_CPU_INTEGER_A_ZERO, bound->a_zero_count, bound->a_zeros);
  out_call->has_b_zeros =
      read_zeros(out_call, TENON_CPU_INTEGER_B_ZERO, bound->columns, bound->b_zeros);
}

static void finish(const void* user, const tenon__cpu_integer_sums_t* sums) {
  const tenon__cpu_integer_part_t* part = user;
  const tenon__cpu_integer_call_t* call = part->call;
  const size_t row = part->row + sums->row;
  const size_t column = part->column + sums->column;
  const tenon__cpu_rows_part_t block = {
      .value = sums->data,
      .made = call->y + (row * call->bound->y_stride + column) * call->y_bytes,
      .row = row,
      .rows = sums->rows,
      .column = column,
      .columns = sums->columns};
  tenon__cpu_rows_run(call->bound->rows, call->inputs, &block, part->buffers);
}

char* tenon__cpu_integer_part(const tenon__cpu_integer_call_t* call, uint32_t thread,
                              tenon__cpu_integer_part_t* inout_part,
                              tenon__cpu_integer_product_t* inout_product) {
  const tenon__cpu_integer_bound_t* bound = call->bound;
  char* scratch = call->threads + thread * bound->thread_bytes;
  tenon__cpu_integer_product_t* product = inout_product;
  product->integers = bound->kernel->isa->integers;
  product->a_zeros = bound->a_zeros;
  product->a_zero_count = bound->a_zero_count;
  product->b_zeros = call->has_b_zeros ? bound->b_zeros + inout_part->column : NULL;
  if (bound->rows != NULL) {
    inout_part->call = call;
    inout_part->buffers = scratch + bound->product_bytes;
    product->finish = finish;
    product->finish_user = inout_part;
  } else {
    product->c = (int32_t*)(void*)call->y + inout_part->row * bound->y_stride + inout_part->column;
    product->c_stride = bound->y_stride;
  }
  return scratch;
}
