/*
 * What products of matrices take: for the page of figures, no test.
 *
 *   device_measure_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so
 *
 * For each size and type the first tactic and the best one, with the operations a second of the
 * latter; a chain runs over the same tensors again and again, so small ones lie in the cache.
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
  for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
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
