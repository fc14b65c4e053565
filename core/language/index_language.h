/*
 * Inside the index language: values, the environment in which a text is evaluated for one node, and
 * the functions. What is evaluated here is integer arithmetic on dimensions; only the side of a
 * choice that a known condition takes is looked at.
 */
#ifndef TENON_CORE_LANGUAGE_INDEX_LANGUAGE_H_
#define TENON_CORE_LANGUAGE_INDEX_LANGUAGE_H_

#include "core/dimension/shape.h"
#include "core/language/shape_rule.h"

typedef enum tenon__index_kind_t {
  TENON_INDEX_NUMBER,   /* dim */
  TENON_INDEX_REAL,     /* real: FLOAT attributes and literals; always known */
  TENON_INDEX_TEXT,     /* text: strings, and types by their mnemonics */
  TENON_INDEX_DIMS,     /* a list: dims */
  TENON_INDEX_INTEGERS, /* a list: integers */
  TENON_INDEX_REALS,    /* a list: reals */
} tenon__index_kind_t;

typedef struct tenon__index_value_t {
  tenon__index_kind_t kind;
  tenon_dim_t dim;
  double real;
  const char* text;
  uint32_t count; /* of a list */
  const tenon_dim_t* dims;
  const int64_t* integers;
  const double* reals;
} tenon__index_value_t;

/* A let's value, kept as long as nothing that it depends on changes. */
typedef struct tenon__let_t {
  tenon__index_value_t value;
  uint32_t round; /* of the environment when it was evaluated, TENON_NONE: holds for good */
  bool evaluated;
} tenon__let_t;

/* Extents of a port's first `count` items along `axis`, added up: what the next item begins at is
 * one more away. */
typedef struct tenon__running_extent_t {
  const tenon__scope_port_t* port; /* NULL: of nothing yet */
  tenon_dim_t axis;
  int64_t count;
  tenon_dim_t sum;
} tenon__running_extent_t;

enum { TENON__INDEX_LOOPS = 3, TENON__INDEX_DEPTH = 512 };

typedef struct tenon__index_environment_t {
  const tenon__scope_t* scope;
  tenon__dim_pool_t* pool;
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
  const tenon__text_t* text; /* NULL: a single expression */
  tenon__let_t* lets;        /* one for each statement */
  uint32_t let_end;          /* statements before this one may be named */
  /* Loop variables: d, i, k. A change begins a new round, in which lets that saw one are evaluated
   * anew. */
  const char* loop_names[TENON__INDEX_LOOPS];
  tenon_dim_t loop_values[TENON__INDEX_LOOPS];
  uint32_t round;
  bool saw_loop;
  uint32_t depth;
  /* The item of the variadic port that its bare name means. */
  const tenon__scope_port_t* item_port;
  uint32_t item;
  /* The output item that the text is evaluated for; NULL: none. Its port's bare name means that
   * item. */
  const tenon__scope_port_t* output_port;
  uint32_t output_item;
  /* Shapes of output items, as far as they are known; dims NULL and rank TENON_NONE before. */
  const tenon__inferred_shape_t* shapes;
  uint32_t shape_count;
  /* Moves: the output whose coordinates o(j) gives. */
  const tenon__inferred_shape_t* space;
  /* Shape rules: */
  tenon__fresh_t fresh;
  void* fresh_user;
  uint32_t fresh_output;
  uint32_t fresh_axis;
  tenon__running_extent_t running;
} tenon__index_environment_t;

tenon_status_t tenon__index_evaluate(tenon__index_environment_t* environment,
                                     const tenon__syntax_t* syntax,
                                     tenon__index_value_t* out_value);
/* A number, perhaps symbolic. */
tenon_status_t tenon__index_number(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax, tenon_dim_t* out_dim);
/* A number that must be known. */
tenon_status_t tenon__index_known(tenon__index_environment_t* environment,
                                  const tenon__syntax_t* syntax, int64_t* out_value);

static inline bool tenon__index_is_list(const tenon__index_value_t* value) {
  return value->kind == TENON_INDEX_DIMS || value->kind == TENON_INDEX_INTEGERS ||
         value->kind == TENON_INDEX_REALS;
}

#endif
