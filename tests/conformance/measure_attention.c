/*
 * What attention takes as one step: for the page of figures, no test.
 *
 *   device_measure_attention DEVICE_PLUGIN.so DEVICE [all|NAME [KERNEL_PLUGIN.so]]
 *
 * For each size the best tactic, with the operations a second of its products; with `all`, or of
 * the one size that is named, each of them. By the kernel of the device's own plugin, or of another
 * one; what that does not take is left out. A chain runs over the same tensors again and again, so
 * small ones lie in the cache.
 */
#include "attention_case.h"
#include "measure_chain.h"

typedef struct size_of_attention_t {
  const char* name;
  int64_t batch;
  int64_t heads;
  int64_t length;
  int64_t features;
  bool has_mask; /* of keys, in f32, and q and k scaled, as in BERT */
  bool has_bias; /* of all scores, in f16, as in T5 */
} size_of_attention_t;

static void make(const size_of_attention_t* size, attention_case_t* out_case) {
  attention_t a = {.dtype = TENON_DTYPE_FLOAT16,
                   .rank = 4,
                   .outer = {size->batch, size->heads},
                   .queries = size->length,
                   .keys = size->length,
                   .features = size->features,
                   .results = size->features,
                   .form = size->has_mask ? ATTENTION_REPLACED : ATTENTION_PLAIN,
                   .scales_q = size->has_mask,
                   .scales_k = size->has_mask,
                   .is_plain = true,
                   .by_heads = true};
  if (size->has_mask) {
    a.steps[a.step_count++] = (attention_step_t){
        .kind = ATTENTION_ADD, .rank = 4, .broadcast = 6, .dtype = TENON_DTYPE_FLOAT32};
  }
  if (size->has_bias) {
    a.steps[a.step_count++] = (attention_step_t){
        .kind = ATTENTION_ADD, .rank = 4, .broadcast = 1, .dtype = TENON_DTYPE_FLOAT16};
  }
  attention_make(&a, out_case, true);
}

static void measure(const size_of_attention_t* size, bool shows_all) {
  enum { TACTICS = 64 };
  attention_case_t ac;
  double best = 1e9;
  char winner[96] = "none";
  make(size, &ac);
  const double operations = 4.0 * (double)(size->batch * size->heads) * (double)size->length *
                            (double)size->length * (double)size->features;
  for (uint32_t tactic = 0; tactic < TACTICS; tactic++) {
    kernel_life_t life;
    const tenon_status_t status = kernel_case_live(&ac.c, tactic, &life);
    const bool is_last = tactic >= ac.c.fake.tactic_count;
    /* Both orders of results are one code, and the case has the one. */
    const bool is_one = !is_last && strstr(ac.c.fake.tactic_name, "rows of all heads") != NULL;
    if (status == TENON_OK && is_one && kernel_life_enqueue(&life) == TENON_OK) {
      const double step = measure_step(&life, 10, size->batch > 1 ? 30 : 110);
      if (shows_all) {
        (void)printf("    %-60s %8.2f us\n", ac.c.fake.tactic_name, step * 1e6);
      }
      if (step < best) {
        best = step;
        (void)snprintf(winner, sizeof(winner), "%s", ac.c.fake.tactic_name);
      }
    }
    kernel_life_end(&life);
    if (is_last) {
      break;
    }
  }
  if (best < 1e9) {
    (void)printf("%-10s %3lld x %2lld x %4lld x %3lld %8.2f us, %6.1f TFLOP/s, %s\n", size->name,
                 (long long)size->batch, (long long)size->heads, (long long)size->length,
                 (long long)size->features, best * 1e6, operations / best * 1e-12, winner);
  }
  (void)fflush(stdout);
  kernel_case_end(&ac.c);
}

int main(int argument_count, char** arguments) {
  static const size_of_attention_t sizes[] = {
      {"BERT", 1, 12, 128, 64, true, false},  {"BERT", 32, 12, 128, 64, true, false},
      {"bare", 1, 12, 128, 64, false, false}, {"bare", 32, 12, 128, 64, false, false},
      {"ViT", 1, 12, 197, 64, false, false},  {"ViT", 32, 12, 197, 64, false, false},
      {"T5", 1, 8, 64, 64, false, true},      {"T5", 32, 8, 64, 64, false, true},
      {"long", 1, 12, 1024, 64, true, false}, {"long", 8, 16, 2048, 128, false, false},
      {"small", 1, 3, 20, 16, true, false}};
  if (argument_count < 3) {
    (void)fprintf(
        stderr, "device_measure_attention DEVICE_PLUGIN.so DEVICE [all|NAME [KERNEL_PLUGIN.so]]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  if (argument_count > 4 &&
      !opened_start_plugin(arguments[4], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
    const bool is_named = argument_count > 3 && strcmp(arguments[3], sizes[k].name) == 0;
    const bool shows_all = argument_count > 3 && strcmp(arguments[3], "all") == 0;
    if (argument_count == 3 || is_named || shows_all) {
      measure(&sizes[k], is_named || shows_all);
    }
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  return 0;
}
