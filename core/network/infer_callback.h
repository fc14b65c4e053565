/* Inference by a plugin's own function: shapes, for operators whose rule no text can say. */
#ifndef TENON_CORE_NETWORK_INFER_CALLBACK_H_
#define TENON_CORE_NETWORK_INFER_CALLBACK_H_

#include "core/network/inference.h"

/* `shapes`: one for each output, of unknown rank where it sets none. A node that the function
 * refuses is INVALID_DATA, with its words; what it should not have done is told with its plugin's
 * name, as nothing is wrong with the node. The function sees handles of dimensions and no node, and
 * whatever it builds is checked like a text's result. Ranks, extents and contents go where a text's
 * would. Called while a network is built, on its thread. */
tenon_status_t tenon__infer_callback(tenon__inference_t* inference,
                                     tenon__inferred_shape_t* shapes);

#endif
