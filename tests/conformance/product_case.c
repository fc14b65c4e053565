/* See product_case.h. */
#include "product_case.h"

static uint32_t state = 1;

void product_seed(uint32_t seed) {
  state = seed;
}

uint32_t product_draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

/* ---- Expected results ---- */

/* The reference's product of the same numbers in f64, row-major; NULL: it failed. */
static const double* multiply(fake_t* fake, const product_t* p, const kernel_case_t* c) {
  static const tenon_host_offer_t offer = {.abi_major = TENON_ABI_MAJOR};
  const tenon_kernel_t* kernel = NULL;
  const int64_t* const dims[] = {p->a, p->b};
  const uint32_t ranks[] = {p->a_rank, p->b_rank};
  void* bound = NULL;
  void* instance = NULL;
  for (uint32_t k = 0; (kernel = opened_offered(tenon_plugin_query(&offer), "kernel/1", k)) != NULL;
       k++) {
    if (kernel->operators != NULL && strcmp(kernel->operators[0], "standard.mat_mul/1") == 0) {
      break;
    }
  }
  if (kernel == NULL) {
    return NULL;
  }
  fake->op = "standard.mat_mul/1";
  fake->kind = TENON_REGION_OPERATOR;
  fake->node_input_count = fake->input_count = 2;
  fake->output_count = 1;
  for (uint32_t k = 0; k < 3; k++) {
    const bool is_output = k == 2;
    tenon_argument_t* argument = is_output ? &fake->outputs[0] : &fake->inputs[k];
    argument->kind = TENON_ARGUMENT_TENSOR;
    argument->tensor = is_output ? fake_tensor(fake, TENON_DTYPE_FLOAT64, p->y_rank, p->y)
                                 : fake_tensor(fake, TENON_DTYPE_FLOAT64, ranks[k], dims[k]);
    double* numbers = argument->tensor.data;
    const tenon_tensor_view_t* view = &c->tensors[k].view;
    const int64_t count =
        is_output || numbers == NULL ? 0 : tenon__dims_product(view->dims, 0, view->rank);
    for (int64_t n = 0; n < count; n++) {
      numbers[n] = tenon__number_load(view->data, 0, view->dtype, tenon__view_place(view, n)).f;
    }
  }
  const tenon_prepare_t making = fake_prepare_call(fake, NULL);
  tenon_status_t status = kernel->prepare(&making, &instance);
  if (status == TENON_OK) {
    status = kernel->bind(instance, (tenon_binding_t*)fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(fake, instance, bound);
  status = status == TENON_OK ? kernel->enqueue(&call) : status;
  return status == TENON_OK ? fake->outputs[0].tensor.data : NULL;
}

/* An operand of the slot at the result's element `number`: axes of extent 1 are shared. */
static double read_shared(const tenon_tensor_view_t* view, const product_t* p, int64_t number) {
  int64_t place = 0;
  for (uint32_t axis = p->y_rank; axis-- > 0;) {
    const int64_t at = number % p->y[axis];
    number /= p->y[axis];
    place += view->dims[axis] == 1 ? 0 : at * view->strides[axis];
  }
  return tenon__number_load(view->data, 0, view->dtype, place).f;
}

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static bool expect(kernel_case_t* c, const product_t* p) {
  fake_t reference = {.threads = 1};
  const double* numbers = multiply(&reference, p, c);
  const tenon_tensor_view_t* y = &c->tensors[c->fake.input_count].view;
  const int64_t count = tenon__dims_product(p->y, 0, p->y_rank);
  for (int64_t k = 0; numbers != NULL && k < count; k++) {
    tenon__number_t value = {.f = numbers[k] * p->scale};
    if (p->has_residual) {
      value.f += read_shared(&c->tensors[2].view, p, k);
    }
    if (p->has_bias) {
      value.f += read_shared(&c->tensors[p->has_residual ? 3 : 2].view, p, k);
    }
    value.f = p->has_relu && value.f < 0 ? 0 : value.f;
    value.f = p->has_gelu ? gelu(value.f) : value.f;
    tenon__number_store(y->data, 0, y->dtype, tenon__view_place(y, k), value);
  }
  const bool is_there = numbers != NULL;
  fake_done(&reference);
  return is_there;
}

/* ---- Operands and slot ---- */

static void make_lie(const product_t* p, uint32_t rank, uint32_t order[FAKE_RANK],
                     kernel_lie_t* out) {
  for (uint32_t axis = 0; axis < rank; axis++) {
    order[axis] = axis;
  }
  *out = (kernel_lie_t){.order = order, .step = 1};
  if (p->is_plain) {
    return;
  }
  for (uint32_t axis = rank; product_draw(2) == 0 && axis-- > 1;) {
    const uint32_t other = product_draw(axis + 1);
    const uint32_t kept = order[axis];
    order[axis] = order[other];
    order[other] = kept;
  }
  out->pitch = product_draw(4) == 0 ? product_draw(9) : 0;
  out->step = product_draw(8) == 0 ? 2 : 1;
}

/* A sum that runs backwards is added up in the result's type: only where that is exact too. */
static bool may_sum_backwards(const product_t* p) {
  const int64_t depth = p->a[p->a_rank - 1];
  const int64_t most = p->dtype == TENON_DTYPE_BFLOAT16 ? 256 : 2048; /* whole numbers */
  return p->dtype == TENON_DTYPE_FLOAT32 || p->dtype == TENON_DTYPE_FLOAT64 ||
         (depth + 1) * 64 <= most;
}

void product_make_factor(kernel_case_t* c, const product_t* p, uint32_t rank, const int64_t* dims,
                         uint32_t depth_axis) {
  uint32_t order[FAKE_RANK];
  kernel_lie_t lie;
  make_lie(p, rank, order, &lie);
  lie.reversed = !p->is_plain && product_draw(6) == 0 ? product_draw(1u << rank) : 0;
  if (depth_axis < rank && !may_sum_backwards(p)) {
    lie.reversed &= ~(uint64_t)(1u << depth_axis);
  }
  const kernel_tensor_t* tensor = kernel_move_tensor(c, false, p->dtype, rank, dims, &lie);
  const int64_t count = p->has_fractions ? tenon__dims_product(dims, 0, rank) : 0;
  for (int64_t k = 0; k < count; k++) {
    const tenon__number_t number = {.f = (double)product_draw(1 << 20) * 0x1p-19 - 1.0};
    tenon__number_store(tensor->view.data, 0, p->dtype, tenon__view_place(&tensor->view, k),
                        number);
  }
}

/* x * 0.5 * (1 + tanh(...)), the cube as a power or as products. */
static uint32_t make_gelu(kernel_case_t* c, tenon_dtype_t dtype, uint32_t x) {
  const bool by_power = product_draw(2) == 0;
  const uint32_t three = kernel_constant(c, dtype, 3.0);
  const uint32_t square = kernel_add(c, TENON_OPCODE_MUL, dtype, x, x, 0);
  const uint32_t cube = by_power ? kernel_add(c, TENON_OPCODE_POW, dtype, x, three, 0)
                                 : kernel_add(c, TENON_OPCODE_MUL, dtype, square, x, 0);
  const uint32_t small = kernel_constant(c, dtype, 0.044715);
  const uint32_t part = kernel_add(c, TENON_OPCODE_MUL, dtype, small, cube, 0);
  const uint32_t sum = kernel_add(c, TENON_OPCODE_ADD, dtype, x, part, 0);
  const uint32_t factor = kernel_constant(c, dtype, 0.7978845608028654);
  const uint32_t scaled = kernel_add(c, TENON_OPCODE_MUL, dtype, sum, factor, 0);
  const uint32_t bent = kernel_add(c, TENON_OPCODE_TANH, dtype, scaled, 0, 0);
  const uint32_t one = kernel_constant(c, dtype, 1.0);
  const uint32_t gate = kernel_add(c, TENON_OPCODE_ADD, dtype, one, bent, 0);
  const uint32_t half = kernel_constant(c, dtype, 0.5);
  const uint32_t halved = kernel_add(c, TENON_OPCODE_MUL, dtype, x, half, 0);
  return kernel_add(c, TENON_OPCODE_MUL, dtype, halved, gate, 0);
}

/* The sum's terms in any order, the scale as a factor or a divisor; narrow types in f32 or as they
 * are. */
static void make_slot(kernel_case_t* c, const product_t* p) {
  const bool is_narrow = p->dtype == TENON_DTYPE_FLOAT16 || p->dtype == TENON_DTYPE_BFLOAT16;
  const tenon_dtype_t type = is_narrow && product_draw(2) == 0 ? TENON_DTYPE_FLOAT32 : p->dtype;
  const uint32_t value = c->program.operand_count++;
  uint32_t terms[3];
  uint32_t count = 0;
  uint32_t order[FAKE_RANK];
  kernel_lie_t lie;
  c->operands[value] = (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = p->dtype};
  terms[count] = kernel_immediate(c, TENON_OPCODE_INPUT, type, value);
  if (p->scale != 1.0) {
    const bool divides = product_draw(2) == 0;
    const uint32_t number = kernel_constant(c, type, divides ? 1.0 / p->scale : p->scale);
    terms[count] = divides ? kernel_add(c, TENON_OPCODE_DIV, type, terms[count], number, 0)
                           : kernel_add(c, TENON_OPCODE_MUL, type, number, terms[count], 0);
  }
  count++;
  if (p->has_residual) {
    make_lie(p, p->y_rank, order, &lie);
    order[0] = p->is_turned ? 1 : order[0];
    order[1] = p->is_turned ? 0 : order[1];
    lie = (kernel_lie_t){.order = order,
                         .step = 1,
                         .broadcast = p->is_shared ? 1 : 0,
                         .spreads = product_draw(2) == 0};
    terms[count] = kernel_operand(c, p->dtype, &lie);
    c->instructions[terms[count++]].dtype = (uint16_t)type;
  }
  if (p->has_bias) {
    lie = (kernel_lie_t){.step = product_draw(5) == 0 && !p->is_plain ? 2 : 1,
                         .broadcast = (1u << (p->y_rank - 1)) - 1,
                         .spreads = product_draw(2) == 0};
    terms[count] = kernel_operand(c, p->dtype, &lie);
    c->instructions[terms[count++]].dtype = (uint16_t)type;
  }
  uint32_t sum = terms[count - 1];
  for (uint32_t k = count - 1; k-- > 0;) {
    sum = product_draw(2) == 0 ? kernel_add(c, TENON_OPCODE_ADD, type, sum, terms[k], 0)
                               : kernel_add(c, TENON_OPCODE_ADD, type, terms[k], sum, 0);
  }
  if (p->has_relu) {
    const uint32_t zero = kernel_constant(c, type, 0.0);
    sum = kernel_add(c, TENON_OPCODE_MAX, type, sum, zero, 0);
  }
  if (p->has_gelu) {
    sum = make_gelu(c, type, sum);
  }
  /* With a residual both lie in rows without gaps: what the kernel's rules ask for. */
  lie = (kernel_lie_t){.step = 1, .pitch = p->is_plain || p->has_residual ? 0 : product_draw(9)};
  kernel_output(c, p->dtype, sum, 0, &lie);
}

static void make_constant(kernel_case_t* c, uint32_t input) {
  c->fake.values[input].info.constant_data = c->tensors[input].view.data;
  c->fake.values[input].info.flags = TENON_VALUE_CONSTANT;
}

void product_check(const product_t* p, const char* name) {
  kernel_case_t c;
  kernel_case_begin(&c, p->y_rank, p->y);
  c.whole_numbers = true; /* sums of them are exact, whatever their order */
  c.seed = state;
  c.shift = p->is_plain || product_draw(4) != 0 ? 0 : product_draw(5);
  c.recorded = product_draw(4) == 0;
  c.fake.op = "standard.mat_mul/1";
  c.fake.node_input_count = 2;
  product_make_factor(&c, p, p->a_rank, p->a, p->a_rank - 1);
  product_make_factor(&c, p, p->b_rank, p->b, p->b_rank - (p->b_rank > 1 ? 2 : 1));
  if (p->is_plain &&
      (p->is_own || product_draw(2) == 0)) { /* weights, which narrower tactics pack */
    make_constant(&c, 1);
  }
  if (p->scale != 1.0 || p->has_bias || p->has_residual || p->has_relu || p->has_gelu) {
    make_slot(&c, p);
    for (uint32_t k = 2; k < c.fake.input_count && p->is_plain; k++) {
      if (!p->is_turned && product_draw(2) == 0) { /* constants lie in rows; they are packed too */
        make_constant(&c, k);
      }
    }
  } else {
    uint32_t order[FAKE_RANK];
    kernel_lie_t lie;
    make_lie(p, p->y_rank, order, &lie);
    (void)kernel_move_tensor(&c, true, p->dtype, p->y_rank, p->y, &lie);
  }
  if (!expect(&c, p)) {
    (void)printf("FAILED %s: the reference\n", name);
    kernel_failures++;
  }
  /* Sums of `depth` products below 1 pass on a rounding each. The GPU's tanh is good for some
   * twenty units, where its result is multiplied by the sum. */
  const double error = p->has_fractions ? (double)p->a[p->a_rank - 1] : p->has_gelu ? 32 : 0;
  kernel_check_given(&c, name, error);
}
