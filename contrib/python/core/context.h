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

/* The methods without keywords that no two calls may execute at once: name, flags, signature, text.
 * python_context_NAME is the function. */
#define PYTHON_CONTEXT_METHODS(X)                                                               \
  X(set_input, METH_VARARGS, ", key, array",                                                    \
    "Sets an input. The memory is read in place if it is row-major at a multiple of 16 bytes, " \
    "and kept until the next call.")                                                            \
  X(set_output, METH_VARARGS, ", key, array",                                                   \
    "Sets the memory of an output; None: memory of the context.")                               \
  X(output_extents, METH_O, ", key",                                                            \
    "Returns (extents, largest extents) of an output for the inputs that are set; None if "     \
    "unknown.")                                                                                 \
  X(run, METH_NOARGS, "", "Runs and waits.")                                                    \
  X(enqueue, METH_NOARGS, "", "Starts a run and returns.")                                      \
  X(synchronize, METH_NOARGS, "", "Waits for the run that was started.")                        \
  X(set_profiler, METH_O, ", profiler",                                                         \
    "Sets a function of (step, seconds), which each run calls after each step; None: none.")    \
  X(step_work, METH_VARARGS, ", step",                                                          \
    "Returns the work of a step for the inputs that are set, as StepWork.")                     \
  X(set_timing, METH_VARARGS, ", wanted",                                                       \
    "Times runs by the clock of the device: 0 no, 1 yes, 2 with the end at the wait.")          \
  X(times, METH_NOARGS, "", "Returns the times of the last runs, as RunTimes.")                 \
  X(read_state_into, METH_VARARGS, ", name, buffer", "Copies a state to a buffer.")             \
  X(write_state_from, METH_VARARGS, ", name, buffer", "Sets a state from a buffer.")            \
  X(reset_states, METH_NOARGS, "", "Restores the initial values of the states.")                \
  X(clone_states, METH_VARARGS, ", source", "Copies the states of another context of the engine.")

#define PYTHON_DECLARE(name, flags, signature, text) \
  PyObject* python_context_##name(python_context_t* self, PyObject* arguments);
PYTHON_CONTEXT_METHODS(PYTHON_DECLARE)
#undef PYTHON_DECLARE

PyObject* python_context_set_memory(python_context_t* self, PyObject* arguments,
                                    PyObject* keywords);
PyObject* python_context_output(python_context_t* self, PyObject* arguments, PyObject* keywords);
PyObject* python_context_call(python_context_t* self, PyObject* arguments, PyObject* keywords);

#endif /* TENON_PYTHON_CONTEXT_H_ */
