/* Statuses as exceptions, exceptions of callbacks, texts, and arguments that many functions read. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static PyObject* raise_message(python_state_t* state, tenon_status_t status, PyObject* message) {
  if (status <= 0 || status >= PYTHON_STATUS_COUNT) {
    status = TENON_ERROR_INTERNAL;
  }
  PyObject* type = state->errors[status];
  PyObject* error =
      message == NULL ? NULL : PyObject_CallFunction(type, "Oi", message, (int)status);
  if (error != NULL) {
    PyErr_SetObject(type, error);
  }
  Py_XDECREF(error);
  Py_XDECREF(message);
  return NULL;
}

int python_check(python_state_t* state, python_registry_t* registry, tenon_status_t status) {
  if (registry != NULL && python_raise_pending(&registry->pending) < 0) {
    return -1;
  }
  if (status == TENON_OK) {
    return 0;
  }
  const char* message = tenon_last_message();
  (void)raise_message(state, status,
                      python_text(*message != '\0' ? message : tenon_status_text(status)));
  return -1;
}

PyObject* python_fail(python_state_t* state, tenon_status_t status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyObject* message = PyUnicode_FromFormatV(format, arguments);
  va_end(arguments);
  return raise_message(state, status, message);
}

void python_keep_exception(PyObject** pending) {
  PyObject* type = NULL;
  PyObject* value = NULL;
  PyObject* traceback = NULL;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != NULL && traceback != NULL) {
    (void)PyException_SetTraceback(value, traceback);
  }
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  if (*pending == NULL) {
    *pending = value;
  } else {
    Py_XDECREF(value);
  }
}

int python_raise_pending(PyObject** pending) {
  PyObject* error = *pending;
  if (error == NULL) {
    return 0;
  }
  *pending = NULL;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
  return -1;
}

PyObject* python_record(python_state_t* state, const char* name, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyObject* values = Py_VaBuildValue(format, arguments);
  va_end(arguments);
  PyObject* type = values == NULL ? NULL : PyObject_GetAttrString(state->records, name);
  PyObject* record = type == NULL ? NULL : PyObject_CallObject(type, values);
  Py_XDECREF(type);
  Py_XDECREF(values);
  return record;
}

/* ---- Texts ---- */

void python_text_write(void* user, const char* text) {
  python_text_t* own = user;
  const size_t size = strlen(text);
  if (own->is_full) {
    return;
  }
  if (own->capacity - own->size < size) {
    const size_t capacity = (own->size + size) * 2 + 256;
    char* data = realloc(own->data, capacity);
    if (data == NULL) {
      own->is_full = true;
      return;
    }
    own->data = data;
    own->capacity = capacity;
  }
  memcpy(own->data + own->size, text, size);
  own->size += size;
}

PyObject* python_text_take(python_text_t* text) {
  PyObject* result = text->is_full
                         ? PyErr_NoMemory()
                         : PyUnicode_DecodeUTF8(text->data != NULL ? text->data : "",
                                                (Py_ssize_t)text->size, "surrogateescape");
  free(text->data);
  memset(text, 0, sizeof(*text));
  return result;
}

PyObject* python_text(const char* text) {
  if (text == NULL) {
    return Py_NewRef(Py_None);
  }
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* ---- Objects ---- */

void python_put(PyObject** inout_tuple, size_t index, PyObject* item) {
  if (item == NULL || PyTuple_SetItem(*inout_tuple, (Py_ssize_t)index, item) < 0) {
    Py_CLEAR(*inout_tuple);
  }
}

void python_append(PyObject** inout_list, PyObject* item) {
  if (item == NULL || PyList_Append(*inout_list, item) < 0) {
    Py_CLEAR(*inout_list);
  }
  Py_XDECREF(item);
}

int python_check_idle(python_state_t* state, bool is_busy, const char* thing, const char* remedy) {
  if (is_busy) {
    (void)python_fail(state, TENON_ERROR_INVALID_STATE, "another call is using this %s: %s", thing,
                      remedy);
    return -1;
  }
  return 0;
}

extern PyModuleDef python_module;

python_state_t* python_state_of(PyTypeObject* type) {
  for (PyTypeObject* base = type; base != NULL; base = PyType_GetSlot(base, Py_tp_base)) {
    PyObject* module = PyType_GetModule(base);
    if (module == NULL) {
      PyErr_Clear();
    } else if (PyModule_GetDef(module) == &python_module) {
      return PyModule_GetState(module);
    }
  }
  return NULL;
}

void* python_allocate(PyTypeObject* type) {
  const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  python_value_t* object = (python_value_t*)allocate(type, 0);
  if (object != NULL) {
    object->state = python_state_of(type);
  }
  return object;
}

void python_free(void* object) {
  PyTypeObject* type = Py_TYPE((PyObject*)object);
  const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

void* python_calloc(size_t count, size_t size) {
  void* memory = PyMem_Calloc(count + 1, size);
  if (memory == NULL) {
    (void)PyErr_NoMemory();
  }
  return memory;
}

/* ---- Arguments ---- */

int python_u32(PyObject* object, void* out_number) {
  PyObject* index = PyNumber_Index(object);
  const unsigned long long number = index == NULL ? 0 : PyLong_AsUnsignedLongLong(index);
  Py_XDECREF(index);
  if (PyErr_Occurred() == NULL && number > UINT32_MAX) {
    PyErr_Format(PyExc_OverflowError, "%R is greater than %u", object, UINT32_MAX);
  }
  if (PyErr_Occurred() != NULL) {
    return 0;
  }
  *(uint32_t*)out_number = (uint32_t)number;
  return 1;
}

int python_strings(PyObject* sequence, const char* name, const char* const** out_list,
                   PyObject** out_owner) {
  *out_list = NULL;
  *out_owner = NULL;
  if (sequence == NULL || sequence == Py_None) {
    return 0;
  }
  PyObject* list = PyUnicode_Check(sequence) ? NULL : PySequence_List(sequence);
  if (list == NULL) {
    if (PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Format(PyExc_TypeError, "%s: a sequence of str is needed", name);
    }
    return -1;
  }
  const Py_ssize_t count = PyList_Size(list);
  const char** strings = python_calloc((size_t)count, sizeof(*strings));
  for (Py_ssize_t i = 0; strings != NULL && i < count; ++i) {
    PyObject* path = PyOS_FSPath(PyList_GetItem(list, i));
    if (path != NULL && PyUnicode_Check(path)) {
      PyObject* bytes = PyUnicode_AsEncodedString(path, "utf-8", "surrogateescape");
      Py_DECREF(path);
      path = bytes;
    }
    strings[i] = path != NULL ? PyBytes_AsString(path) : NULL;
    if (path != NULL) {
      (void)PyList_SetItem(list, i, path);
    }
    if (strings[i] == NULL) {
      PyMem_Free(strings);
      Py_DECREF(list);
      return -1;
    }
  }
  if (strings == NULL) {
    Py_DECREF(list);
    return -1;
  }
  *out_list = strings;
  *out_owner = list;
  return 0;
}

int python_path(PyObject* object, const char** out_path, PyObject** out_owner) {
  *out_path = NULL;
  *out_owner = NULL;
  if (object == NULL || object == Py_None) {
    return 0;
  }
  PyObject* bytes = NULL;
  if (PyUnicode_FSConverter(object, &bytes) == 0) {
    return -1;
  }
  *out_path = PyBytes_AsString(bytes);
  *out_owner = bytes;
  return 0;
}

int python_extents(PyObject* sequence, int64_t* out_dims, uint32_t* out_rank) {
  const Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) {
    return -1;
  }
  if (count > TENON_RANK_LIMIT) {
    PyErr_Format(PyExc_ValueError, "a shape of %zd extents: at most %d are possible", count,
                 (int)TENON_RANK_LIMIT);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PySequence_GetItem(sequence, i);
    if (item == NULL) {
      return -1;
    }
    PyObject* number =
        item == Py_None || PyUnicode_Check(item) ? PyLong_FromLong(-1) : PyNumber_Index(item);
    Py_DECREF(item);
    out_dims[i] = number == NULL ? -1 : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    if (PyErr_Occurred() != NULL) {
      return -1;
    }
  }
  *out_rank = (uint32_t)count;
  return 0;
}

PyObject* python_dims(const int64_t* dims, uint32_t rank) {
  if (dims == NULL && rank > 0) {
    return Py_NewRef(Py_None);
  }
  PyObject* tuple = PyTuple_New((Py_ssize_t)rank);
  for (uint32_t k = 0; tuple != NULL && k < rank; ++k) {
    PyObject* number = PyLong_FromLongLong(dims[k]);
    python_put(&tuple, k, number);
  }
  return tuple;
}
