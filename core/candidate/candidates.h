/* The candidates of a region: every kernel that accepts it with every tactic that the build
 * permits, the preferred first, and why the others refused. */
#ifndef TENON_CORE_CANDIDATE_CANDIDATES_H_
#define TENON_CORE_CANDIDATE_CANDIDATES_H_

#include "core/candidate/search.h"
#include "core/candidate/tuning.h"
#include "core/kernel/instance.h"

/* A line for the report: why the kernel, or one tactic of it (NULL: all), is not among them. */
void tenon__search_note(search_t* search, const tenon__kernel_entry_t* entry, const char* tactic,
                        const tenon_refusal_t* refusal);

/* The kernel with what belongs to it, on the device that is tuned for. */
tenon__kernel_binding_t tenon__tuning_binding(const tenon__tuning_t* tuning,
                                              const tenon__kernel_entry_t* kernel);
/* What regions share whose candidates are the same. */
enum { TENON_REGION_KEY_SIZE = 96 };

void tenon__region_key(const struct tenon_region_t* region, char out_key[TENON_REGION_KEY_SIZE]);
/* Everyone who accepts the region, fastest first. Results are remembered for the build. An empty
 * list is no error: `refusals` says why (always filled then). */
tenon_status_t tenon__candidates_find(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                      const tenon__candidates_t** out_candidates);
/* In order of preference; what came first stays first where times say nothing. */
void tenon__candidates_sort(tenon__candidate_t* items, uint32_t count);
/* Sorts them anew where times have changed. */
tenon_status_t tenon__candidates_renew(tenon__tuning_t* tuning,
                                       const tenon__candidates_t* candidates);
/* Is a kernel of this device, which the build's policy does not leave out? */
bool tenon__candidates_consider(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry);
/* "measured 12.3 us", in the tuning's arena; NULL when memory is out. */
const char* tenon__time_text(const tenon__tuning_t* tuning, tenon__time_t time);
/* Why the others were not taken: the notes, the refusals, and a line for each that was slower (or,
 * unmeasured, of higher estimate). NULL unless they are kept, or when memory is out. In the
 * tuning's arena. */
const char* tenon__candidates_reasons(tenon__tuning_t* tuning,
                                      const tenon__candidates_t* candidates, uint32_t pick,
                                      const char* notes);
/* Does any kernel that is not the reference accept it? Asks `match` alone. `out_fitting`: the
 * largest accepted_instructions among refusals because of a slot. */
bool tenon__candidates_any(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                           uint32_t* out_fitting);
/* The first tactic of a reference kernel that accepts it; *out_candidate NULL: there is none. In
 * the tuning's arena. */
tenon_status_t tenon__candidates_reference(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidate_t** out_candidate);
/* "node 'conv1' (standard.convolution/1)", for messages; in the tuning's arena. Never NULL. */
const char* tenon__region_text(const tenon__tuning_t* tuning, const struct tenon_region_t* region);

#endif
