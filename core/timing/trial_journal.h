/*
 * The trial that is under way, as a small file beside a timing cache. If the trial ends the
 * process, its key stays in the file, and the next build finds it and does not try that tactic
 * again. One process at a time keeps the file; a lock that ends with the process shows whether one
 * does.
 */
#ifndef TENON_CORE_TIMING_TRIAL_JOURNAL_H_
#define TENON_CORE_TIMING_TRIAL_JOURNAL_H_

#include <stdbool.h>

#include "core/base/digest.h"

/* All zero: there is none, and the functions below do nothing. */
typedef struct tenon__trial_journal_t {
  bool is_open;
  int file;
  char* path; /* allocated */
  tenon_allocator_t allocator;
} tenon__trial_journal_t;

enum { TENON_JOURNAL_KEY_SIZE = 65 };

/* Opens `path`, which need not exist. Another process that keeps it, or a folder that cannot be
 * written, leaves no journal. `out_key`: the key of a trial that ended its process, else "". It
 * stays in the file until the next call of begin or end. OUT_OF_MEMORY only. */
tenon_status_t tenon__trial_journal_open(tenon_allocator_t allocator, const char* path,
                                         tenon__trial_journal_t* out_journal,
                                         char out_key[TENON_JOURNAL_KEY_SIZE]);
/* Around a trial. A failure to write is ignored: the journal is a help and no condition. */
void tenon__trial_journal_begin(const tenon__trial_journal_t* journal, const tenon__digest_t* key);
void tenon__trial_journal_end(const tenon__trial_journal_t* journal);
/* Removes the file if no trial is under way. */
void tenon__trial_journal_close(tenon__trial_journal_t* journal);

#endif
