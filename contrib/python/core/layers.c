/* Inputs, constants and outputs of a network that is built by hand. */
#include "network.h"

/* The names of the extents of a tuple that are a str; NULL for the others. The tuple keeps them. */
static int symbols_from(PyObject* shape, uint32_t rank, const char** symbols, bool* out_is_named) {
  *out_is_named = false;
  for (uint32_t k = 0; k < rank; ++k) {
    PyObject* item = PyTuple_GetItem(shape, (Py_ssize_t)k);
    symbols[k] = NULL;
    if (PyUnicode_Check(item)) {
      symbols[k] = PyUnicode_AsUTF8AndSize(item, NULL);
      if (symbols[k] == NULL) {
        return -1;
      }
      *out_is_named = true;
    }
  }
  return 0;
}

PyObject* python_network_add_input(python_network_t* self, PyObject* arguments) {
  const char* name = NULL;
  uint32_t kind = 0;
  PyObject* type = NULL;
  PyObject* shape = NULL;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  int64_t dims[TENON_RANK_LIMIT];
  const char* symbols[TENON_RANK_LIMIT];
  bool is_named = false;
  uint32_t rank = 0;
  tenon_value_t value = {0};
  if (!PyArg_ParseTuple(arguments, "sO&OO:add_input", &name, python_u32, &kind, &type, &shape) ||
      python_dtype_from(type, &dtype) < 0) {
    return NULL;
  }
  PyObject* extents = PySequence_Tuple(shape);
  if (extents == NULL || python_extents(extents, dims, &rank) < 0 ||
      symbols_from(extents, rank, symbols, &is_named) < 0) {
    Py_XDECREF(extents);
    return NULL;
  }
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = python_network_builder(self);
  const tenon_status_t status =
      kind != TENON_ARGUMENT_TENSOR
          ? table->input_container(builder, name, kind, dtype, rank, dims, &value)
      : is_named ? table->input(builder, name, dtype, rank, dims, symbols, &value)
                 : tenon_network_add_input(self->handle, name, dtype, rank, dims, &value);
  Py_DECREF(extents);
  return python_network_status(self, status) < 0 ? NULL : python_value_make(self, value);
}

/* Keeps the array's memory as long as the network. */
static int keep_memory(python_network_t* self, const python_array_t* array) {
  PyObject* keeper = array->keeper != NULL ? array->keeper : array->object;
  PyObject* kept = array->buffer.obj != NULL ? PyMemoryView_FromObject(keeper) : Py_NewRef(keeper);
  const int result = kept == NULL ? -1 : PyList_Append(self->owners, kept);
  Py_XDECREF(kept);
  return result;
}

PyObject* python_network_add_constant(python_network_t* self, PyObject* arguments) {
  PyObject* object = NULL;
  const char* name = NULL;
  PyObject* type = Py_None;
  int borrow = 0;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  if (!PyArg_ParseTuple(arguments, "OzOp:add_constant", &object, &name, &type, &borrow) ||
      (type != Py_None && python_dtype_from(type, &dtype) < 0)) {
    return NULL;
  }
  python_array_t* array = python_array_on_host(self->state, object, dtype);
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
  /* Memory in `block` and outputs of a context do not outlive the array, so they are copied. */
  borrow = borrow != 0 && array->block == NULL && !array->is_lent;
  PyObject* result = NULL;
  if (borrow == 0 || keep_memory(self, array) == 0) {
    const tenon_status_t status =
        is_dense && borrow == 0
            ? tenon_network_add_constant(self->handle, name, array->view.dtype, array->view.rank,
                                         array->dims, array->view.data, &value)
            : tenon_builder_get_table()->constant(python_network_builder(self), name, &array->view,
                                                  borrow, &value);
    result = python_network_status(self, status) < 0 ? NULL : python_value_make(self, value);
  }
  python_array_release(array);
  return result;
}

PyObject* python_network_add_output(python_network_t* self, PyObject* arguments) {
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
