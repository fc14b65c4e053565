/* Objects of the extension module tenon_engine._core, and the functions that its sources share.
 *
 * The module uses the limited API of Python 3.11. Each object keeps a reference to the object that
 * its handle depends on, so objects may be released in any order. Calls that take time or may be
 * logged by another thread release the interpreter's lock (GIL). */
#ifndef TENON_PYTHON_STATE_H_
#define TENON_PYTHON_STATE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "array.h"
#include "tenon/tenon.h"

enum { PYTHON_STATUS_COUNT = TENON_ERROR_INTERNAL + 1 };

/* The types of the module. python_NAME_spec is the specification of each. */
#define PYTHON_TYPES(X) \
  X(registry)           \
  X(network)            \
  X(value)              \
  X(cache)              \
  X(plan)               \
  X(engine)             \
  X(memory)             \
  X(context)            \
  X(tensor)             \
  X(outputs)

/* Data of one instance of the module. The types keep the module, so objects outlive no state. */
typedef struct python_state_t {
#define PYTHON_MEMBER(name) PyTypeObject* name##_type;
  PYTHON_TYPES(PYTHON_MEMBER)
#undef PYTHON_MEMBER
  PyObject* errors[PYTHON_STATUS_COUNT]; /* a class for each status */
  PyObject* records;                     /* module tenon_engine._records */
  PyObject* numpy;                       /* NULL: not installed */
  PyObject* numpy_empty;
  PyObject* dtypes[TENON_DTYPE_COUNT]; /* NumPy's type for an array of that type, or NULL */
  PyObject* views[TENON_DTYPE_COUNT];  /* the type of ml_dtypes that such an array is viewed as */
} python_state_t;

/* First members of every object that wraps a handle. */
#define PYTHON_OBJECT_HEAD PyObject_HEAD python_state_t* state;

typedef struct python_registry_t {
  PYTHON_OBJECT_HEAD
  tenon_registry_t* handle;
  PyObject* logger;  /* callable(severity, message), or NULL */
  PyObject* pending; /* exception of the logger that no call has raised yet */
} python_registry_t;

typedef struct python_network_t {
  PYTHON_OBJECT_HEAD
  python_registry_t* registry;
  tenon_network_t* handle;
  PyObject* owners; /* list of objects whose memory the network reads */
  bool is_busy;     /* a call uses it, perhaps without the GIL */
} python_network_t;

typedef struct python_value_t {
  PYTHON_OBJECT_HEAD
  python_network_t* network;
  tenon_value_t value;
} python_value_t;

typedef struct python_cache_t {
  PYTHON_OBJECT_HEAD
  python_registry_t* registry;
  tenon_timing_cache_t* handle;
} python_cache_t;

typedef struct python_plan_t {
  PYTHON_OBJECT_HEAD
  python_registry_t* registry;
  tenon_plan_t* handle;
} python_plan_t;

typedef struct python_engine_t {
  PYTHON_OBJECT_HEAD
  python_registry_t* registry;
  tenon_engine_t* handle;
  Py_buffer bytes; /* of a plan in memory; obj is NULL if there is none */
  PyObject* input_names;
  PyObject* output_names;
  uint32_t use_count; /* runs that are under way, and calls without the GIL that read weights */
  bool is_refitted;   /* a call without the GIL replaces weights */
} python_engine_t;

typedef struct python_memory_t {
  PYTHON_OBJECT_HEAD
  python_engine_t* engine;
  void* address;
  size_t size_bytes;
} python_memory_t;

typedef struct python_context_t {
  PYTHON_OBJECT_HEAD
  python_engine_t* engine;
  tenon_context_t* handle;
  uint32_t input_count;
  uint32_t output_count;
  tenon_io_info_t* infos;   /* of inputs, then of outputs; borrowed from the engine */
  python_array_t** inputs;  /* memory that the context reads; NULL: none, or copied */
  python_array_t** outputs; /* memory of the caller for outputs; NULL: the context's */
  bool* is_given;           /* for each input: it is set */
  int64_t stream;           /* DLPack's number of the context's stream; -1 for none */
  PyObject* profiler;
  PyObject* pending;     /* exception of the profiler */
  uint64_t run_count;    /* numbers the runs, for tensors that are borrowed */
  uint32_t export_count; /* arrays that look at memory of the last run */
  bool is_busy;          /* a call uses it, perhaps without the GIL */
  bool is_enqueued;      /* a run was started, and no call has waited for it */
} python_context_t;

/* A tensor: in memory of its own, or borrowed from a context until its next run. */
typedef struct python_tensor_t {
  PYTHON_OBJECT_HEAD
  tenon_tensor_view_t view; /* dims and strides in `extents` */
  int64_t* extents;
  void* block;               /* memory of its own, or NULL */
  PyObject* owner;           /* keeps `view.data`; NULL with a block */
  python_context_t* context; /* whose next run overwrites it, or NULL */
  uint64_t run;              /* the context's run_count when it was taken */
  int32_t device_type;       /* as in DLPack: 1 host, 2 CUDA */
  int32_t device_index;
} python_tensor_t;

/* ---- status.c ---- */

/* Raises the exception of `status` with tenon_last_message, or a pending exception of a callback.
 * Returns 0 if there is neither, else -1. `registry` may be NULL. */
int python_check(python_state_t* state, python_registry_t* registry, tenon_status_t status);
/* Raises the class of `status` with a message, formatted as by PyErr_Format. Returns NULL. */
PyObject* python_fail(python_state_t* state, tenon_status_t status, const char* format, ...);
/* Keeps the current exception in *pending, unless there is one already, and clears it. */
void python_keep_exception(PyObject** pending);
/* Raises *pending and clears it. Returns -1 if there was one, else 0. */
int python_raise_pending(PyObject** pending);
/* A record (named tuple) of the class `name` in tenon_engine._records; arguments as for
 * Py_BuildValue, in parentheses. */
PyObject* python_record(python_state_t* state, const char* name, const char* format, ...);

/* Text that a tenon_write_t collects. */
typedef struct python_text_t {
  char* data;
  size_t size;
  size_t capacity;
  bool is_full; /* out of memory */
} python_text_t;
void python_text_write(void* user, const char* text);
/* The text as str; frees it. */
PyObject* python_text_take(python_text_t* text);

/* Puts `item` into a new tuple, or at the end of a list, and takes over its reference. If it is NULL
 * or cannot be put, *inout_tuple is released and becomes NULL, with an exception. */
void python_put(PyObject** inout_tuple, size_t index, PyObject* item);
void python_append(PyObject** inout_list, PyObject* item);

/* Fails if `is_busy`, with the message that another call is using this `thing`, and the remedy. */
int python_check_idle(python_state_t* state, bool is_busy, const char* thing, const char* remedy);

/* The state of the module that `type` or one of its bases belongs to. */
python_state_t* python_state_of(PyTypeObject* type);
/* A new object of `type`, zero-filled, with its state; NULL with an exception. */
void* python_allocate(PyTypeObject* type);
/* Ends a dealloc: frees the object and releases its reference to its type. */
void python_free(void* object);
/* Zero-filled memory for `count` items and one more, for PyMem_Free; NULL with an exception. */
void* python_calloc(size_t count, size_t size);
/* For "O&" of PyArg_Parse...: a number from 0 to UINT32_MAX. */
int python_u32(PyObject* object, void* out_number);
/* A str, or None for NULL. Strings that are not UTF-8 are kept by surrogate escapes. */
PyObject* python_text(const char* text);
/* A NULL-terminated array of strings from a sequence of str. *out_list is freed by PyMem_Free, and
 * the strings live as long as *out_owner, a new reference. None and NULL give NULL. */
int python_strings(PyObject* sequence, const char* name, const char* const** out_list,
                   PyObject** out_owner);
/* Reads a path: str, bytes or os.PathLike, or None. `*out_owner` is a new reference that keeps it.
 */
int python_path(PyObject* object, const char** out_path, PyObject** out_owner);
/* Reads a sequence of extents, at most TENON_RANK_LIMIT. None and str become -1. */
int python_extents(PyObject* sequence, int64_t* out_dims, uint32_t* out_rank);
/* A tuple of extents. `dims` NULL: None. */
PyObject* python_dims(const int64_t* dims, uint32_t rank);

/* ---- dtype.c ---- */

/* A dtype by its mnemonic ("f32"), by NumPy's name, or as an object with such a name. */
int python_dtype_from(PyObject* object, tenon_dtype_t* out_dtype);
/* UNDEFINED for unknown names. */
tenon_dtype_t python_dtype_of_name(const char* name);
/* The dtype of a buffer's format, with the size of an element; UNDEFINED for others. */
tenon_dtype_t python_dtype_of_format(const char* format, Py_ssize_t item_size);
/* The buffer's format of a dtype, NULL if there is none. */
const char* python_dtype_format(tenon_dtype_t dtype);
/* NumPy's name of the type of an array that holds it: ml_dtypes' if `native`, else its bits'. */
const char* python_dtype_numpy(tenon_dtype_t dtype, bool native);
/* Bytes of one element in an array of Python's: 1 for elements of less than 8 bits. */
size_t python_dtype_bytes(tenon_dtype_t dtype);

/* ---- copy.c ---- */

/* Copies elements to row-major memory; elements of less than 8 bits to bytes of their own. */
void python_copy_out(const tenon_tensor_view_t* view, void* target);
/* Packs `count` elements of less than 8 bits, one in each byte of `source`. */
void python_pack(const uint8_t* source, size_t count, uint32_t bits, uint8_t* target);
/* Elements of a view. Its extents were checked by Tenon. */
size_t python_element_count(const tenon_tensor_view_t* view);

/* ---- tensor.c ---- */

/* A tensor with a copy of the view's elements. */
PyObject* python_tensor_copy(python_state_t* state, const tenon_tensor_view_t* view);
/* A tensor that borrows the view from `context` until its next run. */
PyObject* python_tensor_borrow(python_context_t* context, const tenon_tensor_view_t* view,
                               int32_t device_type, int32_t device_index);
/* A NumPy array with a copy of the elements; a tensor without NumPy or a type for them. */
PyObject* python_array_copy(python_state_t* state, const tenon_tensor_view_t* view);
/* The same for any argument: sequences are lists, empty optionals are None. */
PyObject* python_argument_copy(python_state_t* state, const tenon_argument_t* argument);
/* A list of str or bytes, flat, from elements of strings. */
PyObject* python_strings_of(const tenon_tensor_view_t* view);
/* DLPack's functions of tensors, in dlpack.c. */
PyObject* python_tensor_dlpack(PyObject* self, PyObject* arguments, PyObject* keywords);
/* Fails if the tensor is borrowed and its context has run since. */
int python_tensor_check(python_tensor_t* tensor);

/* ---- outputs.c ---- */

/* The mapping of a run's results; steals `values`, a tuple. */
PyObject* python_outputs_make(python_state_t* state, PyObject* names, PyObject* values);

/* ---- engine.c ---- */

/* An input or output as a record. */
PyObject* python_io_record(python_state_t* state, const tenon_io_info_t* info);
/* Fails while another call replaces weights. */
int python_engine_check(const python_engine_t* engine);
/* The index of an input or output by name or number. */
int python_engine_index(python_engine_t* engine, PyObject* key, bool is_output,
                        uint32_t* out_index);

/* ---- network.c ---- */

/* Fails if another call is using the network. */
int python_network_check(const python_network_t* self);

/* ---- build.c ---- */

/* option_names() of the module: names of options that python_build reads as they are. */
PyObject* python_option_names(PyObject* module, PyObject* unused);
/* A plan from a network and the options as a dict. */
PyObject* python_build(PyTypeObject* type, python_network_t* network, PyObject* options);

/* ---- specifications of types ---- */

#define PYTHON_SPEC_EXTERN(name) extern PyType_Spec python_##name##_spec;
PYTHON_TYPES(PYTHON_SPEC_EXTERN)
#undef PYTHON_SPEC_EXTERN

/* Defines python_NAME_spec with the name in Python and the slots. Programs may derive a CLASS, and
 * cannot make a RESULT. */
#define PYTHON_SPEC(name, text, flags, slots)                                                   \
  PyType_Spec python_##name##_spec = {"tenon_engine._core." text, sizeof(python_##name##_t), 0, \
                                      Py_TPFLAGS_DEFAULT | (flags), slots}
#define PYTHON_CLASS (Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC)
#define PYTHON_RESULT Py_TPFLAGS_DISALLOW_INSTANTIATION

/* Executes a call of Tenon without the GIL. Calls that may look at the catalogue, and those that
 * open or close devices, need it: another thread may hold the lock of the catalogue or of a device
 * while it waits for the GIL to log a message. */
#define PYTHON_WITHOUT_LOCK(statement) \
  do {                                 \
    Py_BEGIN_ALLOW_THREADS;            \
    statement;                         \
    Py_END_ALLOW_THREADS;              \
  } while (0)

/* Defines guarded_NAME, which keeps other calls of the object out while it executes PREFIX_NAME.
 * PREFIX_check fails if another call is using the object. */
#define PYTHON_GUARDED(prefix, name)                                       \
  static PyObject* guarded_##name(prefix##_t* self, PyObject* arguments) { \
    if (prefix##_check(self) < 0) {                                        \
      return NULL;                                                         \
    }                                                                      \
    self->is_busy = true;                                                  \
    PyObject* result = prefix##_##name(self, arguments);                   \
    self->is_busy = false;                                                 \
    return result;                                                         \
  }
#define PYTHON_GUARDED_KEYWORDS(prefix, name)                                                  \
  static PyObject* guarded_##name(prefix##_t* self, PyObject* arguments, PyObject* keywords) { \
    if (prefix##_check(self) < 0) {                                                            \
      return NULL;                                                                             \
    }                                                                                          \
    self->is_busy = true;                                                                      \
    PyObject* result = prefix##_##name(self, arguments, keywords);                             \
    self->is_busy = false;                                                                     \
    return result;                                                                             \
  }

/* Documentation of a method, from which Python derives its signature. `arguments` are positional,
 * each after a comma, such as ", key, array". */
#define PYTHON_DOC(name, arguments, text) name "($self" arguments ", /)\n--\n\n" text

/* An entry of a method table: with keyword arguments (a signature in Python's own syntax), with
 * positional arguments, with one of them, and without arguments. */
#define PYTHON_KEYWORDS(name, function, signature, text)                         \
  {                                                                              \
    name, (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS, \
        name "($self, " signature ")\n--\n\n" text                               \
  }
#define PYTHON_MANY(name, function, arguments, text) \
  { name, (PyCFunction)(function), METH_VARARGS, PYTHON_DOC(name, arguments, text) }
#define PYTHON_ONE(name, function, argument, text) \
  { name, (PyCFunction)(function), METH_O, PYTHON_DOC(name, argument, text) }
#define PYTHON_PLAIN(name, function, text) \
  { name, (PyCFunction)(function), METH_NOARGS, PYTHON_DOC(name, "", text) }
#define PYTHON_GETTER(name, function, doc) \
  { name, (getter)(function), NULL, doc, NULL }

#endif /* TENON_PYTHON_STATE_H_ */
