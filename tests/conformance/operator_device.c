/*
 * Runs nodes of closed operators with the kernels of a device and compares the results with
 * plugins/reference.
 *
 *   device_operators PLUGIN.so DEVICE [ROUNDS [FIRST_SEED [OPERATOR]]]
 *
 * Only operators whose name contains OPERATOR are checked (default: all). The exit status is 77 if
 * there is no such device.
 */
#include "operator_case.h"
#include "operators.h"

enum { UNTOUCHED = 0x5A };

static const char* wanted_operator; /* NULL: all */

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

/* Compares the extents and elements of an output with the reference. The device stores elements
 * with the strides of the maximum extents. */
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
    good = operator_is_near(view->dtype, found, right, error);
    if (!good) {
      (void)fprintf(stderr, "%s: output %u, element %lld is %.9g, expected %.9g\n", c->fake.op,
                    index, (long long)k, tenon__number_value(view->dtype, found),
                    tenon__number_value(view->dtype, right));
    }
  }
  free(got);
  return good;
}

/* Returns the first kernel that matches the node. Kernels for special cases of an operator precede
 * the general one. If no kernel matches, returns NULL and the last kernel's refusal. */
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
  operator_describe(c);
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

/* Ends the case and returns true if its operator is not selected. */
static bool is_left_out(operator_case_t* c) {
  const bool left_out = wanted_operator != NULL && strstr(c->fake.op, wanted_operator) == NULL;
  if (left_out) {
    fake_done(&c->fake);
  }
  return left_out;
}

void operator_check(operator_case_t* c, double error) {
  kernel_life_t life;
  fake_t wanted;
  if (is_left_out(c)) {
    return;
  }
  tenon_status_t status = begin_life(c, &life);
  const tenon_status_t reference = operator_run_reference(c, &wanted);
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
  if (is_left_out(c)) {
    return;
  }
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

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    (void)fprintf(stderr, "device_operators PLUGIN.so DEVICE [ROUNDS [FIRST_SEED [OPERATOR]]]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  const uint32_t rounds = argument_count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 10) : 3;
  const uint32_t first = argument_count > 4 ? (uint32_t)strtoul(arguments[4], NULL, 10) : 1;
  wanted_operator = argument_count > 5 ? arguments[5] : NULL;
  operators_check_faults();
  for (uint32_t seed = first; seed < first + rounds; seed++) {
    operators_check_round(seed);
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  (void)printf("%d nodes, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
