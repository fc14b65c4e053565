/*
 * Was the machine busy with something else while we measured? What the kernel counts, before and
 * after: how long our threads waited for a processor, how often they were preempted, what others
 * used of our processors, what a hypervisor took. What a system does not tell is NAN.
 */
#ifndef TOOL_SESSION_BUSY_H_
#define TOOL_SESSION_BUSY_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct tool_busy_t {
  double waited_share; /* of our threads' time: ready, and not on a processor */
  double others;       /* processors of ours that others kept busy, on average */
  double stolen_share; /* of our processors' time */
  uint32_t processors; /* that we may use */
  uint64_t preemptions;
  bool is_busy;      /* times are longer than the machine could do */
  char message[160]; /* why, when it is; else "" */
} tool_busy_t;

/* Counters at one moment. */
typedef struct tool_load_t {
  double seconds; /* on the clock */
  double waited;  /* seconds */
  double busy;    /* of our processors */
  double stolen;
  double own; /* processor time of this process */
  uint64_t preemptions;
  uint32_t processors;
} tool_load_t;

void tool_load_read(tool_load_t* out_load);
/* What happened between the two, to a process with so many threads at work. */
void tool_busy_find(const tool_load_t* begin, const tool_load_t* end, uint32_t threads,
                    tool_busy_t* out_busy);

#endif
