/* What of a plan in memory can be set by name: see plan_edits.h. */
#ifndef TENON_TESTS_ENGINE_PLAN_THINGS_H_
#define TENON_TESTS_ENGINE_PLAN_THINGS_H_

#include "tests/engine/plan_edits.h"

/* A number of 1, 2, 4 or 8 bytes, or a list of them with its count. */
typedef struct edit_field_t {
  const char* name;
  size_t offset;
  size_t size;
  size_t count_offset; /* lists */
  size_t count_size;   /* 0: no list */
  bool is_own;         /* a list that nobody else has: changed where it is */
} edit_field_t;

typedef struct edit_thing_t {
  const char* name;
  void* (*find)(tenon__plan_t* plan, const edit_id_t* ids); /* NULL: there is none */
  const edit_field_t* fields;
  uint32_t field_count;
  uint32_t id_count;
} edit_thing_t;

extern const edit_thing_t edit_things[];
extern const uint32_t edit_thing_count;

/* The value that an EXTENT edit speaks of; NULL when there is none. */
tenon__value_node_t* edit_find_value(tenon__plan_t* plan, const edit_id_t* ids);

#endif
