/* Registry: the plugins of the process, and the logger. */
#include "state.h"

/* A message for the logger, from any thread. Its exception is raised by the call that caused it. */
static void report(void* user, int32_t severity, const char* message) {
  python_registry_t* registry = user;
  if (!Py_IsInitialized()) {
    return;
  }
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* type = NULL;
  PyObject* value = NULL;
  PyObject* traceback = NULL;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* logger = Py_XNewRef(registry->logger);
  PyObject* text = logger == NULL ? NULL : python_text(message);
  PyObject* result = text == NULL ? NULL : PyObject_CallFunction(logger, "iO", (int)severity, text);
  if (logger != NULL && result == NULL) {
    python_keep_exception(&registry->pending);
  }
  Py_XDECREF(result);
  Py_XDECREF(text);
  Py_XDECREF(logger);
  PyErr_Restore(type, value, traceback);
  PyGILState_Release(gil);
}

/* The sequences of the constructor as arrays, with what keeps them. */
typedef struct lists_t {
  const char* const* paths;
  const char* const* digests;
  const char* const* set_aside;
  const char* const* prefer;
  PyObject* owners[4];
} lists_t;

static void free_lists(lists_t* lists) {
  /* Arrays of pointers, made by python_strings. */
  PyMem_Free((void*)lists->paths);
  PyMem_Free((void*)lists->digests);
  PyMem_Free((void*)lists->set_aside);
  PyMem_Free((void*)lists->prefer);
  for (int i = 0; i < 4; ++i) {
    Py_XDECREF(lists->owners[i]);
  }
}

static PyObject* registry_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"paths", "only_paths", "digests", "logger", "set_aside", "prefer", NULL};
  PyObject* paths = NULL;
  PyObject* digests = NULL;
  PyObject* logger = Py_None;
  PyObject* set_aside = NULL;
  PyObject* prefer = NULL;
  int only_paths = 0;
  lists_t lists = {0};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O$pOOOO:Registry", names, &paths,
                                   &only_paths, &digests, &logger, &set_aside, &prefer)) {
    return NULL;
  }
  python_registry_t* self = NULL;
  if (python_strings(paths, "paths", &lists.paths, &lists.owners[0]) == 0 &&
      python_strings(digests, "digests", &lists.digests, &lists.owners[1]) == 0 &&
      python_strings(set_aside, "set_aside", &lists.set_aside, &lists.owners[2]) == 0 &&
      python_strings(prefer, "prefer", &lists.prefer, &lists.owners[3]) == 0) {
    self = python_allocate(type);
  }
  if (self == NULL) {
    free_lists(&lists);
    return NULL;
  }
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = lists.paths;
  options.only_paths = (uint32_t)only_paths;
  options.policy = lists.digests != NULL ? TENON_POLICY_LISTED : TENON_POLICY_ANY;
  options.digests = lists.digests;
  options.set_aside = lists.set_aside;
  options.prefer = lists.prefer;
  if (logger != Py_None) {
    self->logger = Py_NewRef(logger);
    options.logger = (tenon_sink_t){self, report};
  }
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_registry_create(&options, &self->handle));
  free_lists(&lists);
  if (python_check(self->state, self, status) < 0) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

static int registry_traverse(python_registry_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->logger);
  Py_VISIT(self->pending);
  return 0;
}

static int registry_clear(python_registry_t* self) {
  Py_CLEAR(self->logger);
  Py_CLEAR(self->pending);
  return 0;
}

static void registry_dealloc(python_registry_t* self) {
  PyObject_GC_UnTrack(self);
  PYTHON_WITHOUT_LOCK(tenon_registry_release(self->handle));
  (void)registry_clear(self);
  python_free(self);
}

static PyObject* registry_plugins(python_registry_t* self, PyObject* unused) {
  (void)unused;
  const uint32_t count = tenon_registry_plugin_count(self->handle);
  PyObject* list = PyList_New(0);
  for (uint32_t i = 0; list != NULL && i < count; ++i) {
    tenon_plugin_info_t info = TENON_OPTIONS(tenon_plugin_info_t);
    tenon_status_t status = TENON_OK;
    PYTHON_WITHOUT_LOCK(status = tenon_registry_get_plugin(self->handle, i, &info));
    PyObject* record = NULL;
    if (python_check(self->state, self, status) == 0) {
      record = python_record(self->state, "PluginInfo", "(ssssssssI)", info.path, info.name,
                             info.version, info.vendor, info.licence, info.reason, info.offers,
                             info.left_out, info.state);
    }
    python_append(&list, record);
  }
  return list;
}

static PyObject* registry_paths_text(python_registry_t* self, PyObject* unused) {
  (void)unused;
  python_text_t text = {0};
  tenon_registry_print_paths(self->handle, python_text_write, &text);
  return python_text_take(&text);
}

typedef tenon_status_t (*print_t)(tenon_registry_t* registry, tenon_write_t write, void* user);

static PyObject* print(python_registry_t* self, print_t function) {
  python_text_t text = {0};
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = function(self->handle, python_text_write, &text));
  PyObject* result = python_text_take(&text);
  if (python_check(self->state, self, status) < 0) {
    Py_CLEAR(result);
  }
  return result;
}

static PyObject* registry_index_text(python_registry_t* self, PyObject* unused) {
  (void)unused;
  return print(self, tenon_registry_print_index);
}

static PyObject* registry_devices_text(python_registry_t* self, PyObject* unused) {
  (void)unused;
  return print(self, tenon_registry_print_devices);
}

static PyMethodDef methods[] = {
    PYTHON_PLAIN("plugins", registry_plugins,
                 "Returns each file on the search path, as PluginInfo."),
    PYTHON_PLAIN("paths_text", registry_paths_text,
                 "Returns the folders that are searched, as text."),
    PYTHON_PLAIN("index_text", registry_index_text,
                 "Returns all descriptors, a JSON object a line. Loads all plugins."),
    PYTHON_PLAIN("devices_text", registry_devices_text,
                 "Returns all devices, a JSON object a line."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "The plugins of the process."},
                              {Py_tp_new, registry_new},
                              {Py_tp_dealloc, registry_dealloc},
                              {Py_tp_traverse, registry_traverse},
                              {Py_tp_clear, registry_clear},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PYTHON_SPEC(registry, "Registry", PYTHON_CLASS, slots);
