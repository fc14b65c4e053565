/*
 * Inside the index language: values, the environment in which a text is evaluated for one node, and
 * the functions. What is evaluated here is integer arithmetic on dimensions; only the side of a
 * choice that a known condition takes is looked at.
 */
#ifndef TENON_CORE_EXPRESSION_INDEX_LANGUAGE_H_
#define TENON_CORE_EXPRESSION_INDEX_LANGUAGE_H_

#include "core/expression/shape_rule.h"

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

/* `text` may be NULL. The environment's lets lie in the arena. */
tenon_status_t tenon__index_environment_initialize(tenon__index_environment_t* out_environment,
                                                   const tenon__scope_t* scope,
                                                   const tenon__text_t* text, tenon__arena_t* arena,
                                                   const tenon_sink_t* sink);
/* Sets loop variable `loop` (0: of subscripts, 1: k); name NULL removes it. Begins a new round. */
void tenon__index_set_loop(tenon__index_environment_t* environment, uint32_t loop, const char* name,
                           tenon_dim_t value);
/* The item of input `port` (then k is its number), of output `port`. */
void tenon__index_set_item(tenon__index_environment_t* environment, const tenon__scope_port_t* port,
                           uint32_t item);
void tenon__index_set_output(tenon__index_environment_t* environment,
                             const tenon__scope_port_t* port, uint32_t item);
/* Among statements for `target` (and `prefix`, where a statement has one) the one for subscript
 * `axis`: by its number, else by a name, which becomes the loop variable; NULL when there is none.
 */
const tenon__statement_t* tenon__index_select_statement(tenon__index_environment_t* environment,
                                                        const char* prefix, const char* target,
                                                        uint32_t axis);
/* Evaluates the statement's value as a number; lets before it may be named. */
tenon_status_t tenon__index_statement_number(tenon__index_environment_t* environment,
                                             const tenon__statement_t* statement,
                                             tenon_dim_t* out_dim);

tenon_status_t tenon__index_evaluate(tenon__index_environment_t* environment,
                                     const tenon__syntax_t* syntax,
                                     tenon__index_value_t* out_value);
/* A number, perhaps symbolic. */
tenon_status_t tenon__index_number(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax, tenon_dim_t* out_dim);
/* A number that must be known. */
tenon_status_t tenon__index_known(tenon__index_environment_t* environment,
                                  const tenon__syntax_t* syntax, int64_t* out_value);
/* index_functions.c: a CALL. */
tenon_status_t tenon__index_call(tenon__index_environment_t* environment,
                                 const tenon__syntax_t* call, tenon__index_value_t* out_value);
/* index_lists.c */
tenon_status_t tenon__index_call_len(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                     tenon__index_value_t* out);
tenon_status_t tenon__index_call_value(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                       tenon__index_value_t* out);
tenon_status_t tenon__index_call_at(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                    tenon__index_value_t* out);
tenon_status_t tenon__index_call_index_of(tenon__index_environment_t* e,
                                          const tenon__syntax_t* call, tenon__index_value_t* out);
tenon_status_t tenon__index_call_axis_of(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                         tenon__index_value_t* out);
tenon_status_t tenon__index_call_fold(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                      tenon__index_value_t* out);
/* `status` with the position of `syntax`. */
tenon_status_t tenon__index_fail(const tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon_status_t status,
                                 const char* format, ...) __attribute__((format(printf, 4, 5)));
/* OK and the number as a value, or why the dimension is INVALID. */
tenon_status_t tenon__index_give(const tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon_dim_t dim,
                                 tenon__index_value_t* out_value);
/* Item of any list as a number; the index is in range. */
tenon_dim_t tenon__index_item(const tenon__index_environment_t* environment,
                              const tenon__index_value_t* list, uint32_t index);
static inline bool tenon__index_is_list(const tenon__index_value_t* value) {
  return value->kind == TENON_INDEX_DIMS || value->kind == TENON_INDEX_INTEGERS ||
         value->kind == TENON_INDEX_REALS;
}

/* A tensor that a syntax names: "x", "xs[2]", an output. */
typedef struct tenon__index_tensor_t {
  const tenon__scope_port_t* port;
  bool is_output;
  uint32_t item;
  bool present;
  uint32_t rank; /* TENON_NONE: unknown */
  const tenon_dim_t* dims;
  const tenon__scope_value_t* value; /* NULL for an output that is being inferred */
} tenon__index_tensor_t;

/* An extent; of an output in the making, one that is there already. */
tenon_status_t tenon__index_extent(const tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   const struct tenon__index_tensor_t* tensor, uint32_t axis,
                                   tenon__index_value_t* out_value);
const tenon__scope_port_t* tenon__index_find_port(const tenon__scope_t* scope, const char* name,
                                                  bool* out_is_output);
const tenon__scope_attribute_t* tenon__index_find_attribute(const tenon__scope_t* scope,
                                                            const char* name);
tenon_status_t tenon__index_tensor(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   tenon__index_tensor_t* out_tensor);
/* The same, and its rank must be known. */
tenon_status_t tenon__index_ranked(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   tenon__index_tensor_t* out_tensor);
/* The output port to which item `output` belongs, and its number there. */
const tenon__scope_port_t* tenon__index_port_of(const tenon__scope_t* scope, uint32_t output,
                                                uint32_t* out_item);

#endif
