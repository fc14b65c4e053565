/*
 * The words in which the tables of this plugin are written. An operator is one row:
 *
 *   {OPERATOR("leaky_relu", "x, or alpha x where x is negative"),
 *    UNARY("float"), ATTRIBUTES(FLOAT("alpha", "0.01")), CASE("y = x >= 0 ? x : alpha * x")},
 *
 * Fields of tenon_operator_t that have no word here are written by name. What the texts mean,
 * plugin.h says at each field; here stand only shorter ways to write them, so that a row can be
 * read aloud. All of it is constant data: a plugin's table lives as long as the plugin, and so do
 * the arrays that these words make.
 */
#ifndef PLUGINS_STANDARD_DECLARE_H_
#define PLUGINS_STANDARD_DECLARE_H_

#include "tenon/plugin.h"

/* The head of a row: name, and a line for whoever lists operators. */
#define OPERATOR(operator_name, text) \
  .size = sizeof(tenon_operator_t), .name = "standard." operator_name "/1", .summary = (text)

/* Lists that the rows carry, each at most once in a row. */
#define LIST_OF(type, ...) TENON_LIST(((const type[]){__VA_ARGS__}))
#define ATTRIBUTES(...) .attributes = LIST_OF(tenon_attribute_descriptor_t, __VA_ARGS__)
#define TYPES(...) .types = LIST_OF(tenon_type_variable_t, __VA_ARGS__)
#define INPUTS(...) .inputs = LIST_OF(tenon_port_t, __VA_ARGS__)
#define OUTPUTS(...) .outputs = LIST_OF(tenon_port_t, __VA_ARGS__)
#define CHECKS(...) .checks = LIST_OF(tenon_check_t, __VA_ARGS__)
/* What an operator computes, as an expression over its elements: such nodes are fused, and need
 * no kernel of their own. */
#define CASES(...) .cases = LIST_OF(tenon_case_t, __VA_ARGS__)
/* What it moves, as an index map: which element of which input an element of the output is. A
 * move may become a view, and two that follow one another one. */
#define MOVES(...) .moves = LIST_OF(tenon_case_t, __VA_ARGS__)
/* The same as a few other operators, for where nothing computes it as it is. */
#define DECOMPOSITIONS(...) .decompositions = LIST_OF(tenon_case_t, __VA_ARGS__)

/* One entry of a list. Defaults are texts, as everywhere in the contract: "0.01", "'sum'", "[1,
 * 1]"; a choice's words stand with | between, a range of integers as "0..1". */
#define ATTRIBUTE(kind_, name_, default_, choices_)                                            \
  {                                                                                            \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (name_), .default_text = (default_), \
    .choices = (choices_), .kind = (kind_)                                                     \
  }
#define INT(name, value) ATTRIBUTE(TENON_ATTRIBUTE_INT, name, value, NULL)
/* With a range, "0..3" or "1..2147483647": others are refused before a CHECK is asked. */
#define INT_IN(name, value, range) ATTRIBUTE(TENON_ATTRIBUTE_INT, name, value, range)
/* An integer that is 0 or 1. */
#define FLAG(name, value) ATTRIBUTE(TENON_ATTRIBUTE_INT, name, value, "0..1")
#define FLOAT(name, value) ATTRIBUTE(TENON_ATTRIBUTE_FLOAT, name, value, NULL)
#define STRING(name, value) ATTRIBUTE(TENON_ATTRIBUTE_STRING, name, value, NULL)
/* One of the words; a text without choices may be anything. */
#define CHOICE(name, value, choices) ATTRIBUTE(TENON_ATTRIBUTE_STRING, name, value, choices)
#define INTS(name, value) ATTRIBUTE(TENON_ATTRIBUTE_INTS, name, value, NULL)
#define FLOATS(name, value) ATTRIBUTE(TENON_ATTRIBUTE_FLOATS, name, value, NULL)
#define STRINGS(name, value) ATTRIBUTE(TENON_ATTRIBUTE_STRINGS, name, value, NULL)
#define DTYPE(name, value) ATTRIBUTE(TENON_ATTRIBUTE_DTYPE, name, value, NULL)
/* An attribute without a default: a node that lacks it is refused. */
#define REQUIRED(kind_, name_)                                                      \
  {                                                                                 \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (name_), .kind = (kind_), \
    .flags = TENON_ATTRIBUTE_REQUIRED                                               \
  }
#define REQUIRED_INT(name) REQUIRED(TENON_ATTRIBUTE_INT, name)
#define REQUIRED_INTS(name) REQUIRED(TENON_ATTRIBUTE_INTS, name)
#define REQUIRED_FLOATS(name) REQUIRED(TENON_ATTRIBUTE_FLOATS, name)
#define REQUIRED_STRING(name) REQUIRED(TENON_ATTRIBUTE_STRING, name)
#define REQUIRED_DTYPE(name) REQUIRED(TENON_ATTRIBUTE_DTYPE, name)

/* A type variable: names of dtypes with blanks between, or a class of them; ports that name it
 * have one type. */
#define TYPE(name_, allowed_) \
  { .size = sizeof(tenon_type_variable_t), .name = (name_), .allowed = (allowed_) }
/* An input or output: `type` is a type variable or a dtype, `domain` what elements may be (NULL:
 * anything), `flags` TENON_PORT_*. */
#define PORT_OF(name_, type_, domain_, flags_)                                           \
  {                                                                                      \
    .size = sizeof(tenon_port_t), .name = (name_), .type = (type_), .domain = (domain_), \
    .flags = (flags_)                                                                    \
  }
/* A port as most are: any elements, and it must be there. */
#define PORT(name, type) PORT_OF(name, type, NULL, 0)
#define PORT_IN(name, type, domain) PORT_OF(name, type, domain, 0)
/* A port that a node may leave out. */
#define OPTIONAL(name, type) PORT_OF(name, type, NULL, TENON_PORT_OPTIONAL)
#define OPTIONAL_IN(name, type, domain) PORT_OF(name, type, domain, TENON_PORT_OPTIONAL)
/* The last port: one value or more, all of its type. */
#define VARIADIC(name, type) PORT_OF(name, type, NULL, TENON_PORT_VARIADIC)
/* Shape operands: integers that take part in shapes, and so are known when building as far as
 * they can be. */
#define SHAPE(name, type) PORT_OF(name, type, NULL, TENON_PORT_SHAPE_OPERAND)
#define OPTIONAL_SHAPE(name, type) \
  PORT_OF(name, type, NULL, TENON_PORT_SHAPE_OPERAND | TENON_PORT_OPTIONAL)
/* An output whose rank no rule can tell: the kernel finds it, and the host allocates what it
 * asks for. */
#define UNBOUNDED(name, type) PORT_OF(name, type, NULL, TENON_PORT_UNBOUNDED)

/* A condition on a node's types, shapes and attributes, and what is said where it does not hold:
 * {text} is evaluated. */
#define CHECK(condition_, message_) \
  { .size = sizeof(tenon_check_t), .condition = (condition_), .message = (message_) }
/* A text that holds where the condition does: of several the first that does. */
#define WHEN(condition_, text_) \
  { .size = sizeof(tenon_case_t), .when = (condition_), .text = (text_) }
#define ALWAYS(text_) WHEN(NULL, text_)

/* Frequent forms: one type variable T, ports x or a and b, result y. */
#define UNARY(allowed) TYPES(TYPE("T", allowed)), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T"))
#define BINARY(allowed) \
  TYPES(TYPE("T", allowed)), INPUTS(PORT("a", "T"), PORT("b", "T")), OUTPUTS(PORT("y", "T"))
/* One bool for each element, of one operand or of two. */
#define PREDICATE(allowed) \
  TYPES(TYPE("T", allowed)), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "bool"))
#define COMPARISON(allowed) \
  TYPES(TYPE("T", allowed)), INPUTS(PORT("a", "T"), PORT("b", "T")), OUTPUTS(PORT("y", "bool"))
/* A row with one text that always holds. */
#define CASE(text) CASES(ALWAYS(text))
#define MOVE(text) MOVES(ALWAYS(text))

/* Lists for TYPE, and a test for a CHECK or WHEN. */
#define INTEGER_TYPES "i8 i16 i32 i64 u8 u16 u32 u64"
#define FLOAT_TYPES "f16 bf16 f32 f64"
#define NUMBER_TYPES INTEGER_TYPES " " FLOAT_TYPES
/* Whether the port's type is one of them, as text. */
#define IS_INTEGER(x)                                                                   \
  "(dtype(" x ") == 'i8' || dtype(" x ") == 'i16' || dtype(" x ") == 'i32' || dtype(" x \
  ") == 'i64' || dtype(" x ") == 'u8' || dtype(" x ") == 'u16' || dtype(" x             \
  ") == 'u32' || "                                                                      \
  "dtype(" x ") == 'u64')"

/* DTYPE attribute `to` names a float of 8 bits; an integer below a byte; a float of 8 or 4 bits. */
#define TO_FLOAT8 "(to == 'f8e4m3fn' || to == 'f8e4m3fnuz' || to == 'f8e5m2' || to == 'f8e5m2fnuz')"
#define TO_PACKED_INTEGER "(to == 'i4' || to == 'u4' || to == 'i2' || to == 'u2')"
#define TO_TINY_FLOAT "(" TO_FLOAT8 " || to == 'f4e2m1')"

#endif
