/* Layouts and strides: logical dimensions in, places in memory out. */
#ifndef TENON_CORE_TENSOR_LAYOUT_H_
#define TENON_CORE_TENSOR_LAYOUT_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Dense row-major strides. False on overflow. Extents of 0 are treated as 1 for the strides. */
bool tenon__strides_row_major(uint32_t rank, const int64_t* dims, int64_t* out_strides);
/* Dense strides with dimensions lying in `order`, outermost first; NULL: as they come. */
bool tenon__strides_ordered(uint32_t rank, const int64_t* dims, const uint32_t* order,
                            int64_t* out_strides);
/* True when strides are dense in some order (no gaps, no zero strides but on extents of 1). */
bool tenon__strides_dense(uint32_t rank, const int64_t* dims, const int64_t* strides);
/* The order of dimensions that strides stand for, outermost first; of equal strides the first. */
void tenon__strides_order(uint32_t rank, const int64_t* strides, uint32_t* out_order);
/* From the outermost to the innermost of `order` (NULL: as they come), perhaps with gaps between:
 * what a box of a dense tensor of that order has. The innermost axis has none. */
bool tenon__strides_in_order(uint32_t rank, const int64_t* dims, const int64_t* strides,
                             const uint32_t* order);
bool tenon__strides_are_row_major(uint32_t rank, const int64_t* dims, const int64_t* strides);
/* The same places: an axis of extent 1 may have any stride. */
bool tenon__strides_equal(uint32_t rank, const int64_t* dims, const int64_t* a, const int64_t* b);
/* Do extents multiply to no more than TENON_ELEMENT_LIMIT? Those of 0 and negative ones, which are
 * not known, are left out. */
bool tenon__extents_fit(uint32_t rank, const int64_t* dims);
/* Number of elements; false beyond TENON_ELEMENT_LIMIT or with a negative extent. */
bool tenon__element_count(uint32_t rank, const int64_t* dims, uint64_t* out_count);
/* Is the order absent or a permutation of the dimensions? */
bool tenon__layout_valid(const tenon_layout_t* layout);
/* NULL equals NULL alone. */
bool tenon__layout_equal(const tenon_layout_t* a, const tenon_layout_t* b);
/* Two orders of `rank` dimensions, from outermost to innermost; NULL: theirs. */
bool tenon__orders_equal(uint32_t rank, const uint32_t* a, const uint32_t* b);
/* True when it is rows: the order is that of the dimensions. */
bool tenon__layout_is_rows(const tenon_layout_t* layout);
/* Do two rules ask an argument to lie alike? NULL: rows. What may be overwritten is another matter.
 */
bool tenon__rules_alike(const tenon_argument_rule_t* a, const tenon_argument_rule_t* b);
/* What memory that the host hands out is aligned to, at least. */
enum { TENON_RULE_MOST_ALIGNMENT = 64 };
/* Is all that it says of a rule for one of so many inputs, or for an output beside them? Its layout
 * apart. */
bool tenon__rule_is_known(const tenon_argument_rule_t* rule, uint32_t input_count);
/* The k-th of a tactic's rules; NULL, rows, where it has none. */
static inline const tenon_argument_rule_t* tenon__rule_at(const tenon_argument_rule_t* rules,
                                                          uint32_t k) {
  return rules == NULL ? NULL : &rules[k];
}
/* Does it take gaps and strides? NULL: rows. */
static inline bool tenon__rule_is_strided(const tenon_argument_rule_t* rule) {
  return rule != NULL && (rule->flags & TENON_RULE_STRIDED) != 0;
}
/* Does it want its numbers in the host's memory, whatever the kernel's device? */
static inline bool tenon__rule_is_host(const tenon_argument_rule_t* rule) {
  return rule != NULL && (rule->flags & TENON_RULE_HOST) != 0;
}
/* Does it ask for more alignment than an element of the type has? */
bool tenon__rule_asks_alignment(const tenon_argument_rule_t* rule, tenon_dtype_t dtype);
/* May the argument lie in a box of a larger tensor, wherever that begins? */
static inline bool tenon__rule_takes_boxes(const tenon_argument_rule_t* rule, tenon_dtype_t dtype) {
  return tenon__rule_is_strided(rule) && !tenon__rule_asks_alignment(rule, dtype);
}
/* Is a constant handed over as it is, in rows? Whoever asks for another order gets it (EXACT), and
 * whoever asks that it lie as another argument does (FOLLOWS). NULL: rows. */
bool tenon__rule_takes_rows(const tenon_argument_rule_t* rule);

/* ---- Which elements strides reach ----
 *
 * Views that a plan describes are checked against the memory that they lie in, since a plan may
 * come from anybody. */

/* A tensor with these dims and strides, whose first element is number `offset`. */
typedef struct tenon__reach_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides;
  int64_t offset;
} tenon__reach_t;

/* Does `inner` touch no element outside of those between the first and the last that `outer`
 * touches? False too when an extent is negative or a product overflows. A tensor without elements
 * lies anywhere. */
bool tenon__reach_within(const tenon__reach_t* inner, const tenon__reach_t* outer);
/* *inout_sum += a * b; false on overflow. */
bool tenon__add_product(int64_t a, int64_t b, int64_t* inout_sum);

#endif
