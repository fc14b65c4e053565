/*
 * Measures matrix products for the page of figures. This is no test.
 *
 *   device_measure_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so
 *
 * For each size and type, prints the times of the first and the best tactic, and the operations per
 * second of the best one. A chain reads the same tensors repeatedly, so small ones stay in the
 * cache. If KERNEL_PLUGIN is the device's plugin, measures products of encoders instead: a constant
 * matrix in f16, with a bias and the operation after it. Prints each tactic with its estimate.
 */
#include "measure_chain.h"

enum { F32 = TENON_DTYPE_FLOAT32, F16 = TENON_DTYPE_FLOAT16, BF16 = TENON_DTYPE_BFLOAT16 };

typedef struct size_of_product_t {
  int64_t batch;
  int64_t m;
  int64_t k;
  int64_t n;
} size_of_product_t;

static bool take_tactic(const kernel_case_t* c, bool narrow, const kernel_life_t* life) {
  const bool is_narrow = c->fake.numerics.product_mantissa_bits != 0;
  return life->bound != NULL && is_narrow == narrow;
}

static void make(kernel_case_t* c, const size_of_product_t* size, tenon_dtype_t dtype,
                 bool has_bias) {
  const int64_t y[] = {size->batch, size->m, size->n};
  const int64_t a[] = {size->batch, size->m, size->k};
  const int64_t b[] = {size->batch, size->k, size->n};
  const uint32_t from = size->batch == 1 ? 1 : 0;
  const uint32_t rank = 3 - from;
  kernel_case_begin(c, rank, y + from);
  c->whole_numbers = true;
  c->fake.op = "standard.mat_mul/1";
  c->fake.node_input_count = 2;
  (void)kernel_move_tensor(c, false, dtype, rank, a + from, NULL);
  (void)kernel_move_tensor(c, false, dtype, rank, b + from, NULL);
  if (!has_bias) {
    (void)kernel_move_tensor(c, true, dtype, rank, y + from, NULL);
    return;
  }
  const kernel_lie_t lie = {.step = 1, .broadcast = (1u << (rank - 1)) - 1};
  const uint32_t number = c->program.operand_count++;
  c->operands[number] = (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = dtype};
  const uint32_t value = kernel_immediate(c, TENON_OPCODE_INPUT, dtype, number);
  const uint32_t bias = kernel_operand(c, dtype, &lie);
  const uint32_t sum = kernel_add(c, TENON_OPCODE_ADD, dtype, value, bias, 0);
  const uint32_t zero = kernel_constant(c, dtype, 0.0);
  kernel_output(c, dtype, kernel_add(c, TENON_OPCODE_MAX, dtype, sum, zero, 0), 0, NULL);
}

static void measure(const size_of_product_t* size, tenon_dtype_t dtype, bool narrow,
                    bool has_bias) {
  enum { TACTICS = 36 };
  kernel_case_t c;
  double first = 0;
  double best = 1e9;
  uint32_t winner = 0;
  make(&c, size, dtype, has_bias);
  const double operations =
      2.0 * (double)size->batch * (double)size->m * (double)size->k * (double)size->n;
  const bool large = operations > 1e10;
  for (uint32_t tactic = 0; tactic < TACTICS; tactic++) {
    kernel_life_t life;
    const tenon_status_t status = kernel_case_live(&c, tactic, &life);
    if (status == TENON_OK && take_tactic(&c, narrow, &life) &&
        kernel_life_enqueue(&life) == TENON_OK) {
      const double step = measure_step(&life, large ? 1 : 10, large ? 5 : 60);
      first = first == 0 ? step : first;
      winner = step < best ? tactic : winner;
      best = step < best ? step : best;
    }
    kernel_life_end(&life);
  }
  const char* type = dtype == F16 ? "f16" : dtype == BF16 ? "bf16" : narrow ? "tf32" : "f32";
  (void)printf(
      "%4lld x %5lld x %5lld x %5lld  %-4s %-10s %9.2f us, first %9.2f us, tactic %2u, "
      "%7.1f TFLOP/s\n",
      (long long)size->batch, (long long)size->m, (long long)size->k, (long long)size->n, type,
      has_bias ? "bias, relu" : "", best * 1e6, first * 1e6, winner, operations / best * 1e-12);
  (void)fflush(stdout);
  kernel_case_end(&c);
}

/* ---- Own kernels ---- */

typedef enum behind_t { BEHIND_BIAS, BEHIND_RESIDUAL, BEHIND_GELU } behind_t;

typedef struct layer_t {
  const char* name;
  int64_t rows;
  int64_t terms;
  int64_t columns;
  behind_t behind;
} layer_t;

/* 0.5 * x * (1 + erf(x / root)). The program reads `root` from memory, as in exported models. */
static uint32_t make_gelu(kernel_case_t* c, uint32_t x) {
  const kernel_lie_t number = {.step = 1, .broadcast = 3};
  const uint32_t root = kernel_operand(c, F16, &number);
  c->instructions[root].dtype = F32;
  const uint32_t inner = kernel_add(c, TENON_OPCODE_DIV, F32, x, root, 0);
  const uint32_t bent = kernel_add(c, TENON_OPCODE_ERF, F32, inner, 0, 0);
  const uint32_t one = kernel_constant(c, F32, 1.0);
  const uint32_t gate = kernel_add(c, TENON_OPCODE_ADD, F32, bent, one, 0);
  const uint32_t half = kernel_constant(c, F32, 0.5);
  const uint32_t halved = kernel_add(c, TENON_OPCODE_MUL, F32, x, half, 0);
  return kernel_add(c, TENON_OPCODE_MUL, F32, halved, gate, 0);
}

static void make_layer(kernel_case_t* c, const layer_t* layer) {
  const int64_t y[] = {layer->rows, layer->columns};
  const int64_t a[] = {layer->rows, layer->terms};
  const int64_t b[] = {layer->terms, layer->columns};
  const kernel_lie_t bias = {.step = 1, .broadcast = 1};
  kernel_case_begin(c, 2, y);
  c->whole_numbers = true;
  c->fake.op = "standard.mat_mul/1";
  c->fake.node_input_count = 2;
  (void)kernel_move_tensor(c, false, F16, 2, a, NULL);
  (void)kernel_move_tensor(c, false, F16, 2, b, NULL);
  const uint32_t number = c->program.operand_count++;
  c->operands[number] = (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = F16};
  uint32_t value = kernel_immediate(c, TENON_OPCODE_INPUT, F32, number);
  const uint32_t added = kernel_operand(c, F16, &bias);
  c->instructions[added].dtype = F32;
  value = kernel_add(c, TENON_OPCODE_ADD, F32, value, added, 0);
  if (layer->behind == BEHIND_RESIDUAL) {
    const uint32_t residual = kernel_operand(c, F16, NULL);
    c->instructions[residual].dtype = F32;
    value = kernel_add(c, TENON_OPCODE_ADD, F32, value, residual, 0);
  }
  value = layer->behind == BEHIND_GELU ? make_gelu(c, value) : value;
  kernel_output(c, F16, value, 0, NULL);
  for (uint32_t k = 1; k < (layer->behind == BEHIND_GELU ? 4 : 3); k++) {
    c->fake.values[k].info.constant_data = c->tensors[k].view.data;
    c->fake.values[k].info.flags = TENON_VALUE_CONSTANT;
  }
}

static void measure_layer(const layer_t* layer) {
  kernel_case_t c;
  double best = 0;
  char name[96] = "none";
  tenon_status_t status = TENON_OK;
  kernel_life_t life;
  make_layer(&c, layer);
  (void)kernel_case_live(&c, 0, &life);
  kernel_life_end(&life);
  const tenon_kernel_t* kernel = kernel_find(&c.fake);
  kernel_expect_tactics(kernel, &c.fake, 0, kernel_take_tactic(kernel, &c.fake, 0), 1);
  for (uint32_t tactic = 0; status != TENON_ERROR_UNSUPPORTED; tactic++) {
    status = kernel_case_live(&c, tactic, &life);
    if (status == TENON_OK && kernel_life_enqueue(&life) == TENON_OK) {
      const double step = measure_step(&life, 20, 120);
      (void)printf("    %7.2f  %5.2f  %s\n", step * 1e6, c.fake.tactic.estimate_seconds * 1e6,
                   c.fake.tactic.name);
      if (best == 0 || step < best) {
        best = step;
        (void)snprintf(name, sizeof(name), "%s", c.fake.tactic.name);
      }
    }
    kernel_life_end(&life);
  }
  (void)printf("%-30s %4lld x %4lld x %4lld %7.2f  %s\n", layer->name, (long long)layer->rows,
               (long long)layer->terms, (long long)layer->columns, best * 1e6, name);
  (void)fflush(stdout);
  kernel_case_end(&c);
}

static void measure_layers(void) {
  static const layer_t layers[] = {{"BERT-base qkv", 128, 768, 2304, BEHIND_BIAS},
                                   {"out + residual", 128, 768, 768, BEHIND_RESIDUAL},
                                   {"up, GELU", 128, 768, 3072, BEHIND_GELU},
                                   {"down + residual", 128, 3072, 768, BEHIND_RESIDUAL},
                                   {"ViT-B/16 qkv", 197, 768, 2304, BEHIND_BIAS},
                                   {"out + residual", 197, 768, 768, BEHIND_RESIDUAL},
                                   {"up, GELU", 197, 768, 3072, BEHIND_GELU},
                                   {"down + residual", 197, 3072, 768, BEHIND_RESIDUAL},
                                   {"GPT-2 medium up, GELU", 32, 1024, 4096, BEHIND_GELU},
                                   {"512 rows, out + residual", 512, 768, 768, BEHIND_RESIDUAL},
                                   {"ResNet-50 1x1 @14", 196, 1024, 256, BEHIND_BIAS},
                                   {"ResNet-50 1x1 @7", 49, 512, 2048, BEHIND_RESIDUAL}};
  for (size_t k = 0; k < sizeof(layers) / sizeof(*layers); k++) {
    measure_layer(&layers[k]);
  }
}

int main(int argument_count, char** arguments) {
  static const size_of_product_t sizes[] = {
      {1, 1, 1024, 1000}, {1, 128, 768, 768}, {1, 128, 768, 3072},  {1, 128, 3072, 768},
      {12, 128, 64, 128}, {12, 128, 128, 64}, {1, 4096, 768, 3072}, {1, 4096, 4096, 4096}};
  if (argument_count < 4) {
    (void)fprintf(stderr, "device_measure_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  if (!opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  const bool is_own = strcmp(arguments[1], arguments[3]) == 0;
  if (is_own) {
    measure_layers();
  }
  for (size_t k = 0; !is_own && k < sizeof(sizes) / sizeof(*sizes); k++) {
    measure(&sizes[k], F32, false, false);
    measure(&sizes[k], F32, true, false);
    measure(&sizes[k], F16, false, false);
    if (sizes[k].batch == 1) {
      measure(&sizes[k], F32, false, true);
      measure(&sizes[k], F16, false, true);
    }
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  return 0;
}
