/* A control node's bodies while it is inferred: their parameters and results. */
#ifndef TENON_CORE_NETWORK_INFER_BODIES_H_
#define TENON_CORE_NETWORK_INFER_BODIES_H_

#include "core/network/control.h"
#include "core/network/inference.h"

/* State of the inference of a control node. On the stack of tenon__infer_control; all members are
 * borrowed from the inference. */
typedef struct tenon__control_work_t {
  tenon__inference_t* inference;
  tenon__network_t* network;
  tenon__control_layout_t layout;
  /* the bodies have no owner yet, so no extent of a parameter can be a symbol of its own */
  bool first_time;
} tenon__control_work_t;

/* Return the values of the layout's indices: an input of the node, a parameter and a result of the
 * body. Borrowed until a value is added to their graph. The indices must be in range. */
const tenon__value_node_t* tenon__control_input(const tenon__control_work_t* control,
                                                uint32_t input);
tenon__value_node_t* tenon__control_parameter(const tenon__control_work_t* control, uint32_t body,
                                              uint32_t index);
const tenon__value_node_t* tenon__control_result(const tenon__control_work_t* control,
                                                 uint32_t body, uint32_t index);
/* Returns INVALID_DATA with both values if kind or element type differ. */
tenon_status_t tenon__control_same_type(const tenon__control_work_t* control,
                                        const tenon__value_node_t* a, const char* a_role,
                                        const tenon__value_node_t* b, const char* b_role);
/* Gives the body's parameters the types of their arguments, and sets *inout_changed if one changes.
 * A parameter's extent that was widened to its own symbol keeps it, so that it does not alternate.
 * Scanned values lose their axis. Contents of carried and scanned values are dropped, because they
 * change between iterations; captured values keep theirs. */
tenon_status_t tenon__control_adopt(const tenon__control_work_t* control, uint32_t body,
                                    bool* inout_changed);
/* Same, and infers the body again until its parameters agree with its results. If the body changes
 * an extent of a carried value, the extent is widened to a symbol that each iteration reads. Each
 * round widens at least one extent permanently, so there are at most as many rounds as carried
 * extents. Returns UNSUPPORTED for a tensor whose rank changes; a sequence's rank becomes
 * unknown. */
tenon_status_t tenon__control_resolve(const tenon__control_work_t* control, uint32_t body);

#endif
