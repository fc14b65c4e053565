/* Inference of a control node, shared by infer_control.c (outputs) and infer_bodies.c (parameters).
 */
#ifndef TENON_CORE_NETWORK_INFER_CONTROL_H_
#define TENON_CORE_NETWORK_INFER_CONTROL_H_

#include "core/network/control.h"
#include "core/network/infer.h"

typedef struct tenon__control_work_t {
  tenon__inference_t* inference;
  tenon__network_t* network;
  tenon__control_layout_t layout;
  bool first_time; /* the bodies have no owner yet */
} tenon__control_work_t;

tenon_status_t tenon__infer_control(tenon__inference_t* inference);
/* How many output items the bodies of a control node give; reports what does not fit. */
tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count);

#endif
