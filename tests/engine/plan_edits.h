/*
 * Changes to a plan as text, so that a fuzz target's inputs mean the same whatever the build: one a
 * line, after a line with the network's name.
 *
 *   loop
 *   set schedule 0 memory_bytes = 0xffffffffffffffe0     a field of what the plan says
 *   set attribute 0 loop axes integers 0 = 144115188075855872
 *   extent 0 value collected 0 max 4194304               a dimension of a value becomes another
 *   bytes SCHEDULES 17 4 = 3                             bytes of a section of the file
 *   data 64 = 255                                        a byte of the weights
 *   refit                                                weights are replaced before it runs
 *
 * Things are named by number (counted round) or, where they have one, by name.
 */
#ifndef TENON_TESTS_ENGINE_PLAN_EDITS_H_
#define TENON_TESTS_ENGINE_PLAN_EDITS_H_

#include "core/plan/plan.h"

enum { EDIT_MOST = 12, EDIT_MOST_TEXT = 2048, EDIT_NAME_SIZE = 40 };

typedef struct edit_id_t {
  char name[EDIT_NAME_SIZE]; /* "": by number */
  uint64_t number;
} edit_id_t;

typedef enum edit_kind_t { EDIT_SET, EDIT_EXTENT, EDIT_BYTES, EDIT_DATA, EDIT_REFIT } edit_kind_t;

typedef struct edit_t {
  edit_kind_t kind;
  uint32_t thing;   /* SET: of edit_things; EXTENT: 1: numbers, not extents; BYTES: section */
  uint32_t field;   /* SET: of the thing; EXTENT: how; BYTES: size */
  edit_id_t ids[3]; /* SET, EXTENT */
  uint64_t index;   /* of a list; EXTENT: axis; BYTES, DATA: offset */
  uint64_t value;
} edit_t;

typedef struct edits_t {
  char network[EDIT_NAME_SIZE];
  uint32_t count;
  edit_t items[EDIT_MOST];
} edits_t;

/* Lines that say nothing are left out. */
void edits_parse(const uint8_t* text, size_t size, edits_t* out_edits);
/* The size of the text, without a NUL. */
size_t edits_print(const edits_t* edits, char* out_text, size_t capacity);
/* Adds, drops or changes one of them; names come from the plan's network table. */
void edits_mutate(edits_t* edits, uint64_t* random, const char* const* networks, uint32_t count);

/* The plan as it was read; false when there is nothing to set. */
void edits_apply(const edits_t* edits, tenon__plan_t* plan);
/* The file; its digest is made anew. */
void edits_apply_to_file(const edits_t* edits, uint8_t* file, size_t size);
bool edits_refit(const edits_t* edits);

#endif
