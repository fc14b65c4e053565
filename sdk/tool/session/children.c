/* See children.h. A child reads from one pipe which job it is to do, until that ends, and writes
 * results into another; the parent waits for all of them at once. What a child's last job gave
 * counts when the child has ended well. */
#include "session/children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/common.h"
#include "text/interrupt.h"
#include "text/memory.h"

enum { MESSAGE_SIZE = 4096 };

/* A result: so many bytes, then these. */
typedef struct result_t {
  size_t size;
  char text[MESSAGE_SIZE];
} result_t;

typedef struct child_t {
  pid_t process; /* 0: none */
  int orders;    /* -1: it has its last job */
  int results;
  size_t index;
  uint32_t left; /* jobs that it may do besides */
  double begin;
  bool timed_out;
  size_t used; /* of the result, as far as it came */
  result_t result;
} child_t;

static bool write_all(int file, const void* data, size_t size) {
  const char* from = data;
  while (size > 0) {
    const ssize_t wrote = write(file, from, size);
    if (wrote <= 0 && errno != EINTR) {
      return false;
    }
    from += wrote > 0 ? wrote : 0;
    size -= wrote > 0 ? (size_t)wrote : 0;
  }
  return true;
}

static bool read_index(int file, size_t* out_index) {
  ssize_t got = 0;
  do {
    got = read(file, out_index, sizeof(*out_index)); /* less than a pipe takes at once: whole */
  } while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof(*out_index);
}

/* Never returns. */
static void be_child(int orders, int results, const tool_jobs_t* jobs) {
  const struct rlimit no_core = {0, 0};
  size_t index = 0;
  (void)setrlimit(RLIMIT_CORE, &no_core);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)signal(SIGPIPE, SIG_DFL);
  tool_interrupts_release();
  while (read_index(orders, &index)) {
    result_t result = {0};
    result.text[0] = jobs->run(jobs->user, index, result.text + 1, sizeof(result.text) - 2);
    result.size = 1 + strlen(result.text + 1);
    if (!write_all(results, &result, offsetof(result_t, text) + result.size)) {
      break;
    }
  }
  (void)fflush(NULL);
  _exit(0);
}

/* Gives it a job; its last, where it may do no more. */
static void order(child_t* child, size_t index) {
  child->index = index;
  child->used = 0;
  child->begin = tool_seconds();
  if (!write_all(child->orders, &index, sizeof(index)) || child->left == 0) {
    (void)close(child->orders); /* who is gone already tells that by its end */
    child->orders = -1;
  }
}

/* Others' ends are closed in a child: it would keep them waiting. */
static void close_others(const child_t* children, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (children[i].process != 0) {
      (void)close(children[i].results);
      if (children[i].orders >= 0) {
        (void)close(children[i].orders);
      }
    }
  }
}

static bool start(child_t* children, size_t count, child_t* child, size_t index,
                  const tool_jobs_t* jobs) {
  int orders[2];
  int results[2];
  if (pipe(orders) != 0) {
    return false;
  }
  if (pipe(results) != 0) {
    (void)close(orders[0]);
    (void)close(orders[1]);
    return false;
  }
  (void)fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    close_others(children, count);
    (void)close(orders[1]);
    (void)close(results[0]);
    be_child(orders[0], results[1], jobs);
  }
  (void)close(orders[0]);
  (void)close(results[1]);
  if (process < 0) {
    (void)close(orders[1]);
    (void)close(results[0]);
    return false;
  }
  *child = (child_t){.process = process,
                     .orders = orders[1],
                     .results = results[0],
                     .left = jobs->each > 1 ? jobs->each - 1 : 0};
  order(child, index);
  return true;
}

static bool is_whole(const child_t* child) {
  return child->used >= offsetof(result_t, text) && child->result.size < MESSAGE_SIZE &&
         child->used == offsetof(result_t, text) + child->result.size;
}

static void tell(const child_t* child, const char* failure, const tool_jobs_t* jobs) {
  char message[MESSAGE_SIZE] = "";
  tool_job_result_t result = {'!', message, tool_seconds() - child->begin};
  (void)snprintf(message, sizeof(message), "%s",
                 failure != NULL ? failure : child->result.text + 1);
  if (failure == NULL) {
    result.code = child->result.text[0];
  }
  jobs->done(jobs->user, child->index, &result);
}

/* It has ended. */
static void finish(child_t* child, const tool_jobs_t* jobs) {
  int status = 0;
  char message[160] = "";
  (void)close(child->results);
  if (child->orders >= 0) {
    (void)close(child->orders);
  }
  while (waitpid(child->process, &status, 0) < 0 && errno == EINTR) {
  }
  if (child->timed_out) {
    (void)snprintf(message, sizeof(message), "took longer than %.3g s",
                   tool_seconds() - child->begin);
  } else if (WIFSIGNALED(status)) {
    (void)snprintf(message, sizeof(message), "crashed: %s", strsignal(WTERMSIG(status)));
  } else if (!is_whole(child) || WEXITSTATUS(status) != 0) {
    (void)snprintf(message, sizeof(message), "ended with status %d", WEXITSTATUS(status));
  }
  tell(child, message[0] != '\0' ? message : NULL, jobs);
  child->process = 0;
}

/* Reads what a child wrote. True when it has ended. */
static bool listen_to(child_t* child) {
  const size_t room = sizeof(child->result) - 1 - child->used;
  char* to = (char*)&child->result + child->used;
  const ssize_t got = room > 0 ? read(child->results, to, room) : 0;
  child->used += got > 0 ? (size_t)got : 0;
  if (is_whole(child)) {
    child->result.text[child->result.size] = '\0';
  } else if (child->used >= offsetof(result_t, text) && child->result.size >= MESSAGE_SIZE) {
    (void)kill(child->process, SIGKILL); /* it writes where it should not */
  }
  return got == 0 || (got < 0 && errno != EINTR);
}

/* After its result: another job where it may and there is one, else it is to end. */
static void go_on(child_t* child, size_t* inout_next, const tool_jobs_t* jobs) {
  if (child->result.text[0] == jobs->good && *inout_next < jobs->count) {
    tell(child, NULL, jobs);
    --child->left;
    order(child, (*inout_next)++);
  } else {
    (void)close(child->orders);
    child->orders = -1;
  }
}

static void wait_for_some(child_t* children, struct pollfd* polls, size_t count, size_t* inout_next,
                          const tool_jobs_t* jobs) {
  const double timeout = jobs->timeout_seconds;
  for (size_t i = 0; i < count; ++i) {
    polls[i] = (struct pollfd){.fd = children[i].process != 0 ? children[i].results : -1,
                               .events = POLLIN};
  }
  (void)poll(polls, (nfds_t)count, 100);
  for (size_t i = 0; i < count; ++i) {
    child_t* child = &children[i];
    if (child->process == 0) {
      continue;
    }
    const bool is_heard = (polls[i].revents & (POLLIN | POLLHUP)) != 0 && !tool_interrupted();
    if (is_heard && listen_to(child)) {
      finish(child, jobs);
    } else if (is_heard && child->orders >= 0 && is_whole(child)) {
      go_on(child, inout_next, jobs);
    } else if (timeout > 0 && !child->timed_out && tool_seconds() - child->begin > timeout) {
      child->timed_out = true;
      (void)kill(child->process, SIGKILL);
    }
  }
}

static void stop_all(child_t* children, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (children[i].process != 0) {
      (void)kill(children[i].process, SIGKILL);
      (void)waitpid(children[i].process, NULL, 0);
      (void)close(children[i].results);
      if (children[i].orders >= 0) {
        (void)close(children[i].orders);
      }
    }
  }
}

bool tool_children_run(const tool_jobs_t* jobs) {
  void (*const on_broken_pipe)(int) = signal(SIGPIPE, SIG_IGN); /* a child may be gone already */
  const size_t places = jobs->parallel > 0 ? jobs->parallel : 1;
  child_t* children = tool_allocate(places, sizeof(*children));
  struct pollfd* polls = tool_allocate(places, sizeof(*polls));
  size_t next = 0;
  size_t running = 0;
  bool good = true;
  do {
    running = 0;
    for (size_t i = 0; i < places && good; ++i) {
      if (children[i].process == 0 && next < jobs->count) {
        good = start(children, places, &children[i], next++, jobs);
      }
      running += children[i].process != 0 ? 1 : 0;
    }
    if (running > 0 && good) {
      wait_for_some(children, polls, places, &next, jobs);
    }
    good = good && !tool_interrupted();
  } while (good && (running > 0 || next < jobs->count));
  stop_all(children, good ? 0 : places);
  (void)signal(SIGPIPE, on_broken_pipe == SIG_ERR ? SIG_DFL : on_broken_pipe);
  tool_free(polls);
  tool_free(children);
  return good;
}
