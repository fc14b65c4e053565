/* The input is the structure of a plan. Header, digest and data are made to fit, so that the reader
 * gets past them. What it accepts can be described, signed and laid out, and written again it is
 * accepted again. */
#include <stdio.h>
#include <stdlib.h>

#include "core/plan/place.h"
#include "core/plan/place_view.h"
#include "core/plan/report.h"
#include "core/plan_file/plan_file.h"
#include "core/plan_file/reader.h"
#include "core/plan_file/sample_plan.h"
#include "core/plan_file/writer.h"
#include "core/region/region_signature.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { DATA_SIZE = 2048 };

static void store(uint8_t* place, uint64_t number, size_t size_bytes) {
  for (size_t k = 0; k < size_bytes; ++k) {
    place[k] = (uint8_t)(number >> (8 * k));
  }
}

/* The data of the sample, which the corpus begins with: what its weights and its shapes say of one
 * another goes together. */
static void fill_data(uint8_t* data, const sample_library_t* library) {
  static uint8_t kept[DATA_SIZE];
  static bool is_kept;
  if (!is_kept) {
    void* file = NULL;
    size_t size = 0;
    uint64_t offset = 0;
    tenon__plan_t* plan = sample_plan_create(library, tenon__allocator_default(), NULL);
    if (plan == NULL ||
        tenon__plan_write(plan, tenon__allocator_default(), NULL, NULL, &file, &size) != TENON_OK) {
      abort();
    }
    memcpy(&offset, (const uint8_t*)file + 32, sizeof offset);
    size_t length = size - (size_t)offset;
    length = length < DATA_SIZE ? length : DATA_SIZE;
    memcpy(kept, (const uint8_t*)file + offset, length);
    tenon__free(tenon__allocator_default(), file, size);
    tenon__plan_destroy(plan);
    is_kept = true;
  }
  memcpy(data, kept, DATA_SIZE);
}

static uint8_t* make_file(const uint8_t* structure, size_t size, const sample_library_t* library,
                          size_t* out_size) {
  const size_t data_offset = (TENON_PLAN_HEADER_SIZE + size + TENON_PLAN_DATA_ALIGNMENT - 1) /
                             TENON_PLAN_DATA_ALIGNMENT * TENON_PLAN_DATA_ALIGNMENT;
  const size_t total = data_offset + DATA_SIZE;
  uint8_t* file = tenon__allocate(tenon__allocator_default(), total, 1);
  if (file == NULL) {
    abort();
  }
  memcpy(file, TENON_PLAN_MAGIC, 8); /* NOLINT(bugprone-not-null-terminated-result) */
  store(file + 8, TENON_PLAN_VERSION, 4);
  store(file + 16, total, 8);
  store(file + 24, size, 8);
  store(file + 32, data_offset, 8);
  if (size > 0) {
    memcpy(file + TENON_PLAN_HEADER_SIZE, structure, size);
  }
  fill_data(file + data_offset, library);
  const tenon__digest_t digest = tenon__plan_file_digest(file, size);
  memcpy(file + TENON_PLAN_DIGEST_OFFSET, &digest, sizeof digest);
  *out_size = total;
  return file;
}

static void use_step(const tenon__plan_t* plan, uint32_t graph, uint32_t number,
                     tenon__arena_t* arena) {
  tenon__step_report_t report;
  const tenon__step_t* step = &plan->schedules[graph].steps[number];
  if (tenon__step_describe(plan, graph, number, arena, &report) != TENON_OK) {
    abort();
  }
  if (step->region != NULL) {
    (void)tenon__region_signature(step->region);
  }
}

static void use_place(const tenon__plan_t* plan, uint32_t graph, uint32_t number) {
  int64_t dims[64];
  int64_t strides[64];
  int64_t offset = 0;
  uint64_t bytes = 0;
  const tenon__schedule_t* schedule = &plan->schedules[graph];
  (void)tenon__place_bytes(plan->network, graph, &schedule->places[number], &plan->profile.optimum,
                           &bytes);
  const tenon__placement_t placement = {.network = plan->network,
                                        .graph = graph,
                                        .schedule = schedule,
                                        .extents = &plan->profile.max};
  (void)tenon__place_strides(&placement, number, dims, strides, &offset);
}

static void use_plan(const tenon__plan_t* plan) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  (void)tenon__plan_verify(plan, false, NULL);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t s = 0; s < plan->schedules[g].step_count; ++s) {
      use_step(plan, g, s, &arena);
    }
    for (uint32_t p = 0; p < plan->schedules[g].place_count; ++p) {
      use_place(plan, g, p);
    }
  }
  tenon__arena_deinitialize(&arena);
}

static void print_error(void* user, int32_t severity, const char* message) {
  (void)user;
  if (severity == TENON_SEVERITY_ERROR) {
    (void)fprintf(stderr, "%s\n", message);
  }
}

static void write_again(const tenon__plan_t* plan, sample_library_t* library) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  const tenon_sink_t sink = {NULL, print_error};
  void* file = NULL;
  size_t size = 0;
  tenon__plan_t* again = NULL;
  if (tenon__plan_write(plan, allocator, NULL, &sink, &file, &size) != TENON_OK ||
      tenon__plan_read(allocator, &(tenon__plan_source_t){file, size, sample_find, library}, &sink,
                       &again) != TENON_OK) {
    abort();
  }
  tenon__plan_destroy(again);
  tenon__free(allocator, file, size);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sample_library_t library;
  tenon__plan_t* plan = NULL;
  size_t file_size = 0;
  if (library.operators[0] == NULL && !sample_library_create(&library, NULL)) {
    abort();
  }
  uint8_t* file = make_file(data, size, &library, &file_size);
  if (tenon__plan_read(tenon__allocator_default(),
                       &(tenon__plan_source_t){file, file_size, sample_find, &library}, NULL,
                       &plan) == TENON_OK) {
    use_plan(plan);
    write_again(plan, &library);
  }
  tenon__plan_destroy(plan);
  tenon__free(tenon__allocator_default(), file, file_size);
  return 0;
}
