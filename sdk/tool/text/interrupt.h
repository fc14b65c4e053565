/*
 * Interrupts: Ctrl-C, SIGTERM and SIGHUP end the command within a second.
 *
 * The polite way first: tool_interrupted() is true, loops end, call-backs cancel, what was measured
 * is told. Where that takes too long (one slow step, a plugin that hangs) a timer's handler removes
 * what is guarded here and ends the process. A second signal does so at once. The exit status is
 * 128 and the signal's number either way.
 */
#ifndef TOOL_TEXT_INTERRUPT_H_
#define TOOL_TEXT_INTERRUPT_H_

#include <stdbool.h>

/* Once, before there are threads. A signal that is ignored (nohup) stays so, but for SIGINT, which
 * shells ignore for all that runs in the background. */
void tool_interrupts_catch(void);
/* After an interrupt, end with an object of JSON as well. */
void tool_interrupts_tell(bool json);
/* In a child: as if they had never been caught; what was ignored before is again. */
void tool_interrupts_release(void);

bool tool_interrupted(void);
/* The end is being told: a timer that runs out now gives that another while, and says nothing more.
 */
void tool_interrupt_told(void);
/* 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP; 0 when there was none. */
int tool_interrupt_exit_status(void);

/* Removes this file if the process ends by an interrupt. The path is borrowed until its release. Up
 * to 16 files at the same time. */
void tool_interrupt_guard(const char* path);
void tool_interrupt_release(const char* path);

#endif
