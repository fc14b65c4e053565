/* The catalogue from inside: for promises.c (owners and promises), catalog.c (lookups) and admit.c
 * (what is added). */
#ifndef TENON_CORE_CATALOG_STATE_H_
#define TENON_CORE_CATALOG_STATE_H_

#include <pthread.h>

#include "core/catalog/entry.h"
#include "core/catalog/index.h"
#include "core/operator/operator.h"

/* How far an owner is. BUSY is seen by its own thread alone, as the lock is held meanwhile: a
 * plugin that looks something up while it starts does not wait for itself. */
typedef enum tenon__readiness_t {
  TENON_READINESS_PROMISED,
  TENON_READINESS_BUSY, /* make_ready is running */
  TENON_READINESS_DONE, /* well or not: see status */
} tenon__readiness_t;

/* One for each owner that promised or added something, in the catalogue's arena. */
typedef struct tenon__owner_slot_t {
  const tenon__owner_t* owner;
  tenon__owner_t* promiser; /* the same, once it is known as one who can be asked; else NULL */
  tenon__readiness_t readiness;
  tenon_status_t status; /* what make_ready returned */
  uint32_t
      promised_kinds; /* bit k: it stands in the list of all that promised something of kind k */
  uint32_t offered_kinds; /* bit k: something of kind k was added */
  /* The text of tenon__catalog_left_out_lines, and the left_out_count for which it was made. */
  const char* lines;
  size_t lines_count;
} tenon__owner_slot_t;

/* A definition of an operator that was left out for a different one. */
typedef struct tenon__rejected_t {
  const tenon__owner_t* owner;
  const tenon__operator_t* op;
  struct tenon__rejected_t* next;
} tenon__rejected_t;

/* An identity, with or without a usable definition. */
typedef struct tenon__definition_t {
  const tenon__operator_t* op; /* the one that counts; NULL: there was no good one */
  const tenon__owner_t* owner; /* of op; else of the faulty one */
  const char* name;
  const char* disabled; /* why nobody can use it, NULL if it can be used */
  tenon__rejected_t* rejected;
} tenon__definition_t;

/* Keys of `offers`: an identity, a format, "format:domain:Type"; for kernels also "*expressions",
 * "*moves" and "*" (patterns and proposers). Under "" stands everything of a kind. Keys of
 * `promises`: names as they were promised, and "" for all. */
struct tenon__catalog_t {
  tenon_allocator_t allocator;
  pthread_mutex_t mutex; /* recursive: make_ready adds */
  tenon__arena_t arena;
  tenon__owner_slot_t** owners;
  size_t owner_count;
  size_t owner_capacity;
  tenon__left_out_t* left_out;
  size_t left_out_count;
  size_t left_out_capacity;
  tenon__index_t offers[TENON_OFFER_COUNT];
  tenon__index_t promises[TENON_OFFER_COUNT];
  size_t settled_count; /* owners whose operators were compared by tenon__catalog_settle */
  tenon__string_map_t definitions; /* identity -> tenon__definition_t */
  tenon__string_map_t kernels;     /* "plugin:name" -> tenon__kernel_entry_t */
};

#endif
