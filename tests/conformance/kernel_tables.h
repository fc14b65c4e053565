/* What the kernels under test are given when they are prepared: kept apart from the running. */
#ifndef TESTS_CONFORMANCE_KERNEL_TABLES_H_
#define TESTS_CONFORMANCE_KERNEL_TABLES_H_

#include "kernel_case.h"

extern const tenon_prepare_table_t kernel_prepare_table;

#endif
