/*
 * Inputs as elements of the program under construction, and axes of its space. Needs
 * environment->program. In the dry round, before the space is known, each axis counts as axis 0.
 */
#ifndef TENON_CORE_LANGUAGE_PROGRAM_INPUT_H_
#define TENON_CORE_LANGUAGE_PROGRAM_INPUT_H_

#include "core/language/environment.h"

/* Returns the element of item `item` of a port, aligned with the space at the last axis. A tensor
 * of a lower rank lacks the space's first axes, and an extent of 1 is repeated along its axis. The
 * dry round adds its shape to the maker's `aligned`. With `along` (else TENON_NONE) the rank is 0
 * or 1, the element varies only along that axis of the space, and its shape does not affect the
 * space. A repeated operand is emitted once. Returns INVALID_DATA if it is absent or does not fit
 * the space. */
tenon_status_t tenon__program_element(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      const tenon__scope_port_t* port, uint32_t item,
                                      uint32_t along, tenon__language_value_t* out_value);
/* Evaluates a known axis of the space; negative ones count from the end. Returns INVALID_DATA
 * outside -rank to rank - 1, and UNSUPPORTED if it is data-dependent. */
tenon_status_t tenon__space_axis(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                 uint32_t* out_axis);
/* Evaluates a list of axes, a range, a number, or a shape operand, as a mask. An empty list is all
 * axes, unless the operator's INT attribute noop_with_empty_axes is 1. Bit k of the mask is axis k
 * of the space: 2..-1 of a space of rank 5 is bits 2 and 3. */
tenon_status_t tenon__space_axes(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                 uint64_t* out_mask);

#endif
