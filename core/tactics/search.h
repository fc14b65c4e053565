/* A search for candidates while it goes on: internal to the tactics room. */
#ifndef TENON_CORE_TACTICS_SEARCH_H_
#define TENON_CORE_TACTICS_SEARCH_H_

#include "core/base/bytes.h"
#include "core/tactics/tuning.h"

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
/* Adds what the kernel, which accepts the region, offers for it: tactics that the build permits and
 * that a plan can carry out. A kernel that fails, or offers none, is noted. */
tenon_status_t tenon__search_collect(search_t* search, const tenon__kernel_entry_t* entry);
/* Gives all that were found their times; drops those that failed; the fastest first. */
tenon_status_t tenon__search_time(search_t* search, const tenon__digest_t* signature);

#endif
