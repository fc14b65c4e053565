/* Engine: a loaded plan, its inputs and outputs, steps, memory and weights. */
#include <string.h>

#include "state.h"

PyObject* python_io_record(python_state_t* state, const tenon_io_info_t* info) {
  PyObject* shape = Py_NewRef(Py_None);
  if (info->rank != TENON_NONE) {
    Py_DECREF(shape);
    shape = PyTuple_New((Py_ssize_t)info->rank);
  }
  for (uint32_t k = 0; shape != NULL && info->rank != TENON_NONE && k < info->rank; ++k) {
    const char* symbol = info->symbols != NULL ? info->symbols[k] : "";
    PyObject* extent = info->dims[k] >= 0                    ? PyLong_FromLongLong(info->dims[k])
                       : symbol == NULL || symbol[0] == '\0' ? Py_NewRef(Py_None)
                                                             : python_text(symbol);
    python_put(&shape, k, extent);
  }
  static const char* const kinds[] = {"absent",   "tensor", "sequence",
                                      "optional", "",       "optional_sequence"};
  return shape == NULL ? NULL
                       : python_record(state, "IOInfo", "(sssN)", info->name,
                                       kinds[info->kind < 6 ? info->kind : 0],
                                       tenon_dtype_name(info->dtype), shape);
}

static int check(python_engine_t* self, tenon_status_t status) {
  return python_check(self->state, self->registry, status);
}

/* ---- Making ---- */

typedef uint32_t (*count_t)(const tenon_engine_t* engine);
typedef tenon_status_t (*get_t)(const tenon_engine_t* engine, uint32_t index,
                                tenon_io_info_t* out_info);

static PyObject* io_names(python_engine_t* self, count_t count, get_t get) {
  const uint32_t length = count(self->handle);
  PyObject* names = PyTuple_New((Py_ssize_t)length);
  for (uint32_t i = 0; names != NULL && i < length; ++i) {
    tenon_io_info_t info = TENON_OPTIONS(tenon_io_info_t);
    PyObject* name = check(self, get(self->handle, i, &info)) < 0 ? NULL : python_text(info.name);
    if (name != NULL) {
      PyUnicode_InternInPlace(&name);
    }
    python_put(&names, i, name);
  }
  return names;
}

/* From a Plan, bytes or a path. */
static int load(python_engine_t* self, PyObject* source, const tenon_engine_options_t* options) {
  tenon_registry_t* registry = self->registry->handle;
  tenon_status_t status = TENON_OK;
  if (PyObject_TypeCheck(source, self->state->plan_type)) {
    const tenon_plan_t* plan = ((python_plan_t*)source)->handle;
    PYTHON_WITHOUT_LOCK(status =
                            tenon_engine_create_from_plan(registry, plan, options, &self->handle));
    return check(self, status);
  }
  if (PyObject_CheckBuffer(source)) {
    if (PyObject_GetBuffer(source, &self->bytes, PyBUF_SIMPLE) < 0) {
      return -1;
    }
    PYTHON_WITHOUT_LOCK(status = tenon_engine_create_from_memory(registry, self->bytes.buf,
                                                                 (size_t)self->bytes.len, options,
                                                                 &self->handle));
    return check(self, status);
  }
  const char* path = NULL;
  PyObject* owner = NULL;
  if (python_path(source, &path, &owner) < 0) {
    return -1;
  }
  PYTHON_WITHOUT_LOCK(status =
                          tenon_engine_create_from_file(registry, path, options, &self->handle));
  Py_XDECREF(owner);
  return check(self, status);
}

static PyObject* engine_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"registry", "source", "verify", "device_index", "plugins", NULL};
  PyObject* registry = NULL;
  PyObject* source = NULL;
  tenon_engine_options_t options = TENON_OPTIONS(tenon_engine_options_t);
  python_state_t* state = python_state_of(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O|$O&O&O&:Engine", names,
                                   state->registry_type, &registry, &source, python_u32,
                                   &options.verify, python_u32, &options.device_index, python_u32,
                                   &options.plugins)) {
    return NULL;
  }
  python_engine_t* self = python_allocate(type);
  if (self == NULL) {
    return NULL;
  }
  self->registry = (python_registry_t*)Py_NewRef(registry);
  if (load(self, source, &options) == 0) {
    self->input_names = io_names(self, tenon_engine_input_count, tenon_engine_get_input);
    self->output_names = io_names(self, tenon_engine_output_count, tenon_engine_get_output);
  }
  if (self->input_names == NULL || self->output_names == NULL) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

static int engine_traverse(python_engine_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->registry);
  Py_VISIT(self->bytes.obj);
  return 0;
}

static void engine_dealloc(python_engine_t* self) {
  PyObject_GC_UnTrack(self);
  PYTHON_WITHOUT_LOCK(tenon_engine_release(self->handle));
  if (self->bytes.obj != NULL) {
    PyBuffer_Release(&self->bytes);
  }
  Py_XDECREF(self->input_names);
  Py_XDECREF(self->output_names);
  Py_XDECREF((PyObject*)self->registry);
  python_free(self);
}

int python_engine_check(const python_engine_t* engine) {
  if (engine->is_refitted) {
    (void)python_fail(engine->state, TENON_ERROR_INVALID_STATE,
                      "another call replaces weights of the engine: wait until it has returned");
    return -1;
  }
  return 0;
}

/* ---- Inputs and outputs ---- */

int python_engine_index(python_engine_t* engine, PyObject* key, bool is_output,
                        uint32_t* out_index) {
  if (!PyUnicode_Check(key)) {
    const Py_ssize_t count = PyTuple_Size(is_output ? engine->output_names : engine->input_names);
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred() != NULL) {
      return -1;
    }
    index = index < 0 ? index + count : index;
    if (index < 0 || index >= count) {
      PyErr_Format(PyExc_IndexError, "no %s %zd: there are %zd", is_output ? "output" : "input",
                   index, count);
      return -1;
    }
    *out_index = (uint32_t)index;
    return 0;
  }
  PyObject* names = is_output ? engine->output_names : engine->input_names;
  const Py_ssize_t count = PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyTuple_GetItem(names, i) == key) {
      *out_index = (uint32_t)i;
      return 0;
    }
  }
  const char* name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (name == NULL) {
    return -1;
  }
  return check(engine, is_output ? tenon_engine_find_output(engine->handle, name, out_index)
                                 : tenon_engine_find_input(engine->handle, name, out_index));
}

static PyObject* io_list(python_engine_t* self, count_t count, get_t get) {
  const uint32_t length = count(self->handle);
  PyObject* tuple = PyTuple_New((Py_ssize_t)length);
  for (uint32_t i = 0; tuple != NULL && i < length; ++i) {
    tenon_io_info_t info = TENON_OPTIONS(tenon_io_info_t);
    PyObject* record =
        check(self, get(self->handle, i, &info)) < 0 ? NULL : python_io_record(self->state, &info);
    python_put(&tuple, i, record);
  }
  return tuple;
}

static PyObject* engine_inputs(python_engine_t* self, void* unused) {
  (void)unused;
  return io_list(self, tenon_engine_input_count, tenon_engine_get_input);
}

static PyObject* engine_outputs(python_engine_t* self, void* unused) {
  (void)unused;
  return io_list(self, tenon_engine_output_count, tenon_engine_get_output);
}

static PyObject* engine_profile(python_engine_t* self, PyObject* key) {
  uint32_t index = 0;
  tenon_io_info_t info = TENON_OPTIONS(tenon_io_info_t);
  if (python_engine_index(self, key, false, &index) < 0 ||
      check(self, tenon_engine_get_input(self->handle, index, &info)) < 0) {
    return NULL;
  }
  PyObject* shapes[3] = {NULL};
  for (uint32_t k = 0; k < 3; ++k) {
    const int64_t* dims = NULL;
    if (check(self, tenon_engine_get_profile(self->handle, index, k, &dims)) < 0) {
      break;
    }
    shapes[k] = python_dims(dims, info.rank);
  }
  PyObject* result = shapes[0] == NULL || shapes[1] == NULL || shapes[2] == NULL
                         ? NULL
                         : PyTuple_Pack(3, shapes[0], shapes[1], shapes[2]);
  for (int k = 0; k < 3; ++k) {
    Py_XDECREF(shapes[k]);
  }
  return result;
}

static PyObject* engine_input_range(python_engine_t* self, PyObject* key) {
  uint32_t index = 0;
  double least = 0;
  double most = 0;
  if (python_engine_index(self, key, false, &index) < 0 ||
      check(self, tenon_engine_get_input_range(self->handle, index, &least, &most)) < 0) {
    return NULL;
  }
  return Py_BuildValue("(dd)", least, most);
}

/* ---- Steps, blocks, properties ---- */

static PyObject* step_sources(python_engine_t* self, uint32_t index) {
  const uint32_t* steps = NULL;
  uint32_t count = 0;
  if (check(self, tenon_engine_get_step_sources(self->handle, index, &steps, &count)) < 0) {
    return NULL;
  }
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (uint32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject* number = PyLong_FromUnsignedLong(steps[i]);
    python_put(&tuple, i, number);
  }
  return tuple;
}

static PyObject* engine_steps(python_engine_t* self, PyObject* unused) {
  (void)unused;
  const uint32_t count = tenon_engine_step_count(self->handle);
  PyObject* list = PyList_New(0);
  for (uint32_t i = 0; list != NULL && i < count; ++i) {
    tenon_step_info_t step = TENON_OPTIONS(tenon_step_info_t);
    PyObject* sources = check(self, tenon_engine_get_step(self->handle, i, &step)) < 0
                            ? NULL
                            : step_sources(self, i);
    PyObject* record =
        sources == NULL
            ? NULL
            : python_record(self->state, "StepInfo", "(ssssssssssdsIIsN)", step.name, step.kind,
                            step.kernel, step.plugin, step.tactic, step.nodes, step.expression,
                            step.inputs, step.outputs, step.layout, step.measured_seconds,
                            step.refusals, step.depth, step.stream, step.device, sources);
    python_append(&list, record);
  }
  return list;
}

static PyObject* engine_blocks(python_engine_t* self, PyObject* unused) {
  (void)unused;
  const uint32_t count = tenon_engine_block_count(self->handle);
  PyObject* list = PyList_New(0);
  for (uint32_t i = 0; list != NULL && i < count; ++i) {
    tenon_block_info_t block = TENON_OPTIONS(tenon_block_info_t);
    PyObject* record = check(self, tenon_engine_get_block(self->handle, i, &block)) < 0
                           ? NULL
                           : python_record(self->state, "BlockInfo", "(sKKII)", block.name,
                                           (unsigned long long)block.offset_bytes,
                                           (unsigned long long)block.size_bytes, block.first_step,
                                           block.last_step);
    python_append(&list, record);
  }
  return list;
}

static PyObject* engine_info(python_engine_t* self, PyObject* unused) {
  (void)unused;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  if (check(self, tenon_engine_get_info(self->handle, &info)) < 0) {
    return NULL;
  }
  return python_record(
      self->state, "EngineInfo", "(ssssKKKKKKKKINN)", info.device, info.fingerprint, info.plugins,
      info.patches, (unsigned long long)info.plan_bytes, (unsigned long long)info.weights_bytes,
      (unsigned long long)info.original_bytes, (unsigned long long)info.uploaded_bytes,
      (unsigned long long)info.arena_bytes, (unsigned long long)info.scratch_bytes,
      (unsigned long long)info.peak_alive_bytes, (unsigned long long)info.state_bytes,
      info.thread_count, PyBool_FromLong((long)info.tuned_only),
      PyBool_FromLong((long)info.rebuilt));
}

static PyObject* engine_scratch_bytes(python_engine_t* self, PyObject* arguments) {
  uint32_t threads = 0;
  if (!PyArg_ParseTuple(arguments, "|O&:scratch_bytes", python_u32, &threads)) {
    return NULL;
  }
  return PyLong_FromUnsignedLongLong(tenon_engine_scratch_bytes(self->handle, threads));
}

static PyObject* engine_text(python_engine_t* self, PyObject* unused) {
  (void)unused;
  python_text_t text = {0};
  tenon_engine_print_network(self->handle, python_text_write, &text);
  return python_text_take(&text);
}

static PyObject* engine_verify(python_engine_t* self, PyObject* unused) {
  (void)unused;
  tenon_status_t status = TENON_OK;
  if (python_engine_check(self) < 0) {
    return NULL;
  }
  ++self->use_count;
  PYTHON_WITHOUT_LOCK(status = tenon_engine_verify(self->handle));
  --self->use_count;
  return check(self, status) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject* engine_read_device(python_engine_t* self, PyObject* unused) {
  (void)unused;
  tenon_device_reading_t reading = TENON_OPTIONS(tenon_device_reading_t);
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_engine_read_device(self->handle, &reading));
  if (check(self, status) < 0) {
    return NULL;
  }
  return python_record(
      self->state, "DeviceReading", "(ddKKKK)", reading.clock_hertz, reading.memory_clock_hertz,
      (unsigned long long)reading.used_bytes, (unsigned long long)reading.peak_bytes,
      (unsigned long long)reading.free_bytes, (unsigned long long)reading.total_bytes);
}

/* ---- Refit ---- */

/* Fails if another call uses weights; else keeps such calls out until the caller clears
 * is_refitted. */
static int begin_refit(python_engine_t* self) {
  if (python_engine_check(self) < 0) {
    return -1;
  }
  if (self->use_count > 0) {
    (void)python_fail(self->state, TENON_ERROR_INVALID_STATE,
                      "a context of the engine is running, or another call reads its weights: wait "
                      "until it has ended before you replace weights");
    return -1;
  }
  self->is_refitted = true;
  return 0;
}

static PyObject* engine_weights(python_engine_t* self, PyObject* unused) {
  (void)unused;
  const uint32_t count = tenon_engine_weights_count(self->handle);
  PyObject* list = PyList_New(0);
  for (uint32_t i = 0; list != NULL && i < count; ++i) {
    PyObject* name = python_text(tenon_engine_get_weights_name(self->handle, i));
    python_append(&list, name);
  }
  return list;
}

/* The bytes of an array, dense; its own if it is so, else a copy in *out_copy (PyMem_Free). */
static const void* dense_bytes(const python_array_t* array, void** out_copy, size_t* out_size) {
  const size_t bits = tenon_dtype_bits(array->view.dtype);
  const size_t count = python_element_count(&array->view);
  *out_copy = NULL;
  if (bits < 8) {
    *out_size = (count * bits + 7) / 8;
    return array->view.data; /* packed when it was acquired */
  }
  *out_size = count * (bits / 8);
  *out_copy = PyMem_Malloc(*out_size + 1);
  if (*out_copy == NULL) {
    (void)PyErr_NoMemory();
    return NULL;
  }
  python_copy_out(&array->view, *out_copy);
  return *out_copy;
}

static PyObject* engine_set_weights(python_engine_t* self, PyObject* arguments) {
  const char* name = NULL;
  PyObject* object = NULL;
  if (!PyArg_ParseTuple(arguments, "sO:set_weights", &name, &object)) {
    return NULL;
  }
  python_array_t* array = python_array_on_host(self->state, object, TENON_DTYPE_UNDEFINED);
  if (array == NULL) {
    return NULL;
  }
  void* copy = NULL;
  size_t size = 0;
  const void* data = dense_bytes(array, &copy, &size);
  int result = -1;
  if (data != NULL && begin_refit(self) == 0) {
    tenon_status_t status = TENON_OK;
    PYTHON_WITHOUT_LOCK(status = tenon_engine_set_weights(self->handle, name, data, size));
    self->is_refitted = false;
    result = check(self, status);
  }
  PyMem_Free(copy);
  python_array_release(array);
  return result < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject* engine_commit_weights(python_engine_t* self, PyObject* unused) {
  (void)unused;
  tenon_status_t status = TENON_OK;
  if (begin_refit(self) < 0) {
    return NULL;
  }
  PYTHON_WITHOUT_LOCK(status = tenon_engine_commit_weights(self->handle));
  self->is_refitted = false;
  return check(self, status) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject* engine_registry(python_engine_t* self, void* unused) {
  (void)unused;
  return Py_NewRef((PyObject*)self->registry);
}

static PyMethodDef methods[] = {
    PYTHON_ONE("profile", engine_profile, ", input",
               "Returns the shapes of an input: (min, optimum, max)."),
    PYTHON_ONE("input_range", engine_input_range, ", input",
               "Returns the values of an input that the network accepts: (min, max)."),
    PYTHON_PLAIN("steps", engine_steps, "Returns the steps of the plan, as StepInfo."),
    PYTHON_PLAIN("blocks", engine_blocks,
                 "Returns the blocks of the memory of activations, as BlockInfo."),
    PYTHON_PLAIN("info", engine_info, "Returns properties of the plan, as EngineInfo."),
    PYTHON_MANY(
        "scratch_bytes", engine_scratch_bytes, ", threads=0",
        "Returns the bytes of scratch memory of a context with so many threads; 0: as tuned."),
    PYTHON_PLAIN("text", engine_text, "Returns the network that the plan computes, as text."),
    PYTHON_PLAIN("verify", engine_verify, "Checks the digests of weights and plugins."),
    PYTHON_PLAIN("read_device", engine_read_device,
                 "Returns clocks and memory of the device, as DeviceReading."),
    PYTHON_PLAIN("weights", engine_weights,
                 "Returns the names of the weights that can be replaced."),
    PYTHON_MANY("set_weights", engine_set_weights, ", name, array",
                "Replaces weights; commit_weights makes them count."),
    PYTHON_PLAIN("commit_weights", engine_commit_weights, "Makes the new weights count."),
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {
    PYTHON_GETTER("inputs", engine_inputs, "The inputs, a tuple of IOInfo."),
    PYTHON_GETTER("outputs", engine_outputs, "The outputs, a tuple of IOInfo."),
    PYTHON_GETTER("registry", engine_registry, "The registry that loaded the plan."),
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "A loaded plan, shared by threads."},
                              {Py_tp_new, engine_new},
                              {Py_tp_dealloc, engine_dealloc},
                              {Py_tp_traverse, engine_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {0, NULL}};

PYTHON_SPEC(engine, "Engine", PYTHON_CLASS, slots);
