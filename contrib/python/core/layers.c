/* Building a network by hand: inputs, constants, nodes, expressions, outputs, and values. */
#include <string.h>

#include "network.h"

static tenon_builder_t* builder_of(const python_network_t* self) {
  return tenon_network_get_builder(self->handle);
}

/* ---- Values ---- */

PyObject* python_value_make(python_network_t* network, tenon_value_t value) {
  if (value.id == 0) {
    return Py_NewRef(Py_None);
  }
  python_value_t* made = python_allocate(network->state->value_type);
  if (made != NULL) {
    made->network = (python_network_t*)Py_NewRef((PyObject*)network);
    made->value = value;
  }
  return (PyObject*)made;
}

int python_value_from(python_network_t* network, PyObject* object, tenon_value_t* out_value) {
  out_value->id = 0;
  if (object == Py_None) {
    return 0;
  }
  if (!PyObject_TypeCheck(object, network->state->value_type)) {
    PyErr_Format(PyExc_TypeError, "a Value of the network is needed, %R is given", Py_TYPE(object));
    return -1;
  }
  if (((python_value_t*)object)->network != network) {
    PyErr_SetString(PyExc_ValueError, "the value belongs to another network");
    return -1;
  }
  *out_value = ((python_value_t*)object)->value;
  return 0;
}

/* The values of a sequence; *out_values is freed by PyMem_Free. */
static int values_from(python_network_t* network, PyObject* sequence, tenon_value_t** out_values,
                       uint32_t* out_count) {
  const Py_ssize_t count = PySequence_Size(sequence);
  tenon_value_t* values = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof(*values));
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

static int value_type(python_value_t* self, tenon_value_type_t* out_type) {
  memset(out_type, 0, sizeof(*out_type));
  out_type->size = sizeof(*out_type);
  return python_network_status(
      self->network,
      tenon_builder_get_table()->type(builder_of(self->network), self->value, out_type));
}

static PyObject* value_get_dtype(python_value_t* self, void* unused) {
  (void)unused;
  tenon_value_type_t type;
  return value_type(self, &type) < 0 ? NULL : python_text(tenon_dtype_name(type.dtype));
}

static PyObject* value_get_kind(python_value_t* self, void* unused) {
  (void)unused;
  tenon_value_type_t type;
  return value_type(self, &type) < 0 ? NULL : PyLong_FromUnsignedLong(type.kind);
}

/* Extents, None for each that is symbolic; None if the rank is not known. */
static PyObject* value_get_shape(python_value_t* self, void* unused) {
  (void)unused;
  tenon_value_type_t type;
  if (value_type(self, &type) < 0) {
    return NULL;
  }
  if (type.rank == TENON_NONE) {
    return Py_NewRef(Py_None);
  }
  PyObject* shape = PyTuple_New((Py_ssize_t)type.rank);
  for (uint32_t k = 0; shape != NULL && k < type.rank; ++k) {
    PyObject* extent = type.dims[k] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(type.dims[k]);
    python_put(&shape, k, extent);
  }
  return shape;
}

static PyObject* value_get_constant(python_value_t* self, void* unused) {
  (void)unused;
  tenon_value_type_t type;
  if (value_type(self, &type) < 0) {
    return NULL;
  }
  if (type.constant_data == NULL) {
    return Py_NewRef(Py_None);
  }
  const tenon_tensor_view_t view = {.data = (void*)type.constant_data, /* only read */
                                    .dims = type.dims,
                                    .rank = type.rank,
                                    .dtype = type.dtype,
                                    .layout = TENON_NONE};
  return python_array_copy(self->network->state, &view);
}

/* The elements of a value whose contents are followed: int, or None where symbolic. */
static PyObject* value_get_contents(python_value_t* self, void* unused) {
  (void)unused;
  tenon_value_type_t type;
  if (value_type(self, &type) < 0) {
    return NULL;
  }
  if (type.has_contents == 0 || type.rank > 1 || (type.rank == 1 && type.dims[0] < 0)) {
    return Py_NewRef(Py_None);
  }
  const uint32_t count = type.rank == 0 ? 1 : (uint32_t)type.dims[0];
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (uint32_t i = 0; tuple != NULL && i < count; ++i) {
    int64_t number = 0;
    PyObject* item =
        tenon_builder_get_table()->content(builder_of(self->network), self->value, i, &number) == 1
            ? PyLong_FromLongLong(number)
            : Py_NewRef(Py_None);
    python_put(&tuple, i, item);
  }
  return tuple;
}

static PyObject* value_set_name(python_value_t* self, PyObject* arguments) {
  const char* name = NULL;
  if (!PyArg_ParseTuple(arguments, "s:set_name", &name) ||
      python_network_status(self->network, tenon_builder_get_table()->set_name(
                                               builder_of(self->network), self->value, name)) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

static PyObject* value_compare(PyObject* self, PyObject* other, int operation) {
  const python_value_t* a = (python_value_t*)self;
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(other) != Py_TYPE((PyObject*)self)) {
    return Py_NewRef(Py_NotImplemented);
  }
  const python_value_t* b = (python_value_t*)other;
  const bool is_equal = a->network == b->network && a->value.id == b->value.id;
  return PyBool_FromLong(is_equal == (operation == Py_EQ));
}

static Py_hash_t value_hash(python_value_t* self) {
  return (Py_hash_t)self->value.id;
}

static int value_traverse(python_value_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->network);
  return 0;
}

static void value_dealloc(python_value_t* self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF((PyObject*)self->network);
  python_free(self);
}

static PyGetSetDef value_getters[] = {
    PYTHON_GETTER("dtype", value_get_dtype, "Element type, such as 'f32'."),
    PYTHON_GETTER("kind", value_get_kind, "1 tensor, 2 sequence, 3 optional, 5 optional sequence."),
    PYTHON_GETTER("shape", value_get_shape, "Extents; None for those that are symbolic."),
    PYTHON_GETTER("constant", value_get_constant, "The elements of a constant, else None."),
    PYTHON_GETTER("contents", value_get_contents,
                  "The elements that the network follows, such as a shape's, else None."),
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef value_methods[] = {
    {"set_name", (PyCFunction)value_set_name, METH_VARARGS, "set_name(name)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot value_slots[] = {{Py_tp_doc, "A value of a network that is being built."},
                                    {Py_tp_dealloc, value_dealloc},
                                    {Py_tp_traverse, value_traverse},
                                    {Py_tp_richcompare, value_compare},
                                    {Py_tp_hash, value_hash},
                                    {Py_tp_getset, value_getters},
                                    {Py_tp_methods, value_methods},
                                    {0, NULL}};

PyType_Spec python_value_spec = {
    "tenon_engine._core.Value", sizeof(python_value_t), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, value_slots};

/* ---- Inputs, constants, outputs ---- */

/* The names of extents that are a str; NULL for the others. */
static int symbols_from(PyObject* shape, const char** symbols) {
  const Py_ssize_t count = PySequence_Size(shape);
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* item = PySequence_GetItem(shape, k);
    symbols[k] = NULL;
    if (item != NULL && PyUnicode_Check(item)) {
      symbols[k] = PyUnicode_AsUTF8AndSize(item, NULL); /* the sequence keeps it */
    }
    Py_XDECREF(item);
    if (PyErr_Occurred() != NULL) {
      return -1;
    }
  }
  return 0;
}

PyObject* python_network_input(python_network_t* self, PyObject* arguments) {
  const char* name = NULL;
  unsigned int kind = 0;
  PyObject* type = NULL;
  PyObject* shape = NULL;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  int64_t dims[TENON_RANK_LIMIT];
  const char* symbols[TENON_RANK_LIMIT] = {NULL};
  uint32_t rank = 0;
  tenon_value_t value = {0};
  if (!PyArg_ParseTuple(arguments, "sIOO:add_input", &name, &kind, &type, &shape) ||
      python_dtype_from(type, &dtype) < 0 || python_extents(shape, dims, &rank) < 0 ||
      symbols_from(shape, symbols) < 0) {
    return NULL;
  }
  const tenon_builder_table_t* table = tenon_builder_get_table();
  bool is_named = false;
  for (uint32_t k = 0; k < rank; ++k) {
    is_named = is_named || symbols[k] != NULL;
  }
  const tenon_status_t status =
      kind != TENON_ARGUMENT_TENSOR
          ? table->input_container(builder_of(self), name, kind, dtype, rank, dims, &value)
      : is_named ? table->input(builder_of(self), name, dtype, rank, dims, symbols, &value)
                 : tenon_network_add_input(self->handle, name, dtype, rank, dims, &value);
  return python_network_status(self, status) < 0 ? NULL : python_value_make(self, value);
}

PyObject* python_network_constant(python_network_t* self, PyObject* arguments) {
  PyObject* object = NULL;
  const char* name = NULL;
  PyObject* type = Py_None;
  int borrow = 0;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  if (!PyArg_ParseTuple(arguments, "OzOp:add_constant", &object, &name, &type, &borrow) ||
      (type != Py_None && python_dtype_from(type, &dtype) < 0)) {
    return NULL;
  }
  python_array_t* array = python_array_acquire(self->state, object, dtype, false, -1);
  if (array == NULL) {
    return NULL;
  }
  tenon_value_t value = {0};
  int64_t dense = 1;
  bool is_dense = array->view.bit_offset == 0;
  for (uint32_t k = array->view.rank; k-- > 0;) {
    is_dense = is_dense && (array->dims[k] == 1 || array->strides[k] == dense);
    dense *= array->dims[k];
  }
  /* Memory in `block` would go with the array, so it is copied. */
  borrow = borrow != 0 && array->block == NULL && array->device_type == 1;
  tenon_status_t status = TENON_OK;
  if (array->device_type != 1) {
    PyErr_SetString(PyExc_ValueError, "a constant in a device's memory: copy it to the host first");
    python_array_release(array);
    return NULL;
  }
  if (is_dense && borrow == 0) {
    status = tenon_network_add_constant(self->handle, name, array->view.dtype, array->view.rank,
                                        array->dims, array->view.data, &value);
  } else {
    status =
        tenon_builder_get_table()->constant(builder_of(self), name, &array->view, borrow, &value);
  }
  PyObject* result =
      python_network_status(self, status) < 0 ? NULL : python_value_make(self, value);
  if (result != NULL && borrow != 0) {
    PyObject* keeper = array->keeper != NULL ? array->keeper : array->object;
    PyObject* kept =
        array->buffer.obj != NULL ? PyMemoryView_FromObject(keeper) : Py_NewRef(keeper);
    const int is_kept = kept == NULL ? -1 : PyList_Append(self->owners, kept);
    Py_XDECREF(kept);
    if (is_kept < 0) {
      Py_DECREF(result);
      result = NULL;
    }
  }
  python_array_release(array);
  return result;
}

PyObject* python_network_output(python_network_t* self, PyObject* arguments) {
  PyObject* object = NULL;
  const char* name = NULL;
  tenon_value_t value = {0};
  if (!PyArg_ParseTuple(arguments, "Os:add_output", &object, &name) ||
      python_value_from(self, object, &value) < 0 ||
      python_network_status(self, tenon_network_add_output(self->handle, value, name)) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

/* ---- Nodes ---- */

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
  int64_t* integers = PyMem_Calloc((size_t)count + 1, sizeof(*integers));
  double* numbers = PyMem_Calloc((size_t)count + 1, sizeof(*numbers));
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
  if (!PyArg_ParseTuple(tuple, "sIO", &out_attribute->name, &out_attribute->kind, &value)) {
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
  out_attributes->items = PyMem_Calloc((size_t)count + 1, sizeof(tenon_attribute_t));
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
  PyObject* bodies; /* tuple of int */
  int is_variadic;
} node_t;

static tenon_status_t add_long(python_network_t* self, const node_t* node, tenon_value_t* values) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(self);
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
  for (Py_ssize_t i = 0; status == TENON_OK && i < PyTuple_Size(node->bodies); ++i) {
    status =
        table->add_body(builder, (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(node->bodies, i)));
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

PyObject* python_network_add(python_network_t* self, PyObject* arguments) {
  node_t node = {0};
  PyObject* inputs = NULL;
  PyObject* attribute_list = NULL;
  attributes_t attributes = {0};
  tenon_value_t* values = NULL;
  tenon_value_t* made = NULL;
  PyObject* result = NULL;
  if (!PyArg_ParseTuple(arguments, "szOO!O!Ip:add_node", &node.op, &node.name, &inputs,
                        &PyList_Type, &attribute_list, &PyTuple_Type, &node.bodies,
                        &node.output_count, &node.is_variadic)) {
    return NULL;
  }
  if (read_attributes(attribute_list, &attributes) == 0 &&
      values_from(self, inputs, &values, &node.input_count) == 0) {
    node.inputs = values;
    node.attributes = &attributes;
    made = PyMem_Calloc((size_t)node.output_count + 1, sizeof(*made));
    const bool is_short = PyTuple_Size(node.bodies) == 0 && node.is_variadic == 0;
    if (made != NULL && python_network_status(self, is_short ? add_short(self, &node, made)
                                                             : add_long(self, &node, made)) == 0) {
      result = PyTuple_New((Py_ssize_t)node.output_count);
    }
  }
  for (uint32_t i = 0; result != NULL && i < node.output_count; ++i) {
    PyObject* value = python_value_make(self, made[i]);
    python_put(&result, i, value);
  }
  PyMem_Free(made);
  PyMem_Free(values);
  free_attributes(&attributes);
  return result;
}

PyObject* python_network_expression(python_network_t* self, PyObject* arguments) {
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
  if (python_strings(names, "names", &strings, &owner) == 0 &&
      values_from(self, inputs, &values, &count) == 0 &&
      python_network_status(
          self, tenon_builder_get_table()->expression(builder_of(self), text, strings, values,
                                                      count, name, &value)) == 0) {
    result = python_value_make(self, value);
  }
  PyMem_Free(values);
  PyMem_Free((void*)strings);
  Py_XDECREF(owner);
  return result;
}

PyObject* python_network_has_operator(python_network_t* self, PyObject* arguments) {
  const char* op = NULL;
  if (!PyArg_ParseTuple(arguments, "s:has_operator", &op)) {
    return NULL;
  }
  return PyBool_FromLong(tenon_builder_get_table()->has_operator(builder_of(self), op));
}
