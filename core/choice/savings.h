/* What an alternative could save at best: how much of a covering it touches, less its own time.
 * What cannot save is not tried. */
#ifndef TENON_CORE_CHOICE_SAVINGS_H_
#define TENON_CORE_CHOICE_SAVINGS_H_

#include "core/choice/alternatives.h"
#include "core/choice/coverings.h"

/* Times that do not compare, and the alternative's is the better known. */
#define TENON_CERTAIN_SAVING 1e30

/* Which unit computes each node; TENON_NONE: none that is a region. */
tenon_status_t tenon__covering_units(const covering_t* best, uint32_t node_count,
                                     tenon__arena_t* arena, uint32_t** out_unit);
tenon_status_t tenon__saving_of_class(const alternatives_t* a, const covering_t* best,
                                      const uint32_t* unit_of, uint32_t node_count,
                                      uint32_t class_index, tenon__arena_t* arena,
                                      double* out_saving);
/* If it stayed apart wherever it is fused; 0 where it is nowhere. */
tenon_status_t tenon__saving_of_epilogue(const alternatives_t* a, const covering_t* best,
                                         uint32_t index, tenon__arena_t* arena, double* out_saving);

#endif
