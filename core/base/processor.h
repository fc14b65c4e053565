/* How much of the machine is ours. */
#ifndef TENON_CORE_BASE_PROCESSOR_H_
#define TENON_CORE_BASE_PROCESSOR_H_

#include <stdint.h>

/* Processors that this process may use at once: its affinity, and no more than its control groups'
 * share of time. At least 1. Asked anew each time: reads files of the system, so not between two
 * kernels. */
uint32_t tenon__processor_count(void);
/* Bytes of memory that the machine has, swap included; UINT64_MAX when it does not say. An
 * allocation beyond it is refused before it is tried, as the system would grant it and end the
 * process later. */
uint64_t tenon__machine_memory_bytes(void);

/* How long this process's threads have been ready to run, all together, and had no processor; what
 * still waits is not yet counted. 0 where the system does not say. Takes some microseconds. */
double tenon__waited_seconds(void);

#endif
