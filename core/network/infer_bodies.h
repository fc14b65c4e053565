/* A control node's bodies while it is inferred: their parameters and results. */
#ifndef TENON_CORE_NETWORK_INFER_BODIES_H_
#define TENON_CORE_NETWORK_INFER_BODIES_H_

#include "core/network/control.h"
#include "core/network/inference.h"

/* A control node while it is inferred. On the stack of tenon__infer_control; everything in it is
 * borrowed from the inference. */
typedef struct tenon__control_work_t {
  tenon__inference_t* inference;
  tenon__network_t* network;
  tenon__control_layout_t layout;
  /* the bodies have no owner yet: no extent of a parameter can be a symbol of its own then */
  bool first_time;
} tenon__control_work_t;

/* The values behind numbers of the layout: an input of the node, a parameter and a result of the
 * body. Borrowed until a value is added to their graph. The numbers must be in range. */
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
 * had others. A parameter's extent that was widened into a symbol of its own stays so, else it
 * would change to and fro. Scanned values lose their axis; contents of carried and scanned values
 * go, as they change from one iteration to the next; captured values bring theirs. */
tenon_status_t tenon__control_adopt(const tenon__control_work_t* control, uint32_t body,
                                    bool* inout_changed);
/* The same, and infers it again until they agree with what it makes of them. Carried values are the
 * hard part: an extent that the body changes is widened to a symbol that each iteration reads. Each
 * round widens at least one extent for good, so there are at most as many rounds as carried
 * extents. A tensor whose rank changes is UNSUPPORTED; a sequence's rank becomes unknown. */
tenon_status_t tenon__control_resolve(const tenon__control_work_t* control, uint32_t body);

#endif
