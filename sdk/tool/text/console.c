/* See console.h. The state is the process's: there is one standard error. */
#include "text/console.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "text/escape.h"
#include "text/interrupt.h"
#include "text/json.h"
#include "text/memory.h"

enum { MESSAGE_BYTES = 4096, BAR_CELLS = 28 };

static struct {
  pthread_mutex_t lock;
  bool json;
  bool silent;
  bool mute;
  bool soften;
  bool quiet;
  uint32_t verbosity;
  bool bar_shown;
  double bar_time;
  bool holds;
  char* held;   /* lines; NULL: none */
  bool misused; /* the newest error is about the command line */
  char last_error[MESSAGE_BYTES];
} console = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tool_console_configure(bool json, uint32_t verbosity) {
  console.json = json;
  tool_interrupts_tell(json);
  console.verbosity = verbosity;
}

bool tool_console_is_json(void) {
  return console.json;
}

void tool_console_silence(bool silent) {
  console.silent = silent;
}

void tool_console_mute(bool mute) {
  console.mute = mute;
}

void tool_console_quieten(bool quiet) {
  console.quiet = quiet;
}

bool tool_console_is_quiet(void) {
  return console.quiet;
}

void tool_console_soften(bool soften) {
  console.soften = soften;
}

void tool_console_hold(bool hold) {
  console.holds = hold;
}

void tool_console_release(bool write) {
  (void)pthread_mutex_lock(&console.lock);
  char* held = console.held;
  console.held = NULL;
  if (write && held != NULL) {
    (void)fputs(held, stderr);
  }
  (void)pthread_mutex_unlock(&console.lock);
  tool_free(held);
}

static void erase_bar(void) {
  if (console.bar_shown) {
    (void)fputs("\r\033[K", stderr);
    console.bar_shown = false;
  }
}

static const char* severity_word(int32_t severity) {
  switch (severity) {
    case TENON_SEVERITY_ERROR:
      return console.soften ? "warning: " : "error: ";
    case TENON_SEVERITY_WARNING:
      return "warning: ";
    default:
      return "";
  }
}

static void write_message(const char* word, const char* message) {
  char* shown = tool_escape(message, true);
  if (console.holds) {
    tool_append(&console.held, "%s%s\n", word, shown);
  } else {
    erase_bar();
    /* What was said before stands before it, where both go to one place. */
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s%s\n", word, shown);
  }
  tool_free(shown);
}

static void report(void* user, int32_t severity, const char* message) {
  (void)user;
  const int32_t least = console.verbosity == 0   ? TENON_SEVERITY_WARNING
                        : console.verbosity == 1 ? TENON_SEVERITY_INFO
                                                 : TENON_SEVERITY_DEBUG;
  (void)pthread_mutex_lock(&console.lock);
  if (severity >= TENON_SEVERITY_ERROR && !console.soften) {
    (void)snprintf(console.last_error, sizeof(console.last_error), "%s", message);
    console.misused = false;
  }
  const bool hidden = console.quiet && severity == TENON_SEVERITY_WARNING;
  if (severity >= least && !console.silent && !hidden) {
    write_message(severity_word(severity), message);
  }
  (void)pthread_mutex_unlock(&console.lock);
}

tenon_sink_t tool_console_sink(void) {
  return (tenon_sink_t){.user = NULL, .report = report};
}

static void report_format(int32_t severity, const char* format, va_list arguments) {
  char message[MESSAGE_BYTES];
  (void)vsnprintf(message, sizeof(message), format, arguments);
  report(NULL, severity, message);
}

tenon_status_t tool_fail(tenon_status_t status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_format(TENON_SEVERITY_ERROR, format, arguments);
  va_end(arguments);
  return status;
}

tenon_status_t tool_misuse(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_format(TENON_SEVERITY_ERROR, format, arguments);
  va_end(arguments);
  console.misused = true;
  return TENON_ERROR_INVALID_ARGUMENT;
}

void tool_inform(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_format(TENON_SEVERITY_INFO, format, arguments);
  va_end(arguments);
}

void tool_warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_format(TENON_SEVERITY_WARNING, format, arguments);
  va_end(arguments);
}

void tool_say(const char* format, ...) {
  if (console.json || console.silent || console.mute) {
    return;
  }
  tool_progress_end();
  char* text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) >= 0) {
    tool_write_file(stdout, text);
    free(text);
  }
  va_end(arguments);
}

const char* tool_console_last_error(void) {
  return console.last_error;
}

void tool_console_forget_error(void) {
  console.last_error[0] = '\0';
  console.misused = false;
}

static double now_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool tool_progress_is_shown(void) {
  return !console.silent && isatty(STDERR_FILENO) != 0;
}

void tool_progress(const char* message, uint64_t done, uint64_t total) {
  if (!tool_progress_is_shown()) {
    return;
  }
  (void)pthread_mutex_lock(&console.lock);
  const double now = now_seconds();
  if (now - console.bar_time >= 0.1) {
    console.bar_time = now;
    char bar[BAR_CELLS + 1];
    const uint64_t filled = total == 0 ? 0 : (done < total ? done : total) * BAR_CELLS / total;
    for (uint64_t i = 0; i < BAR_CELLS; ++i) {
      bar[i] = i < filled ? '#' : '.';
    }
    bar[BAR_CELLS] = '\0';
    char* shown = tool_escape(message, false);
    (void)fprintf(stderr, "\r[%s] %llu/%llu %s\033[K", bar, (unsigned long long)done,
                  (unsigned long long)total, shown);
    tool_free(shown);
    (void)fflush(stderr);
    console.bar_shown = true;
  }
  (void)pthread_mutex_unlock(&console.lock);
}

void tool_progress_end(void) {
  (void)pthread_mutex_lock(&console.lock);
  erase_bar();
  (void)pthread_mutex_unlock(&console.lock);
}

void tool_write_file(void* user, const char* text) {
  FILE* file = user;
  char* shown = tool_escape(text, true);
  (void)fputs(shown, file);
  tool_free(shown);
}

int tool_console_finish(int exit_status) {
  tool_progress_end();
  if (tool_interrupted()) {
    const bool done = exit_status <= TOOL_EXIT_DIFFERENT;
    exit_status = tool_interrupt_exit_status();
    tool_interrupt_told();
    if (done) {
      (void)tool_fail(TENON_ERROR_CANCELLED, "interrupted when it was done: its results stand");
    } else if (console.last_error[0] == '\0') {
      (void)tool_fail(TENON_ERROR_CANCELLED, "interrupted");
    }
  }
  if (console.json && exit_status > TOOL_EXIT_DIFFERENT) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "error", console.last_error);
    tool_json_integer(&json, "exit", exit_status);
    tool_json_end(&json);
  }
  if ((fflush(stdout) != 0 || ferror(stdout) != 0) && exit_status == TOOL_EXIT_OK) {
    (void)fputs("error: standard output could not be written\n", stderr);
    return TOOL_EXIT_FAILED;
  }
  return exit_status;
}

int tool_exit_status(tenon_status_t status) {
  if (status == TENON_OK) {
    return TOOL_EXIT_OK;
  }
  if (status == TENON_ERROR_INVALID_ARGUMENT && console.misused) {
    return TOOL_EXIT_USAGE;
  }
  return status == TENON_ERROR_CANCELLED && tool_interrupted() ? tool_interrupt_exit_status()
                                                               : TOOL_EXIT_FAILED;
}
