/*
 * A case: one node with its attributes, inputs and numbers. It is drawn from the declarations of
 * the operator alone, so many cases are no valid nodes: the network decides.
 */
#ifndef TOOL_CHECK_CASE_H_
#define TOOL_CHECK_CASE_H_

#include "check/plugin.h"
#include "check/random.h"
#include "data/value.h"

enum {
  CHECK_MOST_INPUTS = 24,
  CHECK_MOST_OUTPUTS = 16,
  CHECK_MOST_ATTRIBUTES = 32,
  CHECK_MOST_RANK = 8,
  CHECK_POOL_BYTES = 8192
};

/* value.kind ABSENT: the input is absent. */
typedef struct check_input_t {
  const tenon_port_t* port;
  bool is_constant;
  double scale; /* of its numbers */
  tool_value_t value;
} check_input_t;

typedef struct check_case_t {
  const tenon_operator_t* op;
  tenon_attribute_t attributes[CHECK_MOST_ATTRIBUTES];
  uint32_t attribute_count;
  check_input_t inputs[CHECK_MOST_INPUTS];
  uint32_t input_count;
  uint32_t output_count;
  /* Lists and texts of attributes. */
  char pool[CHECK_POOL_BYTES] __attribute__((aligned(8)));
  size_t pool_used;
} check_case_t;

/* The kind of case. */
typedef struct check_wish_t {
  uint64_t most_elements; /* of one input */
  bool constants;         /* all inputs but the first are constants */
  bool no_constants;      /* none is, except operands of shapes */
  bool is_empty;          /* an extent is 0 */
  bool is_wide;           /* large leading extents: work for several threads */
} check_wish_t;

/* NULL, or the reason why no case of the operator can be drawn. */
const char* check_case_obstacle(const tenon_operator_t* op);
/* Draws another case; release the one before. False: the draw failed, try again. */
bool check_case_draw(const tenon_operator_t* op, const check_wish_t* wish, check_random_t* random,
                     check_case_t* out_case);
/* Draws other numbers for the inputs that are no constants. */
void check_case_redraw(check_case_t* c, check_random_t* random);
void check_case_release(check_case_t* c);
/* "f32[1,3]". */
void check_case_print_type(const tool_value_t* value, check_text_t* text);
/* "x f32[1,3], w constant f32[3]; axis=1". */
void check_case_print(const check_case_t* c, check_text_t* text);

static inline bool check_input_is_there(const check_input_t* input) {
  return input->value.kind != TENON_ARGUMENT_ABSENT;
}
/* There, and an input of the network. */
static inline bool check_input_is_fed(const check_input_t* input) {
  return check_input_is_there(input) && !input->is_constant;
}
/* Items of a list of the contract, whatever their stride. */
static inline const void* check_list_item(const tenon_list_t* list, uint32_t index) {
  return (const char*)list->items + (size_t)index * list->stride;
}
/* The port of an input or output; the last one repeats. */
const tenon_port_t* check_port(const tenon_list_t* ports, uint32_t index);

#endif
