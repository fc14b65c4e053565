/* Inputs, constants and outputs of a network that is built by hand. */
#include "network.h"

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
      kind != TENON_ARGUMENT_TENSOR ? table->input_container(python_network_builder(self), name,
                                                             kind, dtype, rank, dims, &value)
      : is_named
          ? table->input(python_network_builder(self), name, dtype, rank, dims, symbols, &value)
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
    status = tenon_builder_get_table()->constant(python_network_builder(self), name, &array->view,
                                                 borrow, &value);
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
