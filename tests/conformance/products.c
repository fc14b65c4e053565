/*
 * Products of matrices by a plugin's kernel on another plugin's device, compared with
 * plugins/reference: shapes that nobody chose, from anywhere in memory, of every type, with and
 * without something in the slot.
 *
 *   device_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]
 *
 * Exits with 77 where there is no such device.
 */
#include "kernel_case.h"

static uint32_t state = 1;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

/* What is multiplied, and what is done behind. */
typedef struct product_t {
  tenon_dtype_t dtype;
  uint32_t a_rank;
  uint32_t b_rank;
  uint32_t y_rank;
  int64_t a[FAKE_RANK];
  int64_t b[FAKE_RANK];
  int64_t y[FAKE_RANK];
  double scale;
  bool has_bias;
  bool has_residual;
  bool has_relu;
  bool has_gelu;  /* by tanh */
  bool is_shared; /* the residual, by the first axis */
  bool has_fractions;
  bool is_plain;  /* everything dense */
  bool is_own;    /* the matrix is constant */
  bool is_turned; /* the residual's first two axes */
} product_t;

/* ---- What is expected ---- */

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

/* ---- Making ---- */

static void make_lie(const product_t* p, uint32_t rank, uint32_t order[FAKE_RANK],
                     kernel_lie_t* out) {
  for (uint32_t axis = 0; axis < rank; axis++) {
    order[axis] = axis;
  }
  *out = (kernel_lie_t){.order = order, .step = 1};
  if (p->is_plain) {
    return;
  }
  for (uint32_t axis = rank; draw(2) == 0 && axis-- > 1;) {
    const uint32_t other = draw(axis + 1);
    const uint32_t kept = order[axis];
    order[axis] = order[other];
    order[other] = kept;
  }
  out->pitch = draw(4) == 0 ? draw(9) : 0;
  out->step = draw(8) == 0 ? 2 : 1;
}

/* A sum that runs backwards is added up in the result's type: only where that is exact too. */
static bool may_sum_backwards(const product_t* p) {
  const int64_t depth = p->a[p->a_rank - 1];
  const int64_t most = p->dtype == TENON_DTYPE_BFLOAT16 ? 256 : 2048; /* whole numbers */
  return p->dtype == TENON_DTYPE_FLOAT32 || p->dtype == TENON_DTYPE_FLOAT64 ||
         (depth + 1) * 64 <= most;
}

static void make_factor(kernel_case_t* c, const product_t* p, uint32_t rank, const int64_t* dims,
                        uint32_t depth_axis) {
  uint32_t order[FAKE_RANK];
  kernel_lie_t lie;
  make_lie(p, rank, order, &lie);
  lie.reversed = !p->is_plain && draw(6) == 0 ? draw(1u << rank) : 0;
  if (!may_sum_backwards(p)) {
    lie.reversed &= ~(uint64_t)(1u << depth_axis);
  }
  const kernel_tensor_t* tensor = kernel_move_tensor(c, false, p->dtype, rank, dims, &lie);
  const int64_t count = p->has_fractions ? tenon__dims_product(dims, 0, rank) : 0;
  for (int64_t k = 0; k < count; k++) {
    const tenon__number_t number = {.f = (double)draw(1 << 20) * 0x1p-19 - 1.0};
    tenon__number_store(tensor->view.data, 0, p->dtype, tenon__view_place(&tensor->view, k),
                        number);
  }
}

/* x * 0.5 * (1 + tanh(...)), the cube as a power or as products. */
static uint32_t make_gelu(kernel_case_t* c, tenon_dtype_t dtype, uint32_t x) {
  const bool by_power = draw(2) == 0;
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
  const tenon_dtype_t type = is_narrow && draw(2) == 0 ? TENON_DTYPE_FLOAT32 : p->dtype;
  const uint32_t value = c->program.operand_count++;
  uint32_t terms[3];
  uint32_t count = 0;
  uint32_t order[FAKE_RANK];
  kernel_lie_t lie;
  c->operands[value] = (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = p->dtype};
  terms[count] = kernel_immediate(c, TENON_OPCODE_INPUT, type, value);
  if (p->scale != 1.0) {
    const bool divides = draw(2) == 0;
    const uint32_t number = kernel_constant(c, type, divides ? 1.0 / p->scale : p->scale);
    terms[count] = divides ? kernel_add(c, TENON_OPCODE_DIV, type, terms[count], number, 0)
                           : kernel_add(c, TENON_OPCODE_MUL, type, number, terms[count], 0);
  }
  count++;
  if (p->has_residual) {
    make_lie(p, p->y_rank, order, &lie);
    order[0] = p->is_turned ? 1 : order[0];
    order[1] = p->is_turned ? 0 : order[1];
    lie = (kernel_lie_t){
        .order = order, .step = 1, .broadcast = p->is_shared ? 1 : 0, .spreads = draw(2) == 0};
    terms[count] = kernel_operand(c, p->dtype, &lie);
    c->instructions[terms[count++]].dtype = (uint16_t)type;
  }
  if (p->has_bias) {
    lie = (kernel_lie_t){.step = draw(5) == 0 && !p->is_plain ? 2 : 1,
                         .broadcast = (1u << (p->y_rank - 1)) - 1,
                         .spreads = draw(2) == 0};
    terms[count] = kernel_operand(c, p->dtype, &lie);
    c->instructions[terms[count++]].dtype = (uint16_t)type;
  }
  uint32_t sum = terms[count - 1];
  for (uint32_t k = count - 1; k-- > 0;) {
    sum = draw(2) == 0 ? kernel_add(c, TENON_OPCODE_ADD, type, sum, terms[k], 0)
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
  lie = (kernel_lie_t){.step = 1, .pitch = p->is_plain || p->has_residual ? 0 : draw(9)};
  kernel_output(c, p->dtype, sum, 0, &lie);
}

static void make_constant(kernel_case_t* c, uint32_t input) {
  c->fake.values[input].info.constant_data = c->tensors[input].view.data;
  c->fake.values[input].info.flags = TENON_VALUE_CONSTANT;
}

static void check_product(const product_t* p, const char* name) {
  kernel_case_t c;
  kernel_case_begin(&c, p->y_rank, p->y);
  c.whole_numbers = true; /* sums of them are exact, whatever their order */
  c.seed = state;
  c.shift = p->is_plain || draw(4) != 0 ? 0 : draw(5);
  c.recorded = draw(4) == 0;
  c.fake.op = "standard.mat_mul/1";
  c.fake.node_input_count = 2;
  make_factor(&c, p, p->a_rank, p->a, p->a_rank - 1);
  make_factor(&c, p, p->b_rank, p->b, p->b_rank - (p->b_rank > 1 ? 2 : 1));
  if (p->is_plain && (p->is_own || draw(2) == 0)) { /* weights, which narrower tactics pack */
    make_constant(&c, 1);
  }
  if (p->scale != 1.0 || p->has_bias || p->has_residual || p->has_relu || p->has_gelu) {
    make_slot(&c, p);
    for (uint32_t k = 2; k < c.fake.input_count && p->is_plain; k++) {
      if (!p->is_turned && draw(2) == 0) { /* constants lie in rows; they are packed too */
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

/* ---- Shapes ---- */

static int64_t draw_extent(void) {
  switch (draw(8)) {
    case 0:
      return 1;
    case 1:
    case 2:
      return 8 * (1 + (int64_t)draw(6));
    default:
      return 1 + (int64_t)draw(23);
  }
}

/* Batches broadcast on either side, and may be missing. */
static void draw_shape(product_t* p) {
  const uint32_t batch = draw(4);
  const uint32_t a_batch = draw(3) == 0 ? draw(batch + 1) : batch;
  const uint32_t b_batch = a_batch < batch ? batch : draw(batch + 1);
  const int64_t m = draw_extent();
  const int64_t n = draw_extent();
  const int64_t k = draw(20) == 0 ? 0 : draw_extent();
  for (uint32_t axis = 0; axis < batch; axis++) {
    const int64_t extent = draw(30) == 0 ? 0 : 1 + (int64_t)draw(4);
    const uint32_t side = draw(4);
    const bool in_a = axis + a_batch >= batch;
    const bool in_b = axis + b_batch >= batch;
    const int64_t of_a = !in_a || (side == 0 && in_b) ? 1 : extent;
    const int64_t of_b = !in_b || (side == 1 && of_a != 1) ? 1 : extent;
    p->y[p->y_rank++] = of_a == 1 ? of_b : of_a;
    if (in_a) {
      p->a[p->a_rank++] = of_a;
    }
    if (in_b) {
      p->b[p->b_rank++] = of_b;
    }
  }
  if (p->a_rank > 0 || draw(6) != 0) {
    p->a[p->a_rank++] = m;
    p->y[p->y_rank++] = m;
  }
  p->a[p->a_rank++] = k;
  p->b[p->b_rank++] = k;
  if (p->b_rank > 1 || draw(6) != 0) {
    p->b[p->b_rank++] = n;
    p->y[p->y_rank++] = n;
  }
}

/* By the device's own kernel: few rows, a constant matrix, sums of eights, of f32 of fours;
 * anything behind it. */
static void check_own(unsigned number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                        TENON_DTYPE_FLOAT32};
  product_t p = {.scale = 1.0, .is_plain = true, .is_own = true, .b_rank = 2};
  char name[64];
  state = number * 7919u + 29u;
  p.dtype = types[number % 3];
  p.a_rank = p.y_rank = 2 + draw(3);
  for (uint32_t axis = 0; axis + 1 < p.a_rank; axis++) {
    p.a[axis] = p.y[axis] = 1 + (int64_t)draw(axis + 2 == p.a_rank ? 56 : 3);
  }
  p.a[p.a_rank - 1] = p.b[0] =
      (p.dtype == TENON_DTYPE_FLOAT32 ? 4 : 8) * (1 + (int64_t)draw(number % 4 == 0 ? 90 : 16));
  p.b[1] = p.y[p.y_rank - 1] = 1 + (int64_t)draw(150);
  p.scale = draw(3) == 0 ? 0.5 : 1.0;
  p.has_relu = draw(2) == 0;
  p.has_gelu = p.dtype != TENON_DTYPE_FLOAT32 && !p.has_relu && draw(2) == 0;
  p.has_residual = draw(3) == 0;
  p.has_bias = draw(2) == 0;
  p.has_fractions = p.dtype == TENON_DTYPE_FLOAT32 && number % 2 == 0;
  (void)snprintf(name, sizeof(name), "own product %u", number);
  check_product(&p, name);
}

/* Long sums, which blocks share: terms and rows that fill no tile. */
static void check_long(void) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  for (uint32_t k = 0; k < 2; k++) {
    product_t p = {.dtype = types[k],
                   .a_rank = 2,
                   .b_rank = 2,
                   .y_rank = 2,
                   .a = {70 + 60 * k, 1000},
                   .b = {1000, 200},
                   .y = {70 + 60 * k, 200},
                   .scale = 1.0,
                   .has_bias = true,
                   .has_residual = true,
                   .is_plain = true,
                   .is_own = true};
    state = 7 + k;
    check_product(&p, "a long sum");
  }
}

static void check_one(unsigned number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
                                        TENON_DTYPE_BFLOAT16, TENON_DTYPE_FLOAT64};
  product_t p = {.scale = 1.0};
  char name[64];
  state = number * 7919u + 17u;
  p.dtype = types[draw(10) < 5 ? 0 : draw(4)];
  p.is_plain = draw(3) == 0;
  draw_shape(&p);
  if (p.dtype != TENON_DTYPE_FLOAT64 && draw(2) == 0) {
    p.scale = draw(3) == 0 ? 0.5 : 1.0;
    p.has_relu = draw(2) == 0;
    p.has_gelu = p.dtype != TENON_DTYPE_FLOAT32 && !p.has_relu && draw(2) == 0;
    p.has_residual = draw(3) == 0;
    p.has_bias = p.b_rank > 1 && draw(2) == 0;
    p.is_shared = p.has_residual && p.y_rank > 2 && draw(2) == 0;
  }
  (void)snprintf(name, sizeof(name), "random product %u", number);
  check_product(&p, name);
}

/* Fractions: the sums of f32 must be those of f32. */
static void check_fractions(void) {
  static const int64_t depths[] = {1, 17, 64, 300, 1000};
  for (size_t k = 0; k < sizeof(depths) / sizeof(*depths); k++) {
    product_t p = {.dtype = TENON_DTYPE_FLOAT32,
                   .a_rank = 2,
                   .b_rank = 2,
                   .y_rank = 2,
                   .a = {24, depths[k]},
                   .b = {depths[k], 40},
                   .y = {24, 40},
                   .scale = 1.0,
                   .has_fractions = true,
                   .is_plain = k % 2 == 0};
    check_product(&p, "fractions");
  }
}

/* Lines of the residual begin at multiples of 16 bytes, those of the result do not. */
static void check_unlike(void) {
  product_t p = {.dtype = TENON_DTYPE_FLOAT32,
                 .a_rank = 3,
                 .b_rank = 3,
                 .y_rank = 3,
                 .a = {4, 40, 16},
                 .b = {4, 16, 38},
                 .y = {4, 40, 38},
                 .scale = 1.0,
                 .has_residual = true,
                 .is_plain = true,
                 .is_turned = true};
  check_product(&p, "unlike lines");
}

/* A plan may hold anything for a configuration: a type that there is not is refused. */
static void check_spoilt(void) {
  enum { MOST = 64 };
  const int64_t dims[] = {8, 8};
  const product_t p = {.dtype = TENON_DTYPE_FLOAT32,
                       .a_rank = 2,
                       .a = {dims[0], dims[1]},
                       .is_plain = true,
                       .scale = 1.0};
  uint8_t spoilt[MOST] = {0};
  kernel_case_t c;
  kernel_life_t life;
  kernel_case_begin(&c, 2, dims);
  c.fake.op = "standard.mat_mul/1";
  c.fake.node_input_count = 2;
  make_factor(&c, &p, 2, dims, 1);
  make_factor(&c, &p, 2, dims, 0);
  (void)kernel_move_tensor(&c, true, p.dtype, 2, dims, NULL);
  tenon_status_t status = kernel_case_live(&c, 0, &life);
  kernel_life_end(&life);
  if (status == TENON_OK && c.fake.tactic.configuration_size <= MOST) {
    const size_t size = c.fake.tactic.configuration_size;
    memcpy(spoilt, c.fake.tactic.configuration, size);
    memset(spoilt + size - sizeof(tenon_dtype_t), 0x77, sizeof(tenon_dtype_t));
    c.fake.tactic.configuration = spoilt;
    status = kernel_life_begin(&life, kernel_find(&c.fake), &c.fake);
    status = status == TENON_OK ? kernel_life_bind(&life) : status;
    kernel_life_end(&life);
  }
  kernel_runs++;
  if (status != TENON_ERROR_INVALID_ARGUMENT) {
    (void)printf("FAILED a configuration of another type: status %d\n", status);
    kernel_failures++;
  }
  kernel_case_end(&c);
}

static void check_all(unsigned count) {
  check_fractions();
  for (unsigned number = 1; number <= count; number++) {
    check_one(number);
  }
  check_unlike();
  check_spoilt();
}

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    (void)fprintf(stderr, "device_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  if (!opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  const unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 200;
  if (strcmp(arguments[1], arguments[3]) == 0) {
    for (unsigned number = 1; number <= count; number++) {
      check_own(number);
    }
    check_long();
  } else {
    check_all(count);
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  (void)printf("%d products, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
