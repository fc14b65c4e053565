/* Operators that the program defines. */
#ifndef TENON_PYTHON_OPERATORS_H_
#define TENON_PYTHON_OPERATORS_H_

#include "state.h"

/* offer_operators(path, operators): gives all operators that the program has defined to the plugin
 * at `path`, instead of those of the call before. Registries that have loaded the plugin keep what
 * they have. */
PyObject* python_offer_operators(PyObject* module, PyObject* arguments);

#endif /* TENON_PYTHON_OPERATORS_H_ */
