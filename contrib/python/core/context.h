/* Methods of Context that are written in context_io.c. */
#ifndef TENON_PYTHON_CONTEXT_H_
#define TENON_PYTHON_CONTEXT_H_

#include "state.h"

/* python_check, after the exception of the profiler. */
int python_context_check(python_context_t* self, tenon_status_t status);
/* Fails if another thread is in a call of this context. */
int python_context_begin(python_context_t* self);
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

PyObject* python_context_set_input(python_context_t* self, PyObject* arguments);
PyObject* python_context_set_output(python_context_t* self, PyObject* arguments);
PyObject* python_context_set_memory(python_context_t* self, PyObject* arguments,
                                    PyObject* keywords);
PyObject* python_context_output(python_context_t* self, PyObject* arguments, PyObject* keywords);
PyObject* python_context_extents(python_context_t* self, PyObject* key);
PyObject* python_context_call(python_context_t* self, PyObject* arguments, PyObject* keywords);

#endif /* TENON_PYTHON_CONTEXT_H_ */
