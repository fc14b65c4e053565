/*
 * Conversions: what a value is copied by from one order of dimensions to another. Such a copy is a
 * kernel's step like any other, and its time depends on both orders: so the candidates of the
 * region that copies a value are timed for one conversion at a time.
 */
#ifndef TENON_CORE_TIMING_CONVERSION_H_
#define TENON_CORE_TIMING_CONVERSION_H_

#include <stdbool.h>

#include "core/base/digest.h"
#include "tenon/plugin.h"

/* Lies still while it is used: the rules point at the layouts. layouts[0] is of `from`, layouts[1]
 * of `to`; an order of NULL is rows. A copy of the struct would point at the layouts of the first.
 */
typedef struct tenon__conversion_t {
  tenon_argument_rule_t from; /* the place of the copy's input, and of its output: rows, or EXACT */
  tenon_argument_rule_t to;
  tenon_layout_t layouts[2];
} tenon__conversion_t;

/* Orders of `rank` dimensions, outermost first, borrowed; NULL: rows. From [0, 2, 3, 1] to rows: a
 * value that lies channels last becomes rows. */
void tenon__conversion_initialize(tenon__conversion_t* out_conversion, uint32_t rank,
                                  const uint32_t* from, const uint32_t* to);
/* Can a tactic for a copy be used for it? It has to read any strides, since what is copied may be a
 * view, and to write where the conversion ends. */
bool tenon__conversion_suits(const tenon__conversion_t* conversion, const tenon_tactic_t* tactic);
/* What its times are known by: `copy` is the signature of the region that copies the value. The
 * same in every process. */
tenon__digest_t tenon__conversion_signature(const tenon__conversion_t* conversion,
                                            const tenon__digest_t* copy);

#endif
