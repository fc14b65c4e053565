/* Nodes and expressions of a network that is built by hand. */
#include "network.h"

/* The values of a sequence; *out_values is freed by PyMem_Free. */
static int values_from(python_network_t* network, PyObject* sequence, tenon_value_t** out_values,
                       uint32_t* out_count) {
  const Py_ssize_t count = PySequence_Size(sequence);
  tenon_value_t* values = count < 0 ? NULL : python_calloc((size_t)count, sizeof(*values));
  if (values == NULL) {
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PySequence_GetItem(sequence, i);
    const int result = item == NULL ? -1 : python_value_from(network, item, &values[i]);
    Py_XDECREF(item);
    if (result < 0) {
      PyMem_Free(values);
      return -1;
    }
  }
  *out_values = values;
  *out_count = (uint32_t)count;
  return 0;
}

/* The numbers of bodies in a tuple; *out_bodies is freed by PyMem_Free. */
static int bodies_from(PyObject* tuple, uint32_t** out_bodies, uint32_t* out_count) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  uint32_t* bodies = python_calloc((size_t)count, sizeof(*bodies));
  for (Py_ssize_t i = 0; bodies != NULL && i < count; ++i) {
    if (python_u32(PyTuple_GetItem(tuple, i), &bodies[i]) == 0) {
      PyMem_Free(bodies);
      return -1;
    }
  }
  *out_bodies = bodies;
  *out_count = (uint32_t)count;
  return bodies == NULL ? -1 : 0;
}

/* Attributes of one node, with the memory of their lists. */
typedef struct attributes_t {
  tenon_attribute_t* items;
  uint32_t count;
  PyObject* owners; /* list of objects that keep strings */
} attributes_t;

static void free_attributes(attributes_t* attributes) {
  for (uint32_t i = 0; i < attributes->count; ++i) {
    PyMem_Free((void*)attributes->items[i].integers); /* each one made by read_list */
    PyMem_Free((void*)attributes->items[i].numbers);
    PyMem_Free((void*)attributes->items[i].strings);
  }
  PyMem_Free(attributes->items);
  Py_XDECREF(attributes->owners);
}

static int read_strings(PyObject* value, tenon_attribute_t* out_attribute, PyObject* owners) {
  PyObject* owner = NULL;
  if (python_strings(value, out_attribute->name, &out_attribute->strings, &owner) < 0) {
    return -1;
  }
  if (owner == NULL) {
    PyErr_Format(PyExc_TypeError, "%s: a sequence of str is needed", out_attribute->name);
    return -1;
  }
  out_attribute->count = (size_t)PyList_Size(owner);
  const int result = PyList_Append(owners, owner);
  Py_DECREF(owner);
  return result;
}

static int read_list(PyObject* value, tenon_attribute_t* out_attribute) {
  const Py_ssize_t count = PySequence_Size(value);
  if (count < 0) {
    return -1;
  }
  const bool is_float = out_attribute->kind == TENON_ATTRIBUTE_FLOATS;
  int64_t* integers = python_calloc((size_t)count, sizeof(*integers));
  double* numbers = python_calloc((size_t)count, sizeof(*numbers));
  for (Py_ssize_t i = 0; integers != NULL && numbers != NULL && i < count; ++i) {
    PyObject* item = PySequence_GetItem(value, i);
    PyObject* number = item == NULL || is_float ? NULL : PyNumber_Index(item);
    if (item != NULL && is_float) {
      numbers[i] = PyFloat_AsDouble(item);
    } else if (number != NULL) {
      integers[i] = PyLong_AsLongLong(number);
    }
    Py_XDECREF(number);
    Py_XDECREF(item);
    if (PyErr_Occurred() != NULL) {
      break;
    }
  }
  if (integers == NULL || numbers == NULL || PyErr_Occurred() != NULL) {
    PyMem_Free(integers);
    PyMem_Free(numbers);
    return -1;
  }
  out_attribute->integers = integers;
  out_attribute->numbers = numbers;
  out_attribute->count = (size_t)count;
  return 0;
}

/* One attribute from (name, kind, value); the kinds are TENON_ATTRIBUTE_*. */
static int read_attribute(PyObject* tuple, tenon_attribute_t* out_attribute, PyObject* owners) {
  PyObject* value = NULL;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  if (!PyArg_ParseTuple(tuple, "sO&O", &out_attribute->name, python_u32, &out_attribute->kind,
                        &value)) {
    return -1;
  }
  switch (out_attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      out_attribute->integer = PyLong_AsLongLong(value);
      return PyErr_Occurred() != NULL ? -1 : 0;
    case TENON_ATTRIBUTE_FLOAT:
      out_attribute->number = PyFloat_AsDouble(value);
      return PyErr_Occurred() != NULL ? -1 : 0;
    case TENON_ATTRIBUTE_STRING:
      out_attribute->string = PyUnicode_AsUTF8AndSize(value, NULL);
      return out_attribute->string == NULL ? -1 : 0;
    case TENON_ATTRIBUTE_STRINGS:
      return read_strings(value, out_attribute, owners);
    case TENON_ATTRIBUTE_DTYPE:
      if (python_dtype_from(value, &dtype) < 0) {
        return -1;
      }
      out_attribute->integer = (int64_t)dtype;
      return 0;
    default:
      return read_list(value, out_attribute);
  }
}

static int read_attributes(PyObject* list, attributes_t* out_attributes) {
  const Py_ssize_t count = PyList_Size(list);
  if (count < 0) {
    return -1;
  }
  out_attributes->owners = PyList_New(0);
  out_attributes->items = python_calloc((size_t)count, sizeof(tenon_attribute_t));
  if (out_attributes->owners == NULL || out_attributes->items == NULL) {
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    out_attributes->count = (uint32_t)i + 1;
    if (read_attribute(PyList_GetItem(list, i), &out_attributes->items[i], out_attributes->owners) <
        0) {
      return -1;
    }
  }
  return 0;
}

static tenon_status_t set_attribute(tenon_builder_t* builder, const tenon_attribute_t* attribute) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  const char* name = attribute->name;
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      return table->attribute_int(builder, name, attribute->integer);
    case TENON_ATTRIBUTE_FLOAT:
      return table->attribute_float(builder, name, attribute->number);
    case TENON_ATTRIBUTE_STRING:
      return table->attribute_string(builder, name, attribute->string);
    case TENON_ATTRIBUTE_INTS:
      return table->attribute_ints(builder, name, attribute->integers, attribute->count);
    case TENON_ATTRIBUTE_FLOATS:
      return table->attribute_floats(builder, name, attribute->numbers, attribute->count);
    case TENON_ATTRIBUTE_STRINGS:
      return table->attribute_strings(builder, name, attribute->strings, attribute->count);
    default:
      return table->attribute_dtype(builder, name, (tenon_dtype_t)attribute->integer);
  }
}

/* A node with bodies, or with a number of outputs that only the caller knows. */
typedef struct node_t {
  const char* op;
  const char* name;
  const tenon_value_t* inputs;
  uint32_t input_count;
  uint32_t output_count;
  const attributes_t* attributes;
  const uint32_t* bodies;
  uint32_t body_count;
  int is_variadic;
} node_t;

static tenon_status_t add_long(python_network_t* self, const node_t* node, tenon_value_t* values) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = python_network_builder(self);
  tenon_status_t status = table->begin(builder, node->op, node->name);
  if (status != TENON_OK) {
    return status;
  }
  for (uint32_t i = 0; status == TENON_OK && i < node->attributes->count; ++i) {
    status = set_attribute(builder, &node->attributes->items[i]);
  }
  for (uint32_t i = 0; status == TENON_OK && i < node->input_count; ++i) {
    status = table->add_input(builder, node->inputs[i]);
  }
  for (uint32_t i = 0; status == TENON_OK && i < node->body_count; ++i) {
    status = table->add_body(builder, node->bodies[i]);
  }
  if (status == TENON_OK && node->is_variadic != 0) {
    status = table->output_count(builder, node->output_count);
  }
  if (status == TENON_OK) {
    status = table->end(builder, values, node->output_count);
  }
  if (status != TENON_OK) {
    table->cancel(builder);
  }
  return status;
}

static tenon_status_t add_short(python_network_t* self, const node_t* node, tenon_value_t* values) {
  const tenon_list_t list = {node->attributes->items, node->attributes->count,
                             (uint32_t)sizeof(tenon_attribute_t)};
  return tenon_network_add(self->handle, node->op, node->name, node->inputs, node->input_count,
                           &list, values, node->output_count);
}

PyObject* python_network_add_node(python_network_t* self, PyObject* arguments) {
  node_t node = {0};
  PyObject* inputs = NULL;
  PyObject* attribute_list = NULL;
  PyObject* numbers = NULL;
  attributes_t attributes = {0};
  tenon_value_t* values = NULL;
  uint32_t* bodies = NULL;
  tenon_value_t* made = NULL;
  PyObject* result = NULL;
  if (!PyArg_ParseTuple(arguments, "szOO!O!O&p:add_node", &node.op, &node.name, &inputs,
                        &PyList_Type, &attribute_list, &PyTuple_Type, &numbers, python_u32,
                        &node.output_count, &node.is_variadic)) {
    return NULL;
  }
  if (read_attributes(attribute_list, &attributes) == 0 &&
      values_from(self, inputs, &values, &node.input_count) == 0 &&
      bodies_from(numbers, &bodies, &node.body_count) == 0) {
    node.inputs = values;
    node.attributes = &attributes;
    node.bodies = bodies;
    made = python_calloc(node.output_count, sizeof(*made));
  }
  if (made != NULL) {
    const bool is_short = node.body_count == 0 && node.is_variadic == 0;
    tenon_status_t status = TENON_OK;
    PYTHON_WITHOUT_LOCK(status = (is_short ? add_short : add_long)(self, &node, made));
    if (python_network_status(self, status) == 0) {
      result = PyTuple_New((Py_ssize_t)node.output_count);
    }
  }
  for (uint32_t i = 0; result != NULL && i < node.output_count; ++i) {
    PyObject* value = python_value_make(self, made[i]);
    python_put(&result, i, value);
  }
  PyMem_Free(made);
  PyMem_Free(bodies);
  PyMem_Free(values);
  free_attributes(&attributes);
  return result;
}

PyObject* python_network_add_expression(python_network_t* self, PyObject* arguments) {
  const char* text = NULL;
  PyObject* names = NULL;
  PyObject* inputs = NULL;
  const char* name = NULL;
  const char* const* strings = NULL;
  PyObject* owner = NULL;
  tenon_value_t* values = NULL;
  uint32_t count = 0;
  tenon_value_t value = {0};
  PyObject* result = NULL;
  if (!PyArg_ParseTuple(arguments, "sOOz:add_expression", &text, &names, &inputs, &name)) {
    return NULL;
  }
  bool is_read = python_strings(names, "names", &strings, &owner) == 0 &&
                 values_from(self, inputs, &values, &count) == 0;
  if (is_read && (owner == NULL ? 0 : PyList_Size(owner)) != (Py_ssize_t)count) {
    PyErr_Format(PyExc_ValueError, "%u inputs need a name each", count);
    is_read = false;
  }
  if (is_read) {
    tenon_status_t status = TENON_OK;
    PYTHON_WITHOUT_LOCK(status = tenon_builder_get_table()->expression(python_network_builder(self),
                                                                       text, strings, values, count,
                                                                       name, &value));
    result = python_network_status(self, status) < 0 ? NULL : python_value_make(self, value);
  }
  PyMem_Free(values);
  PyMem_Free((void*)strings);
  Py_XDECREF(owner);
  return result;
}

PyObject* python_network_has_operator(python_network_t* self, PyObject* arguments) {
  const char* op = NULL;
  int32_t result = 0;
  if (!PyArg_ParseTuple(arguments, "s:has_operator", &op)) {
    return NULL;
  }
  PYTHON_WITHOUT_LOCK(
      result = tenon_builder_get_table()->has_operator(python_network_builder(self), op));
  return PyBool_FromLong(result);
}
