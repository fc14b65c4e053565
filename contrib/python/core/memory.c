/* DeviceMemory: memory of the device that a plan was built for. */
#include "state.h"

static PyObject* memory_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"engine", "size_bytes", NULL};
  PyObject* engine = NULL;
  Py_ssize_t size = 0;
  python_state_t* state = python_state_of(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!n:DeviceMemory", names,
                                   state->engine_type, &engine, &size)) {
    return NULL;
  }
  python_memory_t* self = size < 0 ? NULL : python_allocate(type);
  if (self == NULL) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_ValueError, "size_bytes is negative");
    }
    return NULL;
  }
  self->engine = (python_engine_t*)Py_NewRef(engine);
  self->size_bytes = (size_t)size;
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(
      status = tenon_engine_allocate(self->engine->handle, self->size_bytes, &self->address));
  if (python_check(state, self->engine->registry, status) < 0) {
    self->address = NULL;
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

static int memory_traverse(python_memory_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->engine);
  return 0;
}

static void memory_dealloc(python_memory_t* self) {
  PyObject_GC_UnTrack(self);
  if (self->address != NULL) {
    PYTHON_WITHOUT_LOCK(tenon_engine_free(self->engine->handle, self->address, self->size_bytes));
  }
  Py_XDECREF((PyObject*)self->engine);
  python_free(self);
}

/* Copies within the memory's bounds; `offset` counts bytes of this memory. */
static PyObject* copy(python_memory_t* self, int32_t direction, void* other, size_t size,
                      size_t offset) {
  if (offset > self->size_bytes || size > self->size_bytes - offset) {
    PyErr_Format(PyExc_ValueError, "%zu bytes at offset %zu exceed the memory of %zu bytes", size,
                 offset, self->size_bytes);
    return NULL;
  }
  char* own = (char*)self->address + offset;
  const bool is_write = direction != TENON_COPY_TO_HOST;
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_engine_copy(self->engine->handle, direction,
                                                 is_write ? (void*)own : other,
                                                 is_write ? other : (void*)own, size));
  return python_check(self->state, self->engine->registry, status) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject* memory_write(python_memory_t* self, PyObject* arguments) {
  Py_buffer buffer;
  Py_ssize_t offset = 0;
  if (!PyArg_ParseTuple(arguments, "y*|n:write", &buffer, &offset)) {
    return NULL;
  }
  PyObject* result =
      copy(self, TENON_COPY_TO_DEVICE, buffer.buf, (size_t)buffer.len, (size_t)offset);
  PyBuffer_Release(&buffer);
  return result;
}

static PyObject* memory_read_into(python_memory_t* self, PyObject* arguments) {
  Py_buffer buffer;
  Py_ssize_t offset = 0;
  if (!PyArg_ParseTuple(arguments, "w*|n:read_into", &buffer, &offset)) {
    return NULL;
  }
  PyObject* result = copy(self, TENON_COPY_TO_HOST, buffer.buf, (size_t)buffer.len, (size_t)offset);
  PyBuffer_Release(&buffer);
  return result;
}

static PyObject* memory_copy_from(python_memory_t* self, PyObject* arguments) {
  PyObject* object = NULL;
  Py_ssize_t offset = 0;
  if (!PyArg_ParseTuple(arguments, "O!|n:copy_from", self->state->memory_type, &object, &offset)) {
    return NULL;
  }
  const python_memory_t* source = (python_memory_t*)object;
  if (source->engine != self->engine) {
    PyErr_SetString(PyExc_ValueError, "the memory belongs to another engine");
    return NULL;
  }
  return copy(self, TENON_COPY_WITHIN, source->address, source->size_bytes, (size_t)offset);
}

static PyObject* memory_address(python_memory_t* self, void* unused) {
  (void)unused;
  return PyLong_FromVoidPtr(self->address);
}

static Py_ssize_t memory_length(python_memory_t* self) {
  return (Py_ssize_t)self->size_bytes;
}

static PyMethodDef methods[] = {
    PYTHON_MANY("write", memory_write, ", data, offset=0",
                "Copies bytes to the device; `offset` in bytes."),
    PYTHON_MANY("read_into", memory_read_into, ", buffer, offset=0",
                "Fills a buffer from the device; `offset` in bytes."),
    PYTHON_MANY("copy_from", memory_copy_from, ", memory, offset=0",
                "Copies another memory of the engine to this one, at `offset` bytes."),
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getters[] = {
    PYTHON_GETTER("address", memory_address, "Address on the device, a multiple of 256."),
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "Memory of the device that a plan was built for."},
                              {Py_tp_new, memory_new},
                              {Py_tp_dealloc, memory_dealloc},
                              {Py_tp_traverse, memory_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_sq_length, memory_length},
                              {0, NULL}};

PYTHON_SPEC(memory, "DeviceMemory", PYTHON_CLASS, slots);
