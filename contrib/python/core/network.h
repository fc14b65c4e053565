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

PyObject* python_network_items(python_network_t* self, PyObject* arguments);
PyObject* python_network_body_items(python_network_t* self, PyObject* arguments);

PyObject* python_network_input(python_network_t* self, PyObject* arguments);
PyObject* python_network_constant(python_network_t* self, PyObject* arguments);
PyObject* python_network_output(python_network_t* self, PyObject* arguments);
PyObject* python_network_add(python_network_t* self, PyObject* arguments);
PyObject* python_network_expression(python_network_t* self, PyObject* arguments);
PyObject* python_network_has_operator(python_network_t* self, PyObject* arguments);

PyObject* python_network_begin_body(python_network_t* self, PyObject* arguments);
PyObject* python_network_body_parameter(python_network_t* self, PyObject* arguments);
PyObject* python_network_body_result(python_network_t* self, PyObject* value);
PyObject* python_network_end_body(python_network_t* self, PyObject* unused);
PyObject* python_network_fail_body(python_network_t* self, PyObject* arguments);
PyObject* python_network_cancel_body(python_network_t* self, PyObject* unused);
PyObject* python_network_add_state(python_network_t* self, PyObject* arguments);
PyObject* python_network_write_state(python_network_t* self, PyObject* arguments);

#define PYTHON_VARIABLE(name, function, doc) \
  { name, (PyCFunction)(function), METH_VARARGS, doc }
#define PYTHON_NETWORK_WALKS                                                              \
  PYTHON_VARIABLE("items", python_network_items, "items(bodies) -> list of NetworkItem"), \
      PYTHON_VARIABLE("body_items", python_network_body_items,                            \
                      "body_items(body) -> list of NetworkItem")
#define PYTHON_NETWORK_LAYERS                                                                  \
  PYTHON_VARIABLE("add_input", python_network_input, "add_input(name, kind, dtype, shape)"),   \
      PYTHON_VARIABLE("add_constant", python_network_constant,                                 \
                      "add_constant(array, name, borrow)"),                                    \
      PYTHON_VARIABLE("add_output", python_network_output, "add_output(value, name)"),         \
      PYTHON_VARIABLE("add_node", python_network_add,                                          \
                      "add_node(op, name, inputs, attributes, bodies, outputs)"),              \
      PYTHON_VARIABLE("add_expression", python_network_expression,                             \
                      "add_expression(text, names, inputs, name)"),                            \
      PYTHON_VARIABLE("has_operator", python_network_has_operator, "has_operator(op)"),        \
      PYTHON_VARIABLE("begin_body", python_network_begin_body, "begin_body(name)"),            \
      PYTHON_VARIABLE("body_parameter", python_network_body_parameter,                         \
                      "body_parameter(name, kind, dtype, shape, like)"),                       \
      PYTHON_ONE("body_result", python_network_body_result, "body_result(value)"),             \
      PYTHON_PLAIN("end_body", python_network_end_body, "Ends the body; returns its number."), \
      PYTHON_VARIABLE("fail_body", python_network_fail_body, "fail_body(status, message)"),    \
      PYTHON_PLAIN("cancel_body", python_network_cancel_body, "Drops the body."),              \
      PYTHON_VARIABLE("add_state", python_network_add_state,                                   \
                      "add_state(name, dtype, shape, initial)"),                               \
      PYTHON_VARIABLE("write_state", python_network_write_state, "write_state(name, value)")

#endif /* TENON_PYTHON_NETWORK_H_ */
