/* Starting helpers, and asking them. Their program is part of this file's object: a plugin is one
 * file, and what it starts is what was trusted when it was loaded. */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/memfd.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* TENON_CUDA_HELPER_FILE: the program's path, while we are built. */
__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    "tenon__cuda_helper_begin:\n"
    ".incbin \"" TENON_CUDA_HELPER_FILE
    "\"\n"
    "tenon__cuda_helper_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern const char tenon__cuda_helper_begin[] __attribute__((visibility("hidden")));
extern const char tenon__cuda_helper_end[] __attribute__((visibility("hidden")));

/* MFD_EXEC, which headers before 6.3 lack. */
enum { EXECUTABLE = 0x10 };

/* ---- Starting ---- */

/* The same file above those numbers that are the helper's; closes `file`. -1: there is none. */
static int lift(int file) {
  const int above = TENON_CUDA_HELPER_FIRST + TENON_CUDA_HELPER_SOCKETS;
  const int lifted = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, above);
  if (file >= 0) {
    (void)close(file);
  }
  return lifted;
}

/* memfd_create, which the C library has since 2.27. */
static int create_memory(unsigned int flags) {
  return (int)syscall(SYS_memfd_create, "tenon-cuda-compile", flags);
}

/* The program in a file without a name; -1: there is none. */
static int make_program(void) {
  const size_t size = (size_t)(tenon__cuda_helper_end - tenon__cuda_helper_begin);
  int made = create_memory(MFD_CLOEXEC | EXECUTABLE);
  if (made < 0 && errno == EINVAL) { /* a kernel before 6.3, where all files may be */
    made = create_memory(MFD_CLOEXEC);
  }
  const int file = lift(made);
  if (file >= 0 && write(file, tenon__cuda_helper_begin, size) != (ssize_t)size) {
    (void)close(file);
    return -1;
  }
  return file;
}

/* In a group of its own, so that a terminal's interrupt is for us alone. Whoever starts is waited
 * for at once: the helper goes on as the child of nobody. */
static bool spawn(int program, const char* library, const int* ends) {
  char path[32];
  char name[] = "tenon-cuda-compile";
  char file[PATH_MAX];
  char* const arguments[] = {name, file, NULL};
  extern char** environ;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t child = 0;
  int status = -1;
  if (snprintf(file, sizeof(file), "%s", library) >= (int)sizeof(file)) {
    return false;
  }
  (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
  if (posix_spawn_file_actions_init(&actions) != 0) {
    return false;
  }
  if (posix_spawnattr_init(&attributes) != 0) {
    (void)posix_spawn_file_actions_destroy(&actions);
    return false;
  }
  (void)sigemptyset(&none);
  int result =
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  result = result == 0 ? posix_spawnattr_setsigmask(&attributes, &none) : result;
  for (int k = 0; k < TENON_CUDA_HELPER_SOCKETS && result == 0; k++) {
    result = posix_spawn_file_actions_adddup2(&actions, ends[k], TENON_CUDA_HELPER_FIRST + k);
  }
  result =
      result == 0 ? posix_spawn(&child, path, &actions, &attributes, arguments, environ) : result;
  (void)posix_spawnattr_destroy(&attributes);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (result != 0) {
    return false;
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0 || status == -1; /* -1: somebody else has waited for it */
}

static bool make_sockets(int ours[TENON_CUDA_HELPER_SOCKETS],
                         int theirs[TENON_CUDA_HELPER_SOCKETS]) {
  bool made = true;
  for (int k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
    int pair[2] = {-1, -1};
    made = made && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
    ours[k] = pair[0];
    theirs[k] = lift(pair[1]);
    made = made && theirs[k] >= 0;
  }
  return made;
}

static void close_sockets(const int sockets[TENON_CUDA_HELPER_SOCKETS]) {
  for (int k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
    if (sockets[k] >= 0) {
      (void)close(sockets[k]);
    }
  }
}

bool tenon__cuda_helper_start(const char* library, int out_sockets[TENON_CUDA_HELPER_SOCKETS]) {
  int theirs[TENON_CUDA_HELPER_SOCKETS];
  const int program = make_program();
  bool started = make_sockets(out_sockets, theirs) && program >= 0;
  started = started && spawn(program, library, theirs);
  close_sockets(theirs);
  if (program >= 0) {
    (void)close(program);
  }
  if (!started) {
    close_sockets(out_sockets);
  }
  return started;
}

/* ---- Asking ---- */

bool tenon__cuda_helper_compile(const tenon__cuda_state_t* state, int socket, const char* text,
                                int architecture, void** out_code, size_t* out_size) {
  const tenon__cuda_helper_request_t request = {architecture, (uint32_t)strlen(text)};
  tenon__cuda_helper_reply_t reply = {0};
  *out_code = NULL;
  if (!tenon__cuda_helper_send(socket, &request, sizeof(request)) ||
      !tenon__cuda_helper_send(socket, text, request.text_size) ||
      !tenon__cuda_helper_receive(socket, &reply, sizeof(reply))) {
    return false;
  }
  if (reply.code_size == 0) {
    return true;
  }
  void* code = state->allocator.resize(state->allocator.user, NULL, 0, (size_t)reply.code_size);
  if (code == NULL || !tenon__cuda_helper_receive(socket, code, (size_t)reply.code_size)) {
    if (code != NULL) {
      (void)state->allocator.resize(state->allocator.user, code, (size_t)reply.code_size, 0);
    }
    return false;
  }
  *out_code = code;
  *out_size = (size_t)reply.code_size;
  return true;
}
