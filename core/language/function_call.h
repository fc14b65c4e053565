/*
 * Calls in texts, and the rows of the tables of functions (functions.h). A row has the kinds of its
 * function's arguments, so that arguments are evaluated in one place.
 */
#ifndef TENON_CORE_LANGUAGE_FUNCTION_CALL_H_
#define TENON_CORE_LANGUAGE_FUNCTION_CALL_H_

#include "core/language/named_tensor.h"

enum { TENON__FUNCTION_CALL_VALUES = 3 };

/* A call during its function. The row determines the members that have its arguments. */
typedef struct tenon__function_call_t {
  tenon__environment_t* e;
  const tenon__syntax_t* syntax; /* of the call: position of errors */
  tenon__named_tensor_t tensor;
  tenon__language_value_t values[TENON__FUNCTION_CALL_VALUES]; /* by number of the argument */
} tenon__function_call_t;

/* `takes`: a letter for each of the first arguments; the function evaluates the others.
 *   t  a tensor, present or not: `tensor`
 *   r  a present tensor of known rank: `tensor`
 *   l  a list: its value
 *   k  an integer that is known when building: `integer` of its value
 *   n  an integer: `dim` of its value
 *   v  any value */
typedef struct tenon__function_t {
  const char* name; /* NULL ends a table */
  uint32_t least;   /* arguments */
  uint32_t most;
  const char* takes;
  tenon_status_t (*call)(tenon__function_call_t* call, tenon__language_value_t* out_value);
  bool of_elements; /* only with a program */
} tenon__function_t;

#endif
