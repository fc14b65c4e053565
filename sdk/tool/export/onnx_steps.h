/*
 * Arithmetic as a list of ONNX nodes, typed as they are added and written at once when all of it
 * has a name there: onnx_expression.c reads a text into one. A list, since the type of a number is
 * only known from what it meets, and nothing is to be in the file of an expression that turns out
 * to be refused.
 */
#ifndef TOOL_EXPORT_ONNX_STEPS_H_
#define TOOL_EXPORT_ONNX_STEPS_H_

#include "export/onnx_node.h"

/* What a term is. */
enum { TOOL_ONNX_NUMBER = 1, TOOL_ONNX_INPUT = 2, TOOL_ONNX_STEP = 3 };

/* A number, an input of the node, or what a step before made. A value: copied freely. */
typedef struct tool_onnx_term_t {
  uint32_t kind;
  /* INPUT: which of the node's; STEP: which of the list. */
  uint32_t index;
  /* Of a number UNDEFINED until it meets something typed. */
  tenon_dtype_t dtype;
  bool is_float; /* a number with a point */
  double number;
} tool_onnx_term_t;

/* One ONNX node to be. A list and an integer attribute are what a few of them have besides
 * operands. */
typedef struct tool_onnx_step_t {
  const char* type;
  tool_onnx_term_t operands[3];
  uint32_t count;
  tenon_dtype_t dtype;
  const char* attribute; /* an integer that the node has; NULL: none */
  int64_t value;
  /* A further input, behind the operands: axes, extents; owned. NULL: none. */
  int64_t* list;
  uint32_t list_count;
} tool_onnx_step_t;

typedef struct tool_onnx_steps_t {
  const tool_onnx_node_t* node;
  tool_onnx_step_t* items;
  size_t count;
  size_t capacity;
} tool_onnx_steps_t;

tool_onnx_term_t tool_onnx_integer(double value);
tool_onnx_term_t tool_onnx_real(double value);
/* Input `index`, as the type that it computes in: f16, bf16 and the 8-bit floats are cast to
 * f32, as an expression computes in Tenon. */
tool_onnx_term_t tool_onnx_load(tool_onnx_steps_t* steps, uint32_t index);
/* The term itself where it has the type; a number becomes one of a float type without a node. */
tool_onnx_term_t tool_onnx_cast(tool_onnx_steps_t* steps, tool_onnx_term_t term,
                                tenon_dtype_t dtype);
/* ONNX's `type` over up to 3 terms; numbers take the type of what they meet, f32 or i64 among
 * themselves. Where's first operand is bool and does not count. False, and refused, when types
 * differ. `dtype`: of the result; UNDEFINED: that of the operands. */
bool tool_onnx_add(tool_onnx_steps_t* steps, const char* type, const tool_onnx_term_t* operands,
                   uint32_t count, tenon_dtype_t dtype, tool_onnx_term_t* out_term);
/* What was added last has a list as a further input, or an integer as an attribute. */
void tool_onnx_add_list(tool_onnx_steps_t* steps, const int64_t* values, uint32_t count);
void tool_onnx_add_integer(tool_onnx_steps_t* steps, const char* attribute, int64_t value);
/* Writes all, in order; `result`, cast to the output's type, is the node's output. Refused where
 * it is a number alone or an input is lacking. */
bool tool_onnx_write_steps(tool_onnx_steps_t* steps, tool_onnx_term_t result);
void tool_onnx_free_steps(tool_onnx_steps_t* steps);

#endif
