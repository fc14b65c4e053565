/*
 * Well-formed plan files with invalid contents: the sample plan with one error each. Only tests
 * include this.
 */
#ifndef TENON_CORE_PLAN_FILE_TEST_HOSTILE_H_
#define TENON_CORE_PLAN_FILE_TEST_HOSTILE_H_

#include "core/plan_file/sample_plan.h"

/* After the sample's headers: its own are for any program. */
#include "core/base/test.h"
#include "core/plan_file/plan_file.h"
#include "core/plan_file/reader.h"
#include "core/plan_file/writer.h"

typedef struct hostile_t {
  sample_library_t library;
  tenon__test_messages_t messages;
  tenon__plan_t* plan;
} hostile_t;

static inline tenon__place_t* place(hostile_t* h, uint32_t number) {
  return &h->plan->schedules[0].places[number];
}

static inline tenon__step_t* step(hostile_t* h, uint32_t number) {
  return &h->plan->schedules[0].steps[number];
}

static inline struct tenon_region_t* region(hostile_t* h, uint32_t number) {
  return (struct tenon_region_t*)step(h, number)->region;
}

/* Places of the sample's main graph, in order of creation. */
enum { X, CONDITION, W, LABELS, MEMORY, A, D, ROWS, JOINED, TURNED, LEFT, RIGHT, LAST, CHOSEN };
/* Its steps. */
enum { SUM, TWIST, COPY, PART_LEFT, PART_RIGHT, END, CHOOSE, CONTENTS, FOUND, UPDATE };

static inline uint32_t* numbers(const uint32_t* array) {
  return (uint32_t*)array;
}

typedef struct fault_t {
  const char* name;
  void (*make)(hostile_t* h);
  const char* message; /* part of the message */
} fault_t;

#define FAULT(name, message) \
  { #name, name, message }

/* Writes and reads the plan with an error (NULL: without), and expects its rejection with that
 * reason. */
static inline void try_fault(const fault_t* fault) {
  hostile_t h;
  memset(&h, 0, sizeof h);
  const tenon_allocator_t allocator = tenon__allocator_default();
  const tenon_sink_t* sink = tenon__test_listen(&h.messages);
  void* data = NULL;
  size_t size = 0;
  tenon__plan_t* plan = NULL;
  REQUIRE(sample_library_create(&h.library, sink));
  h.plan = sample_plan_create(&h.library, allocator, sink);
  REQUIRE(h.plan != NULL);
  if (fault != NULL) {
    fault->make(&h);
  }
  EXPECT_STATUS(tenon__plan_write(h.plan, allocator, NULL, sink, &data, &size), TENON_OK);
  const tenon_status_t status = tenon__plan_read(
      allocator, &(tenon__plan_source_t){data, size, sample_find, &h.library}, sink, &plan);
  if (fault == NULL) {
    EXPECT_STATUS(status, TENON_OK);
  } else if (status != TENON_ERROR_INVALID_DATA ||
             strstr(h.messages.text, fault->message) == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s, \"%s\"", fault->name, tenon__status_text(status),
                     h.messages.text);
  }
  tenon__free(allocator, data, size);
  tenon__plan_destroy(plan);
  tenon__plan_destroy(h.plan);
  sample_library_destroy(&h.library);
}

#endif
