/* A control node's bodies while it is inferred: their parameters and results. */
#ifndef TENON_CORE_NETWORK_INFER_BODIES_H_
#define TENON_CORE_NETWORK_INFER_BODIES_H_

#include "core/network/control.h"
#include "core/network/inference.h"

/* A control node while it is inferred. */
typedef struct tenon__control_work_t {
  tenon__inference_t* inference;
  tenon__network_t* network;
  tenon__control_layout_t layout;
  bool first_time; /* the bodies have no owner yet */
} tenon__control_work_t;

const tenon__value_node_t* tenon__control_input(const tenon__control_work_t* control,
                                                uint32_t input);
tenon__value_node_t* tenon__control_parameter(const tenon__control_work_t* control, uint32_t body,
                                              uint32_t index);
const tenon__value_node_t* tenon__control_result(const tenon__control_work_t* control,
                                                 uint32_t body, uint32_t index);
/* INVALID_DATA, naming both, unless kind and element type are the same. */
tenon_status_t tenon__control_same_type(const tenon__control_work_t* control,
                                        const tenon__value_node_t* a, const char* a_role,
                                        const tenon__value_node_t* b, const char* b_role);
/* Gives the body's parameters the types of what they stand for; *inout_changed is set where they
 * had others. */
tenon_status_t tenon__control_adopt(const tenon__control_work_t* control, uint32_t body,
                                    bool* inout_changed);
/* The same, and infers it again until they agree with what it makes of them. */
tenon_status_t tenon__control_resolve(const tenon__control_work_t* control, uint32_t body);

#endif
