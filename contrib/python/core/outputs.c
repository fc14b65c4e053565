/* Outputs: the results of one run, a mapping by name and by index. */
#include "state.h"

typedef struct python_outputs_t {
  PYTHON_OBJECT_HEAD
  PyObject* names;  /* tuple of str */
  PyObject* values; /* tuple */
} python_outputs_t;

PyObject* python_outputs_make(python_state_t* state, PyObject* names, PyObject* values) {
  python_outputs_t* outputs = python_allocate(state->outputs_type);
  if (outputs == NULL) {
    Py_DECREF(values);
    return NULL;
  }
  outputs->names = Py_NewRef(names);
  outputs->values = values;
  return (PyObject*)outputs;
}

/* The index of a name, -1 if there is none (or an exception is set). */
static Py_ssize_t find(python_outputs_t* self, PyObject* name) {
  const Py_ssize_t count = PyTuple_Size(self->names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* own = PyTuple_GetItem(self->names, i);
    if (own == name) {
      return i;
    }
  }
  for (Py_ssize_t i = 0; PyUnicode_Check(name) && i < count; ++i) {
    if (PyUnicode_Compare(PyTuple_GetItem(self->names, i), name) == 0) {
      return i;
    }
  }
  return -1;
}

static PyObject* outputs_subscript(python_outputs_t* self, PyObject* key) {
  const Py_ssize_t count = PyTuple_Size(self->values);
  if (PyUnicode_Check(key)) {
    const Py_ssize_t index = find(self, key);
    if (index < 0) {
      PyErr_Format(PyExc_KeyError, "no output %R: there are %R", key, self->names);
      return NULL;
    }
    return Py_XNewRef(PyTuple_GetItem(self->values, index));
  }
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != NULL) {
    return NULL;
  }
  index = index < 0 ? index + count : index;
  if (index < 0 || index >= count) {
    PyErr_Format(PyExc_IndexError, "no output %zd: there are %zd", index, count);
    return NULL;
  }
  return Py_XNewRef(PyTuple_GetItem(self->values, index));
}

static Py_ssize_t outputs_length(python_outputs_t* self) {
  return PyTuple_Size(self->values);
}

static int outputs_contains(python_outputs_t* self, PyObject* name) {
  return find(self, name) >= 0;
}

static PyObject* outputs_iterate(python_outputs_t* self) {
  return PyObject_GetIter(self->names);
}

static PyObject* outputs_keys(python_outputs_t* self, PyObject* unused) {
  (void)unused;
  return Py_NewRef(self->names);
}

static PyObject* outputs_values(python_outputs_t* self, PyObject* unused) {
  (void)unused;
  return Py_NewRef(self->values);
}

static PyObject* outputs_items(python_outputs_t* self, PyObject* unused) {
  (void)unused;
  const Py_ssize_t count = PyTuple_Size(self->values);
  PyObject* items = PyTuple_New(count);
  for (Py_ssize_t i = 0; items != NULL && i < count; ++i) {
    PyObject* item =
        PyTuple_Pack(2, PyTuple_GetItem(self->names, i), PyTuple_GetItem(self->values, i));
    python_put(&items, (size_t)i, item);
  }
  return items;
}

static PyObject* outputs_get(python_outputs_t* self, PyObject* arguments) {
  PyObject* name = NULL;
  PyObject* otherwise = Py_None;
  if (!PyArg_ParseTuple(arguments, "O|O:get", &name, &otherwise)) {
    return NULL;
  }
  const Py_ssize_t index = find(self, name);
  return Py_XNewRef(index < 0 ? otherwise : PyTuple_GetItem(self->values, index));
}

static PyObject* outputs_repr(python_outputs_t* self) {
  PyObject* items = outputs_items(self, NULL);
  PyObject* dict = PyDict_New();
  PyObject* text = NULL;
  if (items != NULL && dict != NULL && PyDict_MergeFromSeq2(dict, items, 1) == 0) {
    text = PyUnicode_FromFormat("Outputs(%R)", dict);
  }
  Py_XDECREF(dict);
  Py_XDECREF(items);
  return text;
}

static int outputs_traverse(python_outputs_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->names);
  Py_VISIT(self->values);
  return 0;
}

static void outputs_dealloc(python_outputs_t* self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(self->names);
  Py_XDECREF(self->values);
  python_free(self);
}

static PyMethodDef methods[] = {
    PYTHON_PLAIN("keys", outputs_keys, "Returns the names, a tuple."),
    PYTHON_PLAIN("values", outputs_values, "Returns the results, a tuple."),
    PYTHON_PLAIN("items", outputs_items, "Returns pairs of name and result, a tuple."),
    PYTHON_MANY("get", outputs_get, ", name, default=None",
                "Returns the result of this name, or the default."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Results of a run: outputs['scores'], outputs[0]. Iterates over the names."},
    {Py_tp_dealloc, outputs_dealloc},
    {Py_tp_traverse, outputs_traverse},
    {Py_tp_repr, outputs_repr},
    {Py_tp_iter, outputs_iterate},
    {Py_tp_methods, methods},
    {Py_mp_subscript, outputs_subscript},
    {Py_mp_length, outputs_length},
    {Py_sq_contains, outputs_contains},
    {0, NULL}};

PYTHON_SPEC(outputs, "Outputs", PYTHON_RESULT | Py_TPFLAGS_HAVE_GC, slots);
