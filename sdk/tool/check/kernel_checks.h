/* Checks of one kernel with one operator. Subjects: "plugin:kernel operator". */
#ifndef TOOL_CHECK_KERNEL_CHECKS_H_
#define TOOL_CHECK_KERNEL_CHECKS_H_

#include "check/try_cases.h"

void check_kernel_list(const check_t* check, check_text_t* text);
/* Against the reference, in guarded memory, with two patterns in the outputs. */
extern const check_plan_t check_values;
/* One engine with several extents, extents of 0 among them. */
extern const check_plan_t check_shapes;
/* 1 and 3 threads, and two contexts at once, give the same bits. */
extern const check_plan_t check_threads;
/* Arithmetic before and behind the node, for kernels with slots. */
void check_slot_list(const check_t* check, check_text_t* text);
extern const check_plan_t check_slots;
/* Inputs that are permuted or parts of others, outputs that are parts of others. */
extern const check_plan_t check_layouts;
/* The n-th allocation fails. */
extern const check_plan_t check_allocations;
/* Extents up to the limits of the contract: a refusal is right, a crash is not. */
extern const check_plan_t check_extents;

#endif
