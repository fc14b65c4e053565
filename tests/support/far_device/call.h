/*
 * Kernels of the device: each is one of the reference's, whose call is copied into the stream's
 * queue and computed when the stream gets there, on the device's addresses. So match, tactics,
 * prepare and bind are the reference's, and enqueue alone is ours. Shape operands are read on the
 * host, when a call is enqueued, and travel with it.
 *
 * Besides, each asks for a little memory of every sort that a tactic may ask for, and looks at it
 * in each call: scratch that somebody else uses meanwhile, memory that should be zero and is not,
 * and persistent memory that was changed fail the call.
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_CALL_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_CALL_H_

#include "tenon/plugin.h"

/* Calls that wait for their stream, because the extents of what they make are known behind it. */
int far_kernel_waits(const char* op);

/* Whose kernel it is at heart: one of the reference's. */
typedef struct far_heart_t {
  tenon_status_t (*tactics)(void* state, const tenon_region_t* region,
                            const tenon_region_table_t* table, tenon_emit_t* emit,
                            tenon_status_t (*add)(tenon_emit_t* emit,
                                                  const tenon_tactic_t* tactic));
  tenon_status_t (*prepare)(const tenon_prepare_t* call, void** out_instance);
  tenon_status_t (*bind)(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                         void** out_bound);
  tenon_status_t (*enqueue)(const tenon_enqueue_t* call);
} far_heart_t;
const far_heart_t* far_heart_of(const tenon_region_t* region, const tenon_region_table_t* table);

/* What each asks for behind what its heart needs, and looks at. */
enum { FAR_OWN_SCRATCH = 256, FAR_OWN_ZEROED = 64, FAR_OWN_PERSISTENT = 64 };

/* Of the kernel descriptors; the first is for operators, the second for expressions and moves. No
 * texts. */
int32_t far_match_operator(void* state, const tenon_region_t* region,
                           const tenon_region_table_t* table, tenon_refusal_t* out_refusal);
int32_t far_match_program(void* state, const tenon_region_t* region,
                          const tenon_region_table_t* table, tenon_refusal_t* out_refusal);
tenon_status_t far_tactics(void* state, const tenon_region_t* region,
                           const tenon_region_table_t* table, tenon_emit_t* emit,
                           tenon_status_t (*add)(tenon_emit_t* emit, const tenon_tactic_t* tactic));
tenon_status_t far_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t far_bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                        void** out_bound);
tenon_status_t far_enqueue(const tenon_enqueue_t* call);

#endif
