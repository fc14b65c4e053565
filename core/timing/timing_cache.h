/*
 * The timing cache: earlier measurements on machines of this kind. It is a text file with one line
 * for each entry, so that two files can be merged with `sort -u`. Damaged lines are skipped with a
 * warning. Thread-safe. A time belongs to a region's signature and not to a network, so the same
 * layer of another model finds it. A build with a warm cache makes the same choices, which makes
 * plans reproducible.
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
/* Adds the entries of a file's text, which is not kept. If the text is not a timing cache, sends a
 * warning and adds nothing. `name` is for messages. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__timing_cache_read(tenon__timing_cache_t* cache, const char* text, size_t size,
                                        const char* name, const tenon_sink_t* sink);
/* Writes all entries as sorted text, which the caller frees with the allocator and *out_size + 1
 * bytes. Numbers have all their digits, so a reader makes the same choices. */
tenon_status_t tenon__timing_cache_write(tenon__timing_cache_t* cache, char** out_text,
                                         size_t* out_size);
uint32_t tenon__timing_cache_count(tenon__timing_cache_t* cache);
/* Check of the results that the tactic computed when it was measured. */
typedef enum tenon__checked_t {
  TENON_CHECKED_ALONE,  /* no other results for comparison */
  TENON_CHECKED_AGREES, /* they agree with another kernel or the operator's definition */
  TENON_CHECKED_WRONG,  /* they contradict the operator's definition */
  TENON_CHECKED_ENDED,  /* its trial ended the process or lost the device */
} tenon__checked_t;

/* Minimum time of an entry, in seconds, also used for an entry without a time; times of 0 are
 * refused. */
#define TENON_TIMING_LEAST 1e-9

/* `seconds` is of one run at the profile's optimum, and at least TENON_TIMING_LEAST. */
typedef struct tenon__timing_t {
  double seconds;
  tenon__checked_t checked;
  bool is_disturbed; /* other load disturbed the machine: it may be much faster */
} tenon__timing_t;

/* Keys are digests over region, kernel, plugin file, tactic, fingerprint and threads. */
bool tenon__timing_cache_find(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                              tenon__timing_t* out_timing);
/* Notes the trials of this cache in the file `path` (trial_journal.h). If the file names a trial
 * that ended its process, the cache gets an entry ENDED for it, and *out_found is true: save the
 * cache before the next trial. OUT_OF_MEMORY only. */
tenon_status_t tenon__timing_cache_keep_journal(tenon__timing_cache_t* cache, const char* path,
                                                bool* out_found);
/* Called before and after the trial of one tactic. */
void tenon__timing_cache_begin_trial(tenon__timing_cache_t* cache, const tenon__digest_t* key);
void tenon__timing_cache_end_trial(tenon__timing_cache_t* cache);

/* Adds an entry. An existing time of the key is kept unless it was disturbed and this one was not.
 * Of two checks the first in this order is kept: ENDED, WRONG, AGREES, ALONE. */
tenon_status_t tenon__timing_cache_add(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                                       tenon__timing_t timing);

/* Replaces the time of an entry that the same build has measured again. Does nothing for an unknown
 * key, or a time that is not above 0. */
void tenon__timing_cache_renew(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                               double seconds, bool is_disturbed);

#endif
