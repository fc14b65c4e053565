/* Attention by heads, which several families build. */
#ifndef MICROSOFT_HEADS_H_
#define MICROSOFT_HEADS_H_

#include "tenon/maker.h"

/* The operands of one attention. q is [batch, heads, queries, size], k and v are [batch, heads or
 * fewer, keys, size]. Absent values are not used. */
typedef struct microsoft_heads_t {
  tenon_value_t q;
  tenon_value_t k;
  tenon_value_t v;
  tenon_value_t past_k; /* keys and values before k and v */
  tenon_value_t past_v;
  tenon_value_t mask; /* added to the scores; broadcasts to [batch, heads, queries, keys] */
  bool is_causal;
  double scale; /* 0: 1 / root of the size */
} microsoft_heads_t;

/* Results: y is [batch, queries, heads size]. The others belong to optional outputs. */
typedef struct microsoft_attended_t {
  tenon_value_t y;
  tenon_value_t present_k;
  tenon_value_t present_v;
  tenon_value_t scores; /* with the mask; -inf for hidden keys */
} microsoft_attended_t;

microsoft_attended_t microsoft_attend(tenon_make_t* make, const microsoft_heads_t* heads);

/* [batch, length, heads size] as [batch, heads, length, size]. */
tenon_value_t microsoft_split_heads(tenon_make_t* make, tenon_value_t value, int64_t heads);

/* Adds b to the mask a. If one of them is absent, returns the other. */
tenon_value_t microsoft_both(tenon_make_t* make, tenon_value_t a, tenon_value_t b);

/* Input `index` of a key mask as a mask of scores: mask_filter_value for hidden keys, else 0.
 * Forms: [batch] ends, [2 batch] ends and starts, [batch, keys], [batch, queries, keys]. `keys` is
 * [1], the number of keys. */
tenon_value_t microsoft_key_mask(tenon_make_t* make, uint32_t index, tenon_value_t keys);

/* Reads a number of heads, 1 to MICROSOFT_EXTENT_MAX. Returns 1 after a failure. */
int64_t microsoft_head_count(tenon_make_t* make, const char* name);

/* Reads the widths of q, k and v, which are columns of one tensor: qkv_hidden_sizes, or thirds of
 * `width`. Fails unless their sum is `width`. The widths are 0 after a failure. */
void microsoft_widths(tenon_make_t* make, int64_t width, int64_t out_widths[3]);

/* Slices axis -2 of [..., heads, count, size] into `count` values [..., heads size]. The value has rank 4
 * or 5. */
void microsoft_split_packed(tenon_make_t* make, tenon_value_t packed, uint32_t count,
                            tenon_value_t* out_parts);

/* Slices the last axis into q, k and v. */
void microsoft_split_columns(tenon_make_t* make, tenon_value_t all, const int64_t widths[3],
                             tenon_value_t out_parts[3]);

/* Adds to the first `count` of q, k and v their columns of the bias, input `index`, if it is present.
 * The last extents must be known then. */
void microsoft_add_biases(tenon_make_t* make, uint32_t index, uint32_t count,
                          tenon_value_t* inout_parts);

#endif
