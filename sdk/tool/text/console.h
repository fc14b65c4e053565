/*
 * What the command says. All of it is escaped (escape.h). Results go to standard output, either as
 * text for a person or, with
 * --json, as one JSON object a line. Messages and the progress bar go to standard error. One
 * console a process; messages may come from several threads.
 */
#ifndef TOOL_TEXT_CONSOLE_H_
#define TOOL_TEXT_CONSOLE_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* Exit statuses of every subcommand. */
enum {
  TOOL_EXIT_OK = 0,
  TOOL_EXIT_DIFFERENT = 1, /* it ran: results differ, cases failed, something is missing */
  TOOL_EXIT_USAGE = 2,     /* the command line is wrong */
  TOOL_EXIT_FAILED = 3     /* it could not be done; the message says whose fault it is */
};                         /* after an interrupt: see interrupt.h */

/* Returns the status of `call` from the calling function unless it is TENON_OK. Use it only if
 * nothing needs release. */
#define TOOL_TRY(call)                              \
  do {                                              \
    const tenon_status_t tool_try_status_ = (call); \
    if (tool_try_status_ != TENON_OK)               \
      return tool_try_status_;                      \
  } while (0)

/* `verbosity` 0: warnings and errors; 1: also what is decided; 2: everything. */
void tool_console_configure(bool json, uint32_t verbosity);
bool tool_console_is_json(void);
/* Nothing is written at all, messages are only kept: for tests and for the children of a suite. */
void tool_console_silence(bool silent);
/* tool_say writes nothing: standard output holds something else. */
void tool_console_mute(bool mute);
/* Warnings are not written: they were before. */
void tool_console_quieten(bool quiet);
bool tool_console_is_quiet(void);
/* From here on errors are written as warnings: what failed can be made good. */
void tool_console_soften(bool soften);
/* While it holds, what would be written is kept; release writes it or drops it. For an attempt that
 * may be made again in another way. */
void tool_console_hold(bool hold);
void tool_console_release(bool write);

/* The sink for the library's messages. */
tenon_sink_t tool_console_sink(void);
/* Writes an error and returns `status`. */
tenon_status_t tool_fail(tenon_status_t status, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/* Likewise where the command line is wrong, whatever the files hold: INVALID_ARGUMENT, for which
 * tool_exit_status has TOOL_EXIT_USAGE. */
tenon_status_t tool_misuse(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Written with --verbose alone. */
void tool_inform(const char* format, ...) __attribute__((format(printf, 1, 2)));
void tool_warn(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Text for a person on standard output; nothing with --json. */
void tool_say(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* The newest error's words, "" when there was none. Valid until the next error. */
const char* tool_console_last_error(void);
void tool_console_forget_error(void);

/* A bar on a terminal, nothing elsewhere. `words` is what is being done. */
void tool_progress(const char* message, uint64_t done, uint64_t total);
bool tool_progress_is_shown(void);
void tool_progress_end(void);

/* A tenon_write_t that writes to the FILE given as `user`, escaped; lines stay. */
void tool_write_file(void* user, const char* text);

/* Flushes standard output; with --json, adds {"error": ...} after a failure. Returns the exit
 * status: `exit_status`, or TOOL_EXIT_FAILED where the output could not be written, or the
 * interrupt's, for none is lost. */
int tool_console_finish(int exit_status);
/* The exit status for a status of the library. */
int tool_exit_status(tenon_status_t status);

#endif
