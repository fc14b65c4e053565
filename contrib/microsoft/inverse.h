/* Inverses of matrices: an operator and its kernel. */
#ifndef MICROSOFT_INVERSE_H_
#define MICROSOFT_INVERSE_H_

#include "tenon/plugin.h"

extern const tenon_offering_t microsoft_inverse_operators;
extern const tenon_offering_t microsoft_inverse_kernels;

#endif
