/* A search for candidates while it goes on: internal to the tactics room. */
#ifndef TENON_CORE_CANDIDATE_SEARCH_H_
#define TENON_CORE_CANDIDATE_SEARCH_H_

#include "core/base/bytes.h"
#include "core/candidate/tuning.h"

typedef struct search_t {
  tenon__tuning_t* tuning;
  struct tenon_region_t* region;
  tenon__candidate_t* found; /* grows */
  size_t capacity;
  uint32_t count;
  tenon__byte_writer_t refusals; /* lines */
} search_t;

#endif
