/* Making nodes of operators; running them by the reference and by a device; comparing. */
#include "operator_case.h"

#include "kernels.h"

enum { UNTOUCHED = 0x5A };

/* ---- Making ---- */

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

/* The values of the region: inputs, then outputs; what is absent is none. */
static void describe(operator_case_t* c) {
  fake_t* fake = &c->fake;
  fake->node_input_count = fake->input_count;
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

static tenon_status_t run_reference(const operator_case_t* c, fake_t* out_fake) {
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

/* ---- The device ---- */

static size_t size_of(const tenon_tensor_view_t* view) {
  const size_t bits = tenon__number_bits(view->dtype);
  return ((size_t)tenon__dims_product(view->dims, 0, view->rank) * bits + 7) / 8;
}

static tenon_status_t lend(const operator_case_t* c, kernel_life_t* life) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < c->fake.input_count && status == TENON_OK; k++) {
    life->inputs[k] = c->fake.inputs[k];
    tenon_tensor_view_t* view = &life->inputs[k].tensor;
    const size_t size = life->inputs[k].kind == TENON_ARGUMENT_TENSOR ? size_of(view) : 0;
    const void* from = view->data;
    status = kernel_life_block(life, size, 0, &view->data);
    if (status == TENON_OK && size > 0) {
      status = kernel_device.table->copy(kernel_device.device, life->stream, TENON_COPY_TO_DEVICE,
                                         view->data, from, size);
    }
  }
  for (uint32_t k = 0; k < c->fake.output_count && status == TENON_OK; k++) {
    life->outputs[k] = c->fake.outputs[k];
    tenon_tensor_view_t* view = &life->outputs[k].tensor;
    status = kernel_life_block(life, size_of(view), UNTOUCHED, &view->data);
    if (status == TENON_OK && c->finds[k]) {
      void* extents = NULL;
      status = kernel_life_block(life, view->rank * sizeof(int64_t), UNTOUCHED, &extents);
      view->device_extents = extents;
    }
  }
  return status;
}

static bool is_near(tenon_dtype_t dtype, tenon__number_t got, tenon__number_t wanted,
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
      dtype == TENON_DTYPE_FLOAT64 ? 0x1p-29 : 1.0; /* as much better as its bits */
  const double magnitude = fmax(fabs(wanted.f), 1.0);
  return fabs(got.f - wanted.f) <= (error > 0 ? error * scale + unit : 0.0) * magnitude;
}

/* An output as the reference has it: extents, then elements, which lie at the places of the most.
 */
static bool compare(const operator_case_t* c, const kernel_life_t* life, const fake_t* wanted,
                    uint32_t index, double error) {
  const tenon_tensor_view_t* view = &life->outputs[index].tensor;
  const tenon_tensor_view_t* expected = &wanted->results[index];
  int64_t extents[FAKE_RANK] = {0};
  uint8_t* got = malloc(size_of(view) + 1);
  bool good = kernel_life_read(life, view->data, size_of(view), got) == TENON_OK;
  if (view->device_extents != NULL) {
    good = kernel_life_read(life, view->device_extents, view->rank * sizeof(int64_t), extents) ==
               TENON_OK &&
           good;
    for (uint32_t axis = 0; axis < view->rank; axis++) {
      if (extents[axis] != expected->dims[axis]) {
        (void)fprintf(stderr, "%s: extent %lld of axis %u, expected %lld\n", c->fake.op,
                      (long long)extents[axis], axis, (long long)expected->dims[axis]);
        good = false;
      }
    }
  }
  const int64_t count = good ? tenon__dims_product(expected->dims, 0, expected->rank) : 0;
  for (int64_t k = 0; k < count && good; k++) {
    int64_t rest = k;
    int64_t place = 0;
    int64_t step = 1;
    for (uint32_t axis = view->rank; axis-- > 0;) {
      place += rest % expected->dims[axis] * step;
      rest /= expected->dims[axis];
      step *= view->dims[axis];
    }
    const tenon__number_t found = tenon__number_load(got, 0, view->dtype, place);
    const tenon__number_t right = tenon__number_load(expected->data, 0, view->dtype, k);
    good = is_near(view->dtype, found, right, error);
    if (!good) {
      (void)fprintf(stderr, "%s: output %u, element %lld is %.9g, expected %.9g\n", c->fake.op,
                    index, (long long)k, tenon__number_value(view->dtype, found),
                    tenon__number_value(view->dtype, right));
    }
  }
  free(got);
  return good;
}

/* The first that takes it: for special cases of some operators there are others in front. NULL: the
 * last one's refusal says why not. */
static const tenon_kernel_t* find_taker(operator_case_t* c, tenon_refusal_t* out_refusal) {
  const tenon_kernel_t* kernel = NULL;
  for (uint32_t k = 0; (kernel = kernel_find_nth(&c->fake, k)) != NULL; k++) {
    if (kernel_takes(kernel, &c->fake, out_refusal)) {
      return kernel;
    }
  }
  return NULL;
}

static tenon_status_t begin_life(operator_case_t* c, kernel_life_t* out_life) {
  tenon_refusal_t refusal = {0};
  describe(c);
  const tenon_kernel_t* kernel = find_taker(c, &refusal);
  memset(out_life, 0, sizeof(*out_life));
  if (kernel == NULL || kernel_take_tactic(kernel, &c->fake, 0) == 0) {
    (void)fprintf(stderr, "%s: %s: reason %u, %s\n", c->fake.op,
                  refusal.reason == 0 ? "there is no kernel" : "refused", refusal.reason,
                  refusal.detail == NULL ? "" : refusal.detail);
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon_status_t status = kernel_life_begin(out_life, kernel, &c->fake);
  status = status == TENON_OK ? lend(c, out_life) : status;
  return status == TENON_OK ? kernel_life_bind(out_life) : status;
}

static void end(operator_case_t* c, kernel_life_t* life, bool good) {
  kernel_runs++;
  if (!good) {
    (void)printf("FAILED %s\n", c->fake.op);
    kernel_failures++;
  }
  if (life->kernel != NULL) {
    kernel_life_end(life);
  }
  fake_done(&c->fake);
}

void operator_check(operator_case_t* c, double error) {
  kernel_life_t life;
  fake_t wanted;
  tenon_status_t status = begin_life(c, &life);
  const tenon_status_t reference = run_reference(c, &wanted);
  if (reference != TENON_OK) {
    (void)fprintf(stderr, "%s: the reference says %d, %s\n", c->fake.op, reference, wanted.failure);
  }
  if (c->is_known && status == TENON_OK && life.kernel->faults != NULL) {
    (void)fprintf(stderr, "%s: all data are known, kernel '%s' looks for errors in them\n",
                  c->fake.op, life.kernel->name);
    status = TENON_ERROR_INTERNAL;
  }
  bool good = reference == TENON_OK;
  for (int again = 0; again < 2 && good && status == TENON_OK; again++) {
    status = kernel_life_enqueue(&life);
    if (status == TENON_OK) {
      status = kernel_device.table->synchronize(kernel_device.device, life.stream);
    }
    for (uint32_t k = 0; k < c->fake.output_count && good && status == TENON_OK; k++) {
      good = compare(c, &life, &wanted, k, error);
    }
  }
  if (status != TENON_OK) {
    (void)fprintf(stderr, "%s: status %d\n", c->fake.op, status);
  }
  fake_done(&wanted);
  end(c, &life, good && status == TENON_OK);
}

void operator_check_fault(operator_case_t* c, int64_t value) {
  kernel_life_t life;
  void* word = NULL;
  tenon_fault_t fault = {0};
  tenon_status_t status = begin_life(c, &life);
  if (status == TENON_OK) {
    status = kernel_life_block(&life, sizeof(tenon_fault_t), 0, &word);
    life.fault = word;
  }
  status = status == TENON_OK ? kernel_life_enqueue(&life) : status;
  if (status == TENON_OK) {
    status = kernel_life_read(&life, word, sizeof(fault), &fault);
  }
  const bool good = status == TENON_OK && fault.code == 1 && fault.value == value &&
                    life.kernel->faults != NULL && life.kernel->faults[0] != NULL;
  if (!good) {
    (void)fprintf(stderr, "%s: status %d, fault %u of %lld, expected one of %lld\n", c->fake.op,
                  status, fault.code, (long long)fault.value, (long long)value);
  }
  end(c, &life, good);
}
