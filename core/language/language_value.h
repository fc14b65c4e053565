/*
 * The value of an expression of a text for one node. Literals, attributes, ranks, known extents,
 * and results that depend only on these, are known numbers without an element type. A symbolic
 * extent is a dimension. A value that depends on elements is an instruction of the program under
 * construction.
 */
#ifndef TENON_CORE_LANGUAGE_LANGUAGE_VALUE_H_
#define TENON_CORE_LANGUAGE_LANGUAGE_VALUE_H_

#include <stdbool.h>

#include "core/dimension/dimension.h"

typedef enum tenon__language_kind_t {
  TENON_LANGUAGE_INTEGER,   /* known: integer; dim: its symbol, or INVALID */
  TENON_LANGUAGE_TRUTH,     /* known: integer is 0 or 1, and has this value in arithmetic */
  TENON_LANGUAGE_REAL,      /* known: real */
  TENON_LANGUAGE_DIMENSION, /* an integer known only in a run: dim */
  TENON_LANGUAGE_TEXT,      /* text: strings, and types by their mnemonics */
  TENON_LANGUAGE_LIST, /* count items, in the first of integers, reals, dims that is not NULL */
  TENON_LANGUAGE_INSTRUCTION, /* instruction, of its own element type */
  TENON_LANGUAGE_CHOICE,      /* bool instruction selects one of two numbers without a type */
} tenon__language_kind_t;

/* Small and passed by value. `kind` determines the valid members; the others are zero. Pointers are
 * borrowed from the node's scope, its text, or the environment's arena. Instructions are numbers of
 * the program under construction, valid in the round that made them. */
typedef struct tenon__language_value_t {
  tenon__language_kind_t kind;
  int64_t integer;
  double real;
  tenon_dim_t dim;
  const char* text;
  const int64_t* integers;
  const double* reals;
  const tenon_dim_t* dims;
  uint32_t count;
  uint32_t instruction;
  tenon_dtype_t narrowed; /* INSTRUCTION: cast to this lower-precision float; else UNDEFINED */
  bool choice_is_real;
  double choices[2]; /* if the instruction is true, and if it is false */
} tenon__language_value_t;

/* Make values and set only the members of their kind. Items of a list are borrowed. */
static inline tenon__language_value_t tenon__value_of_integer(int64_t integer) {
  return (tenon__language_value_t){
      .kind = TENON_LANGUAGE_INTEGER, .integer = integer, .dim = TENON_DIM_INVALID};
}

static inline tenon__language_value_t tenon__value_of_truth(bool truth) {
  return (tenon__language_value_t){.kind = TENON_LANGUAGE_TRUTH, .integer = truth ? 1 : 0};
}

static inline tenon__language_value_t tenon__value_of_real(double real) {
  return (tenon__language_value_t){.kind = TENON_LANGUAGE_REAL, .real = real};
}

static inline tenon__language_value_t tenon__value_of_text(const char* text) {
  return (tenon__language_value_t){.kind = TENON_LANGUAGE_TEXT, .text = text};
}

static inline tenon__language_value_t tenon__value_of_dims(const tenon_dim_t* dims,
                                                           uint32_t count) {
  return (tenon__language_value_t){.kind = TENON_LANGUAGE_LIST, .dims = dims, .count = count};
}

/* Returns true for a known integer, truths included. */
static inline bool tenon__value_is_known(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_INTEGER || value->kind == TENON_LANGUAGE_TRUTH;
}

/* Returns true for an integer that stays symbolic, known or not. A symbol with one possible value
 * is known but symbolic: results that use it must change if the symbol is replaced. */
static inline bool tenon__value_is_symbolic(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_DIMENSION ||
         (value->kind == TENON_LANGUAGE_INTEGER &&
          !tenon__dim_equal(value->dim, TENON_DIM_INVALID));
}

/* Returns true for a known number that takes the element type of the other operand. False for a
 * truth, which is bool. */
static inline bool tenon__value_is_literal(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_INTEGER || value->kind == TENON_LANGUAGE_REAL;
}

/* Returns true for a value that a run computes, one for each point of the space. */
static inline bool tenon__value_is_element(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_INSTRUCTION || value->kind == TENON_LANGUAGE_CHOICE;
}

/* Returns a known number as double. */
static inline double tenon__value_as_real(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_REAL ? value->real : (double)value->integer;
}

#endif
