/* The catalogue from inside: for catalog.c (owners, promises, lookups) and admit.c (what is added).
 */
#ifndef TENON_CORE_CATALOG_STATE_H_
#define TENON_CORE_CATALOG_STATE_H_

#include <pthread.h>

#include "core/catalog/catalog.h"
#include "core/catalog/index.h"
#include "core/catalog/kinds.h"

typedef enum tenon__readiness_t {
  TENON_READINESS_PROMISED,
  TENON_READINESS_BUSY, /* make_ready is running */
  TENON_READINESS_DONE, /* well or not: see status */
} tenon__readiness_t;

typedef struct tenon__owner_slot_t {
  const tenon__owner_t* owner;
  tenon__owner_t* promiser; /* the same, once it is known as one who can be asked; else NULL */
  tenon__readiness_t readiness;
  tenon_status_t status; /* what make_ready returned */
  uint32_t
      promised_kinds; /* bit k: it stands in the list of all that promised something of kind k */
  uint32_t offered_kinds; /* bit k: something of kind k was added */
} tenon__owner_slot_t;

/* An identity, with or without a usable definition. */
typedef struct tenon__definition_t {
  const tenon__operator_t* op; /* the first good one; NULL: there was none */
  const tenon__owner_t* owner; /* of op; else of the faulty one */
  const char* name;
  const char* disabled; /* why nobody can use it, NULL if it can be used */
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
  tenon__string_map_t definitions; /* identity -> tenon__definition_t */
  tenon__string_map_t kernels;     /* "plugin:name" -> tenon__kernel_entry_t */
};

/* Adds all items of an offering of a known kind; under the lock. */
tenon_status_t tenon__catalog_admit(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                    const tenon__owner_t* owner, const tenon_offering_t* offering,
                                    const tenon_sink_t* sink);
/* Joins two or three parts (third may be NULL) with ':'; false when the name is too long. */
bool tenon__catalog_key(const char* first, const char* second, const char* third,
                        char out_key[TENON_OFFER_NAME_LIMIT + 1]);

/* contest.c: reports it and adds it to the list of what was left out; texts are copied. */
void tenon__catalog_leave_out(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                              const tenon_sink_t* sink);
/* The same for what was entered already: it is not found any more. */
void tenon__catalog_drop(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                         tenon__admission_t* verdict, const tenon_sink_t* sink);
/* Less than 0 where `a` is heard before `b` as to `name`, a domain, device or format; 0: equals. */
int tenon__owner_compare(const tenon__owner_t* a, const tenon__owner_t* b, const char* name);
/* The same as to the domain of an identity. */
int tenon__operator_owners_compare(const tenon__owner_t* a, const tenon__owner_t* b,
                                   const char* name);
/* The plugin of the library that bears the name of an identity's domain; NULL. */
const tenon__owner_t* tenon__catalog_domain_owner(const tenon__catalog_t* catalog,
                                                  const char* name);
/* A new entry against those that are there under its key or name: one of two is left out. */
void tenon__catalog_contest_converter(tenon__catalog_t* catalog, const char* key,
                                      const tenon__converter_entry_t* entry,
                                      const tenon_sink_t* sink);
void tenon__catalog_contest_name(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                 const char* name, const void* entry, const tenon_sink_t* sink);

#endif
