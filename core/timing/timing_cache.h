/*
 * The timing cache: what was measured before on machines of this kind. A text file, one line an
 * entry, so that two can be merged with `sort -u`; a damaged line is skipped with a warning. Thread
 * safe. Times hold for a region's signature and not for a network: the same layer of another model
 * finds them. A build with a warm cache chooses the same again, and that is what makes plans
 * reproducible.
 */
#ifndef TENON_CORE_TIMING_TIMING_CACHE_H_
#define TENON_CORE_TIMING_TIMING_CACHE_H_

#include <stdbool.h>

#include "core/base/digest.h"
#include "tenon/plugin.h"

typedef struct tenon__timing_cache_t tenon__timing_cache_t;

tenon_status_t tenon__timing_cache_create(tenon_allocator_t allocator,
                                          tenon__timing_cache_t** out_cache);
void tenon__timing_cache_destroy(tenon__timing_cache_t* cache);
/* Adds the entries of a file's text. Anything that is not a timing cache: a warning, nothing is
 * added. OUT_OF_MEMORY is the only failure; `name` is for messages. The text is not kept. */
tenon_status_t tenon__timing_cache_read(tenon__timing_cache_t* cache, const char* text, size_t size,
                                        const char* name, const tenon_sink_t* sink);
/* The whole as text, sorted; freed by the caller through the allocator with *out_size + 1 bytes.
 * Numbers are written with all their digits: a reader chooses exactly as the writer did. */
tenon_status_t tenon__timing_cache_write(tenon__timing_cache_t* cache, char** out_text,
                                         size_t* out_size);
uint32_t tenon__timing_cache_count(tenon__timing_cache_t* cache);
/* What is known of the numbers that the tactic computed when it was measured. */
typedef enum tenon__checked_t {
  TENON_CHECKED_ALONE,  /* there was nothing to compare them with */
  TENON_CHECKED_AGREES, /* with what another kernel, or the operator's definition, gives */
  TENON_CHECKED_WRONG,  /* they are not what the operator means */
  TENON_CHECKED_ENDED,  /* its trial ended the process or lost the device */
} tenon__checked_t;

/* The least time of an entry, in seconds, also of one that has none: times of 0 are refused. */
#define TENON_TIMING_LEAST 1e-9

/* `seconds` is of one run at the profile's optimum, and at least TENON_TIMING_LEAST. */
typedef struct tenon__timing_t {
  double seconds;
  tenon__checked_t checked;
  bool is_disturbed; /* others kept the machine busy: it may take much less */
} tenon__timing_t;

/* Keys are digests over region, kernel, plugin file, tactic, fingerprint and threads. */
bool tenon__timing_cache_find(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                              tenon__timing_t* out_timing);
/* Notes the trials of this cache in the file `path` (trial_journal.h). If the file names a trial
 * that ended its process, the cache gets an entry ENDED for it, and *out_found is true: save the
 * cache before the next trial. OUT_OF_MEMORY only. */
tenon_status_t tenon__timing_cache_keep_journal(tenon__timing_cache_t* cache, const char* path,
                                                bool* out_found);
/* Around the trial of one tactic. */
void tenon__timing_cache_begin_trial(tenon__timing_cache_t* cache, const tenon__digest_t* key);
void tenon__timing_cache_end_trial(tenon__timing_cache_t* cache);

/* The first time for a key stays, unless it was disturbed and this one was not. Of two checks the
 * first in this order stays: ENDED, WRONG, AGREES, ALONE. */
tenon_status_t tenon__timing_cache_add(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                                       tenon__timing_t timing);

/* The same build has measured again: the time in the place of the first. Nothing happens for a key
 * that is not there, or a time that is not above 0. */
void tenon__timing_cache_renew(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                               double seconds, bool is_disturbed);

#endif
