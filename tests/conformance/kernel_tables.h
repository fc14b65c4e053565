/* What the kernels under test are given: kept apart from their lives. Handles are the fake in
 * prepare, the life itself in bind and in a run. */
#ifndef TESTS_CONFORMANCE_KERNEL_TABLES_H_
#define TESTS_CONFORMANCE_KERNEL_TABLES_H_

#include "kernel_life.h"

extern const tenon_prepare_table_t kernel_prepare_table;
extern const tenon_bind_table_t kernel_bind_table;
extern const tenon_run_table_t kernel_run_table;

/* Of all lives, as the tactics of a context share it; it has whatever was there. */
extern void* kernel_scratch;

/* What a life packed is forgotten before the next begins. */
void kernel_forget_packed(void);
/* Blobs that prepare saved are given back from then on, or forgotten. */
void kernel_forget_blobs(void);
uint32_t kernel_blob_count(void);

#endif
