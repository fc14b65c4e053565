/* Memory of Python's objects as a tensor: buffers, DLPack, CUDA arrays, strings. */
#ifndef TENON_PYTHON_ARRAY_H_
#define TENON_PYTHON_ARRAY_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "tenon/tenon.h"

struct python_state_t;

/* The view's dims and strides lie in this structure, which therefore does not move. */
typedef struct python_array_t {
  tenon_tensor_view_t view;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  Py_buffer buffer; /* obj is NULL if there is none */
  PyObject* object; /* the caller's, and what keeps its memory if that is no buffer */
  PyObject* keeper;
  void* block;         /* memory made for it: PyMem_Free */
  bool is_lent;        /* `object` is a borrowed Tensor: its context does not run meanwhile */
  int32_t device_type; /* as in DLPack: 1 host, 2 CUDA */
  int32_t device_index;
} python_array_t;

/* Reads `object` as a tensor.
 *
 * expected  Element type for objects without one, such as lists of numbers. UNDEFINED: NumPy's.
 * writable  Memory to write to: an array of the caller's, of a dense or strided layout.
 * stream    DLPack's number of the stream that uses the data next; -1 for none.
 *
 * Returns NULL with an exception: TypeError for an object without a tensor in it. */
python_array_t* python_array_acquire(struct python_state_t* state, PyObject* object,
                                     tenon_dtype_t expected, bool writable, int64_t stream);
/* The same for memory that the host reads. ValueError for memory of a device. */
python_array_t* python_array_on_host(struct python_state_t* state, PyObject* object,
                                     tenon_dtype_t expected);
/* Releases the memory; takes NULL. */
void python_array_release(python_array_t* array);

/* DLPack's capsule as a tensor, in dlpack.c. 0: `object` has none. -1: an exception is set. */
int python_dlpack_acquire(PyObject* object, bool writable, int64_t stream, python_array_t* array);

#endif /* TENON_PYTHON_ARRAY_H_ */
