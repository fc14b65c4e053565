/* Convolutions and pools that several families build. */
#ifndef MICROSOFT_CONVOLUTION_H_
#define MICROSOFT_CONVOLUTION_H_

#include "tenon/maker.h"

/* Makes `op` with the node's window and groups. Operands after x and w may be absent. */
tenon_value_t microsoft_convolve(tenon_make_t* make, const char* op, uint32_t count,
                                 const tenon_value_t* operands);
/* Makes activation(x * w + input 2 + z), with the node's window, groups and activation. z may be
 * absent. */
tenon_value_t microsoft_convolution(tenon_make_t* make, tenon_value_t x, tenon_value_t w,
                                    tenon_value_t z);
/* Makes the pool `op` with the node's window and `attributes`. The channels of x are axis 1. */
tenon_value_t microsoft_pool(tenon_make_t* make, const char* op, tenon_value_t x,
                             const char* attributes);

#endif
