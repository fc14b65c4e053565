/* Another process: loads a plan and writes what its runs give to standard output.
 *   engine_runner PLAN MOST SEED */
#include <stdio.h>
#include <stdlib.h>

#include "tests/engine/networks.h"

static void print_message(void* user, int32_t severity, const char* message) {
  (void)user;
  if (severity >= TENON_SEVERITY_WARNING) {
    (void)fprintf(stderr, "%s\n", message);
  }
}

static tenon_status_t run(const char* plan, int64_t most, uint32_t seed, test_result_t* result) {
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  tenon_registry_t* registry = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  options.logger.report = print_message;
  tenon_status_t status = tenon_registry_create(&options, &registry);
  if (status == TENON_OK) {
    status = tenon_engine_create_from_file(registry, plan, NULL, &engine);
  }
  if (status == TENON_OK) {
    status = tenon_context_create(engine, NULL, &context);
  }
  if (status == TENON_OK) {
    status = test_run(engine, context, most, seed, result);
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_registry_release(registry);
  return status;
}

int main(int argc, char** argv) {
  test_result_t result = {0};
  if (argc != 4) {
    (void)fprintf(stderr, "usage: engine_runner PLAN MOST SEED\n");
    return 2;
  }
  const tenon_status_t status =
      run(argv[1], strtoll(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10), &result);
  const bool good =
      status == TENON_OK && fwrite(result.data, 1, result.size, stdout) == result.size;
  test_result_free(&result);
  return good ? 0 : 1;
}
