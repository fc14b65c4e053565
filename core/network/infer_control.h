/* Inference of a control node: its outputs follow from what its bodies give. */
#ifndef TENON_CORE_NETWORK_INFER_CONTROL_H_
#define TENON_CORE_NETWORK_INFER_CONTROL_H_

#include "core/network/inference.h"

/* The bodies' parameters change with it, and the bodies are inferred again where they do. */
tenon_status_t tenon__infer_control(tenon__inference_t* inference);
/* How many output items the bodies of a control node give; reports what does not fit. */
tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count);

#endif
