/* Network: parsing, inputs and outputs, printing, walks. layers.c and nodes.c build it. */
#include "network.h"

#include <string.h>

static PyObject* network_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"registry", NULL};
  PyObject* registry = NULL;
  python_state_t* state = python_state_of(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!:Network", names, state->registry_type,
                                   &registry)) {
    return NULL;
  }
  python_network_t* self = python_allocate(type);
  if (self == NULL) {
    return NULL;
  }
  self->registry = (python_registry_t*)Py_NewRef(registry);
  self->owners = PyList_New(0);
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_network_create(self->registry->handle, &self->handle));
  if (self->owners == NULL || python_check(state, self->registry, status) < 0) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

static int network_traverse(python_network_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->registry);
  Py_VISIT(self->owners);
  return 0;
}

static void network_dealloc(python_network_t* self) {
  PyObject_GC_UnTrack(self);
  PYTHON_WITHOUT_LOCK(tenon_network_destroy(self->handle));
  Py_XDECREF(self->owners);
  Py_XDECREF((PyObject*)self->registry);
  python_free(self);
}

int python_network_status(python_network_t* self, tenon_status_t status) {
  return python_check(self->state, self->registry, status);
}

int python_network_check(const python_network_t* self) {
  return python_check_idle(self->state, self->is_busy, "network", "wait until it has returned");
}

tenon_builder_t* python_network_builder(const python_network_t* self) {
  return tenon_network_get_builder(self->handle);
}

/* ---- Parsing ---- */

/* Options of a parse with the memory that they need. */
typedef struct parse_t {
  tenon_parse_options_t options;
  tenon_input_shape_t* shapes;
  int64_t* extents;
  tenon_input_value_t* values;
  python_array_t** arrays;
  Py_ssize_t array_count;
  PyObject* owners[2];
} parse_t;

static void parse_free(parse_t* parse) {
  for (Py_ssize_t i = 0; i < parse->array_count; ++i) {
    python_array_release(parse->arrays[i]);
  }
  PyMem_Free(parse->arrays);
  PyMem_Free(parse->values);
  PyMem_Free(parse->shapes);
  PyMem_Free(parse->extents);
  PyMem_Free((void*)parse->options.parts); /* arrays of pointers */
  PyMem_Free((void*)parse->options.settings);
  Py_XDECREF(parse->owners[0]);
  Py_XDECREF(parse->owners[1]);
}

static int read_shapes(parse_t* parse, PyObject* shapes) {
  if (shapes == NULL || shapes == Py_None) {
    return 0;
  }
  const Py_ssize_t count = PyDict_Size(shapes);
  if (count < 0) {
    return -1;
  }
  parse->shapes = python_calloc((size_t)count, sizeof(*parse->shapes));
  parse->extents = python_calloc((size_t)count * TENON_RANK_LIMIT, sizeof(int64_t));
  if (parse->shapes == NULL || parse->extents == NULL) {
    return -1;
  }
  Py_ssize_t place = 0;
  PyObject* name = NULL;
  PyObject* shape = NULL;
  for (Py_ssize_t i = 0; i < count && PyDict_Next(shapes, &place, &name, &shape) != 0; ++i) {
    tenon_input_shape_t* item = &parse->shapes[i];
    int64_t* dims = parse->extents + i * TENON_RANK_LIMIT;
    item->name = PyUnicode_AsUTF8AndSize(name, NULL);
    item->dims = dims;
    if (item->name == NULL || python_extents(shape, dims, &item->rank) < 0) {
      return -1;
    }
  }
  parse->options.shapes =
      (tenon_list_t){parse->shapes, (uint32_t)count, (uint32_t)sizeof(*parse->shapes)};
  return 0;
}

static int read_values(python_state_t* state, parse_t* parse, PyObject* values) {
  if (values == NULL || values == Py_None) {
    return 0;
  }
  const Py_ssize_t count = PyDict_Size(values);
  if (count < 0) {
    return -1;
  }
  parse->values = python_calloc((size_t)count, sizeof(*parse->values));
  parse->arrays = python_calloc((size_t)count, sizeof(void*));
  if (parse->values == NULL || parse->arrays == NULL) {
    return -1;
  }
  Py_ssize_t place = 0;
  PyObject* name = NULL;
  PyObject* value = NULL;
  for (Py_ssize_t i = 0; i < count && PyDict_Next(values, &place, &name, &value) != 0; ++i) {
    parse->values[i].name = PyUnicode_AsUTF8AndSize(name, NULL);
    parse->arrays[i] = python_array_on_host(state, value, TENON_DTYPE_UNDEFINED);
    parse->array_count = i + 1;
    if (parse->values[i].name == NULL || parse->arrays[i] == NULL) {
      return -1;
    }
    parse->values[i].view = &parse->arrays[i]->view;
  }
  parse->options.values =
      (tenon_list_t){parse->values, (uint32_t)count, (uint32_t)sizeof(*parse->values)};
  return 0;
}

static int parse_path(python_network_t* self, PyObject* source, const parse_t* parse) {
  const char* path = NULL;
  PyObject* owner = NULL;
  if (python_path(source, &path, &owner) < 0) {
    return -1;
  }
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_network_parse_file(self->handle, path, &parse->options));
  const int result = python_network_status(self, status);
  Py_XDECREF(owner);
  return result;
}

/* The network reads the bytes until it is destroyed, so it keeps a view of them. */
static int parse_bytes(python_network_t* self, PyObject* source, const char* name,
                       const parse_t* parse) {
  PyObject* view = PyMemoryView_FromObject(source);
  Py_buffer buffer;
  if (view == NULL || PyObject_GetBuffer(view, &buffer, PyBUF_SIMPLE) < 0) {
    Py_XDECREF(view);
    return -1;
  }
  int result = PyList_Append(self->owners, view);
  tenon_status_t status = TENON_OK;
  if (result == 0) {
    PYTHON_WITHOUT_LOCK(status = tenon_network_parse_memory(
                            self->handle, buffer.buf, (size_t)buffer.len, name, &parse->options));
    result = python_network_status(self, status);
  }
  PyBuffer_Release(&buffer);
  Py_DECREF(view);
  return result;
}

static PyObject* python_network_parse(python_network_t* self, PyObject* arguments,
                                      PyObject* keywords) {
  static char* names[] = {"source", "name",   "format",   "shapes",
                          "parts",  "values", "settings", NULL};
  PyObject* source = NULL;
  const char* name = NULL;
  PyObject* shapes = NULL;
  PyObject* parts = NULL;
  PyObject* values = NULL;
  PyObject* settings = NULL;
  parse_t parse = {.options = TENON_OPTIONS(tenon_parse_options_t)};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$zzOOOO:parse", names, &source, &name,
                                   &parse.options.format, &shapes, &parts, &values, &settings)) {
    return NULL;
  }
  int result = -1;
  if (read_shapes(&parse, shapes) == 0 && read_values(self->state, &parse, values) == 0 &&
      python_strings(parts, "parts", &parse.options.parts, &parse.owners[0]) == 0 &&
      python_strings(settings, "settings", &parse.options.settings, &parse.owners[1]) == 0) {
    const bool is_memory = PyObject_CheckBuffer(source) != 0;
    result = is_memory ? parse_bytes(self, source, name != NULL ? name : "model in memory", &parse)
                       : parse_path(self, source, &parse);
  }
  parse_free(&parse);
  return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- Looking at it ---- */

typedef uint32_t (*count_t)(const tenon_network_t* network);
typedef tenon_status_t (*get_t)(const tenon_network_t* network, uint32_t index,
                                tenon_io_info_t* out_info);

static PyObject* io_list(python_network_t* self, count_t count, get_t get) {
  PyObject* list = PyList_New(0);
  const uint32_t length = count(self->handle);
  for (uint32_t i = 0; list != NULL && i < length; ++i) {
    tenon_io_info_t info = TENON_OPTIONS(tenon_io_info_t);
    PyObject* record = python_network_status(self, get(self->handle, i, &info)) < 0
                           ? NULL
                           : python_io_record(self->state, &info);
    python_append(&list, record);
  }
  return list;
}

PyObject* python_network_input_list(python_network_t* self, PyObject* unused) {
  (void)unused;
  return io_list(self, tenon_network_input_count, tenon_network_get_input);
}

PyObject* python_network_output_list(python_network_t* self, PyObject* unused) {
  (void)unused;
  return io_list(self, tenon_network_output_count, tenon_network_get_output);
}

PyObject* python_network_files(python_network_t* self, PyObject* unused) {
  (void)unused;
  PyObject* list = PyList_New(0);
  const uint32_t count = tenon_network_file_count(self->handle);
  for (uint32_t i = 0; list != NULL && i < count; ++i) {
    PyObject* path = PyUnicode_DecodeFSDefault(tenon_network_get_file(self->handle, i));
    python_append(&list, path);
  }
  return list;
}

PyObject* python_network_node_types(python_network_t* self, PyObject* unused) {
  (void)unused;
  PyObject* list = PyList_New(0);
  const uint32_t count = tenon_network_node_type_count(self->handle);
  for (uint32_t i = 0; list != NULL && i < count; ++i) {
    tenon_node_type_t type = TENON_OPTIONS(tenon_node_type_t);
    PyObject* record =
        python_network_status(self, tenon_network_get_node_type(self->handle, i, &type)) < 0
            ? NULL
            : python_record(self->state, "NodeType", "(ssLINsss)", type.domain, type.type,
                            (long long)type.version, type.count,
                            PyBool_FromLong((long)type.is_missing), type.node, type.plugin,
                            type.message);
    python_append(&list, record);
  }
  return list;
}

PyObject* python_network_text(python_network_t* self, PyObject* unused) {
  (void)unused;
  python_text_t text = {0};
  tenon_network_print(self->handle, python_text_write, &text);
  return python_text_take(&text);
}

PyObject* python_network_values_text(python_network_t* self, PyObject* unused) {
  (void)unused;
  python_text_t text = {0};
  tenon_network_print_values(self->handle, python_text_write, &text);
  return python_text_take(&text);
}

PyObject* python_network_clear_outputs(python_network_t* self, PyObject* unused) {
  (void)unused;
  return python_network_status(self, tenon_network_clear_outputs(self->handle)) < 0
             ? NULL
             : Py_NewRef(Py_None);
}

PyObject* python_network_mark_output(python_network_t* self, PyObject* arguments) {
  const char* name = NULL;
  if (!PyArg_ParseTuple(arguments, "s:mark_output", &name) ||
      python_network_status(self, tenon_network_mark_output(self->handle, name)) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

PyObject* python_network_make_state(python_network_t* self, PyObject* arguments) {
  const char* input = NULL;
  const char* output = NULL;
  if (!PyArg_ParseTuple(arguments, "ss:make_state", &input, &output) ||
      python_network_status(self, tenon_network_make_state(self->handle, input, output)) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

static PyObject* network_registry(python_network_t* self, void* unused) {
  (void)unused;
  return Py_NewRef((PyObject*)self->registry);
}

static PyGetSetDef getters[] = {
    PYTHON_GETTER("registry", network_registry, "The registry of its operators."),
    {NULL, NULL, NULL, NULL, NULL}};

/* ---- Methods ---- */

#define GUARDED(name, flags, signature, text) PYTHON_GUARDED(python_network, name)
PYTHON_NETWORK_METHODS(GUARDED)
PYTHON_GUARDED_KEYWORDS(python_network, parse)

#define METHOD(name, flags, signature, text) \
  {#name, (PyCFunction)guarded_##name, flags, PYTHON_DOC(#name, signature, text)},
static PyMethodDef methods[] = {
    PYTHON_NETWORK_METHODS(METHOD) PYTHON_KEYWORDS(
        "parse", guarded_parse,
        "source, *, name=None, format=None, shapes=None, parts=None, values=None, settings=None",
        "Parses a file or bytes into the empty network."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "Operators and values as a model has them."},
                              {Py_tp_new, network_new},
                              {Py_tp_dealloc, network_dealloc},
                              {Py_tp_traverse, network_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {0, NULL}};

PYTHON_SPEC(network, "Network", PYTHON_CLASS, slots);
