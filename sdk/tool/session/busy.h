/*
 * Was the machine busy with something else while we measured? What the kernel counts, before and
 * after: how long our threads waited for a processor (schedstat of each), how often they were
 * preempted, what others used of our processors and what a hypervisor took (/proc/stat). What a
 * system does not tell is NAN, and never makes it busy.
 */
#ifndef TOOL_SESSION_BUSY_H_
#define TOOL_SESSION_BUSY_H_

#include <stdbool.h>
#include <stdint.h>

/* What happened between two moments. */
typedef struct tool_busy_t {
  /* Of our threads' time: ready, and not on a processor. */
  double waited_share;
  /* Processors of ours that others kept busy, on average; NAN over less than 0.1 s, which the
   * kernel does not resolve. */
  double others;
  /* Of our processors' time. NAN likewise. */
  double stolen_share;
  uint32_t processors; /* that we may use (affinity) */
  uint64_t preemptions;
  /* Times are longer than the machine could do: our threads waited or a hypervisor took 2 % or
   * more, or others used a tenth of a processor or more and either ours did not suffice for both
   * or that is half of them. */
  bool is_busy;
  /* Why, when it is; else "". */
  char message[160];
} tool_busy_t;

/* Counters at one moment, since the machine or the process began. */
typedef struct tool_load_t {
  double seconds; /* on the clock that only goes forward */
  /* Seconds that this process's threads, those alive now, were ready and waited. */
  double waited;
  /* Seconds of our processors, by anybody; `stolen`: by other guests of the hypervisor. */
  double busy;
  double stolen;
  double own;           /* processor time of this process */
  uint64_t preemptions; /* involuntary switches of the process */
  uint32_t processors;
} tool_load_t;

void tool_load_read(tool_load_t* out_load);
/* What happened between the two, to a process with so many threads at work; 0 counts as 1. */
void tool_busy_find(const tool_load_t* begin, const tool_load_t* end, uint32_t threads,
                    tool_busy_t* out_busy);

#endif
