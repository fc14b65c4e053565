/* Building: options from keywords, progress, cancellation by signals; Plan and TimingCache. */
#include <stddef.h>
#include <string.h>

#include "state.h"

/* ---- Options ---- */

enum { OPTION_U32, OPTION_U64, OPTION_DOUBLE, OPTION_TEXT, OPTION_STRINGS };

typedef struct option_t {
  const char* name;
  size_t offset;
  int kind;
} option_t;

#define OPTION(member, kind) \
  { #member, offsetof(tenon_build_options_t, member), kind }

static const option_t options_known[] = {
    OPTION(thread_count, OPTION_U32),
    OPTION(stream_limit, OPTION_U32),
    OPTION(device, OPTION_TEXT),
    OPTION(workspace_limit_bytes, OPTION_U64),
    OPTION(memory_limit_bytes, OPTION_U64),
    OPTION(time_budget_seconds, OPTION_DOUBLE),
    OPTION(exclude, OPTION_STRINGS),
    OPTION(no_measuring, OPTION_U32),
    OPTION(no_fusion, OPTION_U32),
    OPTION(reference_only, OPTION_U32),
    OPTION(strict, OPTION_U32),
    OPTION(tuned_only, OPTION_U32),
    OPTION(permits, OPTION_U32),
    OPTION(optimizer_limit, OPTION_U32),
    OPTION(keep_refusals, OPTION_U32),
    OPTION(no_rewrites, OPTION_U32),
    OPTION(node_devices, OPTION_STRINGS),
    OPTION(keep, OPTION_STRINGS),
    OPTION(accuracy_bound, OPTION_DOUBLE),
    OPTION(blob_folder, OPTION_TEXT),
};
enum { OPTION_COUNT = sizeof(options_known) / sizeof(options_known[0]) };

/* The options of one build with all memory that they refer to. */
typedef struct build_t {
  tenon_build_options_t options;
  PyObject* owners; /* list: objects that keep texts */
  void* blocks[OPTION_COUNT];
  size_t block_count;
  tenon_profile_t* profiles;
  tenon_profile_range_t* ranges;
  int64_t* extents;
  tenon_sample_t* samples;
  tenon_tensor_view_t* views;
  python_array_t** arrays;
  size_t array_count;
  python_cache_t* cache;
  PyObject* progress; /* callable, or NULL */
  PyObject* pending;  /* exception of progress, or of a signal's handler */
} build_t;

static void build_free(build_t* build) {
  for (size_t i = 0; i < build->block_count; ++i) {
    PyMem_Free(build->blocks[i]);
  }
  for (size_t i = 0; i < build->array_count; ++i) {
    python_array_release(build->arrays[i]);
  }
  PyMem_Free(build->arrays);
  PyMem_Free(build->views);
  PyMem_Free(build->samples);
  PyMem_Free(build->extents);
  PyMem_Free(build->ranges);
  PyMem_Free(build->profiles);
  Py_XDECREF(build->owners);
  Py_XDECREF(build->pending);
}

static int keep(build_t* build, PyObject* owner) {
  const int result = owner == NULL ? 0 : PyList_Append(build->owners, owner);
  Py_XDECREF(owner);
  return result;
}

static int read_option(build_t* build, const option_t* option, PyObject* value) {
  char* member = (char*)&build->options + option->offset;
  PyObject* owner = NULL;
  const char* text = NULL;
  const char* const* strings = NULL;
  if (value == Py_None) {
    return 0;
  }
  if (option->kind == OPTION_U32) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() == NULL && number > UINT32_MAX) {
      PyErr_Format(PyExc_OverflowError, "%s is too large", option->name);
    }
    *(uint32_t*)(void*)member = (uint32_t)number;
  } else if (option->kind == OPTION_U64) {
    *(uint64_t*)(void*)member = PyLong_AsUnsignedLongLong(value);
  } else if (option->kind == OPTION_DOUBLE) {
    *(double*)(void*)member = PyFloat_AsDouble(value);
  } else if (option->kind == OPTION_TEXT) {
    if (python_path(value, &text, &owner) < 0 || keep(build, owner) < 0) {
      return -1;
    }
    *(const char**)(void*)member = text;
  } else {
    if (python_strings(value, option->name, &strings, &owner) < 0) {
      return -1;
    }
    build->blocks[build->block_count++] = (void*)strings;
    *(const char* const**)(void*)member = strings;
    return keep(build, owner);
  }
  return PyErr_Occurred() != NULL ? -1 : 0;
}

/* One profile, a dict from names to (min, optimum, max). At most one is possible now, but all are
 * passed on, so the library says so. */
static int read_profile(build_t* build, PyObject* profile, size_t* inout_range) {
  Py_ssize_t place = 0;
  PyObject* name = NULL;
  PyObject* triple = NULL;
  while (PyDict_Next(profile, &place, &name, &triple) != 0) {
    tenon_profile_range_t* range = &build->ranges[*inout_range];
    int64_t* dims = build->extents + *inout_range * 3 * TENON_RANK_LIMIT;
    uint32_t ranks[3] = {0};
    range->input = PyUnicode_AsUTF8AndSize(name, NULL);
    for (int k = 0; k < 3; ++k) {
      PyObject* shape = range->input == NULL ? NULL : PySequence_GetItem(triple, k);
      const int result =
          shape == NULL ? -1
                        : python_extents(shape, dims + (size_t)k * TENON_RANK_LIMIT, &ranks[k]);
      Py_XDECREF(shape);
      if (result < 0) {
        return -1;
      }
    }
    if (ranks[0] != ranks[1] || ranks[0] != ranks[2]) {
      PyErr_Format(PyExc_ValueError, "profile of %R: its three shapes differ in rank", name);
      return -1;
    }
    range->rank = ranks[0];
    range->min = dims;
    range->optimum = dims + TENON_RANK_LIMIT;
    range->max = dims + (size_t)2 * TENON_RANK_LIMIT;
    ++*inout_range;
  }
  return 0;
}

static int read_profiles(build_t* build, PyObject* list) {
  size_t range_count = 0;
  const Py_ssize_t count = PyList_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Py_ssize_t size = PyDict_Size(PyList_GetItem(list, i));
    if (size < 0) {
      return -1;
    }
    range_count += (size_t)size;
  }
  if (count < 0) {
    return -1;
  }
  build->profiles = python_calloc((size_t)count, sizeof(*build->profiles));
  build->ranges = python_calloc(range_count, sizeof(*build->ranges));
  build->extents = python_calloc(range_count * 3 * TENON_RANK_LIMIT, sizeof(int64_t));
  if (build->profiles == NULL || build->ranges == NULL || build->extents == NULL) {
    return -1;
  }
  size_t range = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const size_t first = range;
    if (read_profile(build, PyList_GetItem(list, i), &range) < 0) {
      return -1;
    }
    build->profiles[i].ranges = (tenon_list_t){build->ranges + first, (uint32_t)(range - first),
                                               (uint32_t)sizeof(*build->ranges)};
  }
  build->options.profiles =
      (tenon_list_t){build->profiles, (uint32_t)count, (uint32_t)sizeof(*build->profiles)};
  return 0;
}

/* Samples: a list of lists of arrays, one for each input. */
static int read_samples(python_state_t* state, build_t* build, PyObject* list) {
  size_t array_count = 0;
  const Py_ssize_t count = PyList_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Py_ssize_t size = PyList_Size(PyList_GetItem(list, i));
    if (size < 0) {
      return -1;
    }
    array_count += (size_t)size;
  }
  if (count < 0) {
    return -1;
  }
  build->samples = python_calloc((size_t)count, sizeof(*build->samples));
  build->views = python_calloc(array_count, sizeof(*build->views));
  build->arrays = python_calloc(array_count, sizeof(void*));
  if (build->samples == NULL || build->views == NULL || build->arrays == NULL) {
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* sample = PyList_GetItem(list, i);
    build->samples[i].inputs = build->views + build->array_count;
    build->samples[i].input_count = (uint32_t)PyList_Size(sample);
    for (Py_ssize_t k = 0; k < PyList_Size(sample); ++k) {
      python_array_t* array =
          python_array_on_host(state, PyList_GetItem(sample, k), TENON_DTYPE_UNDEFINED);
      if (array == NULL) {
        return -1;
      }
      build->views[build->array_count] = array->view;
      build->arrays[build->array_count++] = array;
    }
  }
  build->options.samples =
      (tenon_list_t){build->samples, (uint32_t)count, (uint32_t)sizeof(*build->samples)};
  return 0;
}

PyObject* python_option_names(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  PyObject* names = PyTuple_New(OPTION_COUNT);
  for (size_t i = 0; names != NULL && i < OPTION_COUNT; ++i) {
    PyObject* name = python_text(options_known[i].name);
    python_put(&names, i, name);
  }
  return names;
}

static int read_known(build_t* build, const char* name, PyObject* value) {
  for (size_t i = 0; i < OPTION_COUNT; ++i) {
    if (strcmp(name, options_known[i].name) == 0) {
      return read_option(build, &options_known[i], value);
    }
  }
  PyErr_Format(PyExc_TypeError, "'%s' is no option of a build", name);
  return -1;
}

static int read_options(python_state_t* state, build_t* build, PyObject* options) {
  Py_ssize_t place = 0;
  PyObject* key = NULL;
  PyObject* value = NULL;
  build->owners = PyList_New(0);
  while (build->owners != NULL && PyDict_Next(options, &place, &key, &value) != 0) {
    const char* name = PyUnicode_AsUTF8AndSize(key, NULL);
    int result = 0;
    if (name == NULL) {
      return -1;
    }
    if (value == Py_None) {
      result = 0;
    } else if (strcmp(name, "profiles") == 0) {
      result = read_profiles(build, value);
    } else if (strcmp(name, "samples") == 0) {
      result = read_samples(state, build, value);
    } else if (strcmp(name, "progress") == 0) {
      build->progress = value;
    } else if (strcmp(name, "timing_cache") != 0) {
      result = read_known(build, name, value);
    } else if (PyObject_TypeCheck(value, state->cache_type)) {
      build->cache = (python_cache_t*)value;
      build->options.timing_cache = build->cache->handle;
    } else {
      PyErr_SetString(PyExc_TypeError, "timing_cache: a TimingCache is needed");
      result = -1;
    }
    if (result < 0) {
      return -1;
    }
  }
  return build->owners == NULL ? -1 : 0;
}

/* ---- Building ---- */

/* Cancels the build if the program's function wants it, if that raises, or if a signal's handler
 * does (KeyboardInterrupt). */
static int32_t progress(void* user, const char* phase, uint32_t done, uint32_t total) {
  build_t* build = user;
  const PyGILState_STATE gil = PyGILState_Ensure();
  int cancel = build->pending != NULL;
  if (cancel == 0 && PyErr_CheckSignals() < 0) {
    python_keep_exception(&build->pending);
    cancel = 1;
  }
  if (cancel == 0 && build->progress != NULL) {
    PyObject* result = PyObject_CallFunction(build->progress, "sII", phase, done, total);
    cancel = result == NULL ? -1 : PyObject_IsTrue(result);
    Py_XDECREF(result);
    if (cancel < 0) {
      python_keep_exception(&build->pending);
    }
  }
  PyGILState_Release(gil);
  return cancel != 0 ? 1 : 0;
}

PyObject* python_build(PyTypeObject* type, python_network_t* network, PyObject* options) {
  build_t build = {.options = TENON_OPTIONS(tenon_build_options_t)};
  python_plan_t* plan = NULL;
  if (python_network_check(network) < 0) {
    return NULL;
  }
  network->is_busy = true;
  if (read_options(network->state, &build, options) == 0) {
    plan = python_allocate(type);
  }
  if (plan == NULL) {
    network->is_busy = false;
    build_free(&build);
    return NULL;
  }
  build.options.progress = progress;
  build.options.progress_user = &build;
  plan->registry = (python_registry_t*)Py_NewRef((PyObject*)network->registry);
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_build(network->handle, &build.options, &plan->handle));
  network->is_busy = false;
  if (python_raise_pending(&build.pending) < 0 ||
      python_check(network->state, network->registry, status) < 0) {
    Py_CLEAR(plan);
  }
  build_free(&build);
  return (PyObject*)plan;
}

static PyObject* plan_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"network", "options", NULL};
  PyObject* network = NULL;
  PyObject* options = NULL;
  python_state_t* state = python_state_of(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!:Plan", names, state->network_type,
                                   &network, &PyDict_Type, &options)) {
    return NULL;
  }
  return python_build(type, (python_network_t*)network, options);
}

/* ---- Plan ---- */

static int plan_traverse(python_plan_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->registry);
  return 0;
}

static void plan_dealloc(python_plan_t* self) {
  PyObject_GC_UnTrack(self);
  tenon_plan_destroy(self->handle);
  Py_XDECREF((PyObject*)self->registry);
  python_free(self);
}

static int plan_get_buffer(python_plan_t* self, Py_buffer* buffer, int flags) {
  const void* data = NULL;
  size_t size = 0;
  buffer->obj = NULL;
  if (python_check(self->state, self->registry, tenon_plan_get_data(self->handle, &data, &size)) <
      0) {
    return -1;
  }
  return PyBuffer_FillInfo(buffer, (PyObject*)self, (void*)data, (Py_ssize_t)size, 1, flags);
}

static Py_ssize_t plan_length(python_plan_t* self) {
  const void* data = NULL;
  size_t size = 0;
  if (python_check(self->state, self->registry, tenon_plan_get_data(self->handle, &data, &size)) <
      0) {
    return -1;
  }
  return (Py_ssize_t)size;
}

static PyObject* plan_save(python_plan_t* self, PyObject* object) {
  const char* path = NULL;
  PyObject* owner = NULL;
  tenon_status_t status = TENON_OK;
  if (python_path(object, &path, &owner) < 0) {
    return NULL;
  }
  PYTHON_WITHOUT_LOCK(status = tenon_plan_save(self->handle, path));
  Py_XDECREF(owner);
  return python_check(self->state, self->registry, status) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef plan_methods[] = {
    PYTHON_ONE("save", plan_save, ", path", "Writes the plan to a file."), {NULL, NULL, 0, NULL}};

static PyType_Slot plan_slots[] = {{Py_tp_doc, "A built network as bytes."},
                                   {Py_tp_new, plan_new},
                                   {Py_tp_dealloc, plan_dealloc},
                                   {Py_tp_traverse, plan_traverse},
                                   {Py_tp_methods, plan_methods},
                                   {Py_bf_getbuffer, plan_get_buffer},
                                   {Py_sq_length, plan_length},
                                   {0, NULL}};

PYTHON_SPEC(plan, "Plan", PYTHON_CLASS, plan_slots);

/* ---- TimingCache ---- */

static PyObject* cache_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"registry", "path", NULL};
  PyObject* registry = NULL;
  PyObject* object = NULL;
  const char* path = NULL;
  PyObject* owner = NULL;
  python_state_t* state = python_state_of(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|O:TimingCache", names,
                                   state->registry_type, &registry, &object) ||
      python_path(object, &path, &owner) < 0) {
    return NULL;
  }
  python_cache_t* self = python_allocate(type);
  if (self != NULL) {
    self->registry = (python_registry_t*)Py_NewRef(registry);
    tenon_status_t status = TENON_OK;
    PYTHON_WITHOUT_LOCK(status =
                            tenon_timing_cache_create(self->registry->handle, path, &self->handle));
    if (python_check(state, self->registry, status) < 0) {
      Py_DECREF(self);
      self = NULL;
    }
  }
  Py_XDECREF(owner);
  return (PyObject*)self;
}

static int cache_traverse(python_cache_t* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->registry);
  return 0;
}

static void cache_dealloc(python_cache_t* self) {
  PyObject_GC_UnTrack(self);
  tenon_timing_cache_destroy(self->handle);
  Py_XDECREF((PyObject*)self->registry);
  python_free(self);
}

static PyObject* cache_save(python_cache_t* self, PyObject* object) {
  const char* path = NULL;
  PyObject* owner = NULL;
  if (python_path(object, &path, &owner) < 0) {
    return NULL;
  }
  tenon_status_t status = TENON_OK;
  PYTHON_WITHOUT_LOCK(status = tenon_timing_cache_save(self->handle, path));
  Py_XDECREF(owner);
  return python_check(self->state, self->registry, status) < 0 ? NULL : Py_NewRef(Py_None);
}

static Py_ssize_t cache_length(python_cache_t* self) {
  return (Py_ssize_t)tenon_timing_cache_entry_count(self->handle);
}

static PyMethodDef cache_methods[] = {
    PYTHON_ONE("save", cache_save, ", path",
               "Writes the times to a file, with those that it has already."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot cache_slots[] = {{Py_tp_doc, "Measured times of kernels on this machine."},
                                    {Py_tp_new, cache_new},
                                    {Py_tp_dealloc, cache_dealloc},
                                    {Py_tp_traverse, cache_traverse},
                                    {Py_tp_methods, cache_methods},
                                    {Py_sq_length, cache_length},
                                    {0, NULL}};

PYTHON_SPEC(cache, "TimingCache", PYTHON_CLASS, cache_slots);
