/* Methods of Network that are written in walk.c, layers.c, nodes.c and bodies.c. */
#ifndef TENON_PYTHON_NETWORK_H_
#define TENON_PYTHON_NETWORK_H_

#include "state.h"

/* python_check for a call on this network. */
int python_network_status(python_network_t* self, tenon_status_t status);
/* The builder of its graph. */
tenon_builder_t* python_network_builder(const python_network_t* self);
/* A value of this network. */
PyObject* python_value_make(python_network_t* network, tenon_value_t value);
/* The value in `object`: a Value of this network, or None (absent). */
int python_value_from(python_network_t* network, PyObject* object, tenon_value_t* out_value);

/* The methods without keywords: name, flags, text. python_network_NAME is the function. */
#define PYTHON_NETWORK_METHODS(X)                                                   \
  X(input_list, METH_NOARGS, "The inputs, as IOInfo.")                              \
  X(output_list, METH_NOARGS, "The outputs, as IOInfo.")                            \
  X(files, METH_NOARGS, "The files that the network was parsed from.")              \
  X(node_types, METH_NOARGS, "The kinds of nodes in the model's file.")             \
  X(text, METH_NOARGS, "The network as text.")                                      \
  X(values_text, METH_NOARGS, "The names of all values, one a line.")               \
  X(clear_outputs, METH_NOARGS, "Removes all outputs.")                             \
  X(mark_output, METH_VARARGS, "mark_output(name)")                                 \
  X(make_state, METH_VARARGS, "make_state(input, output)")                          \
  X(items, METH_VARARGS, "items(bodies) -> list of NetworkItem")                    \
  X(body_items, METH_VARARGS, "body_items(body) -> list of NetworkItem")            \
  X(add_input, METH_VARARGS, "add_input(name, kind, dtype, shape)")                 \
  X(add_constant, METH_VARARGS, "add_constant(array, name, dtype, borrow)")         \
  X(add_output, METH_VARARGS, "add_output(value, name)")                            \
  X(add_node, METH_VARARGS,                                                         \
    "add_node(op, name, inputs, attributes, bodies, outputs, is_variadic)")         \
  X(add_expression, METH_VARARGS, "add_expression(text, names, inputs, name)")      \
  X(has_operator, METH_VARARGS, "has_operator(op)")                                 \
  X(begin_body, METH_VARARGS, "begin_body(name)")                                   \
  X(body_parameter, METH_VARARGS, "body_parameter(name, kind, dtype, shape, like)") \
  X(body_result, METH_O, "body_result(value)")                                      \
  X(end_body, METH_NOARGS, "Ends the body; returns its number.")                    \
  X(fail_body, METH_VARARGS, "fail_body(status, message)")                          \
  X(cancel_body, METH_NOARGS, "Drops the body.")                                    \
  X(add_state, METH_VARARGS, "add_state(name, dtype, shape, initial)")              \
  X(write_state, METH_VARARGS, "write_state(name, value)")

#define PYTHON_DECLARE(name, flags, text) \
  PyObject* python_network_##name(python_network_t* self, PyObject* arguments);
PYTHON_NETWORK_METHODS(PYTHON_DECLARE)
#undef PYTHON_DECLARE

#endif /* TENON_PYTHON_NETWORK_H_ */
