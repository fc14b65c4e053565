/*
 * The current trial, recorded in a small file next to a timing cache. If the trial ends the
 * process, its key stays in the file, and the next build finds it and does not try that tactic
 * again. One process at a time uses the file, protected by a lock that ends with the process.
 */
#ifndef TENON_CORE_TIMING_TRIAL_JOURNAL_H_
#define TENON_CORE_TIMING_TRIAL_JOURNAL_H_

#include <stdbool.h>

#include "core/base/digest.h"

/* All zero: no journal, and the functions below do nothing. */
typedef struct tenon__trial_journal_t {
  bool is_open;
  int file;
  char* path; /* allocated */
  tenon_allocator_t allocator;
} tenon__trial_journal_t;

enum { TENON_JOURNAL_KEY_SIZE = 65 };

/* Opens `path`, which need not exist. If another process uses it, or the folder is not writable,
 * there is no journal. `out_key` is the key of a trial that ended its process, else "". It stays in
 * the file until the next call of begin or end. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__trial_journal_open(tenon_allocator_t allocator, const char* path,
                                         tenon__trial_journal_t* out_journal,
                                         char out_key[TENON_JOURNAL_KEY_SIZE]);
/* Called before and after a trial. Write errors are ignored, because the journal is optional. */
void tenon__trial_journal_begin(const tenon__trial_journal_t* journal, const tenon__digest_t* key);
void tenon__trial_journal_end(const tenon__trial_journal_t* journal);
/* Removes the file if no trial is in progress. */
void tenon__trial_journal_close(tenon__trial_journal_t* journal);

#endif
