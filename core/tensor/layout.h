/* Layouts and strides: the memory location of logical coordinates. */
#ifndef TENON_CORE_TENSOR_LAYOUT_H_
#define TENON_CORE_TENSOR_LAYOUT_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Computes contiguous row-major strides. Extents of 0 count as 1. Returns false on overflow. */
bool tenon__strides_row_major(uint32_t rank, const int64_t* dims, int64_t* out_strides);
/* Computes contiguous strides for dimensions in `order`, outermost first; NULL: row-major. */
bool tenon__strides_ordered(uint32_t rank, const int64_t* dims, const uint32_t* order,
                            int64_t* out_strides);
/* Returns true if strides are contiguous in some order (no gaps; zero strides only for extents of
 * 1). */
bool tenon__strides_dense(uint32_t rank, const int64_t* dims, const int64_t* strides);
/* Computes the order of dimensions from strides, outermost first; for equal strides by index. */
void tenon__strides_order(uint32_t rank, const int64_t* strides, uint32_t* out_order);
/* Returns true if strides decrease along `order` (NULL: row-major), possibly with gaps, as for a
 * box of a contiguous tensor of that order. The innermost axis has no gaps. */
bool tenon__strides_in_order(uint32_t rank, const int64_t* dims, const int64_t* strides,
                             const uint32_t* order);
bool tenon__strides_are_row_major(uint32_t rank, const int64_t* dims, const int64_t* strides);
/* Returns true if both give the same addresses. An axis of extent 1 may have any stride. */
bool tenon__strides_equal(uint32_t rank, const int64_t* dims, const int64_t* a, const int64_t* b);
/* Returns true if the product of extents is at most TENON_ELEMENT_LIMIT. Extents of 0, and negative
 * (unknown) ones, are ignored. */
bool tenon__extents_fit(uint32_t rank, const int64_t* dims);
/* Computes the number of elements. Returns false above TENON_ELEMENT_LIMIT or for a negative
 * extent. */
bool tenon__element_count(uint32_t rank, const int64_t* dims, uint64_t* out_count);
/* Returns true if the order is absent or a permutation of the dimensions. */
bool tenon__layout_valid(const tenon_layout_t* layout);
/* NULL equals only NULL. */
bool tenon__layout_equal(const tenon_layout_t* a, const tenon_layout_t* b);
/* Compares two orders of `rank` dimensions, outermost first; NULL: row-major. */
bool tenon__orders_equal(uint32_t rank, const uint32_t* a, const uint32_t* b);
/* Returns true for the row-major order. */
bool tenon__layout_is_rows(const tenon_layout_t* layout);
/* Returns true if two rules require the same layout. NULL: row-major. Flags for overwriting are
 * ignored. */
bool tenon__rules_alike(const tenon_argument_rule_t* a, const tenon_argument_rule_t* b);
/* Minimum alignment of memory that the host provides, in bytes. */
enum { TENON_RULE_MOST_ALIGNMENT = 64 };
/* Returns true if all members of a rule, except its layout, are known values for a tactic with
 * `input_count` inputs. */
bool tenon__rule_is_known(const tenon_argument_rule_t* rule, uint32_t input_count);
/* Returns the k-th of a tactic's rules; NULL (row-major) if it has none. */
static inline const tenon_argument_rule_t* tenon__rule_at(const tenon_argument_rule_t* rules,
                                                          uint32_t k) {
  return rules == NULL ? NULL : &rules[k];
}
/* Returns true if it accepts gaps and strides. NULL: row-major. */
static inline bool tenon__rule_is_strided(const tenon_argument_rule_t* rule) {
  return rule != NULL && (rule->flags & TENON_RULE_STRIDED) != 0;
}
/* Returns true if it requires its data in the host's memory, regardless of the kernel's device. */
static inline bool tenon__rule_is_host(const tenon_argument_rule_t* rule) {
  return rule != NULL && (rule->flags & TENON_RULE_HOST) != 0;
}
/* Returns true if it requires more alignment than an element of the type has. */
bool tenon__rule_asks_alignment(const tenon_argument_rule_t* rule, tenon_dtype_t dtype);
/* Returns true if the argument may be stored in a box of a larger tensor at any offset. */
static inline bool tenon__rule_takes_boxes(const tenon_argument_rule_t* rule, tenon_dtype_t dtype) {
  return tenon__rule_is_strided(rule) && !tenon__rule_asks_alignment(rule, dtype);
}
/* Returns true if a constant is passed in its row-major form. Rules with EXACT and FOLLOWS get
 * another order. NULL: row-major. */
bool tenon__rule_takes_rows(const tenon_argument_rule_t* rule);

/* ---- Elements that strides reach ----
 *
 * The views of a plan are checked against their memory, because plans are untrusted. */

/* A tensor with these dims and strides, whose first element has index `offset`. */
typedef struct tenon__reach_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides;
  int64_t offset;
} tenon__reach_t;

/* Returns true if all elements of `inner` are between the first and the last element of `outer`.
 * Also true for a tensor without elements. Returns false if an extent is negative or a product
 * overflows. */
bool tenon__reach_within(const tenon__reach_t* inner, const tenon__reach_t* outer);
/* *inout_sum += a * b; false on overflow. */
bool tenon__add_product(int64_t a, int64_t b, int64_t* inout_sum);

#endif
