/* The catalogue's internal state, for promises.c (owners and declarations), catalog.c (look-ups)
 * and admit.c (additions). */
#ifndef TENON_CORE_CATALOG_STATE_H_
#define TENON_CORE_CATALOG_STATE_H_

#include <pthread.h>

#include "core/catalog/entry.h"
#include "core/catalog/index.h"
#include "core/operator/operator.h"

/* Loading state of an owner. Only the loading thread sees BUSY, because it holds the lock. Thus a
 * plugin that looks something up while it starts does not wait for itself. */
typedef enum tenon__readiness_t {
  TENON_READINESS_PROMISED,
  TENON_READINESS_BUSY, /* make_ready is running */
  TENON_READINESS_DONE, /* with or without success: see status */
} tenon__readiness_t;

/* One for each owner that has declared or added something, in the catalogue's arena. */
typedef struct tenon__owner_slot_t {
  const tenon__owner_t* owner;
  tenon__owner_t* promiser; /* the same owner if it has declared items, else NULL */
  tenon__readiness_t readiness;
  tenon_status_t status;   /* result of make_ready */
  uint32_t promised_kinds; /* bit k: it is in the list of owners that declare kind k */
  uint32_t offered_kinds;  /* bit k: it has added items of kind k */
  /* The text of tenon__catalog_left_out_lines, and the left_out_count for which it was made. */
  const char* lines;
  size_t lines_count;
} tenon__owner_slot_t;

/* A definition of an operator that was rejected for a different one. */
typedef struct tenon__rejected_t {
  const tenon__owner_t* owner;
  const tenon__operator_t* op;
  struct tenon__rejected_t* next;
} tenon__rejected_t;

/* An identity, with or without a usable definition. */
typedef struct tenon__definition_t {
  const tenon__operator_t* op; /* the one in use; NULL: no valid one */
  const tenon__owner_t* owner; /* of op, else of the invalid one */
  const char* name;
  const char* disabled; /* reason why it cannot be used; NULL: it can */
  tenon__rejected_t* rejected;
} tenon__definition_t;

/* Keys of `offers`: an identity, a format, "format:domain:Type"; for kernels also "*expressions",
 * "*moves" and "*" (patterns and proposers). The key "" has all entries of a kind. Keys of
 * `promises`: names as declared, and "" for all. */
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
