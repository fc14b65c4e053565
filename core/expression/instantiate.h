/*
 * Inside instantiation: what an expression of the text is worth for one node. Literals, attributes
 * and whatever follows from them alone stay numbers without a type until they meet a typed operand;
 * everything else is an instruction.
 */
#ifndef TENON_CORE_EXPRESSION_INSTANTIATE_H_
#define TENON_CORE_EXPRESSION_INSTANTIATE_H_

#include "core/expression/program_builder.h"

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

tenon_status_t tenon__worth_fail(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 tenon_status_t status, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

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

/* instantiate_worth.c */
tenon_status_t tenon__worth_evaluate(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                     tenon__worth_t* out_worth);
/* A number that is known: literals and attributes. */
tenon_status_t tenon__worth_integer(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                    int64_t* out_value);
/* instantiate_types.c: the worth as an instruction of type `dtype`, which a literal takes;
 * INVALID_DATA when it has another. */
tenon_status_t tenon__worth_typed(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const tenon__worth_t* worth, tenon_dtype_t dtype,
                                  uint32_t* out_instruction);
/* As an instruction: what has no type becomes f32 or i64. */
tenon_status_t tenon__worth_code(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 const tenon__worth_t* worth, uint32_t* out_instruction);
static inline bool tenon__worth_is_literal(const tenon__worth_t* worth) {
  return worth->kind == TENON_WORTH_INTEGER || worth->kind == TENON_WORTH_FLOAT;
}
/* An opcode of one, two or three operands, folded where all are literals. */
tenon_status_t tenon__worth_operation(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                      uint32_t opcode, const tenon__worth_t* operands,
                                      tenon__worth_t* out_worth);
tenon_status_t tenon__worth_select(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   const tenon__worth_t operands[3], tenon__worth_t* out_worth);

/* instantiate_functions.c */
tenon_status_t tenon__worth_call(tenon__instantiation_t* in, const tenon__syntax_t* call,
                                 tenon__worth_t* out_worth);
/* instantiate_inputs.c: an element of item `item` of a port: aligned with the space, or (axis not
 * TENON_NONE) varying along that axis alone. */
tenon_status_t tenon__worth_input(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const tenon__scope_port_t* port, uint32_t item, uint32_t axis,
                                  tenon__worth_t* out_worth);
const tenon__scope_port_t* tenon__find_input(const tenon__scope_t* scope, const char* name);
/* The type that a name in cast(x, name) or highest(name) means, as stored; UNDEFINED: none. */
tenon_dtype_t tenon__named_type(const tenon__scope_t* scope, const char* name);
/* A known axis of the space, negative from the end; 0 in the dry round. */
tenon_status_t tenon__worth_axis(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 uint32_t* out_axis);
/* The axes that the second argument of a reduction means, as a mask. `is_empty`: the list was
 * empty. */
tenon_status_t tenon__worth_axes(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 uint64_t* out_mask, bool* out_is_empty);

#endif
