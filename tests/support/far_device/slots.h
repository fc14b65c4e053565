/*
 * What neighbours want done with a product, done by the product's own kernel: the reference's
 * product between the reference's interpreter of programs. Arithmetic before either operand, behind
 * the product, and two further outputs beside it; each program in a pass of its own over memory of
 * the bound kernel.
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_SLOTS_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_SLOTS_H_

#include "call.h"

/* Numbers are places in this list. */
enum {
  FAR_SLOT_LEFT = 0,  /* prologues */
  FAR_SLOT_RIGHT = 1, /* */
  FAR_SLOT_BEHIND = 2,
  FAR_SLOT_BESIDE = 3, /* and 4 */
  FAR_SLOT_COUNT = 5
};
extern const tenon_slot_t far_product_slots[FAR_SLOT_COUNT];

/* Is anything in the slots? Only kernels with those of the list are ever given such regions. */
int far_slots_are_filled(const tenon_region_t* region, const tenon_region_table_t* table);
/* A product with something in its slots: without, there is the plain kernel. */
int32_t far_match_slots(void* state, const tenon_region_t* region,
                        const tenon_region_table_t* table, tenon_refusal_t* out_refusal);
/* Of a kernel with slots. */
tenon_status_t far_slots_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t far_slots_bind(void* instance, tenon_binding_t* binding,
                              const tenon_bind_table_t* host, void** out_bound);
tenon_status_t far_slots_enqueue(const tenon_enqueue_t* call);

#endif
