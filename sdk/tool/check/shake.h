/*
 * Threads that interleave. A thread is stopped for some time at random places, so that others run
 * meanwhile: else a machine with few processors seldom shows what they share.
 */
#ifndef TOOL_CHECK_SHAKE_H_
#define TOOL_CHECK_SHAKE_H_

/* Nothing happens if the machine has no timer for it. */
void check_shake_begin(void);
void check_shake_end(void);

#endif
