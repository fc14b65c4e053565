/* Bodies of control nodes, and states. */
#include "network.h"

/* None, or NULL with the exception of the status. */
static PyObject* finish(python_network_t* self, tenon_status_t status) {
  return python_network_status(self, status) < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject* python_network_begin_body(python_network_t* self, PyObject* arguments) {
  const char* name = NULL;
  if (!PyArg_ParseTuple(arguments, "z:begin_body", &name)) {
    return NULL;
  }
  return finish(self, tenon_builder_get_table()->begin_body(python_network_builder(self), name));
}

PyObject* python_network_body_parameter(python_network_t* self, PyObject* arguments) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  const char* name = NULL;
  uint32_t kind = 0;
  PyObject* type = NULL;
  PyObject* shape = NULL;
  PyObject* like = NULL;
  tenon_value_t value = {0};
  tenon_status_t status = TENON_OK;
  if (!PyArg_ParseTuple(arguments, "zO&OOO:body_parameter", &name, python_u32, &kind, &type, &shape,
                        &like)) {
    return NULL;
  }
  if (like != Py_None) {
    tenon_value_t model = {0};
    if (python_value_from(self, like, &model) < 0) {
      return NULL;
    }
    status = table->body_parameter_like(python_network_builder(self), name, model, &value);
  } else {
    tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
    int64_t dims[TENON_RANK_LIMIT];
    uint32_t rank = 0;
    if (python_dtype_from(type, &dtype) < 0 || python_extents(shape, dims, &rank) < 0) {
      return NULL;
    }
    status =
        table->body_parameter(python_network_builder(self), name, kind, dtype, rank, dims, &value);
  }
  return python_network_status(self, status) < 0 ? NULL : python_value_make(self, value);
}

PyObject* python_network_body_result(python_network_t* self, PyObject* object) {
  tenon_value_t value = {0};
  if (python_value_from(self, object, &value) < 0) {
    return NULL;
  }
  return finish(self, tenon_builder_get_table()->body_result(python_network_builder(self), value));
}

PyObject* python_network_end_body(python_network_t* self, PyObject* unused) {
  (void)unused;
  uint32_t body = 0;
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status =
                          tenon_builder_get_table()->end_body(python_network_builder(self), &body));
  return python_network_status(self, status) < 0 ? NULL : PyLong_FromUnsignedLong(body);
}

PyObject* python_network_fail_body(python_network_t* self, PyObject* arguments) {
  int failure = 0;
  const char* message = NULL;
  uint32_t body = 0;
  if (!PyArg_ParseTuple(arguments, "is:fail_body", &failure, &message)) {
    return NULL;
  }
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_builder_get_table()->fail_body(python_network_builder(self),
                                                                    failure, message, &body));
  return python_network_status(self, status) < 0 ? NULL : PyLong_FromUnsignedLong(body);
}

PyObject* python_network_cancel_body(python_network_t* self, PyObject* unused) {
  (void)unused;
  tenon_builder_get_table()->cancel_body(python_network_builder(self));
  return Py_NewRef(Py_None);
}

PyObject* python_network_add_state(python_network_t* self, PyObject* arguments) {
  tenon_state_descriptor_t state = TENON_OPTIONS(tenon_state_descriptor_t);
  PyObject* type = NULL;
  PyObject* shape = NULL;
  PyObject* initial = NULL;
  int64_t dims[TENON_RANK_LIMIT];
  tenon_value_t value = {0};
  PyObject* bytes = NULL;
  if (!PyArg_ParseTuple(arguments, "sOOO:add_state", &state.name, &type, &shape, &initial) ||
      python_dtype_from(type, &state.dtype) < 0 || python_extents(shape, dims, &state.rank) < 0) {
    return NULL;
  }
  state.dims = dims;
  if (initial != Py_None) {
    python_array_t* array = python_array_on_host(self->state, initial, state.dtype);
    if (array == NULL) {
      return NULL;
    }
    size_t count = 1;
    for (uint32_t k = 0; k < state.rank; ++k) {
      count *= (size_t)(dims[k] > 0 ? dims[k] : 0);
    }
    const bool is_right = array->view.dtype == state.dtype &&
                          python_element_count(&array->view) == count &&
                          tenon_dtype_bits(state.dtype) >= 8;
    bytes = !is_right ? NULL
                      : PyBytes_FromStringAndSize(
                            NULL, (Py_ssize_t)(count * (tenon_dtype_bits(state.dtype) / 8)));
    if (bytes != NULL) {
      python_copy_out(&array->view, PyBytes_AsString(bytes));
      state.initial_data = PyBytes_AsString(bytes);
    }
    python_array_release(array);
    if (bytes == NULL) {
      if (PyErr_Occurred() == NULL) {
        PyErr_Format(PyExc_ValueError, "state '%s': the initial value has another type or shape",
                     state.name);
      }
      return NULL;
    }
  }
  const int result = python_network_status(
      self, tenon_builder_get_table()->add_state(python_network_builder(self), &state, &value));
  Py_XDECREF(bytes);
  return result < 0 ? NULL : python_value_make(self, value);
}

PyObject* python_network_write_state(python_network_t* self, PyObject* arguments) {
  const char* name = NULL;
  PyObject* object = NULL;
  tenon_value_t value = {0};
  if (!PyArg_ParseTuple(arguments, "sO:write_state", &name, &object) ||
      python_value_from(self, object, &value) < 0) {
    return NULL;
  }
  return finish(self,
                tenon_builder_get_table()->write_state(python_network_builder(self), name, value));
}
