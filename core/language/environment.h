/*
 * A text while it is evaluated for one node: what its names stand for, and where its values go.
 * Without a program in the making (shapes, contents, moves, checks, conditions) a port's name is
 * the list of its contents; with one it is an element, that is, an instruction. Nothing else
 * differs. Everything that is made lies in the arena; an environment is used by one thread.
 */
#ifndef TENON_CORE_LANGUAGE_ENVIRONMENT_H_
#define TENON_CORE_LANGUAGE_ENVIRONMENT_H_

#include "core/dimension/shape.h"
#include "core/language/language_value.h"
#include "core/language/scope.h"
#include "core/language/text.h"
#include "core/program/program_builder.h"

/* A text, and the node that it is evaluated for. All borrowed, on the caller's stack: whoever
 * evaluates gives it on and does not keep it. */
typedef struct tenon__node_text_t {
  const tenon__scope_t* scope;
  const tenon__text_t* text; /* NULL: a single expression */
  tenon__arena_t* arena;     /* results lie there */
  const tenon_sink_t* sink;  /* hears of faults, with the column in the text; NULL: nobody */
} tenon__node_text_t;

/* Makes an extent that only the run knows (output item `output`, axis `axis`), at most `bound`
 * (INVALID: unbounded). Given by the network; INVALID when memory is out. */
typedef struct tenon__fresh_t {
  tenon_dim_t (*make)(void* user, uint32_t output, uint32_t axis, tenon_dim_t bound);
  void* user;
} tenon__fresh_t;

/* The program in the making. A first, dry round learns which inputs are aligned with the space and
 * whether anything is reduced; its instructions are thrown away. `aligned` collects the shapes of
 * those inputs in the dry round; their broadcast is the space of the second, unless a shape rule
 * gave one. Two rounds, as an instruction needs to know along which axes its operands vary, and the
 * last input of the text may add an axis. */
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
  bool is_given; /* the space is a shape rule's, not what the inputs broadcast to */
} tenon__program_maker_t;

/* A let's value, kept as long as nothing that it depends on changes. So a let is evaluated once for
 * a text however often it is named, unless a loop variable stands in it: then once for each value
 * of that. */
typedef struct tenon__let_t {
  tenon__language_value_t value;
  uint32_t round; /* of the environment when it was evaluated; TENON_NONE: it holds for good */
  bool evaluated;
} tenon__let_t;

/* Extents of a port's first `count` items along `axis`, added up: one item after the other costs
 * one addition each. Without it before(k, a) of every item of a concatenation would add up all
 * items before: the square of their number. */
typedef struct tenon__running_extent_t {
  const tenon__scope_port_t* port; /* NULL: of nothing yet */
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
/* What a piece of syntax is: the walk over the syntax. */
typedef tenon_status_t tenon__evaluate_t(struct tenon__environment_t* environment,
                                         const tenon__syntax_t* syntax,
                                         tenon__language_value_t* out_value);

/* In groups: what is given when it begins; the program or NULL; lets; loops and items, which change
 * while one text is evaluated; what only shape rules or moves set. It owns nothing and needs no
 * end. Who sets a loop or an item for a statement sets it anew for the next one. */
typedef struct tenon__environment_t {
  const tenon__scope_t* scope;
  tenon__dim_pool_t* pool;
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
  const tenon__text_t* text;
  tenon__evaluate_t* evaluate;     /* the walk, for functions: they evaluate their arguments */
  tenon__program_maker_t* program; /* NULL: numbers and shapes alone are wanted */
  tenon__let_t* lets;              /* one for each statement */
  /* Statements before this one may be named: a text reads downward, and no let can mean itself. */
  uint32_t let_end;
  uint32_t depth; /* of the walk */
  /* A change of a loop variable or an item begins a new round, in which lets that saw one are
   * evaluated anew. */
  const char* loop_names[TENON__LOOP_COUNT];
  int64_t loop_values[TENON__LOOP_COUNT];
  uint32_t round;
  bool saw_loop;
  /* The item of the variadic port that its bare name means; NULL: item 0 of each. */
  const tenon__scope_port_t* item_port;
  uint32_t item;
  /* The output item that the text is evaluated for; its port's bare name means that item. */
  const tenon__scope_port_t* output_port;
  uint32_t output_item;
  /* Shapes of output items, as far as they are known; dims NULL and rank TENON_NONE before. */
  const tenon__inferred_shape_t* shapes;
  uint32_t shape_count;
  const tenon__inferred_shape_t* space; /* moves: of the output whose coordinates o(j) gives */
  tenon__fresh_t fresh;                 /* shape rules: */
  uint32_t fresh_output;
  uint32_t fresh_axis;
  tenon__running_extent_t running;
} tenon__environment_t;

/* Forgets the values of lets, as a second round over the same text wants. The old ones stay in the
 * arena. OUT_OF_MEMORY only. */
tenon_status_t tenon__environment_forget_lets(tenon__environment_t* environment);
/* Sets a loop variable; name NULL removes it. */
void tenon__environment_set_loop(tenon__environment_t* environment, uint32_t loop, const char* name,
                                 int64_t value);
/* The item of input `port` (then k is its number), of output `port`. Both begin a new round of
 * lets; an item of a port that is not variadic has no k. */
void tenon__environment_set_item(tenon__environment_t* environment, const tenon__scope_port_t* port,
                                 uint32_t item);
void tenon__environment_set_output(tenon__environment_t* environment,
                                   const tenon__scope_port_t* port, uint32_t item);
/* Among statements for `target` (and `prefix`, where a statement has one) the one for subscript
 * `axis`: by its number, else by a name, which becomes the loop variable; NULL when there is none.
 * Of "y[0] = 1; y[d] = dim(x, d)" axis 0 takes the first statement and axis 2 the second, with d
 * = 2. The order of the statements does not matter. Without a name the loop variable is gone. */
const tenon__statement_t* tenon__environment_select(tenon__environment_t* environment,
                                                    const char* prefix, const char* target,
                                                    uint32_t axis);

/* INVALID_DATA, or UNSUPPORTED (right, but not to be decided now), said with the column of
 * `syntax`; each returns its status. The words are cut at 512 bytes. */
tenon_status_t tenon__language_refuse(const tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
tenon_status_t tenon__language_unsupported(const tenon__environment_t* environment,
                                           const tenon__syntax_t* syntax, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* The dimension as a value, INTEGER where it is known; or why it is INVALID: OUT_OF_MEMORY, or an
 * overflow or a division by zero, INVALID_DATA. */
tenon_status_t tenon__language_give(const tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax, tenon_dim_t dim,
                                    tenon__language_value_t* out_value);
/* A known integer or a dimension, as a dimension. INVALID when memory is out; of any other kind it
 * means nothing. */
tenon_dim_t tenon__language_dim(const tenon__environment_t* environment,
                                const tenon__language_value_t* value);
/* Item of a list; the index is in range. */
tenon__language_value_t tenon__language_item(const tenon__environment_t* environment,
                                             const tenon__language_value_t* list, uint32_t index);

/* Evaluates to an integer, perhaps symbolic; INVALID_DATA for anything else. */
tenon_status_t tenon__language_number(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax, tenon_dim_t* out_dim);
/* Evaluates to an integer that is known now; UNSUPPORTED when only the run knows it. */
tenon_status_t tenon__language_known(tenon__environment_t* environment,
                                     const tenon__syntax_t* syntax, int64_t* out_value);
/* A statement's value as a number; lets before it may be named. Evaluated anew each time: only lets
 * are kept. */
tenon_status_t tenon__language_statement(tenon__environment_t* environment,
                                         const tenon__statement_t* statement, tenon_dim_t* out_dim);

#endif
