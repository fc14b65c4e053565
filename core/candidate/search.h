/*
 * A search for candidates in progress, for this module only. It is on the stack of the searching
 * function; candidates.c makes a list of its results and then frees it. The files of the search
 * call each other through it. ask_node breaks a circle of calls, because the search for a region
 * needs the candidates of its nodes.
 */
#ifndef TENON_CORE_CANDIDATE_SEARCH_H_
#define TENON_CORE_CANDIDATE_SEARCH_H_

#include "core/base/bytes.h"
#include "core/rehearsal/subject.h"

typedef struct search_t {
  tenon__subject_t subject;
  bool is_begun;             /* slow preparations have begun, since the region was expected */
  tenon__candidate_t* found; /* grows */
  size_t capacity;
  uint32_t count;
  tenon__byte_writer_t refusals; /* lines */
} search_t;

/* Adds a line to the report: the reason why the kernel, or one of its tactics (NULL: all), is not a
 * candidate. If out of memory, the writer keeps the failure, and the search fails at its end. */
void tenon__search_note(search_t* search, const tenon__kernel_entry_t* entry, const char* tactic,
                        const tenon_refusal_t* refusal);

/* Compares lists of `count` rules; each may be NULL. */
bool tenon__rule_lists_alike(const tenon_argument_rule_t* a, const tenon_argument_rule_t* b,
                             uint32_t count);

#endif
