/* A search for candidates while it goes on: for this room alone. */
#ifndef TENON_CORE_CANDIDATE_SEARCH_H_
#define TENON_CORE_CANDIDATE_SEARCH_H_

#include "core/base/bytes.h"
#include "core/candidate/tuning.h"
#include "core/catalog/entry.h"

typedef struct search_t {
  tenon__tuning_t* tuning;
  struct tenon_region_t* region;
  tenon__candidate_t* found; /* grows */
  size_t capacity;
  uint32_t count;
  tenon__byte_writer_t refusals; /* lines */
} search_t;

/* A line for the report: why the kernel, or one tactic of it (NULL: all), is not among them. */
void tenon__search_note(search_t* search, const tenon__kernel_entry_t* entry, const char* tactic,
                        const tenon_refusal_t* refusal);

#endif
