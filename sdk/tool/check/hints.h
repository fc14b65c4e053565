/*
 * Hints: shapes of valid nodes, for operators whose declarations leave it to chance.
 *
 *   "standard.convolution/1: x[n,g*c,h,w] w[g*o,c,3,3] b?[g*o] groups=g"
 *
 * A letter stands for an extent that is drawn, the same for each occurrence in a hint. `?` marks an
 * input that may be absent, `!` one that is always a constant, `=` contents of an integer tensor:
 * "sizes=[n,2*h]". "~20" behind extents multiplies the numbers. Attributes: "axis=1", "pads=[1,1]". Inputs that are not named are absent,
 * attributes that are not named are drawn.
 */
#ifndef TOOL_CHECK_HINTS_H_
#define TOOL_CHECK_HINTS_H_

#include "check/case.h"

typedef struct check_hint_t {
  const char* text;    /* NULL: none */
  int64_t symbols[26]; /* 0: not drawn yet */
  bool has_empty;      /* `empty` stands for 0 */
  char empty;
  bool is_wide; /* batches and the like are large */
} check_hint_t;

typedef struct check_hint_traits_t {
  bool may_be_absent;
  bool is_constant;
  double scale;
} check_hint_traits_t;

/* One of the operator's hints, by chance; none for most operators. */
void check_hint_pick(const char* op, check_random_t* random, check_hint_t* out_hint);
/* The words about an input: false if the hint does not name it. */
bool check_hint_dims(check_hint_t* hint, const char* input, check_random_t* random, int64_t* dims,
                     uint32_t* out_rank, check_hint_traits_t* out_traits);
/* Numbers of an attribute, or contents of an input. False: not named. */
bool check_hint_numbers(check_hint_t* hint, const char* name, check_random_t* random,
                        int64_t* numbers, uint32_t* out_count);
/* The value of an attribute that is a word: ends at a blank or at the end. NULL: not named. */
const char* check_hint_text(const check_hint_t* hint, const char* name);

#endif
