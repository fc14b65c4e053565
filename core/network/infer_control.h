/* Inference of a control node: its outputs follow from what its bodies give. */
#ifndef TENON_CORE_NETWORK_INFER_CONTROL_H_
#define TENON_CORE_NETWORK_INFER_CONTROL_H_

#include "core/network/inference.h"

/* The bodies' parameters change with it, and the bodies are inferred again where they do. So this
 * is the only inference that changes values which are there already. What both branches of a choice
 * give must agree in kind, element type and rank; extents that differ become new ones of the run. A
 * branch that cannot run has no say. */
tenon_status_t tenon__infer_control(tenon__inference_t* inference);
/* How many output items the bodies of a control node give; reports what does not fit. Asked before
 * binding, since a control form's outputs are its bodies' results and no port declares how many
 * there are. */
tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count);

#endif
