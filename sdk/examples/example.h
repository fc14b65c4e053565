/* What the examples share: warnings to standard error, and a way out at the first failure. */
#ifndef EXAMPLE_H_
#define EXAMPLE_H_

#include <stdio.h>

#include "tenon/tenon.h"

/* Ends the example with the status of a call that failed, and says why. Goes to `done`, where
 * everything that was made is destroyed: every destroy and release takes NULL. */
#define TRY(call)                                                             \
  do {                                                                        \
    status = (call);                                                          \
    if (status != TENON_OK) {                                                 \
      (void)fprintf(stderr, "%s: %s\n%s\n", #call, tenon_status_text(status), \
                    tenon_last_message());                                    \
      goto done;                                                              \
    }                                                                         \
  } while (0)

static inline void example_log(void* user, int32_t severity, const char* message) {
  (void)user;
  if (severity == TENON_SEVERITY_WARNING) { /* errors: TRY */
    (void)fprintf(stderr, "%s\n", message);
  }
}

/* A registry with the plugins that belong to this library, or those of TENON_PLUGIN_PATH. */
static inline tenon_status_t example_registry(tenon_registry_t** out_registry) {
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger.report = example_log;
  return tenon_registry_create(&options, out_registry);
}

/* An engine of a model file. `ranges`: tenon_profile_range_t, least, usual and largest extents of the
 * inputs with dynamic dimensions. Kernels are measured for the usual ones. */
static inline tenon_status_t example_engine(tenon_registry_t* registry, const char* model,
                                            tenon_list_t ranges, tenon_engine_t** out_engine) {
  const tenon_profile_t profiles[] = {{ranges}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_status_t status = TENON_OK;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  options.profiles = (tenon_list_t)TENON_LIST(profiles);
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_parse_file(network, model, NULL));
  TRY(tenon_build(network, &options, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, out_engine));
done:
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

/* A dense tensor of floats in the caller's memory. */
static inline tenon_tensor_view_t example_floats(float* data, uint32_t rank, const int64_t* dims) {
  return (tenon_tensor_view_t){
      .data = data, .dims = dims, .rank = rank, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
}

/* A tenon_write_t: text to standard output. */
static inline void example_print(void* user, const char* text) {
  (void)user;
  (void)fputs(text, stdout);
}

#endif
