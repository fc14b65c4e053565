/*
 * Models that somebody made up, built and run: bytes of an ONNX file. What was built must be a plan
 * that can be loaded. Inputs are changed field by field (model_edits.h), so that most are models.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/engine/fuzz_world.h"
#include "tests/engine/model_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);

enum { MOST_BYTES = 1 << 23 };

static tenon_registry_t* registry;

/* The plan's own words are its reader's; memory may be out. */
static void load(const tenon_plan_t* plan, bool refits) {
  tenon_engine_t* engine = NULL;
  const tenon_status_t status = tenon_engine_create_from_plan(registry, plan, NULL, &engine);
  if (status == TENON_OK) {
    fuzz_use(engine, refits);
  } else if (status != TENON_ERROR_OUT_OF_MEMORY) {
    abort(); /* what was built cannot be loaded */
  }
  tenon_engine_release(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_parse_options_t parse = TENON_OPTIONS(tenon_parse_options_t);
  options.no_measuring = 1;
  options.thread_count = 1;
  parse.format = "onnx";
  if (registry == NULL) {
    registry = fuzz_registry();
    fuzz_limit_memory(MOST_BYTES);
  }
  if (tenon_network_create(registry, &network) == TENON_OK &&
      tenon_network_parse_memory(network, data, size, "model", &parse) == TENON_OK &&
      tenon_build(network, &options, &plan) == TENON_OK) {
    load(plan, (size & 1) != 0);
  }
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  uint64_t random = seed;
  size_t changed = size;
  for (uint32_t k = 0; k < 1 + seed % 4; ++k) {
    changed = model_edits_mutate(data, changed, max_size, &random);
  }
  if (seed % 64 == 0 && changed > 0) { /* now and then what is no message any more */
    data[random % changed] ^= (uint8_t)(1u << seed / 64 % 8);
  }
  return changed;
}
