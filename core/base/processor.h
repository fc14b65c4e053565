/* The process's share of the machine. */
#ifndef TENON_CORE_BASE_PROCESSOR_H_
#define TENON_CORE_BASE_PROCESSOR_H_

#include <stdint.h>

/* Returns the number of processors that this process may use at once, from its affinity and its
 * control groups' share of time. At least 1. Reads files of the system at each call, so do not call
 * it between kernels. */
uint32_t tenon__processor_count(void);
/* Returns the bytes of the machine's memory, swap included; UINT64_MAX if unknown. Larger
 * allocations are refused without a trial, because the system would grant them and end the process
 * later. */
uint64_t tenon__machine_memory_bytes(void);

/* Returns the total time, in seconds, that this process's threads were ready to run without a
 * processor. Current waits are not included. 0 if unknown. Takes a few microseconds. */
double tenon__waited_seconds(void);

#endif
