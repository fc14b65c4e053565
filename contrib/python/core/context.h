/* Methods of Context that are written in context_io.c. */
#ifndef TENON_PYTHON_CONTEXT_H_
#define TENON_PYTHON_CONTEXT_H_

#include "state.h"

/* python_check, after the exception of the profiler. */
int python_context_status(python_context_t* self, tenon_status_t status);
/* Fails if another call is using the context. */
int python_context_check(const python_context_t* self);
/* Fails if arrays look at outputs of the last run: their memory must stay. */
int python_context_check_views(const python_context_t* self);
/* Waits for a run that was enqueued. */
int python_context_wait(python_context_t* self);
/* Runs and waits. */
int python_context_run_once(python_context_t* self);
/* Sets one input from any object. */
int python_context_give(python_context_t* self, uint32_t index, PyObject* object);
/* Forgets all inputs: their memory belongs to the caller again. */
void python_context_forget(python_context_t* self);
/* The result of the last run, owned by the caller. */
PyObject* python_context_result(python_context_t* self, uint32_t index);

/* The methods without keywords that no two calls may execute at once: name, flags, text.
 * python_context_NAME is the function. */
#define PYTHON_CONTEXT_METHODS(X)                                      \
  X(set_input, METH_VARARGS, "set_input(key, array)")                  \
  X(set_output, METH_VARARGS, "set_output(key, array)")                \
  X(output_extents, METH_O, "output_extents(key) -> (dims, max)")      \
  X(run, METH_NOARGS, "Runs and waits.")                               \
  X(enqueue, METH_NOARGS, "Starts a run and returns.")                 \
  X(synchronize, METH_NOARGS, "Waits for the run that was started.")   \
  X(set_profiler, METH_O, "set_profiler(function or None)")            \
  X(step_work, METH_VARARGS, "step_work(step) -> StepWork")            \
  X(set_timing, METH_VARARGS, "set_timing(0, 1 or 2)")                 \
  X(times, METH_NOARGS, "Times of the last runs, as RunTimes.")        \
  X(read_state_into, METH_VARARGS, "read_state_into(name, buffer)")    \
  X(write_state_from, METH_VARARGS, "write_state_from(name, buffer)")  \
  X(reset_states, METH_NOARGS, "Restores the states' initial values.") \
  X(clone_states, METH_VARARGS, "clone_states(source)")

#define PYTHON_DECLARE(name, flags, text) \
  PyObject* python_context_##name(python_context_t* self, PyObject* arguments);
PYTHON_CONTEXT_METHODS(PYTHON_DECLARE)
#undef PYTHON_DECLARE

PyObject* python_context_set_memory(python_context_t* self, PyObject* arguments,
                                    PyObject* keywords);
PyObject* python_context_output(python_context_t* self, PyObject* arguments, PyObject* keywords);
PyObject* python_context_call(python_context_t* self, PyObject* arguments, PyObject* keywords);

#endif /* TENON_PYTHON_CONTEXT_H_ */
