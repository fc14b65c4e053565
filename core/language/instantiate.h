/*
 * Inside instantiation: what an expression of the text is worth for one node. Literals, attributes
 * and whatever follows from them alone stay numbers without a type until they meet a typed operand;
 * everything else is an instruction.
 */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/dimension/shape.h"
#include "core/language/scope.h"
#include "core/language/text.h"
#include "core/program/program_builder.h"

typedef enum tenon__worth_kind_t {
  TENON_WORTH_INTEGER, /* a literal: integer */
  TENON_WORTH_FLOAT,   /* a literal: number */
  TENON_WORTH_BOOL,    /* a known truth: integer */
  TENON_WORTH_TEXT,    /* strings; types by their mnemonics */
  TENON_WORTH_LIST,    /* of integers or, if `reals`, of floats */
  TENON_WORTH_CODE,    /* an instruction */
  TENON_WORTH_CHOICE,  /* instruction `code` chooses between two literals that have no type yet */
} tenon__worth_kind_t;

typedef struct tenon__worth_t {
  tenon__worth_kind_t kind;
  int64_t integer;
  double number;
  const char* text;
  const int64_t* integers;
  const double* reals;
  uint32_t count;
  uint32_t code;
  tenon_dtype_t narrowed; /* CODE: cast to this narrow float, which may change it; else UNDEFINED */
  bool choice_is_float;
  double choices[2];
} tenon__worth_t;

typedef struct tenon__instantiation_t {
  const tenon__scope_t* scope;
  const tenon__text_t* text;
  tenon__dim_pool_t* pool;
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
  tenon__program_builder_t builder;
  tenon__worth_t* lets; /* one for each statement */
  bool* let_done;
  uint32_t let_end;
  uint32_t depth;
  /* A first, dry round learns which inputs are aligned with the space and whether anything is
   * reduced. */
  bool dry;
  bool reduces;
  tenon__inferred_shape_t* aligned;
  uint32_t aligned_count;
  uint32_t aligned_capacity;
  /* The space; in the dry round rank TENON_NONE. */
  uint32_t rank;
  const tenon_dim_t* space;
  bool is_given; /* by a shape rule: not what the aligned inputs broadcast to */
} tenon__instantiation_t;

static inline tenon__worth_t tenon__integer_worth(int64_t value) {
  return (tenon__worth_t){.kind = TENON_WORTH_INTEGER, .integer = value};
}
static inline tenon__worth_t tenon__float_worth(double value) {
  return (tenon__worth_t){.kind = TENON_WORTH_FLOAT, .number = value};
}
static inline tenon__worth_t tenon__bool_worth(bool value) {
  return (tenon__worth_t){.kind = TENON_WORTH_BOOL, .integer = value ? 1 : 0};
}
static inline tenon__worth_t tenon__code_worth(uint32_t code) {
  return (tenon__worth_t){.kind = TENON_WORTH_CODE, .code = code};
}
static inline double tenon__literal_number(const tenon__worth_t* worth) {
  return worth->kind == TENON_WORTH_FLOAT ? worth->number : (double)worth->integer;
}

static inline bool tenon__worth_is_literal(const tenon__worth_t* worth) {
  return worth->kind == TENON_WORTH_INTEGER || worth->kind == TENON_WORTH_FLOAT;
}

/* Instantiates an operator's case for a node. `shapes`: inferred by a shape rule, or NULL: derived
 * here and written to out_shapes (one for each output port). */
tenon_status_t tenon__expression_instantiate(const tenon__scope_t* scope, const tenon__text_t* text,
                                             const tenon__inferred_shape_t* shapes,
                                             tenon__arena_t* arena, const tenon_sink_t* sink,
                                             tenon__expression_t* out_expression,
                                             tenon__inferred_shape_t* out_shapes);

#endif
