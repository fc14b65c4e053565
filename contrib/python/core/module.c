/* The module tenon_engine._core. */
#include <string.h>

#include "operators.h"
#include "state.h"

static PyObject* module_version(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return python_text(tenon_version());
}

static PyObject* module_digest_file(PyObject* module, PyObject* object) {
  const char* path = NULL;
  PyObject* owner = NULL;
  char digest[65];
  tenon_status_t status = TENON_OK;
  if (python_path(object, &path, &owner) < 0) {
    return NULL;
  }
  PYTHON_WITHOUT_LOCK(status = tenon_digest_file(path, digest));
  Py_XDECREF(owner);
  return python_check(PyModule_GetState(module), NULL, status) < 0 ? NULL : python_text(digest);
}

static PyObject* module_sniff_plan(PyObject* module, PyObject* arguments) {
  Py_buffer buffer;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "y*:sniff_plan", &buffer)) {
    return NULL;
  }
  const int32_t result = tenon_plan_sniff(buffer.buf, (size_t)buffer.len);
  PyBuffer_Release(&buffer);
  return PyBool_FromLong(result);
}

static PyObject* module_current_call(PyObject* module, PyObject* unused) {
  (void)unused;
  tenon_call_info_t info = TENON_OPTIONS(tenon_call_info_t);
  if (tenon_current_call(&info) == 0) {
    return Py_NewRef(Py_None);
  }
  return python_record(PyModule_GetState(module), "CallInfo", "(zzzz)", info.plugin, info.function,
                       info.item, info.node);
}

static PyObject* module_dtype_name(PyObject* module, PyObject* object) {
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  (void)module;
  return python_dtype_from(object, &dtype) < 0 ? NULL : python_text(tenon_dtype_name(dtype));
}

static PyObject* module_dtype_bits(PyObject* module, PyObject* object) {
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  (void)module;
  return python_dtype_from(object, &dtype) < 0 ? NULL
                                               : PyLong_FromUnsignedLong(tenon_dtype_bits(dtype));
}

static PyObject* module_dtype_numpy(PyObject* module, PyObject* object) {
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  (void)module;
  return python_dtype_from(object, &dtype) < 0 ? NULL
                                               : python_text(python_dtype_numpy(dtype, true));
}

static PyObject* module_status_text(PyObject* module, PyObject* object) {
  (void)module;
  const long status = PyLong_AsLong(object);
  return PyErr_Occurred() != NULL ? NULL : python_text(tenon_status_text((tenon_status_t)status));
}

static PyMethodDef functions[] = {
    PYTHON_PLAIN("version", module_version, "Returns the version of the library in use."),
    PYTHON_ONE("digest_file", module_digest_file, ", path",
               "Returns the SHA-256 of a file, in hexadecimal."),
    PYTHON_MANY("sniff_plan", module_sniff_plan, ", data",
                "True if the bytes begin as those of a plan."),
    PYTHON_PLAIN("current_call", module_current_call,
                 "Returns the call of a plugin that the thread is in, as CallInfo, or None."),
    PYTHON_ONE("dtype_name", module_dtype_name, ", dtype",
               "Returns the name of an element type, such as 'f32'."),
    PYTHON_ONE("dtype_bits", module_dtype_bits, ", dtype", "Returns the bits of one element."),
    PYTHON_ONE("dtype_numpy", module_dtype_numpy, ", dtype",
               "Returns the name of the type in NumPy or ml_dtypes, or None."),
    PYTHON_PLAIN("option_names", python_option_names,
                 "Returns the names of the options of Plan, a tuple."),
    PYTHON_MANY("offer_operators", python_offer_operators, ", path, operators",
                "Passes operators to the plugin of that path."),
    PYTHON_ONE("status_text", module_status_text, ", status",
               "Returns the words for a status, such as 'invalid data'."),
    {NULL, NULL, 0, NULL}};

/* ---- Start ---- */

/* NumPy's types, if it is installed; for the types of ml_dtypes also theirs, if that is. */
static int find_types(python_state_t* state) {
  PyObject* narrow = NULL;
  state->numpy = PyImport_ImportModule("numpy");
  if (state->numpy == NULL) {
    PyErr_Clear();
    return 0;
  }
  state->numpy_empty = PyObject_GetAttrString(state->numpy, "empty");
  narrow = PyImport_ImportModule("ml_dtypes");
  PyErr_Clear();
  for (tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED + 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    const char* native = python_dtype_numpy(dtype, true);
    const char* bits = python_dtype_numpy(dtype, false);
    if (native == NULL) {
      continue;
    }
    const bool is_narrow = strcmp(native, bits) != 0;
    if (is_narrow) {
      state->views[dtype] = narrow == NULL ? NULL : PyObject_GetAttrString(narrow, native);
      PyErr_Clear();
    }
    /* Without ml_dtypes the elements would lose their type: such an output is a Tensor. */
    if (!is_narrow || state->views[dtype] != NULL) {
      state->dtypes[dtype] = PyObject_CallMethod(state->numpy, "dtype", "s", bits);
      if (state->dtypes[dtype] == NULL) {
        Py_XDECREF(narrow);
        return -1;
      }
    }
  }
  Py_XDECREF(narrow);
  return 0;
}

static int add_type(PyObject* module, PyType_Spec* spec, PyTypeObject** out_type) {
  *out_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, spec, NULL);
  return *out_type == NULL ? -1 : PyModule_AddType(module, *out_type);
}

static int find_errors(python_state_t* state) {
  PyObject* errors = PyImport_ImportModule("tenon_engine._errors");
  PyObject* classes = errors == NULL ? NULL : PyObject_GetAttrString(errors, "CLASSES");
  for (int i = 0; classes != NULL && i < PYTHON_STATUS_COUNT; ++i) {
    state->errors[i] = PySequence_GetItem(classes, i);
  }
  Py_XDECREF(classes);
  Py_XDECREF(errors);
  return state->errors[TENON_ERROR_INTERNAL] == NULL ? -1 : 0;
}

static int execute(PyObject* module) {
  python_state_t* state = PyModule_GetState(module);
  state->records = PyImport_ImportModule("tenon_engine._records");
  if (state->records == NULL || find_errors(state) < 0 || find_types(state) < 0) {
    return -1;
  }
#define ADD(name)                                                         \
  if (add_type(module, &python_##name##_spec, &state->name##_type) < 0) { \
    return -1;                                                            \
  }
  PYTHON_TYPES(ADD)
#undef ADD
  return 0;
}

static int traverse(PyObject* module, visitproc visit, void* arg) {
  python_state_t* state = PyModule_GetState(module);
#define VISIT(name) Py_VISIT(state->name##_type);
  PYTHON_TYPES(VISIT)
#undef VISIT
  Py_VISIT(state->records);
  Py_VISIT(state->numpy);
  Py_VISIT(state->numpy_empty);
  for (int i = 0; i < PYTHON_STATUS_COUNT; ++i) {
    Py_VISIT(state->errors[i]);
  }
  for (int i = 0; i < TENON_DTYPE_COUNT; ++i) {
    Py_VISIT(state->dtypes[i]);
    Py_VISIT(state->views[i]);
  }
  return 0;
}

static int clear(PyObject* module) {
  python_state_t* state = PyModule_GetState(module);
#define CLEAR(name) Py_CLEAR(state->name##_type);
  PYTHON_TYPES(CLEAR)
#undef CLEAR
  Py_CLEAR(state->records);
  Py_CLEAR(state->numpy);
  Py_CLEAR(state->numpy_empty);
  for (int i = 0; i < PYTHON_STATUS_COUNT; ++i) {
    Py_CLEAR(state->errors[i]);
  }
  for (int i = 0; i < TENON_DTYPE_COUNT; ++i) {
    Py_CLEAR(state->dtypes[i]);
    Py_CLEAR(state->views[i]);
  }
  return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

extern PyModuleDef python_module;
PyModuleDef python_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tenon_engine._core",
    .m_doc = "The functions of tenon.h, for the package tenon_engine.",
    .m_size = sizeof(python_state_t),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

/* Python finds the module by this name. NOLINTBEGIN(readability-identifier-naming) */
PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
  return PyModuleDef_Init(&python_module);
}
/* NOLINTEND(readability-identifier-naming) */
