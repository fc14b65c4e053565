/*
 * Regions with arguments in other element types than their values. The region's existing program
 * converts when it loads and stores, so the conversion needs no step in addition to an expression,
 * an epilogue or a move.
 */
#ifndef TENON_CORE_REGION_RETYPE_H_
#define TENON_CORE_REGION_RETYPE_H_

#include "core/region/region.h"

/* Returns true if a value of type `own` can be kept in type `kept`: floats of whole bytes, in
 * floats of lower precision. */
bool tenon__dtype_may_be_kept_as(tenon_dtype_t own, tenon_dtype_t kept);

/* Return true if that input or output may have another type than its value. This applies to
 * arguments of a program (an expression or a slot), unless another reader needs the value's own
 * type, and not to constants. The arguments of a move all have one type, or none may change
 * (TENON_REGION_MOVE without a fill that is read). */
bool tenon__region_converts_input(const struct tenon_region_t* region, uint32_t input);
bool tenon__region_converts_output(const struct tenon_region_t* region, uint32_t output);

/* Makes the region with other types. `inputs` and `outputs` have one type for each of the region's;
 * UNDEFINED: as in the plain region. Arguments that cannot be converted are unchanged. Call
 * tenon__region_finish on the result. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__region_retype(tenon__arena_t* arena, const struct tenon_region_t* plain,
                                    const tenon_dtype_t* inputs, const tenon_dtype_t* outputs,
                                    struct tenon_region_t* out_region);
/* Makes an expression that copies a value from the first of these types to the second. */
tenon_status_t tenon__region_of_cast(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t value, const tenon_dtype_t types[2],
                                     struct tenon_region_t* out_region);

/* Return the stored type of the argument: the region's, else that of its tactic's rule (NULL:
 * none), else its value's own. */
tenon_dtype_t tenon__region_input_dtype(const struct tenon_region_t* region, uint32_t input,
                                        const tenon_argument_rule_t* rule);
tenon_dtype_t tenon__region_output_dtype(const struct tenon_region_t* region, uint32_t output,
                                         const tenon_argument_rule_t* rule);

#endif
