/*
 * Plans that somebody made up, loaded and run. The input says which of the small networks and what
 * is changed in its plan (plan_edits.h); the plan is built when the program begins, so that an
 * input means the same in every build. The file's digest is made anew, so that the reader gets past
 * it. What is loaded runs twice, and every byte of every output is read.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/catalog/catalog.h"
#include "core/plan_file/reader.h"
#include "core/plan_file/writer.h"
#include "sdk/library/library.h"
#include "tests/engine/fuzz_world.h"
#include "tests/engine/networks.h"
#include "tests/engine/plan_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2,
                                 size_t size2, uint8_t* out, size_t max_out_size,
                                 unsigned int seed);

enum { MOST_SEEDS = 32, MOST_BYTES = 1 << 25 };

typedef struct seed_t {
  tenon_plan_t* plan;
  const void* data; /* its */
  size_t size;
} seed_t;

static tenon_registry_t* registry;
static seed_t seeds[MOST_SEEDS];
static const char* names[MOST_SEEDS];
static uint32_t seed_count;

static void begin(void) {
  const test_network_t* networks = NULL;
  tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  build.no_measuring = 1;
  build.thread_count = 1;
  registry = fuzz_registry();
  const uint32_t count = test_networks(&networks);
  for (uint32_t k = 0; k < count && k < MOST_SEEDS; ++k) {
    seed_t* seed = &seeds[seed_count];
    if (test_network_build(&networks[k], registry, &build, &seed->plan) != TENON_OK ||
        tenon_plan_get_data(seed->plan, &seed->data, &seed->size) != TENON_OK) {
      abort(); /* the plugins are not there */
    }
    names[seed_count++] = networks[k].name;
  }
  fuzz_limit_memory(MOST_BYTES);
}

/* ---- The plan ---- */

static const tenon__operator_t* find_operator(void* user, const char* name) {
  return tenon__catalog_operator(user, name, NULL);
}

/* The file that the edits make of the seed; NULL when the plan can no longer be written. */
static uint8_t* make_file(const seed_t* seed, const edits_t* edits, size_t* out_size) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  tenon__plan_t* plan = NULL;
  void* file = NULL;
  if (tenon__plan_read(
          allocator,
          &(tenon__plan_source_t){seed->data, seed->size, find_operator, registry->catalog}, NULL,
          &plan) != TENON_OK) {
    abort();
  }
  edits_apply(edits, plan);
  if (tenon__plan_write(plan, allocator, NULL, NULL, &file, out_size) != TENON_OK) {
    file = NULL;
  } else {
    edits_apply_to_file(edits, file, *out_size);
  }
  tenon__plan_destroy(plan);
  return file;
}

static void use(const uint8_t* file, size_t size, bool refits) {
  tenon_engine_t* engine = NULL;
  if (tenon_engine_create_from_memory(registry, file, size, NULL, &engine) == TENON_OK) {
    fuzz_use(engine, refits);
  }
  tenon_engine_release(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  edits_t edits;
  if (registry == NULL) {
    begin();
  }
  edits_parse(data, size, &edits);
  for (uint32_t k = 0; k < seed_count; ++k) {
    size_t file_size = 0;
    uint8_t* file =
        strcmp(names[k], edits.network) == 0 ? make_file(&seeds[k], &edits, &file_size) : NULL;
    if (file != NULL) {
      use(file, file_size, edits_refit(&edits));
      tenon__free(tenon__allocator_default(), file, file_size);
    }
  }
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  edits_t edits;
  uint64_t random = seed;
  if (registry == NULL) {
    begin();
  }
  edits_parse(data, size, &edits);
  const uint32_t count = 1 + seed % 3;
  for (uint32_t k = 0; k < count; ++k) {
    edits_mutate(&edits, &random, names, seed_count);
  }
  return edits_print(&edits, (char*)data, max_size);
}

/* The first's network, some of the edits of both. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2,
                                 size_t size2, uint8_t* out, size_t max_out_size,
                                 unsigned int seed) {
  edits_t first;
  edits_t second;
  edits_parse(data1, size1, &first);
  edits_parse(data2, size2, &second);
  for (uint32_t k = 0; k < second.count && first.count < EDIT_MOST; ++k) {
    if ((seed >> k & 1u) != 0) {
      first.items[first.count++] = second.items[k];
    }
  }
  return edits_print(&first, (char*)out, max_out_size);
}
