/*
 * Conversions: copies of a value from one order of dimensions to another. Such a copy is a kernel's
 * step, and its time depends on both orders. So the candidates of the region that copies a value
 * are timed separately for each conversion.
 */
#ifndef TENON_CORE_TIMING_CONVERSION_H_
#define TENON_CORE_TIMING_CONVERSION_H_

#include <stdbool.h>

#include "core/base/digest.h"
#include "tenon/plugin.h"

/* Do not move or copy the structure: the rules point to its layouts. layouts[0] belongs to `from`,
 * layouts[1] to `to`. An order of NULL is row-major. */
typedef struct tenon__conversion_t {
  tenon_argument_rule_t from; /* of the copy's input, and of its output: row-major, or EXACT */
  tenon_argument_rule_t to;
  tenon_layout_t layouts[2];
} tenon__conversion_t;

/* Orders of `rank` dimensions, outermost first, borrowed; NULL: row-major. For example, from [0, 2,
 * 3, 1] to NULL converts channels last to row-major. */
void tenon__conversion_initialize(tenon__conversion_t* out_conversion, uint32_t rank,
                                  const uint32_t* from, const uint32_t* to);
/* Returns true if a tactic for a copy is usable: it reads any strides, because the source may be a
 * view, and writes the conversion's target layout. */
bool tenon__conversion_suits(const tenon__conversion_t* conversion, const tenon_tactic_t* tactic);
/* Returns the key of its times. `copy` is the signature of the region that copies the value. Equal
 * in all processes. */
tenon__digest_t tenon__conversion_signature(const tenon__conversion_t* conversion,
                                            const tenon__digest_t* copy);

#endif
