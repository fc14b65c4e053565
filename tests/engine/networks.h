/* Small networks for tests of the whole engine, through tenon.h alone: layers, control, state,
 * shapes that vary, and shapes that only a run finds. */
#ifndef TENON_TESTS_ENGINE_NETWORKS_H_
#define TENON_TESTS_ENGINE_NETWORKS_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* Ends the function with the status of a call that failed. */
#define TEST_TRY(call)                         \
  do {                                         \
    const tenon_status_t try_status_ = (call); \
    if (try_status_ != TENON_OK) {             \
      return try_status_;                      \
    }                                          \
  } while (0)

typedef struct test_network_t {
  const char* name;
  tenon_status_t (*make)(tenon_network_t* network);
  /* The extent of axis 0 of the first input varies from 1 to this; 0: it is fixed. */
  int64_t most;
} test_network_t;

/* All of them; the count. At most 20 nodes each. */
uint32_t test_networks(const test_network_t** out_networks);
/* NULL when there is none of that name. */
const test_network_t* test_network_find(const char* name);

/* Builds with the network's profile, and with `options` otherwise (NULL: defaults). */
tenon_status_t test_network_build(const test_network_t* test, tenon_registry_t* registry,
                                  const tenon_build_options_t* options, tenon_plan_t** out_plan);

/* What a run gave: all outputs of several runs, one after another, as bytes. */
typedef struct test_result_t {
  unsigned char* data;
  size_t size;
  size_t capacity;
} test_result_t;

enum { TEST_RUNS = 4 };

/* Runs a context TEST_RUNS times with numbers that depend on `seed` and the run alone, extents that
 * vary as `most` allows, and adds dims and elements of each output to the result. */
tenon_status_t test_run(tenon_engine_t* engine, tenon_context_t* context, int64_t most,
                        uint32_t seed, test_result_t* inout_result);
void test_result_free(test_result_t* result);

#endif
