/* Inputs and outputs of contexts, and a call that sets all inputs, runs and returns all outputs. */
#include "context.h"

static const char* input_name(const python_context_t* self, uint32_t index) {
  return self->infos[index].name;
}

/* ---- Inputs ---- */

/* An argument with the arrays of its items: of a sequence, or of an optional. */
typedef struct items_t {
  tenon_argument_t argument;
  tenon_argument_t sequence; /* inside of an optional */
  tenon_argument_t* items;
  python_array_t** arrays;
  uint32_t count;
} items_t;

static int read_items(python_context_t* self, const tenon_io_info_t* info, PyObject* list,
                      items_t* out_items) {
  const Py_ssize_t count = PySequence_Size(list);
  if (count < 0) {
    return -1;
  }
  out_items->items = python_calloc((size_t)count, sizeof(*out_items->items));
  out_items->arrays = python_calloc((size_t)count, sizeof(void*));
  if (out_items->items == NULL || out_items->arrays == NULL) {
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PySequence_GetItem(list, i);
    python_array_t* array =
        item == NULL ? NULL : python_array_on_host(self->state, item, info->dtype);
    Py_XDECREF(item);
    if (array == NULL) {
      return -1;
    }
    out_items->arrays[out_items->count++] = array;
    out_items->items[i] = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = array->view};
  }
  return 0;
}

/* A list for a sequence; None for an empty optional, else the tensor or the list in it. */
static int give_container(python_context_t* self, uint32_t index, PyObject* object) {
  const tenon_io_info_t* info = &self->infos[index];
  items_t items = {.argument = {.kind = info->kind}};
  int result = 0;
  if (info->kind == TENON_ARGUMENT_SEQUENCE) {
    result = read_items(self, info, object, &items);
    items.argument.count = items.count;
    items.argument.items = items.items;
  } else if (object != Py_None && info->kind == TENON_ARGUMENT_OPTIONAL) {
    PyObject* single = PyTuple_Pack(1, object);
    result = single == NULL ? -1 : read_items(self, info, single, &items);
    Py_XDECREF(single);
    items.argument.count = 1;
    items.argument.items = items.items;
  } else if (object != Py_None) {
    result = read_items(self, info, object, &items);
    items.sequence = (tenon_argument_t){
        .kind = TENON_ARGUMENT_SEQUENCE, .count = items.count, .items = items.items};
    items.argument.count = 1;
    items.argument.items = &items.sequence;
  }
  if (result == 0) {
    result = python_context_status(
        self, tenon_context_set_input_argument(self->handle, index, &items.argument));
  }
  for (uint32_t i = 0; i < items.count; ++i) {
    python_array_release(items.arrays[i]);
  }
  PyMem_Free(items.arrays);
  PyMem_Free(items.items);
  return result;
}

static void keep_input(python_context_t* self, uint32_t index, python_array_t* array) {
  python_array_t* old = self->inputs[index];
  self->inputs[index] = array;
  self->is_given[index] = true;
  python_array_release(old);
}

int python_context_give(python_context_t* self, uint32_t index, PyObject* object) {
  python_array_t* array = NULL;
  if (self->infos[index].kind != TENON_ARGUMENT_TENSOR) {
    if (give_container(self, index, object) < 0) {
      return -1;
    }
  } else {
    array =
        python_array_acquire(self->state, object, self->infos[index].dtype, false, self->stream);
    if (array == NULL) {
      return -1;
    }
    const tenon_status_t status =
        array->device_type == 1
            ? tenon_context_set_input(self->handle, index, &array->view)
            : tenon_context_set_input_on_device(self->handle, index, &array->view);
    if (python_context_status(self, status) < 0) {
      python_array_release(array);
      return -1;
    }
  }
  keep_input(self, index, array);
  return 0;
}

void python_context_forget(python_context_t* self) {
  for (uint32_t i = 0; i < self->input_count; ++i) {
    python_array_t* array = self->inputs[i];
    self->inputs[i] = NULL;
    self->is_given[i] = false;
    python_array_release(array);
  }
}

PyObject* python_context_set_input(python_context_t* self, PyObject* arguments) {
  PyObject* key = NULL;
  PyObject* object = NULL;
  uint32_t index = 0;
  if (!PyArg_ParseTuple(arguments, "OO:set_input", &key, &object) ||
      python_engine_index(self->engine, key, false, &index) < 0 || python_context_wait(self) < 0 ||
      python_context_give(self, index, object) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

/* ---- Outputs ---- */

static void keep_output(python_context_t* self, uint32_t index, python_array_t* array) {
  python_array_t* old = self->outputs[index];
  self->outputs[index] = array;
  ++self->run_count; /* tensors of the last run look at other memory now */
  python_array_release(old);
}

PyObject* python_context_set_output(python_context_t* self, PyObject* arguments) {
  PyObject* key = NULL;
  PyObject* object = NULL;
  uint32_t index = 0;
  python_array_t* array = NULL;
  if (!PyArg_ParseTuple(arguments, "OO:set_output", &key, &object) ||
      python_engine_index(self->engine, key, true, &index) < 0 || python_context_wait(self) < 0 ||
      python_context_check_views(self) < 0) {
    return NULL;
  }
  if (object != Py_None) {
    array = python_array_acquire(self->state, object, TENON_DTYPE_UNDEFINED, true, self->stream);
    if (array == NULL) {
      return NULL;
    }
  }
  const tenon_status_t status =
      array == NULL || array->device_type == 1
          ? tenon_context_set_output(self->handle, index, array != NULL ? &array->view : NULL)
          : tenon_context_set_output_on_device(self->handle, index, &array->view);
  if (python_context_status(self, status) < 0) {
    python_array_release(array);
    return NULL;
  }
  keep_output(self, index, array);
  return Py_NewRef(Py_None);
}

/* Fails if the view exceeds the memory. */
static int check_size(const python_memory_t* memory, const tenon_tensor_view_t* view) {
  size_t left = memory->size_bytes * 8 / tenon_dtype_bits(view->dtype);
  for (uint32_t k = 0; k < view->rank; ++k) {
    if (view->dims[k] <= 0) {
      return 0; /* empty, or refused by Tenon */
    }
    left /= (size_t)view->dims[k];
  }
  if (left == 0) {
    PyErr_Format(PyExc_ValueError, "the tensor exceeds the memory of %zu bytes",
                 memory->size_bytes);
    return -1;
  }
  return 0;
}

PyObject* python_context_set_memory(python_context_t* self, PyObject* arguments,
                                    PyObject* keywords) {
  static char* names[] = {"key", "memory", "dtype", "shape", "is_output", NULL};
  PyObject* key = NULL;
  PyObject* memory = NULL;
  PyObject* type = NULL;
  PyObject* shape = NULL;
  int is_output = 0;
  uint32_t index = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOO|$p:set_memory", names, &key, &memory,
                                   &type, &shape, &is_output) ||
      python_engine_index(self->engine, key, is_output != 0, &index) < 0 ||
      python_context_wait(self) < 0 || (is_output != 0 && python_context_check_views(self) < 0)) {
    return NULL;
  }
  PyObject* address =
      PyLong_Check(memory) ? Py_NewRef(memory) : PyObject_GetAttrString(memory, "address");
  python_array_t* array = address == NULL ? NULL : python_calloc(1, sizeof(*array));
  if (array == NULL) {
    Py_XDECREF(address);
    return NULL;
  }
  array->view = (tenon_tensor_view_t){
      .data = PyLong_AsVoidPtr(address), .dims = array->dims, .layout = TENON_NONE};
  array->object = Py_NewRef(memory);
  array->device_type = 2;
  Py_DECREF(address);
  int result = PyErr_Occurred() != NULL ? -1 : python_dtype_from(type, &array->view.dtype);
  if (result == 0) {
    result = python_extents(shape, array->dims, &array->view.rank);
  }
  if (result == 0 && PyObject_TypeCheck(memory, self->state->memory_type)) {
    result = check_size((python_memory_t*)memory, &array->view);
  }
  if (result == 0) {
    result = python_context_status(
        self, is_output != 0
                  ? tenon_context_set_output_on_device(self->handle, index, &array->view)
                  : tenon_context_set_input_on_device(self->handle, index, &array->view));
  }
  if (result < 0) {
    python_array_release(array);
    return NULL;
  }
  if (is_output != 0) {
    keep_output(self, index, array);
  } else {
    keep_input(self, index, array);
  }
  return Py_NewRef(Py_None);
}

PyObject* python_context_result(python_context_t* self, uint32_t index) {
  const python_array_t* own = self->outputs[index];
  if (self->infos[self->input_count + index].kind != TENON_ARGUMENT_TENSOR) {
    const tenon_argument_t* argument = NULL;
    const tenon_status_t status = tenon_context_get_output_argument(self->handle, index, &argument);
    return python_context_status(self, status) < 0 ? NULL
                                                   : python_argument_copy(self->state, argument);
  }
  tenon_tensor_view_t view;
  if (python_context_status(self, tenon_context_get_output(self->handle, index, &view)) < 0) {
    return NULL;
  }
  if (own != NULL) {
    return own->device_type == 1
               ? Py_NewRef(own->object)
               : python_tensor_borrow(self, &view, own->device_type, own->device_index);
  }
  return python_array_copy(self->state, &view);
}

PyObject* python_context_output(python_context_t* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"key", "copy", NULL};
  PyObject* key = NULL;
  int copy = 1;
  uint32_t index = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$p:output", names, &key, &copy) ||
      python_engine_index(self->engine, key, true, &index) < 0 || python_context_wait(self) < 0) {
    return NULL;
  }
  if (copy != 0) {
    return python_context_result(self, index);
  }
  tenon_tensor_view_t view;
  const python_array_t* own = self->outputs[index];
  if (python_context_status(self, tenon_context_get_output(self->handle, index, &view)) < 0) {
    return NULL;
  }
  return python_tensor_borrow(self, &view, own != NULL ? own->device_type : 1,
                              own != NULL ? own->device_index : 0);
}

PyObject* python_context_output_extents(python_context_t* self, PyObject* key) {
  uint32_t index = 0;
  const int64_t* dims = NULL;
  const int64_t* most = NULL;
  if (python_engine_index(self->engine, key, true, &index) < 0 ||
      python_context_status(
          self, tenon_context_get_output_extents(self->handle, index, &dims, &most)) < 0) {
    return NULL;
  }
  const uint32_t rank = self->infos[self->input_count + index].rank;
  PyObject* first = python_dims(dims, rank);
  PyObject* second = python_dims(most, rank);
  PyObject* pair = first == NULL || second == NULL ? NULL : PyTuple_Pack(2, first, second);
  Py_XDECREF(first);
  Py_XDECREF(second);
  return pair;
}

/* ---- Calls ---- */

static int give_all(python_context_t* self, PyObject* arguments, PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Size(arguments);
  if (count > (Py_ssize_t)self->input_count) {
    (void)python_fail(self->state, TENON_ERROR_INVALID_ARGUMENT,
                      "%zd inputs are given: the model has %u", count, self->input_count);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (python_context_give(self, (uint32_t)i, PyTuple_GetItem(arguments, i)) < 0) {
      return -1;
    }
  }
  Py_ssize_t place = 0;
  PyObject* name = NULL;
  PyObject* object = NULL;
  while (keywords != NULL && PyDict_Next(keywords, &place, &name, &object) != 0) {
    uint32_t index = 0;
    if (python_engine_index(self->engine, name, false, &index) < 0) {
      return -1;
    }
    if ((Py_ssize_t)index < count) {
      (void)python_fail(self->state, TENON_ERROR_INVALID_ARGUMENT,
                        "input '%s' is given by position and by name", input_name(self, index));
      return -1;
    }
    if (python_context_give(self, index, object) < 0) {
      return -1;
    }
  }
  return 0;
}

PyObject* python_context_call(python_context_t* self, PyObject* arguments, PyObject* keywords) {
  if (python_context_wait(self) < 0) {
    return NULL;
  }
  PyObject* values = NULL;
  if (give_all(self, arguments, keywords) == 0 && python_context_run_once(self) == 0) {
    values = PyTuple_New((Py_ssize_t)self->output_count);
    for (uint32_t i = 0; values != NULL && i < self->output_count; ++i) {
      PyObject* value = python_context_result(self, i);
      python_put(&values, i, value);
    }
  }
  python_context_forget(self);
  return values == NULL ? NULL
                        : python_outputs_make(self->state, self->engine->output_names, values);
}
