/*
 * Runs nodes of closed operators by the host's kernels, and compares with plugins/reference: each
 * kernel that takes the node and works on dense tensors, for each instruction set, with one to three
 * threads.
 *
 *   host_operators PLUGIN.so [ROUNDS [FIRST_SEED]]
 */
#include "operator_case.h"
#include "operators.h"

enum { MAX_KERNELS = 64 };

static uint32_t thread_count; /* of the next run */

/* The kernels that ran. */
static const tenon_kernel_t* ran[MAX_KERNELS];
static uint32_t ran_count;

/* Kernels whose layouts, programs or attributes the random nodes do not have. Their tests are in
 * plugins/cpu. */
static const char* const others[] = {"convolution",
                                     "convolution_integer",
                                     "winograd",
                                     "deconvolution",
                                     "max_pool",
                                     "average_pool",
                                     "lstm",
                                     "gru",
                                     "rnn",
                                     "trees",
                                     "expressions",
                                     "moves",
                                     "dynamic_quantize"};
/* Operators whose kernels may refuse a node because its data may be invalid. */
static const char* const careful[] = {"standard.resize/1", "standard.rnn/1"};

static bool is_listed(const char* const* list, size_t count, const char* name) {
  for (size_t k = 0; k < count; k++) {
    if (strcmp(list[k], name) == 0) {
      return true;
    }
  }
  return false;
}
#define IS_LISTED(list, name) is_listed(list, sizeof(list) / sizeof((list)[0]), name)

static bool has_run(const tenon_kernel_t* kernel) {
  for (uint32_t k = 0; k < ran_count; k++) {
    if (ran[k] == kernel) {
      return true;
    }
  }
  return false;
}

static void note_run(const tenon_kernel_t* kernel) {
  kernel_runs++;
  if (!has_run(kernel) && ran_count < MAX_KERNELS) {
    ran[ran_count++] = kernel;
  }
}

/* Checks that all kernels of the plugin have run, except those of the list. */
static void expect_all_to_run(void) {
  const tenon_kernel_t* kernel = NULL;
  for (uint32_t k = 0; (kernel = opened_offered(kernel_plugin, "kernel/1", k)) != NULL; k++) {
    if (has_run(kernel) == IS_LISTED(others, kernel->name)) {
      (void)printf("FAILED '%s' %s\n", kernel->name,
                   has_run(kernel) ? "has run: delete it from the list" : "has not run");
      kernel_failures++;
    }
  }
  ran_count = 0;
}

/* Does the tactic that the fake keeps want row-major tensors alone? */
static bool is_dense(const fake_t* fake) {
  bool dense = true;
  const uint32_t input_rules = fake->tactic.inputs == NULL ? 0 : fake->input_count;
  const uint32_t output_rules = fake->tactic.outputs == NULL ? 0 : fake->output_count;
  for (uint32_t k = 0; k < input_rules; k++) {
    dense = dense && (fake->rules[0][k].kind == TENON_LAYOUT_ROW_MAJOR ||
                      fake->rules[0][k].kind == TENON_LAYOUT_ANY);
  }
  for (uint32_t k = 0; k < output_rules; k++) {
    dense = dense && (fake->rules[1][k].kind == TENON_LAYOUT_ROW_MAJOR ||
                      fake->rules[1][k].kind == TENON_LAYOUT_ANY);
  }
  return dense;
}

/* Of the fake's own arguments; outputs are in its results. */
static tenon_status_t run_kernel(const operator_case_t* c, const tenon_kernel_t* kernel,
                                 fake_t* fake) {
  void* instance = NULL;
  void* bound = NULL;
  fake->threads = thread_count;
  for (uint32_t k = 0; k < fake->output_count; k++) {
    const tenon_tensor_view_t* view = &c->fake.outputs[k].tensor;
    if (c->finds[k]) {
      fake->outputs[k] =
          (tenon_argument_t){.kind = TENON_ARGUMENT_ALLOCATE, .tensor = {.dtype = view->dtype}};
    } else {
      fake->results[k] = fake_tensor(fake, view->dtype, view->rank, view->dims);
      fake->outputs[k].tensor = fake->results[k];
    }
  }
  const uint64_t scratch_bytes =
      fake->tactic.scratch_bytes + fake->threads * fake->tactic.scratch_bytes_per_thread;
  fake->scratch = fake_allocate(fake, scratch_bytes);
  const tenon_prepare_t making = fake_prepare_call(fake, kernel_plugin_state);
  tenon_status_t status = kernel->prepare == NULL ? TENON_OK : kernel->prepare(&making, &instance);
  if (status == TENON_OK && kernel->bind != NULL) {
    status = kernel->bind(instance, (tenon_binding_t*)(void*)fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(fake, instance, bound);
  status = status == TENON_OK ? kernel->enqueue(&call) : status;
  if (kernel->unbind != NULL && bound != NULL) {
    kernel->unbind(instance, bound);
  }
  if (kernel->destroy != NULL && instance != NULL) {
    kernel->destroy(instance);
  }
  return status;
}

static bool is_same(const operator_case_t* c, const fake_t* got, const fake_t* wanted,
                    uint32_t output, double error) {
  const tenon_tensor_view_t* found = &got->results[output];
  const tenon_tensor_view_t* right = &wanted->results[output];
  const int64_t count = tenon__dims_product(right->dims, 0, right->rank);
  if (found->rank != right->rank ||
      memcmp(found->dims, right->dims, right->rank * sizeof(int64_t)) != 0) {
    (void)fprintf(stderr, "%s: output %u has other extents\n", c->fake.op, output);
    return false;
  }
  for (int64_t k = 0; k < count; k++) {
    const tenon__number_t a = tenon__number_load(found->data, 0, right->dtype, k);
    const tenon__number_t b = tenon__number_load(right->data, 0, right->dtype, k);
    if (!operator_is_near(right->dtype, a, b, error)) {
      (void)fprintf(stderr, "%s: output %u, element %lld is %.9g, expected %.9g\n", c->fake.op,
                    output, (long long)k, tenon__number_value(right->dtype, a),
                    tenon__number_value(right->dtype, b));
      return false;
    }
  }
  return true;
}

/* Each dense kernel that takes it. NULL: `wanted` is an error. */
static void check_kernels(operator_case_t* c, const fake_t* wanted, double error) {
  const tenon_kernel_t* kernel = NULL;
  bool any_ran = false;
  for (uint32_t nth = 0; (kernel = kernel_find_nth(&c->fake, nth)) != NULL; nth++) {
    tenon_refusal_t refusal = {0};
    fake_t fake = c->fake;
    fake.block_count = 0;
    if (!kernel_takes(kernel, &fake, &refusal) || kernel_take_tactic(kernel, &fake, 0) == 0 ||
        !is_dense(&fake)) {
      continue;
    }
    note_run(kernel);
    any_ran = true;
    thread_count = thread_count % 3 + 1;
    const tenon_status_t status = run_kernel(c, kernel, &fake);
    bool good = wanted == NULL ? status == TENON_ERROR_INVALID_DATA : status == TENON_OK;
    if (!good) {
      (void)fprintf(stderr, "%s: status %d, %s\n", c->fake.op, status, fake.failure);
    }
    const uint32_t compared = wanted == NULL ? 0 : fake.output_count;
    for (uint32_t k = 0; k < compared && good; k++) {
      good = is_same(c, &fake, wanted, k, error);
    }
    if (!good) {
      (void)printf("FAILED %s by '%s'\n", c->fake.op, kernel->name);
      kernel_failures++;
    }
    fake_done(&fake);
  }
  if (wanted == NULL && !any_ran && kernel_find(&c->fake) != NULL &&
      !IS_LISTED(careful, c->fake.op)) {
    (void)printf("FAILED %s: all kernels refuse a node with an error in its data\n", c->fake.op);
    kernel_failures++;
  }
}

void operator_check(operator_case_t* c, double error) {
  fake_t wanted;
  operator_describe(c);
  const tenon_status_t status = operator_run_reference(c, &wanted);
  if (status == TENON_OK) {
    check_kernels(c, &wanted, error);
  } else {
    (void)fprintf(stderr, "%s: the reference says %d, %s\n", c->fake.op, status, wanted.failure);
    kernel_failures++;
  }
  fake_done(&wanted);
  fake_done(&c->fake);
}

void operator_check_fault(operator_case_t* c, int64_t value) {
  (void)value;
  operator_describe(c);
  check_kernels(c, NULL, 0);
  fake_done(&c->fake);
}

int main(int argument_count, char** arguments) {
  /* If the machine lacks amx, the plugin uses its widest instruction set. Those between avx2 and amx
   * are in plugins/cpu/integer_test.c. */
  static const char* const names[] = {"baseline", "avx2", "amx"};
  static const tenon_device_descriptor_t device = {.name = "cpu"};
  const uint32_t rounds = argument_count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 3;
  const uint32_t first = argument_count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 10) : 1;
  kernel_device.table = &device;
  for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
    (void)setenv("TENON_CPU", names[k], 1);
    if (argument_count < 2 ||
        !opened_start_plugin(arguments[1], &kernel_plugin, &kernel_plugin_state)) {
      (void)fprintf(stderr, "host_operators PLUGIN.so [ROUNDS [FIRST_SEED]]\n");
      return OPENED_FAILED;
    }
    operators_check_faults();
    for (uint32_t seed = first; seed < first + rounds; seed++) {
      operators_check_round(seed);
    }
    expect_all_to_run();
    opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  }
  (void)printf("%d nodes, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
