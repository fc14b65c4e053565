/* See shake.h. A timer's signal, which its handler answers by waiting. */
#include "check/shake.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/select.h>
#include <time.h>

enum { INTERVAL_NANOSECONDS = 100000, WAIT_MICROSECONDS = 60 };

static timer_t timer;
static bool has_timer;

/* The next one comes some time after the handler's end, so that the thread goes on. */
static void start_timer(void) {
  const struct itimerspec once = {{0, 0}, {0, INTERVAL_NANOSECONDS}};
  (void)timer_settime(timer, 0, &once, NULL);
}

static void on_timer(int number) {
  const int error = errno;
  struct timeval wait = {.tv_usec = WAIT_MICROSECONDS};
  (void)number;
  (void)select(0, NULL, NULL, NULL, &wait);
  start_timer();
  errno = error;
}

void check_shake_begin(void) {
  struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
  (void)sigemptyset(&action.sa_mask);
  has_timer = sigaction(SIGVTALRM, &action, NULL) == 0 &&
              timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  if (has_timer) {
    start_timer();
  }
}

void check_shake_end(void) {
  (void)signal(SIGVTALRM, SIG_IGN); /* one that is on its way */
  if (has_timer) {
    (void)timer_delete(timer);
  }
  has_timer = false;
}
