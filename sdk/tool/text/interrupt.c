/* See interrupt.h. The handlers use what is safe in one: system calls and atomics. */
#include "text/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GUARDED_MAX = 16, GRACE_NANOSECONDS = 500000000 };

/* Each with what was to be done about it before. */
static struct {
  int number;
  struct sigaction before;
} signals[] = {{.number = SIGINT}, {.number = SIGTERM}, {.number = SIGHUP}, {.number = SIGPIPE}};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };
static volatile sig_atomic_t caught; /* the signal's number */
static _Atomic(const char*) guarded[GUARDED_MAX];
static timer_t grace;
static bool has_grace;
static volatile sig_atomic_t is_told;
static volatile sig_atomic_t is_json;

/* ---- Removing ---- */

void tool_interrupt_guard(const char* path) {
  for (size_t i = 0; i < GUARDED_MAX; ++i) {
    const char* none = NULL;
    if (atomic_compare_exchange_strong(&guarded[i], &none, path)) {
      return;
    }
  }
}

void tool_interrupt_release(const char* path) {
  for (size_t i = 0; i < GUARDED_MAX; ++i) {
    const char* mine = path;
    (void)atomic_compare_exchange_strong(&guarded[i], &mine, NULL);
  }
}

/* ---- Handlers ---- */

static void say(int file, const char* text) {
  const ssize_t wrote = write(file, text, strlen(text));
  (void)wrote;
}

/* Digits of a number below 1000. */
static void say_number(int file, int number) {
  char digits[4] = {0};
  size_t used = 0;
  for (int unit = 100; unit > 0; unit /= 10) {
    if (number >= unit || unit == 1) {
      digits[used++] = (char)('0' + number / unit % 10);
    }
  }
  say(file, digits);
}

static void remove_guarded(void) {
  for (size_t i = 0; i < GUARDED_MAX; ++i) {
    const char* path = atomic_load(&guarded[i]);
    if (path != NULL) {
      (void)unlink(path);
    }
  }
}

static void start_timer(void) {
  const struct itimerspec once = {.it_value = {.tv_nsec = GRACE_NANOSECONDS}};
  (void)timer_settime(grace, 0, &once, NULL);
}

static void end_now(void) {
  remove_guarded();
  if (is_told != 0) {
    _exit(128 + caught);
  }
  say(STDERR_FILENO,
      isatty(STDERR_FILENO) != 0 ? "\r\033[Kerror: interrupted\n" : "error: interrupted\n");
  if (is_json) {
    say(STDOUT_FILENO, "{\"error\": \"interrupted\", \"exit\": ");
    say_number(STDOUT_FILENO, 128 + caught);
    say(STDOUT_FILENO, "}\n");
  }
  _exit(128 + caught);
}

static void on_timer(int number) {
  (void)number;
  if (is_told == 1) {
    is_told = 2; /* once */
    start_timer();
    return;
  }
  end_now();
}

static void on_interrupt(int number) {
  const bool again = caught != 0;
  caught = number;
  if (again || !has_grace) {
    end_now();
  }
  start_timer();
}

/* A reader that has seen enough: quiet, but nothing stays behind. */
static void on_closed_pipe(int number) {
  remove_guarded();
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

void tool_interrupts_catch(void) {
  struct sigaction action = {.sa_handler = on_timer};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  (void)sigfillset(&action.sa_mask);
  (void)sigaction(SIGALRM, &action, NULL);
  has_grace = timer_create(CLOCK_MONOTONIC, &event, &grace) == 0;
  for (int i = 0; i < SIGNAL_COUNT; ++i) {
    const int number = signals[i].number;
    (void)sigaction(number, NULL, &signals[i].before);
    action.sa_handler = number == SIGPIPE ? on_closed_pipe : on_interrupt;
    if (signals[i].before.sa_handler != SIG_IGN || number == SIGINT) {
      (void)sigaction(number, &action, NULL);
    }
  }
}

void tool_interrupts_tell(bool json) {
  is_json = json ? 1 : 0;
}

void tool_interrupts_release(void) {
  for (int i = 0; i < SIGNAL_COUNT; ++i) {
    (void)sigaction(signals[i].number, &signals[i].before, NULL);
  }
  for (size_t i = 0; i < GUARDED_MAX; ++i) {
    atomic_store(&guarded[i], NULL);
  }
}

bool tool_interrupted(void) {
  return caught != 0;
}

void tool_interrupt_told(void) {
  is_told = 1;
}

int tool_interrupt_exit_status(void) {
  return caught != 0 ? 128 + caught : 0;
}
