/* Runs a case with the reference and on the device, and compares the results. */
#include "kernel_case.h"

static void finish_program(kernel_case_t* c) {
  c->program.instructions = c->instructions;
  c->program.operands = c->operands;
  c->program.outputs = c->results;
  c->program.coordinates = c->coordinates;
  c->program.rank = c->rank;
  const bool is_operator = c->fake.op != NULL;
  c->fake.kind = is_operator       ? TENON_REGION_OPERATOR
                 : c->move != NULL ? TENON_REGION_MOVE
                                   : TENON_REGION_EXPRESSION;
  c->fake.program = c->move != NULL || is_operator ? NULL : &c->program;
  c->fake.slot = is_operator && c->program.instruction_count > 0 ? &c->program : NULL;
  c->fake.move = c->move;
  c->fake.value_count = c->fake.input_count + c->fake.output_count;
}

static bool is_taken(kernel_case_t* c, const tenon_kernel_t* kernel) {
  tenon_refusal_t refusal;
  const bool taken = kernel_takes(kernel, &c->fake, &refusal);
  if (!taken) {
    (void)fprintf(stderr, "  (refused: %u, %s)\n", refusal.reason,
                  refusal.detail == NULL ? "" : refusal.detail);
  }
  return taken;
}

/* ---- On the device ---- */

/* Returns true if the tensor has the order of axes that the rule requires, with or without gaps. */
static bool lies_in_order(const kernel_tensor_t* tensor, const tenon_argument_rule_t* rule) {
  const bool asks =
      rule != NULL && (rule->kind == TENON_LAYOUT_EXACT || rule->kind == TENON_LAYOUT_ROW_MAJOR);
  const uint32_t rank = tensor->view.rank;
  int64_t least = 0; /* smallest stride allowed for outer axes */
  bool in_order = true;
  for (uint32_t place = asks ? rank : 0; place-- > 0;) {
    const uint32_t axis = rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order[place] : place;
    const int64_t stride = llabs(tensor->strides[axis]);
    if (tensor->dims[axis] > 1 && stride > 0) {
      in_order = in_order && stride >= least;
      least = stride;
    }
  }
  return in_order;
}

/* Computes contiguous strides of the tensor's stored elements in the rule's order. Returns their
 * number. */
static int64_t lay_out(const kernel_tensor_t* tensor, const tenon_argument_rule_t* rule,
                       int64_t* out_strides) {
  int64_t count = 1;
  for (uint32_t place = tensor->view.rank; place-- > 0;) {
    const uint32_t axis = rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order[place] : place;
    out_strides[axis] = tensor->own[axis] < tensor->dims[axis] ? 0 : count;
    count *= tensor->own[axis];
  }
  return count;
}

/* Converts the tensor to the type and order that the rule requires, element by element. The bytes
 * between elements get a pattern that kernels must not change. */
static void convert(const kernel_tensor_t* tensor, const tenon_argument_rule_t* rule,
                    kernel_tensor_t* out) {
  const tenon_dtype_t own = tensor->view.dtype;
  const tenon_dtype_t dtype =
      rule == NULL || rule->dtype == TENON_DTYPE_UNDEFINED ? own : rule->dtype;
  const size_t from = tenon__number_bits(own) / 8;
  const size_t to = tenon__number_bits(dtype) / 8;
  const int64_t count = tenon__dims_product(tensor->view.dims, 0, tensor->view.rank);
  const bool in_order = lies_in_order(tensor, rule);
  *out = *tensor;
  if (dtype == own && in_order) {
    return;
  }
  out->size_bytes = tensor->size_bytes / from * to;
  out->offset_bytes = tensor->offset_bytes / from * to;
  if (!in_order) {
    out->size_bytes = (size_t)lay_out(tensor, rule, out->strides) * to + 2 * (size_t)KERNEL_MARGIN;
    out->offset_bytes = KERNEL_MARGIN;
  }
  out->view.strides = out->strides;
  out->bytes = malloc(out->size_bytes + 1);
  memset(out->bytes, KERNEL_UNTOUCHED, out->size_bytes);
  out->view.dtype = dtype;
  out->view.data = out->bytes + out->offset_bytes;
  for (int64_t k = 0; k < count && tensor->bytes != NULL; k++) {
    tenon__number_store(
        out->view.data, 0, dtype, tenon__view_place(&out->view, k),
        tenon__number_load(tensor->view.data, 0, own, tenon__view_place(&tensor->view, k)));
  }
}

static void convert_all(kernel_case_t* c) {
  const tenon_tactic_t* tactic = &c->fake.tactic;
  for (uint32_t k = 0; k < c->fake.value_count; k++) {
    const tenon_argument_rule_t* rules = k < c->fake.input_count ? tactic->inputs : tactic->outputs;
    const uint32_t index = k < c->fake.input_count ? k : k - c->fake.input_count;
    convert(&c->tensors[k], rules == NULL ? NULL : &rules[index], &c->asked[k]);
  }
}

static void free_converted(kernel_case_t* c) {
  for (uint32_t k = 0; k < KERNEL_TENSORS; k++) {
    if (c->asked[k].bytes != c->tensors[k].bytes) {
      free(c->asked[k].bytes);
    }
    c->asked[k] = c->tensors[k];
  }
}

static bool is_asked_otherwise(const kernel_case_t* c) {
  bool is_so = false;
  for (uint32_t k = 0; k < c->fake.value_count; k++) {
    is_so = is_so || c->asked[k].view.dtype != c->tensors[k].view.dtype;
  }
  return is_so;
}

static tenon_status_t copy_in(const kernel_case_t* c, kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < c->fake.value_count && status == TENON_OK; k++) {
    const kernel_tensor_t* tensor = &c->asked[k];
    const bool is_output = k >= c->fake.input_count;
    void* block = NULL;
    status = kernel_life_block(life, tensor->size_bytes,
                               !is_output && c->bare ? KERNEL_BARE : KERNEL_UNTOUCHED, &block);
    if (status == TENON_OK && !is_output && !c->bare) {
      status = t->copy(kernel_device.device, life->stream, TENON_COPY_TO_DEVICE, block,
                       tensor->bytes, tensor->size_bytes);
    }
    tenon_argument_t* argument =
        is_output ? &life->outputs[k - c->fake.input_count] : &life->inputs[k];
    *argument = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = tensor->view};
    argument->tensor.data = block == NULL ? NULL : (uint8_t*)block + tensor->offset_bytes;
  }
  return status;
}

/* Returns the start address of a tensor's memory block on the device. */
static void* block_of(const kernel_case_t* c, const kernel_life_t* life, uint32_t output) {
  return (uint8_t*)life->outputs[output].tensor.data -
         c->asked[c->fake.input_count + output].offset_bytes;
}

tenon_status_t kernel_case_live(kernel_case_t* c, uint32_t tactic, kernel_life_t* out_life) {
  memset(out_life, 0, sizeof(*out_life));
  finish_program(c);
  const tenon_kernel_t* kernel = kernel_find(&c->fake);
  if (!is_taken(c, kernel) || kernel_take_tactic(kernel, &c->fake, tactic) <= tactic) {
    return TENON_ERROR_UNSUPPORTED;
  }
  free_converted(c);
  convert_all(c);
  tenon_status_t status = kernel_life_begin(out_life, kernel, &c->fake);
  status = status == TENON_OK ? copy_in(c, out_life) : status;
  return status == TENON_OK ? kernel_life_bind(out_life) : status;
}

/* ---- Comparison ---- */

static bool near(tenon_dtype_t dtype, tenon__number_t got, tenon__number_t wanted, double error) {
  if (!tenon__number_is_float(dtype)) {
    return got.i == wanted.i;
  }
  if (isnan(got.f) || isnan(wanted.f) || isinf(wanted.f)) {
    return (isnan(got.f) && isnan(wanted.f)) || got.f == wanted.f;
  }
  /* The tolerance includes one unit in the last place of the stored type, because a lower precision
   * may round differently. */
  const double unit = dtype == TENON_DTYPE_FLOAT16     ? 0x1p-10
                      : dtype == TENON_DTYPE_BFLOAT16  ? 0x1p-7
                      : dtype == TENON_DTYPE_FLOAT64   ? 0.0
                      : tenon__number_bits(dtype) == 8 ? 0x1p-2
                                                       : 0.0;
  const double scale = dtype == TENON_DTYPE_FLOAT64 ? 0x1p-53 : 0x1p-24;
  const double magnitude = fmax(fabs(wanted.f), 1.0);
  return fabs(got.f - wanted.f) <= error * scale * magnitude + (error > 0 ? unit * magnitude : 0);
}

/* Compares every element with the reference. All bytes outside of elements must be unchanged. */
static uint64_t compare(const kernel_tensor_t* tensor, const uint8_t* got, double error,
                        const char* name) {
  const tenon_tensor_view_t* view = &tensor->view;
  uint8_t* touched = calloc(1, tensor->size_bytes);
  const size_t bytes = tenon__number_bits(view->dtype) / 8;
  const int64_t count = tenon__dims_product(view->dims, 0, view->rank);
  uint64_t wrong = 0;
  for (int64_t k = 0; k < count; k++) {
    const int64_t place = tenon__view_place(view, k);
    const tenon__number_t wanted = tenon__number_load(view->data, 0, view->dtype, place);
    const tenon__number_t found =
        tenon__number_load(got + tensor->offset_bytes, 0, view->dtype, place);
    memset(touched + (int64_t)tensor->offset_bytes + place * (int64_t)bytes, 1, bytes);
    if (!near(view->dtype, found, wanted, error) && wrong++ < 3) {
      (void)fprintf(stderr, "%s: element %lld is %.9g, expected %.9g\n", name, (long long)k,
                    tenon__number_value(view->dtype, found),
                    tenon__number_value(view->dtype, wanted));
    }
  }
  for (size_t k = 0; k < tensor->size_bytes; k++) {
    if (touched[k] == 0 && got[k] != tensor->bytes[k] && wrong++ < 3) {
      (void)fprintf(stderr, "%s: byte %zu was written, which is no element's\n", name, k);
    }
  }
  free(touched);
  return wrong;
}

/* Runs the kernel once directly, then records it. The first results are erased before the
 * replay. */
static tenon_status_t replay(const kernel_case_t* c, const kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  void* recording = NULL;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < c->fake.output_count && status == TENON_OK; k++) {
    status = t->fill(kernel_device.device, life->stream, block_of(c, life, k), KERNEL_UNTOUCHED,
                     c->asked[c->fake.input_count + k].size_bytes);
  }
  status = status == TENON_OK ? kernel_life_record(life, &recording) : status;
  return status == TENON_OK ? kernel_life_play(life, recording) : status;
}

static bool has_right_outputs(const kernel_case_t* c, const kernel_life_t* life, const char* name,
                              double error) {
  bool good = true;
  for (uint32_t k = 0; good && k < c->fake.output_count; k++) {
    const kernel_tensor_t* tensor = &c->asked[c->fake.input_count + k];
    uint8_t* got = malloc(tensor->size_bytes);
    good = kernel_life_read(life, block_of(c, life, k), tensor->size_bytes, got) == TENON_OK &&
           compare(tensor, got, error, name) == 0;
    free(got);
  }
  return good;
}

static bool run_tactic(kernel_case_t* c, uint32_t tactic, const char* name, double error) {
  kernel_life_t life;
  tenon_status_t status = kernel_case_live(c, tactic, &life);
  if (status == TENON_ERROR_UNSUPPORTED && c->fake.op != NULL && tactic > 0) {
    kernel_life_end(&life);
    return true;
  }
  status = status == TENON_OK ? kernel_life_enqueue(&life) : status;
  if (status == TENON_OK && c->recorded) {
    status = replay(c, &life);
  }
  if (status == TENON_OK) {
    status = kernel_device.table->synchronize(kernel_device.device, life.stream);
  }
  if (c->fake.numerics.product_mantissa_bits != 0) {
    error *= (double)(1 << (23 - c->fake.numerics.product_mantissa_bits));
  }
  if (is_asked_otherwise(c)) {
    error = fmax(error, 1); /* the result is rounded */
  }
  if (status != TENON_OK) {
    (void)fprintf(stderr, "%s: status %d\n", name, status);
  }
  const bool good = status == TENON_OK && has_right_outputs(c, &life, name, error);
  kernel_life_end(&life);
  return good;
}

/* Runs the reference kernel for the region. */
static tenon_status_t run_reference(fake_t* fake) {
  const bool moves = fake->program == NULL;
  const tenon_prepare_t making = fake_prepare_call(fake, NULL);
  void* instance = NULL;
  void* bound = NULL;
  tenon_status_t status = moves ? tenon__moves_prepare(&making, &instance)
                                : tenon__expressions_prepare(&making, &instance);
  if (status == TENON_OK) {
    tenon_binding_t* binding = (tenon_binding_t*)fake;
    status = moves ? tenon__moves_bind(instance, binding, &fake_bind_table, &bound)
                   : tenon__expressions_bind(instance, binding, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(fake, instance, bound);
  if (status != TENON_OK) {
    return status;
  }
  return moves ? tenon__moves_enqueue(&call) : tenon__expressions_enqueue(&call);
}

/* Sets the range [first, end) of tactics to run. */
static void find_tactics(kernel_case_t* c, const tenon_kernel_t* kernel, uint32_t* out_first,
                         uint32_t* out_end) {
  const uint32_t count = is_taken(c, kernel) ? kernel_take_tactic(kernel, &c->fake, 0) : 0;
  uint32_t first = 0;
  while (c->wanted_tactic != NULL && first < count) {
    (void)kernel_take_tactic(kernel, &c->fake, first);
    if (strcmp(c->fake.tactic.name, c->wanted_tactic) == 0) {
      break;
    }
    first++;
  }
  *out_first = first;
  *out_end = c->wanted_tactic != NULL && first < count ? first + 1 : count;
}

void kernel_check_given(kernel_case_t* c, const char* name, double error) {
  uint32_t first = 0;
  uint32_t end = 0;
  finish_program(c);
  const tenon_kernel_t* kernel = kernel_find(&c->fake);
  find_tactics(c, kernel, &first, &end);
  bool good = first < end;
  if (good) {
    kernel_expect_tactics(kernel, &c->fake, first, end, 1);
  }
  for (uint32_t tactic = first; good && tactic < end; tactic++) {
    good = run_tactic(c, tactic, name, error);
  }
  kernel_runs++;
  if (!good) {
    (void)printf("FAILED %s\n", name);
    kernel_failures++;
  }
  kernel_case_end(c);
}

/* Runs the reference in host memory first. The device's outputs keep their initial bytes until the
 * kernel runs. */
void kernel_check(kernel_case_t* c, const char* name, double error) {
  finish_program(c);
  fake_t reference = c->fake;
  reference.block_count = 0;
  const tenon_status_t status = run_reference(&reference);
  if (status != TENON_OK) {
    (void)printf("FAILED %s: the reference says %d, %s\n", name, status, reference.failure);
    kernel_failures++;
  }
  fake_done(&reference);
  kernel_check_given(c, name, error);
}

void kernel_check_fault(kernel_case_t* c, const char* name) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  kernel_life_t life;
  tenon_status_t status = kernel_case_live(c, 0, &life);
  status = status == TENON_OK ? kernel_life_enqueue(&life) : status;
  const bool found = status == TENON_OK &&
                     t->synchronize(kernel_device.device, life.stream) == TENON_ERROR_INVALID_DATA;
  opened_words[0] = 0;
  const bool told = t->health(kernel_device.device, &opened_sink) == TENON_OK &&
                    strstr(opened_words, "is read, whose extent is") != NULL;
  const bool once = t->synchronize(kernel_device.device, life.stream) == TENON_OK;
  kernel_runs++;
  if (!found || !told || !once) {
    (void)printf("FAILED %s: status %d, words '%s'\n", name, status, opened_words);
    kernel_failures++;
  }
  kernel_life_end(&life);
  kernel_case_end(c);
}
