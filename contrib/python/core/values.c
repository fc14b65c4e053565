/* Values of a network that is being built. */
#include <string.h>

#include "network.h"

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

static int value_type(python_value_t* self, tenon_value_type_t* out_type) {
  memset(out_type, 0, sizeof(*out_type));
  out_type->size = sizeof(*out_type);
  if (python_network_check(self->network) < 0) {
    return -1;
  }
  return python_network_status(
      self->network, tenon_builder_get_table()->type(python_network_builder(self->network),
                                                     self->value, out_type));
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
    PyObject* item = tenon_builder_get_table()->content(python_network_builder(self->network),
                                                        self->value, i, &number) == 1
                         ? PyLong_FromLongLong(number)
                         : Py_NewRef(Py_None);
    python_put(&tuple, i, item);
  }
  return tuple;
}

static PyObject* value_set_name(python_value_t* self, PyObject* arguments) {
  const char* name = NULL;
  if (!PyArg_ParseTuple(arguments, "s:set_name", &name) ||
      python_network_check(self->network) < 0 ||
      python_network_status(
          self->network, tenon_builder_get_table()->set_name(python_network_builder(self->network),
                                                             self->value, name)) < 0) {
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
    PYTHON_MANY("set_name", value_set_name, ", name", "Names the value."), {NULL, NULL, 0, NULL}};

static PyType_Slot value_slots[] = {{Py_tp_doc, "A value of a network that is being built."},
                                    {Py_tp_dealloc, value_dealloc},
                                    {Py_tp_traverse, value_traverse},
                                    {Py_tp_richcompare, value_compare},
                                    {Py_tp_hash, value_hash},
                                    {Py_tp_getset, value_getters},
                                    {Py_tp_methods, value_methods},
                                    {0, NULL}};

PYTHON_SPEC(value, "Value", PYTHON_RESULT | Py_TPFLAGS_HAVE_GC, value_slots);
