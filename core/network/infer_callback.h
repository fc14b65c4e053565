/* Inference by a plugin's own function. */
#ifndef TENON_CORE_NETWORK_INFER_CALLBACK_H_
#define TENON_CORE_NETWORK_INFER_CALLBACK_H_

#include "core/network/inference.h"

tenon_status_t tenon__infer_callback(tenon__inference_t* inference,
                                     tenon__inferred_shape_t* shapes);

#endif
