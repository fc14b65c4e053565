/*
 * What an expression of a text is for one node. Literals, attributes, ranks, known extents and what
 * follows from them alone are known numbers without an element type; an extent that only the run
 * knows is a dimension; what depends on elements is an instruction of the program in the making.
 */
#ifndef TENON_CORE_LANGUAGE_LANGUAGE_VALUE_H_
#define TENON_CORE_LANGUAGE_LANGUAGE_VALUE_H_

#include <stdbool.h>

#include "core/dimension/dimension.h"

typedef enum tenon__language_kind_t {
  TENON_LANGUAGE_INTEGER,   /* known: integer; dim: its symbol, or INVALID */
  TENON_LANGUAGE_TRUTH,     /* known: integer is 0 or 1, and counts as such in arithmetic */
  TENON_LANGUAGE_REAL,      /* known: real */
  TENON_LANGUAGE_DIMENSION, /* an integer that only the run knows: dim */
  TENON_LANGUAGE_TEXT,      /* text: strings, and types by their mnemonics */
  TENON_LANGUAGE_LIST, /* count items, in the first of integers, reals, dims that is not NULL */
  TENON_LANGUAGE_INSTRUCTION, /* instruction, of its own element type */
  TENON_LANGUAGE_CHOICE,      /* bool instruction chooses of two known numbers without a type yet */
} tenon__language_kind_t;

/* Pointers are borrowed: from the node's scope, its text, or the environment's arena. Small and
 * passed by value; `kind` says which members mean something, the others are zero. Instructions are
 * numbers of the program in the making and die with the round that made them. */
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
  tenon_dtype_t
      narrowed; /* INSTRUCTION: cast to this narrow float, which may change it; else UNDEFINED */
  bool choice_is_real;
  double choices[2]; /* when the instruction holds, and when not */
} tenon__language_value_t;

/* Makers of values, which set what their kind needs and nothing else. Items of a list are borrowed.
 */
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

/* A known integer, truths included. */
static inline bool tenon__value_is_known(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_INTEGER || value->kind == TENON_LANGUAGE_TRUTH;
}

/* An integer that is to stay symbolic, known or not. A symbol with one possible value is known and
 * yet symbolic: what is made of it should follow when the symbol is replaced. */
static inline bool tenon__value_is_symbolic(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_DIMENSION ||
         (value->kind == TENON_LANGUAGE_INTEGER &&
          !tenon__dim_equal(value->dim, TENON_DIM_INVALID));
}

/* A known number that takes the element type of what it meets. A truth is none: it is bool already.
 */
static inline bool tenon__value_is_literal(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_INTEGER || value->kind == TENON_LANGUAGE_REAL;
}

/* Only the run knows it, once for each point of the space. */
static inline bool tenon__value_is_element(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_INSTRUCTION || value->kind == TENON_LANGUAGE_CHOICE;
}

/* Of a known number. */
static inline double tenon__value_as_real(const tenon__language_value_t* value) {
  return value->kind == TENON_LANGUAGE_REAL ? value->real : (double)value->integer;
}

#endif
