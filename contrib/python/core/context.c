/* Context: one execution of an engine. */
#include "context.h"

#include <stdlib.h>

int python_context_status(python_context_t* self, tenon_status_t status) {
  if (python_raise_pending(&self->pending) < 0) {
    return -1;
  }
  return python_check(self->state, self->engine->registry, status);
}

int python_context_check(const python_context_t* self) {
  return python_check_idle(self->state, self->is_busy, "context",
                           "give each thread a context of its own");
}

/* ---- Making ---- */

static int read_infos(python_context_t* self) {
  tenon_engine_t* engine = self->engine->handle;
  self->input_count = tenon_engine_input_count(engine);
  self->output_count = tenon_engine_output_count(engine);
  const size_t count = (size_t)self->input_count + self->output_count;
  self->infos = python_calloc(count, sizeof(*self->infos));
  self->inputs = python_calloc(self->input_count, sizeof(void*));
  self->outputs = python_calloc(self->output_count, sizeof(void*));
  self->is_given = python_calloc(self->input_count, sizeof(bool));
  if (self->infos == NULL || self->inputs == NULL || self->outputs == NULL ||
      self->is_given == NULL) {
    self->input_count = 0;
    self->output_count = 0;
    return -1;
  }
  for (uint32_t i = 0; i < self->input_count + self->output_count; ++i) {
    const bool is_input = i < self->input_count;
    self->infos[i].size = sizeof(self->infos[i]);
    const tenon_status_t status =
        is_input ? tenon_engine_get_input(engine, i, &self->infos[i])
                 : tenon_engine_get_output(engine, i - self->input_count, &self->infos[i]);
    if (python_context_status(self, status) < 0) {
      return -1;
    }
  }
  return 0;
}

static PyObject* context_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"engine", "threads", "stream", NULL};
  PyObject* engine = NULL;
  PyObject* stream = Py_None;
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  python_state_t* state = python_state_of(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|$O&O:Context", names,
                                   state->engine_type, &engine, python_u32, &options.thread_count,
                                   &stream) ||
      python_engine_check((python_engine_t*)engine) < 0) {
    return NULL;
  }
  if (stream != Py_None) {
    options.stream = PyLong_AsVoidPtr(stream);
    if (PyErr_Occurred() != NULL) {
      return NULL;
    }
  }
  python_context_t* self = python_allocate(type);
  if (self == NULL) {
    return NULL;
  }
  self->engine = (python_engine_t*)Py_NewRef(engine);
  tenon_status_t status = TENON_OK;
  ++self->engine->use_count;
  PYTHON_WITHOUT_LOCK(status = tenon_context_create(self->engine->handle, &options, &self->handle));
  --self->engine->use_count;
  if (python_context_status(self, status) < 0 || read_infos(self) < 0) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  const void* native = tenon_context_get_stream(self->handle, "cuda.stream/1");
  self->stream = native != NULL ? (int64_t)(intptr_t)native : -1;
  return (PyObject*)self;
}

/* Ends the use of the weights by a run that was enqueued. */
static void end_enqueued(python_context_t* self) {
  if (self->is_enqueued) {
    self->is_enqueued = false;
    --self->engine->use_count;
  }
}

static int visit_arrays(python_array_t** arrays, uint32_t count, visitproc visit, void* arg) {
  for (uint32_t i = 0; i < count; ++i) {
    const int result = arrays[i] == NULL ? 0 : visit(arrays[i]->object, arg);
    if (result != 0) {
      return result;
    }
  }
  return 0;
}

static int context_traverse(python_context_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->engine);
  Py_VISIT(self->profiler);
  Py_VISIT(self->pending);
  const int result = visit_arrays(self->inputs, self->input_count, visit, arg);
  return result != 0 ? result : visit_arrays(self->outputs, self->output_count, visit, arg);
}

static int context_clear(python_context_t* self) {
  Py_CLEAR(self->profiler);
  Py_CLEAR(self->pending);
  return 0;
}

static void context_dealloc(python_context_t* self) {
  PyObject_GC_UnTrack(self);
  PYTHON_WITHOUT_LOCK(tenon_context_destroy(self->handle));
  end_enqueued(self);
  python_context_forget(self);
  for (uint32_t i = 0; i < self->output_count; ++i) {
    python_array_release(self->outputs[i]);
  }
  PyMem_Free(self->infos);
  PyMem_Free(self->inputs);
  PyMem_Free(self->outputs);
  PyMem_Free(self->is_given);
  (void)context_clear(self);
  Py_XDECREF((PyObject*)self->engine);
  python_free(self);
}

/* ---- Running ---- */

typedef tenon_status_t (*work_t)(tenon_context_t* context);

/* A call without the GIL that reads weights. */
static tenon_status_t work(python_context_t* self, work_t function) {
  tenon_status_t status = TENON_OK;
  ++self->engine->use_count;
  PYTHON_WITHOUT_LOCK(status = function(self->handle));
  --self->engine->use_count;
  return status;
}

int python_context_wait(python_context_t* self) {
  if (!self->is_enqueued) {
    return 0;
  }
  const tenon_status_t status = work(self, tenon_context_synchronize);
  end_enqueued(self);
  return python_context_status(self, status);
}

int python_context_check_views(const python_context_t* self) {
  if (self->export_count > 0) {
    PyErr_Format(PyExc_BufferError,
                 "%u arrays look at outputs of the last run: release them, or take copies",
                 self->export_count);
    return -1;
  }
  return 0;
}

/* Before a run: fails if an input is missing, or if an array looks at an output of the last run. */
static int prepare(python_context_t* self) {
  if (python_context_check_views(self) < 0 || python_engine_check(self->engine) < 0) {
    return -1;
  }
  for (uint32_t i = 0; i < self->input_count; ++i) {
    if (!self->is_given[i]) {
      (void)python_fail(self->state, TENON_ERROR_INVALID_STATE, "input '%s' is not given",
                        self->infos[i].name);
      return -1;
    }
  }
  ++self->run_count;
  return 0;
}

int python_context_run_once(python_context_t* self) {
  return prepare(self) < 0 ? -1 : python_context_status(self, work(self, tenon_context_run));
}

PyObject* python_context_run(python_context_t* self, PyObject* unused) {
  (void)unused;
  if (python_context_wait(self) < 0 || python_context_run_once(self) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

PyObject* python_context_enqueue(python_context_t* self, PyObject* unused) {
  (void)unused;
  if (prepare(self) < 0) {
    return NULL;
  }
  const tenon_status_t status = work(self, tenon_context_enqueue);
  if (status == TENON_OK && !self->is_enqueued) {
    self->is_enqueued = true;
    ++self->engine->use_count;
  }
  return python_context_status(self, status) < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject* python_context_synchronize(python_context_t* self, PyObject* unused) {
  (void)unused;
  const tenon_status_t status = work(self, tenon_context_synchronize);
  end_enqueued(self);
  return python_context_status(self, status) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject* context_cancel(python_context_t* self, PyObject* unused) {
  (void)unused;
  tenon_context_cancel(self->handle);
  return Py_NewRef(Py_None);
}

/* ---- Profiler and times ---- */

/* The function's exception ends the run and is raised by it. */
static void profile(void* user, uint32_t step, double seconds) {
  python_context_t* self = user;
  const PyGILState_STATE gil = PyGILState_Ensure();
  if (self->pending == NULL && self->profiler != NULL) {
    PyObject* profiler = Py_NewRef(self->profiler);
    PyObject* result = PyObject_CallFunction(profiler, "Id", step, seconds);
    if (result == NULL) {
      python_keep_exception(&self->pending);
      tenon_context_cancel(self->handle);
    }
    Py_XDECREF(result);
    Py_DECREF(profiler);
  }
  PyGILState_Release(gil);
}

PyObject* python_context_set_profiler(python_context_t* self, PyObject* profiler) {
  if (profiler != Py_None && !PyCallable_Check(profiler)) {
    PyErr_SetString(PyExc_TypeError, "a profiler is a function of (step, seconds), or None");
    return NULL;
  }
  if (python_context_status(self, tenon_context_set_profiler(
                                      self->handle, profiler != Py_None ? profile : NULL, self)) <
      0) {
    return NULL;
  }
  PyObject* old = self->profiler;
  self->profiler = profiler != Py_None ? Py_NewRef(profiler) : NULL;
  Py_XDECREF(old);
  return Py_NewRef(Py_None);
}

PyObject* python_context_step_work(python_context_t* self, PyObject* arguments) {
  uint32_t step = 0;
  tenon_step_work_t made = TENON_OPTIONS(tenon_step_work_t);
  if (!PyArg_ParseTuple(arguments, "O&:step_work", python_u32, &step) ||
      python_context_status(self, tenon_context_get_step_work(self->handle, step, &made)) < 0) {
    return NULL;
  }
  return python_record(self->state, "StepWork", "(dddI)", made.operations, made.bytes_read,
                       made.bytes_written, made.flags);
}

PyObject* python_context_set_timing(python_context_t* self, PyObject* arguments) {
  uint32_t wanted = 0;
  if (!PyArg_ParseTuple(arguments, "O&:set_timing", python_u32, &wanted) ||
      python_context_wait(self) < 0 ||
      python_context_status(self, tenon_context_set_timing(self->handle, wanted)) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

PyObject* python_context_times(python_context_t* self, PyObject* unused) {
  (void)unused;
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  if (python_context_status(self, tenon_context_get_times(self->handle, &times)) < 0) {
    return NULL;
  }
  return python_record(self->state, "RunTimes", "(IIdddII)", times.run_count, times.wait_count,
                       times.seconds, times.transfer_in_seconds, times.transfer_out_seconds,
                       times.inputs_on_host, times.outputs_on_host);
}

static PyObject* context_stream(python_context_t* self, PyObject* arguments) {
  const char* name = "cuda.stream/1";
  if (!PyArg_ParseTuple(arguments, "|s:stream", &name)) {
    return NULL;
  }
  void* native = tenon_context_get_stream(self->handle, name);
  return native == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(native);
}

/* ---- States ---- */

static PyObject* copy_state(python_context_t* self, PyObject* arguments, bool is_write) {
  const char* name = NULL;
  PyObject* object = NULL;
  Py_buffer buffer;
  if (!PyArg_ParseTuple(arguments, is_write ? "sO:write_state_from" : "sO:read_state_into", &name,
                        &object) ||
      python_context_wait(self) < 0 ||
      PyObject_GetBuffer(object, &buffer, is_write ? PyBUF_SIMPLE : PyBUF_WRITABLE) < 0) {
    return NULL;
  }
  const size_t size = (size_t)buffer.len;
  const tenon_status_t status =
      is_write ? tenon_context_write_state(self->handle, name, buffer.buf, size)
               : tenon_context_read_state(self->handle, name, buffer.buf, size);
  PyBuffer_Release(&buffer);
  return python_context_status(self, status) < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject* python_context_read_state_into(python_context_t* self, PyObject* arguments) {
  return copy_state(self, arguments, false);
}

PyObject* python_context_write_state_from(python_context_t* self, PyObject* arguments) {
  return copy_state(self, arguments, true);
}

PyObject* python_context_reset_states(python_context_t* self, PyObject* unused) {
  (void)unused;
  if (python_context_wait(self) < 0 ||
      python_context_status(self, tenon_context_reset_states(self->handle)) < 0) {
    return NULL;
  }
  return Py_NewRef(Py_None);
}

PyObject* python_context_clone_states(python_context_t* self, PyObject* arguments) {
  PyObject* other = NULL;
  if (!PyArg_ParseTuple(arguments, "O!:clone_states", self->state->context_type, &other)) {
    return NULL;
  }
  python_context_t* source = (python_context_t*)other;
  if (source != self && python_context_check(source) < 0) {
    return NULL;
  }
  source->is_busy = true;
  const bool is_cloned =
      python_context_wait(self) == 0 && python_context_wait(source) == 0 &&
      python_context_status(self, tenon_context_clone_states(self->handle, source->handle)) == 0;
  source->is_busy = false;
  return is_cloned ? Py_NewRef(Py_None) : NULL;
}

static PyObject* context_engine(python_context_t* self, void* unused) {
  (void)unused;
  return Py_NewRef((PyObject*)self->engine);
}

/* ---- Methods ---- */

#define GUARDED(name, flags, signature, text) PYTHON_GUARDED(python_context, name)
PYTHON_CONTEXT_METHODS(GUARDED)
PYTHON_GUARDED_KEYWORDS(python_context, set_memory)
PYTHON_GUARDED_KEYWORDS(python_context, output)
PYTHON_GUARDED_KEYWORDS(python_context, call)

#define METHOD(name, flags, signature, text) \
  {#name, (PyCFunction)guarded_##name, flags, PYTHON_DOC(#name, signature, text)},
static PyMethodDef methods[] = {
    PYTHON_CONTEXT_METHODS(METHOD) PYTHON_KEYWORDS(
        "set_memory", guarded_set_memory, "key, memory, dtype, shape, *, is_output=False",
        "Sets an input or an output in memory of the device: a DeviceMemory, or an address."),
    PYTHON_KEYWORDS("output", guarded_output, "key, *, copy=True",
                    "Returns an output: a copy, or a Tensor that borrows it until the next run."),
    PYTHON_PLAIN("cancel", context_cancel, "Ends the run in progress; from any thread."),
    PYTHON_MANY("stream", context_stream, ", name='cuda.stream/1'",
                "Returns the native handle of the stream; None on the host."),
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {PYTHON_GETTER("engine", context_engine, "The engine."),
                                {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "One execution of an engine."},
                              {Py_tp_new, context_new},
                              {Py_tp_dealloc, context_dealloc},
                              {Py_tp_traverse, context_traverse},
                              {Py_tp_clear, context_clear},
                              {Py_tp_call, guarded_call},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {0, NULL}};

PYTHON_SPEC(context, "Context", PYTHON_CLASS, slots);
