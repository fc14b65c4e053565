/* See children.h. A child writes its result into a pipe; the parent waits for the ends of all pipes
 * at once. */
#include "session/children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/common.h"
#include "session/temporary.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

enum { MESSAGE_SIZE = 4096 };

typedef struct child_t {
  pid_t process;
  int pipe;
  size_t index;
  double begin;
  bool timed_out;
  size_t used;
  char text[MESSAGE_SIZE];
} child_t;

static void write_all(int file, const char* text, size_t size) {
  while (size > 0) {
    const ssize_t wrote = write(file, text, size);
    if (wrote <= 0 && errno != EINTR) {
      return;
    }
    text += wrote > 0 ? wrote : 0;
    size -= wrote > 0 ? (size_t)wrote : 0;
  }
}

/* Never returns. */
static void be_child(int file, size_t index, tool_job_t job, void* user) {
  char text[MESSAGE_SIZE] = "";
  const struct rlimit no_core = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &no_core);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  tool_interrupts_release();
  text[0] = job(user, index, text + 1, sizeof(text) - 1);
  tool_temporary_end();
  write_all(file, text, 1 + strlen(text + 1));
  (void)fflush(NULL);
  _exit(0);
}

static bool start(child_t* child, size_t index, tool_job_t job, void* user) {
  int ends[2];
  if (pipe(ends) != 0) {
    return false;
  }
  (void)fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    (void)close(ends[0]);
    be_child(ends[1], index, job, user);
  }
  (void)close(ends[1]);
  if (process < 0) {
    (void)close(ends[0]);
    return false;
  }
  *child = (child_t){.process = process, .pipe = ends[0], .index = index, .begin = tool_seconds()};
  return true;
}

static void finish(child_t* child, tool_job_done_t done, void* user) {
  int status = 0;
  char message[160] = "";
  (void)close(child->pipe);
  while (waitpid(child->process, &status, 0) < 0 && errno == EINTR) {
  }
  child->text[child->used] = '\0';
  tool_job_result_t result = {child->text[0], child->text + 1, tool_seconds() - child->begin};
  if (child->timed_out) {
    (void)snprintf(message, sizeof(message), "took longer than %.3g s", result.seconds);
  } else if (WIFSIGNALED(status)) {
    (void)snprintf(message, sizeof(message), "crashed: %s", strsignal(WTERMSIG(status)));
  } else if (child->used == 0 || WEXITSTATUS(status) != 0) {
    (void)snprintf(message, sizeof(message), "ended with status %d", WEXITSTATUS(status));
  }
  if (message[0] != '\0') {
    result.code = '!';
    result.message = message;
    tool_temporary_remove_of(child->process);
  }
  done(user, child->index, &result);
  child->process = 0;
}

/* Reads what a child wrote. True when it has ended. */
static bool listen_to(child_t* child) {
  const size_t room = sizeof(child->text) - 1 - child->used;
  const ssize_t got = room > 0 ? read(child->pipe, child->text + child->used, room) : 0;
  child->used += got > 0 ? (size_t)got : 0;
  return got == 0 || (got < 0 && errno != EINTR);
}

static void wait_for_some(child_t* children, struct pollfd* polls, size_t count, double timeout,
                          tool_job_done_t done, void* user) {
  for (size_t i = 0; i < count; ++i) {
    polls[i] =
        (struct pollfd){.fd = children[i].process != 0 ? children[i].pipe : -1, .events = POLLIN};
  }
  (void)poll(polls, (nfds_t)count, 100);
  for (size_t i = 0; i < count; ++i) {
    child_t* child = &children[i];
    if (child->process == 0) {
      continue;
    }
    if ((polls[i].revents & (POLLIN | POLLHUP)) != 0 && listen_to(child) && !tool_interrupted()) {
      finish(child, done, user);
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
      tool_temporary_remove_of(children[i].process);
      (void)close(children[i].pipe);
    }
  }
}

/* One folder for all: what a child leaves can be found. Where none can be made the children say so,
 * if they need one. */
static void share_folder(void) {
  tool_console_silence(true);
  if (tool_temporary_begin(tool_temporary_parent()) != TENON_OK) {
    tool_console_forget_error();
  }
  tool_console_silence(false);
}

bool tool_children_run(size_t job_count, uint32_t parallel, double timeout_seconds, tool_job_t job,
                       tool_job_done_t done, void* user) {
  const size_t places = parallel > 0 ? parallel : 1;
  child_t* children = tool_allocate(places, sizeof(*children));
  struct pollfd* polls = tool_allocate(places, sizeof(*polls));
  size_t next = 0;
  size_t running = 0;
  bool good = true;
  share_folder();
  do {
    running = 0;
    for (size_t i = 0; i < places && good; ++i) {
      if (children[i].process == 0 && next < job_count) {
        good = start(&children[i], next++, job, user);
      }
      running += children[i].process != 0 ? 1 : 0;
    }
    if (running > 0 && good) {
      wait_for_some(children, polls, places, timeout_seconds, done, user);
    }
    good = good && !tool_interrupted();
  } while (good && (running > 0 || next < job_count));
  stop_all(children, good ? 0 : places);
  tool_free(polls);
  tool_free(children);
  return good;
}
