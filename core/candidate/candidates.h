/*
 * The candidates of a region: every kernel that accepts it with every tactic that the build
 * permits, the preferred first, and why the others refused. Kernels are asked in the catalogue's
 * order, references last and only where nobody else is left. Whoever chooses (the room choice)
 * reads the lists and decides nothing here.
 */
#ifndef TENON_CORE_CANDIDATE_CANDIDATES_H_
#define TENON_CORE_CANDIDATE_CANDIDATES_H_

#include "core/timing/conversion.h"
#include "core/timing/tuning.h"

/* What regions share whose candidates are the same. */
enum { TENON_REGION_KEY_SIZE = 112 };

/* The signature and the device as text, and of what a kernel claims the claimant (NULL: nobody),
 * since nobody else may compute it. The same for regions of the same signature; it holds for one
 * process alone. */
void tenon__candidates_key(const struct tenon_region_t* region,
                           const tenon__kernel_entry_t* claimant,
                           char out_key[TENON_REGION_KEY_SIZE]);
/* Everyone who accepts the region, fastest first. `claimant`: the kernel whose pattern or proposal
 * made it a region, and who alone is asked; NULL: all that the catalogue has. Results are kept for
 * the build. An empty list is no error: `refusals` says why (always filled then). The first call
 * for a signature may take seconds, as it measures; later ones look it up. Lists lie in the
 * tuning's arena. CANCELLED when somebody wants the end; INTERNAL where a kernel spoiled a
 * constant, after which nothing can be trusted. */
tenon_status_t tenon__candidates_find(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                      const tenon__kernel_entry_t* claimant,
                                      const tenon__candidates_t** out_candidates);

/* Says that the region will be asked of soon, so that kernels can begin what takes them long, for
 * several regions beside each other. Once for a signature; nothing where nothing is measured. */
tenon_status_t tenon__candidates_expect(tenon__tuning_t* tuning, struct tenon_region_t* region);

/* Who can copy a value as the conversion says, with their times for that: `copy` is the region that
 * copies it (tenon__region_of_copy, finished). Likewise remembered, likewise empty. */
tenon_status_t tenon__candidates_convert(tenon__tuning_t* tuning, struct tenon_region_t* copy,
                                         const tenon__conversion_t* conversion,
                                         const tenon__candidates_t** out_candidates);

/* Sorts them anew where times have changed. Indices into `items` and `picks` that were taken before
 * are void then. Nothing happens where nothing has changed. */
tenon_status_t tenon__candidates_renew(tenon__tuning_t* tuning,
                                       const tenon__candidates_t* candidates);

/* Why the others were not taken: the notes, the refusals, and a line for each that was slower (or,
 * unmeasured, of higher estimate). NULL unless they are kept, or when memory is out. In the
 * tuning's arena. One line for each, "plugin:kernel (tactic): reason". `pick` is the index of the
 * one that was taken. */
const char* tenon__candidates_reasons(tenon__tuning_t* tuning,
                                      const tenon__candidates_t* candidates, uint32_t pick,
                                      const char* notes);
/* Does any kernel that is not the reference accept it? Asks `match` alone. So it may still have no
 * tactic: an answer to whether a region is worth looking at. */
bool tenon__candidates_any(tenon__tuning_t* tuning, const struct tenon_region_t* region);
/* The numbers, as bits, under which kernels have slots of each kind. */
typedef struct tenon__slot_numbers_t {
  uint64_t prologues;
  uint64_t epilogues;
  uint64_t sides;
} tenon__slot_numbers_t;
/* Those of kernels for the region's operator on its device: whether neighbours are worth
 * collecting. No kernel is asked. */
tenon__slot_numbers_t tenon__candidates_slots(tenon__tuning_t* tuning,
                                              const struct tenon_region_t* region);
/* Who computes a region of one node on its own: the preferred candidate, or the first tactic of a
 * reference kernel that accepts it. *out_candidate NULL: there is none. In the tuning's arena. By
 * reference the build's policy does not matter: an oracle that is excluded is not less right. */
tenon_status_t tenon__candidates_for_node(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                          bool by_reference,
                                          const tenon__candidate_t** out_candidate);

#endif
