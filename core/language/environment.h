/*
 * The environment in which a text is evaluated for one node: the meanings of its names, and the
 * destination of its values. Without a program (shapes, contents, moves, checks, conditions), a
 * port's name is the list of its contents. With a program, it is an element, that is, an
 * instruction. There is no other difference. Results are in the arena. One thread uses an
 * environment.
 */
#ifndef TENON_CORE_LANGUAGE_ENVIRONMENT_H_
#define TENON_CORE_LANGUAGE_ENVIRONMENT_H_

#include "core/dimension/shape.h"
#include "core/language/language_value.h"
#include "core/language/scope.h"
#include "core/language/text.h"
#include "core/program/program_builder.h"

/* A text and its node. All members are borrowed, on the caller's stack, and not kept. */
typedef struct tenon__node_text_t {
  const tenon__scope_t* scope;
  const tenon__text_t* text; /* NULL: a single expression */
  tenon__arena_t* arena;     /* of the results */
  const tenon_sink_t* sink;  /* for errors, with the column in the text; may be NULL */
} tenon__node_text_t;

/* Makes a data-dependent extent (output item `output`, axis `axis`), at most `bound` (INVALID:
 * unbounded). Provided by the network; returns INVALID if out of memory. */
typedef struct tenon__fresh_t {
  tenon_dim_t (*make)(void* user, uint32_t output, uint32_t axis, tenon_dim_t bound);
  void* user;
} tenon__fresh_t;

/* The program under construction, made in two rounds. The first, dry round finds the inputs that
 * are aligned with the space, and reductions; its instructions are discarded. `aligned` has the
 * shapes of these inputs; their broadcast is the space of the second round, unless a shape rule
 * gives one. Two rounds are necessary because an instruction depends on the axes along which its
 * operands vary, and the last input of the text may add an axis. */
typedef struct tenon__program_maker_t {
  tenon__program_builder_t builder;
  bool dry;
  bool reduces;
  tenon__inferred_shape_t* aligned;
  uint32_t aligned_count;
  uint32_t aligned_capacity;
  /* of the space; TENON_NONE in the dry round */
  uint32_t rank;
  /* its extents, in the arena; NULL in the dry round */
  const tenon_dim_t* space;
  bool is_given; /* the space is a shape rule's, not the inputs' broadcast */
} tenon__program_maker_t;

/* The value of a let, kept until a dependency changes. So a let is evaluated once for a text, or,
 * if it contains a loop variable, once for each value of the variable. */
typedef struct tenon__let_t {
  tenon__language_value_t value;
  uint32_t round; /* of the environment when it was evaluated; TENON_NONE: always valid */
  bool evaluated;
} tenon__let_t;

/* The sum of the extents of a port's first `count` items along `axis`, updated by one addition for
 * each next item. Otherwise before(k, a) for all items of a concatenation would take quadratic
 * time. */
typedef struct tenon__running_extent_t {
  const tenon__scope_port_t* port; /* NULL: empty */
  int64_t axis;
  int64_t count;
  tenon_dim_t sum;
} tenon__running_extent_t;

enum {
  TENON__LOOP_SUBSCRIPT, /* d, i: the subscript of the statement's target */
  TENON__LOOP_ITEM,      /* k: the item of a variadic port */
  TENON__LOOP_COUNT,
};

struct tenon__environment_t;
/* Evaluates a syntax tree: the walk over the syntax. */
typedef tenon_status_t tenon__evaluate_t(struct tenon__environment_t* environment,
                                         const tenon__syntax_t* syntax,
                                         tenon__language_value_t* out_value);

/* Groups of members: arguments; the program or NULL; lets; loops and items, which change during one
 * evaluation; members that only shape rules or moves set. It owns nothing and needs no end. Loops
 * and items are set again for each statement. */
typedef struct tenon__environment_t {
  const tenon__scope_t* scope;
  tenon__dim_pool_t* pool;
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
  const tenon__text_t* text;
  tenon__evaluate_t* evaluate;     /* the walk, for functions that evaluate their arguments */
  tenon__program_maker_t* program; /* NULL: only numbers and shapes are requested */
  tenon__let_t* lets;              /* one for each statement */
  /* Only statements before this one may be named, so no let can refer to itself. */
  uint32_t let_end;
  uint32_t depth; /* of the walk */
  /* A change of a loop variable or an item begins a new round, in which lets that depend on one are
   * evaluated again. */
  const char* loop_names[TENON__LOOP_COUNT];
  int64_t loop_values[TENON__LOOP_COUNT];
  uint32_t round;
  bool saw_loop;
  /* The current item of a variadic port, to which its bare name refers; NULL: item 0 of each. */
  const tenon__scope_port_t* item_port;
  uint32_t item;
  /* The output item for which the text is evaluated; its port's bare name refers to that item. */
  const tenon__scope_port_t* output_port;
  uint32_t output_item;
  /* Known shapes of output items; unknown: dims NULL and rank TENON_NONE. */
  const tenon__inferred_shape_t* shapes;
  uint32_t shape_count;
  const tenon__inferred_shape_t* space; /* moves: of the output with the coordinates o(j) */
  tenon__fresh_t fresh;                 /* shape rules: */
  uint32_t fresh_output;
  uint32_t fresh_axis;
  tenon__running_extent_t running;
} tenon__environment_t;

/* Clears the values of lets for a second round over the same text. The old ones stay in the arena.
 * Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__environment_forget_lets(tenon__environment_t* environment);
/* Sets a loop variable; name NULL removes it. */
void tenon__environment_set_loop(tenon__environment_t* environment, uint32_t loop, const char* name,
                                 int64_t value);
/* Set the item of input `port` (k is its number), or of output `port`. Both begin a new round of
 * lets. An item of a port that is not variadic has no k. */
void tenon__environment_set_item(tenon__environment_t* environment, const tenon__scope_port_t* port,
                                 uint32_t item);
void tenon__environment_set_output(tenon__environment_t* environment,
                                   const tenon__scope_port_t* port, uint32_t item);
/* Returns the statement of `target` (and `prefix`, if a statement has one) for subscript `axis`: by
 * its number, else by a name, which becomes the loop variable; NULL if there is none. In "y[0] = 1;
 * y[d] = dim(x, d)", axis 0 selects the first statement and axis 2 the second, with d = 2. The
 * order of the statements does not matter. Without a name the loop variable is removed. */
const tenon__statement_t* tenon__environment_select(tenon__environment_t* environment,
                                                    const char* prefix, const char* target,
                                                    uint32_t axis);

/* Report an error with the column of `syntax`. They return INVALID_DATA and UNSUPPORTED (valid, but
 * undecidable now). Messages are truncated at 512 bytes. */
tenon_status_t tenon__language_refuse(const tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
tenon_status_t tenon__language_unsupported(const tenon__environment_t* environment,
                                           const tenon__syntax_t* syntax, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the dimension as a value, INTEGER if known. For an INVALID dimension returns
 * OUT_OF_MEMORY, or INVALID_DATA for an overflow or a division by zero. */
tenon_status_t tenon__language_give(const tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax, tenon_dim_t dim,
                                    tenon__language_value_t* out_value);
/* Returns a known integer or a dimension as a dimension; INVALID if out of memory. Undefined for
 * other kinds. */
tenon_dim_t tenon__language_dim(const tenon__environment_t* environment,
                                const tenon__language_value_t* value);
/* Returns an item of a list. The index is in range. */
tenon__language_value_t tenon__language_item(const tenon__environment_t* environment,
                                             const tenon__language_value_t* list, uint32_t index);

/* Evaluates to an integer, possibly symbolic. Returns INVALID_DATA for other kinds. */
tenon_status_t tenon__language_number(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, tenon_dim_t* out_dim);
/* Evaluates to a known integer. Returns UNSUPPORTED if it is data-dependent. */
tenon_status_t tenon__language_known(tenon__environment_t* environment,
                                     const tenon__syntax_t* syntax, int64_t* out_value);
/* Evaluates a statement to a number; earlier lets may be named. Evaluated at each call; only lets
 * are kept. */
tenon_status_t tenon__language_statement(tenon__environment_t* environment,
                                         const tenon__statement_t* statement, tenon_dim_t* out_dim);

#endif
