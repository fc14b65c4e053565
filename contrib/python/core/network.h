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

/* The methods without keywords: name, flags, signature, text. python_network_NAME is the function. */
#define PYTHON_NETWORK_METHODS(X)                                                                \
  X(input_list, METH_NOARGS, "", "Returns the inputs, as IOInfo.")                               \
  X(output_list, METH_NOARGS, "", "Returns the outputs, as IOInfo.")                             \
  X(files, METH_NOARGS, "", "Returns the paths of the files that the network was parsed from.")  \
  X(node_types, METH_NOARGS, "",                                                                 \
    "Returns the kinds of nodes in the file of the model, as NodeType.")                         \
  X(text, METH_NOARGS, "", "Returns the network as text.")                                       \
  X(values_text, METH_NOARGS, "", "Returns the names of all values, one a line.")                \
  X(clear_outputs, METH_NOARGS, "", "Removes all outputs.")                                      \
  X(mark_output, METH_VARARGS, ", name", "Makes the value of this name an output.")              \
  X(make_state, METH_VARARGS, ", input, output",                                                 \
    "Makes an input and an output one state, which the context keeps between runs.")             \
  X(items, METH_VARARGS, ", bodies=False",                                                       \
    "Returns inputs, nodes and outputs as a list of NetworkItem; with the nodes of bodies, if "  \
    "true.")                                                                                     \
  X(body_items, METH_VARARGS, ", body", "Returns the items of one body, a list of NetworkItem.") \
  X(add_input, METH_VARARGS, ", name, kind, dtype, shape", "Adds an input.")                     \
  X(add_constant, METH_VARARGS, ", array, name, dtype, borrow", "Adds a constant.")              \
  X(add_output, METH_VARARGS, ", value, name", "Adds an output.")                                \
  X(add_node, METH_VARARGS, ", op, name, inputs, attributes, bodies, outputs, is_variadic",      \
    "Adds a node; returns its outputs.")                                                         \
  X(add_expression, METH_VARARGS, ", text, names, inputs, name",                                 \
    "Adds a node for an expression; returns its output.")                                        \
  X(has_operator, METH_VARARGS, ", op",                                                          \
    "True if a plugin offers the operator, such as \"standard.relu/1\".")                        \
  X(begin_body, METH_VARARGS, ", name", "Begins a body of a control node.")                      \
  X(body_parameter, METH_VARARGS, ", name, kind, dtype, shape, like",                            \
    "Adds a parameter of the body.")                                                             \
  X(body_result, METH_O, ", value", "Adds a result of the body.")                                \
  X(end_body, METH_NOARGS, "", "Ends the body; returns its number.")                             \
  X(fail_body, METH_VARARGS, ", status, message",                                                \
    "Ends the body as one that cannot run; returns its number.")                                 \
  X(cancel_body, METH_NOARGS, "", "Drops the body.")                                             \
  X(add_state, METH_VARARGS, ", name, dtype, shape, initial",                                    \
    "Adds a state; returns its value at the start of a run.")                                    \
  X(write_state, METH_VARARGS, ", name, value",                                                  \
    "Sets the value that the state has in the next run.")

#define PYTHON_DECLARE(name, flags, signature, text) \
  PyObject* python_network_##name(python_network_t* self, PyObject* arguments);
PYTHON_NETWORK_METHODS(PYTHON_DECLARE)
#undef PYTHON_DECLARE

#endif /* TENON_PYTHON_NETWORK_H_ */
