/*
 * The random parts of a sample: ranks, extents, types, attributes, elements. For rewrite_sample.c.
 * Samples must be equal in all processes, else a rewrite could be refused on one machine and used
 * on another. Therefore the generator is our own and begins at 0.
 */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_DRAW_H_
#define TENON_CORE_OPTIMIZER_REWRITE_DRAW_H_

#include "core/base/arena.h"
#include "core/language/scope.h"
#include "core/language/syntax.h"
#include "core/language/text.h"
#include "core/operator/made_data.h"
#include "core/operator/operator.h"

/* Draws samples of one pattern, always the same sequence. */
typedef struct tenon__sampler_t {
  tenon_allocator_t allocator;
  tenon__find_operator_t find;
  void* find_user;
  const tenon__calls_t* pattern;
  const tenon__syntax_t* when; /* its numbers and texts are preferred values; may be NULL */
  uint64_t random;             /* state of the generator; 0 at first */
} tenon__sampler_t;

enum { TENON_DRAW_MOST_RANK = 4, TENON_DRAW_MOST_LITERALS = 16 };

/* Numbers (and their negatives) in a guard, and texts in the guard and in operators' conditions.
 * The values in a guard's comparisons are those for which it is just true or just false. */
typedef struct tenon__literals_t {
  double numbers[TENON_DRAW_MOST_LITERALS];
  uint32_t number_count;
  const char* texts[TENON_DRAW_MOST_LITERALS];
  uint32_t text_count;
} tenon__literals_t;

/* One draw: the properties that most of its inputs share. Inputs of one pattern usually have the
 * same type and shape, so one is drawn for all, and single inputs deviate from it. */
typedef struct tenon__draw_t {
  tenon__sampler_t* sampler;
  tenon__arena_t* arena;
  tenon__literals_t literals;
  tenon_dtype_t base;
  uint32_t rank;
  int64_t dims[TENON_DRAW_MOST_RANK];
} tenon__draw_t;

/* Draws the shared type, rank and extents, and reads the guard's literals. The draw borrows both
 * arguments. */
void tenon__draw_begin(tenon__sampler_t* sampler, tenon__arena_t* arena, tenon__draw_t* out_draw);
/* Adds the texts in an operator's conditions, which are possible values of its attributes. */
void tenon__draw_read(tenon__draw_t* draw, const tenon__operator_t* op);
/* Returns a number below `count`, which is above 0. Each call advances the generator. */
uint32_t tenon__draw_pick(tenon__draw_t* draw, uint32_t count);
/* Draws a value that the operator accepts: one of its choices, and in half of the draws one from
 * the guard. In the draw's arena. Returns false if none was found. */
bool tenon__draw_attribute(tenon__draw_t* draw, const tenon_attribute_descriptor_t* descriptor,
                           tenon__scope_attribute_t* out_attribute);
/* Draws the extents of an input: those of the draw, or extents that broadcast to them. Returns the
 * rank. */
uint32_t tenon__draw_shape(tenon__draw_t* draw, const char* input,
                           int64_t out_dims[TENON_DRAW_MOST_RANK]);
/* Draws elements within the wish's domain, or the contents that the guard requires. Sets range and
 * seed of the wish. */
void tenon__draw_elements(tenon__draw_t* draw, const char* input, tenon__data_wish_t* wish,
                          void* data);

#endif
