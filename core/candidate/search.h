/*
 * A search for candidates while it goes on: for this room alone. It lies on the stack of whoever
 * searches; candidates.c makes a list of what it found, and all of it goes then. Its files call
 * each other through it alone, and ask_node breaks what would be a circle: to judge a region its
 * nodes' candidates are needed.
 */
#ifndef TENON_CORE_CANDIDATE_SEARCH_H_
#define TENON_CORE_CANDIDATE_SEARCH_H_

#include "core/base/bytes.h"
#include "core/rehearsal/subject.h"

typedef struct search_t {
  tenon__subject_t subject;
  bool is_begun;             /* what takes long, since the region was expected */
  tenon__candidate_t* found; /* grows */
  size_t capacity;
  uint32_t count;
  tenon__byte_writer_t refusals; /* lines */
} search_t;

/* A line for the report: why the kernel, or one tactic of it (NULL: all), is not among them. When
 * memory is out the writer notes that it failed, and the search fails at its end. */
void tenon__search_note(search_t* search, const tenon__kernel_entry_t* entry, const char* tactic,
                        const tenon_refusal_t* refusal);

/* Lists of `count` rules, or NULL. */
bool tenon__rule_lists_alike(const tenon_argument_rule_t* a, const tenon_argument_rule_t* b,
                             uint32_t count);

#endif
