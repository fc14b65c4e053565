/* Makes nodes of operators, runs them with the reference and compares numbers. */
#include "operator_case.h"

#include "kernels.h"

/* ---- Nodes ---- */

uint32_t operator_draw(operator_case_t* c, uint32_t limit) {
  c->seed = c->seed * 1664525u + 1013904223u;
  return limit == 0 ? 0 : (c->seed >> 8) % limit;
}
double operator_numbers(operator_case_t* c, double limit) {
  return ((double)operator_draw(c, 1 << 20) / (double)(1 << 19) - 1.0) * limit;
}
double operator_wholes(operator_case_t* c, double limit) {
  return (double)operator_draw(c, (uint32_t)(2 * limit) + 1) - limit;
}
double operator_positive(operator_case_t* c, double limit) {
  return (double)operator_draw(c, 1 << 20) / (double)(1 << 20) * limit;
}
double operator_indices(operator_case_t* c, double limit) {
  return (double)operator_draw(c, (uint32_t)limit);
}

void operator_begin(operator_case_t* c, const char* op, uint32_t seed) {
  memset(c, 0, sizeof(*c));
  c->fake.kind = TENON_REGION_OPERATOR;
  c->fake.op = op;
  c->seed = seed * 2654435761u + 12345u;
}

tenon_tensor_view_t* operator_input(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank,
                                    const int64_t* dims, operator_fill_t fill, double limit) {
  fake_t* fake = &c->fake;
  tenon_argument_t* argument = &fake->inputs[fake->input_count++];
  *argument = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                                 .tensor = fake_tensor(fake, dtype, rank, dims)};
  const int64_t count = tenon__dims_product(argument->tensor.dims, 0, rank);
  for (int64_t k = 0; k < count; k++) {
    tenon__number_store(argument->tensor.data, 0, dtype, k,
                        tenon__number_of(dtype, fill(c, limit)));
  }
  return &argument->tensor;
}
void operator_absent(operator_case_t* c) {
  c->fake.inputs[c->fake.input_count++].kind = TENON_ARGUMENT_ABSENT;
}
void operator_output(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims) {
  fake_t* fake = &c->fake;
  fake->outputs[fake->output_count++] = (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR, .tensor = fake_tensor(fake, dtype, rank, dims)};
}
void operator_found(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* most) {
  c->finds[c->fake.output_count] = true;
  operator_output(c, dtype, rank, most);
}

/* Describes the values of the region: inputs, then outputs. Absent values have no entry. */
void operator_describe(operator_case_t* c) {
  fake_t* fake = &c->fake;
  fake->node_input_count = fake->input_count;
  fake->value_count = fake->input_count + fake->output_count;
  for (uint32_t k = 0; k < fake->input_count + fake->output_count; k++) {
    const bool is_output = k >= fake->input_count;
    const uint32_t index = is_output ? k - fake->input_count : k;
    const tenon_argument_t* argument = is_output ? &fake->outputs[index] : &fake->inputs[index];
    fake->values[k].info = (tenon_value_info_t){
        .name = "",
        .dims_min = argument->tensor.dims,
        .dims_opt = argument->tensor.dims,
        .dims_max = argument->tensor.dims,
        .dtype = argument->tensor.dtype,
        .rank = argument->tensor.rank,
        .constant_data = !is_output && c->is_known ? argument->tensor.data : NULL,
        .input = is_output ? TENON_NONE : index,
        .output = is_output ? index : TENON_NONE,
        .kind = argument->kind};
  }
}

/* ---- The reference ---- */

tenon_status_t operator_run_reference(const operator_case_t* c, fake_t* out_fake) {
  void* instance = NULL;
  void* bound = NULL;
  *out_fake = c->fake;
  out_fake->block_count = 0;
  for (uint32_t k = 0; k < out_fake->output_count; k++) {
    const tenon_tensor_view_t* view = &c->fake.outputs[k].tensor;
    if (c->finds[k]) {
      out_fake->outputs[k] =
          (tenon_argument_t){.kind = TENON_ARGUMENT_ALLOCATE, .tensor = {.dtype = view->dtype}};
    } else {
      out_fake->results[k] = fake_tensor(out_fake, view->dtype, view->rank, view->dims);
      out_fake->outputs[k].tensor = out_fake->results[k];
    }
  }
  const tenon_prepare_t making = fake_prepare_call(out_fake, NULL);
  tenon_status_t status = tenon__work_prepare(&making, &instance);
  if (status == TENON_OK) {
    status = tenon__work_bind(instance, (tenon_binding_t*)out_fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(out_fake, instance, bound);
  return status == TENON_OK ? tenon__work_enqueue(&call) : status;
}

/* ---- Comparison ---- */

bool operator_is_near(tenon_dtype_t dtype, tenon__number_t got, tenon__number_t wanted,
                      double error) {
  if (!tenon__number_is_float(dtype)) {
    return got.i == wanted.i;
  }
  if (isnan(wanted.f) || isinf(wanted.f) || isnan(got.f)) {
    return (isnan(got.f) && isnan(wanted.f)) || got.f == wanted.f;
  }
  const double unit = dtype == TENON_DTYPE_FLOAT16    ? 0x1p-10
                      : dtype == TENON_DTYPE_BFLOAT16 ? 0x1p-7
                                                      : 0.0;
  const double scale =
      dtype == TENON_DTYPE_FLOAT64 ? 0x1p-29 : 1.0; /* f64: smaller by its extra bits */
  const double magnitude = fmax(fabs(wanted.f), 1.0);
  return fabs(got.f - wanted.f) <= (error > 0 ? error * scale + unit : 0.0) * magnitude;
}
