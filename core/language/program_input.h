/*
 * Inputs as elements of the program in the making, and axes of its space. Needs
 * environment->program; in the dry round, before the space is known, every axis counts as axis 0.
 */
#ifndef TENON_CORE_LANGUAGE_PROGRAM_INPUT_H_
#define TENON_CORE_LANGUAGE_PROGRAM_INPUT_H_

#include "core/language/environment.h"

/* The element of item `item` of a port, aligned with the space at the last axis. INVALID_DATA when
 * it is absent or does not fit the space. A tensor of a lower rank lacks the space's first axes,
 * and an extent of 1 is repeated along its axis. The dry round adds its shape to the maker's
 * `aligned`. With `along` (else TENON_NONE) the rank is 0 or 1, it varies along that axis of the
 * space alone, and does not take part in making the space. An operand that is named twice is
 * emitted once. */
tenon_status_t tenon__program_element(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      const tenon__scope_port_t* port, uint32_t item,
                                      uint32_t along, tenon__language_value_t* out_value);
/* A known axis of the space, negative from the end. INVALID_DATA outside -rank to rank - 1,
 * UNSUPPORTED where only the run knows it. */
tenon_status_t tenon__space_axis(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                 uint32_t* out_axis);
/* A list of axes, a range, a number, or a shape operand, as a mask. An empty list is all axes,
 * unless the operator's INT attribute noop_with_empty_axes is 1. Bit k of the mask is axis k of the
 * space: 2..-1 of a space of rank 5 is bits 2 and 3. */
tenon_status_t tenon__space_axes(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                 uint64_t* out_mask);

#endif
