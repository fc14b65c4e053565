/*
 * The candidates of a region: each kernel that accepts it with each tactic that the build permits,
 * the preferred first, and the reasons of the others' refusals. Kernels are asked in the
 * catalogue's order, reference kernels last and only if no other kernel accepts. The module choice
 * reads the lists; nothing is chosen here.
 */
#ifndef TENON_CORE_CANDIDATE_CANDIDATES_H_
#define TENON_CORE_CANDIDATE_CANDIDATES_H_

#include "core/timing/conversion.h"
#include "core/timing/tuning.h"

/* Regions with equal keys have the same candidates. */
enum { TENON_REGION_KEY_SIZE = 112 };

/* The key contains the signature and the device as text. For a region that a kernel claims, it
 * contains the claimant, since no other kernel may compute the region (NULL: no claimant). Regions
 * of the same signature have the same key. It is valid within one process. */
void tenon__candidates_key(const struct tenon_region_t* region,
                           const tenon__kernel_entry_t* claimant,
                           char out_key[TENON_REGION_KEY_SIZE]);
/* Finds all kernels that accept the region, fastest first. `claimant` is the kernel whose pattern
 * or proposal made it a region, and the only one that is asked; NULL: all of the catalogue are
 * asked. Results are kept for the build, in the tuning's arena. An empty list is no error;
 * `refusals`, which is always filled then, gives the reasons. The first call for a signature may
 * take seconds, as it measures; later calls look it up. Returns CANCELLED if the build was
 * cancelled, and INTERNAL if a kernel overwrote a constant, after which no result can be
 * trusted. */
tenon_status_t tenon__candidates_find(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                      const tenon__kernel_entry_t* claimant,
                                      const tenon__candidates_t** out_candidates);

/* Announces that the candidates of the region will be requested soon, so that kernels can begin
 * slow preparations for several regions in parallel. Takes effect once for a signature. Does
 * nothing if the build does not measure. */
tenon_status_t tenon__candidates_expect(tenon__tuning_t* tuning, struct tenon_region_t* region);

/* Finds the kernels that can copy a value as the conversion requires, with their times. `copy` is
 * the region that copies it (tenon__region_of_copy, finished). Results are kept, and may be empty,
 * as in tenon__candidates_find. */
tenon_status_t tenon__candidates_convert(tenon__tuning_t* tuning, struct tenon_region_t* copy,
                                         const tenon__conversion_t* conversion,
                                         const tenon__candidates_t** out_candidates);

/* Sorts the candidates again if times have changed. Indices into `items` and `picks` that were
 * taken before become invalid. Does nothing if no time has changed. */
tenon_status_t tenon__candidates_renew(tenon__tuning_t* tuning,
                                       const tenon__candidates_t* candidates);

/* Explains why the others were not taken: the notes, the refusals, and a line for each candidate
 * that was slower (or, if not measured, had a higher estimate). Each line is "plugin:kernel
 * (tactic): reason". `pick` is the index of the chosen candidate. The text is in the tuning's
 * arena. Returns NULL if the build keeps no reasons or is out of memory. */
const char* tenon__candidates_reasons(tenon__tuning_t* tuning,
                                      const tenon__candidates_t* candidates, uint32_t pick,
                                      const char* notes);
/* Returns true if a kernel other than the reference accepts the region. Only `match` is called, so
 * the kernel may still have no tactic. Used to decide whether a region is worth a search. */
bool tenon__candidates_any(tenon__tuning_t* tuning, const struct tenon_region_t* region);
/* Indices of inputs and outputs, as bits, for which kernels have slots of each kind. */
typedef struct tenon__slot_numbers_t {
  uint64_t prologues;
  uint64_t epilogues;
  uint64_t sides;
} tenon__slot_numbers_t;
/* Returns the slots of the kernels for the region's operator on its device, to decide whether
 * neighbours are worth collecting. No kernel is called. */
tenon__slot_numbers_t tenon__candidates_slots(tenon__tuning_t* tuning,
                                              const struct tenon_region_t* region);
/* Finds a candidate for a region of one node: the preferred candidate, or with `by_reference` the
 * first tactic of a reference kernel that accepts it. *out_candidate is NULL if there is none. It
 * is in the tuning's arena. The build's policy does not apply to references: an excluded oracle is
 * still correct. */
tenon_status_t tenon__candidates_for_node(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                          bool by_reference,
                                          const tenon__candidate_t** out_candidate);

#endif
