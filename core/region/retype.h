/*
 * The same region with arguments in other element types than their values have: what it loads and
 * stores is converted on the way, in the program that it has anyway. So a conversion costs no step
 * beside an expression, an epilogue or a move.
 */
#ifndef TENON_CORE_REGION_RETYPE_H_
#define TENON_CORE_REGION_RETYPE_H_

#include "core/region/region.h"

/* Can a value of this type be kept in that one? Floats of whole bytes, in narrower floats. */
bool tenon__dtype_may_be_kept_as(tenon_dtype_t own, tenon_dtype_t kept);

/* May that input, or output, be in another type than its value's? Those of a program: of an
 * expression, or of a slot, unless something else reads the value as it is, and no constants. A
 * move's are all in one type, or none (TENON_REGION_MOVE without a fill that is read). */
bool tenon__region_converts_input(const struct tenon_region_t* region, uint32_t input);
bool tenon__region_converts_output(const struct tenon_region_t* region, uint32_t output);

/* `inputs` and `outputs`: one for each of the region's; UNDEFINED, and the value's own, as the
 * plain region has it. What may not be converted is left. `plain` is not finished anew: the result
 * wants tenon__region_finish. OUT_OF_MEMORY only. */
tenon_status_t tenon__region_retype(tenon__arena_t* arena, const struct tenon_region_t* plain,
                                    const tenon_dtype_t* inputs, const tenon_dtype_t* outputs,
                                    struct tenon_region_t* out_region);
/* An expression that copies a value from the first of these types to the second. */
tenon_status_t tenon__region_of_cast(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t value, const tenon_dtype_t types[2],
                                     struct tenon_region_t* out_region);

/* In which type the argument is stored: as the region says, else as its tactic's rule does (NULL:
 * none), else its value's own. */
tenon_dtype_t tenon__region_input_dtype(const struct tenon_region_t* region, uint32_t input,
                                        const tenon_argument_rule_t* rule);
tenon_dtype_t tenon__region_output_dtype(const struct tenon_region_t* region, uint32_t output,
                                         const tenon_argument_rule_t* rule);

#endif
