/* Checks of one kernel with one operator, as check_kind_t. Subjects: "plugin:kernel operator". */
#ifndef TOOL_CHECK_KERNEL_CHECKS_H_
#define TOOL_CHECK_KERNEL_CHECKS_H_

#include "check/check.h"

void check_kernel_list(const check_t* check, check_text_t* text);
/* Against the reference, in guarded memory, with two patterns in the outputs. */
char check_values(check_t* check, const char* subject, check_text_t* text);
/* One engine with several extents, extents of 0 among them. */
char check_shapes(check_t* check, const char* subject, check_text_t* text);
/* 1 and 3 threads, and two contexts at once, give the same bits. */
char check_threads(check_t* check, const char* subject, check_text_t* text);
/* Arithmetic before and behind the node, for kernels with slots. */
void check_slot_list(const check_t* check, check_text_t* text);
char check_slots(check_t* check, const char* subject, check_text_t* text);
/* Inputs that are permuted or parts of others, outputs that are parts of others. */
char check_layouts(check_t* check, const char* subject, check_text_t* text);
/* The n-th allocation fails. */
char check_allocations(check_t* check, const char* subject, check_text_t* text);
/* Extents up to the limits of the contract: a refusal is right, a crash is not. */
char check_extents(check_t* check, const char* subject, check_text_t* text);

#endif
