/* Convolutions that several families build. */
#ifndef MICROSOFT_CONVOLUTION_H_
#define MICROSOFT_CONVOLUTION_H_

#include "tenon/maker.h"

/* activation(x * w + input 2 + z), with the node's window, groups and activation. z may be absent. */
tenon_value_t microsoft_convolution(tenon_make_t* make, tenon_value_t x, tenon_value_t w,
                                    tenon_value_t z);

#endif
