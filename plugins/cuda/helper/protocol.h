/*
 * Between the plugin and its helper, which compiles texts in a process of its own: NVRTC reads one
 * text at a time in a process, however many threads ask.
 *
 * The helper has one socket for each of its threads. For each request, a header and the text
 * without its end, it writes a header and that many bytes: the code, or nothing where the text
 * cannot be compiled. It ends when its sockets are closed on the other side.
 */
#ifndef PLUGINS_CUDA_HELPER_PROTOCOL_H_
#define PLUGINS_CUDA_HELPER_PROTOCOL_H_

#include <errno.h>
#include <nvrtc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

/* The sockets are 3, 4, ... in the helper, which is called as `helper LIBRARY`. */
enum { TENON_CUDA_HELPER_SOCKETS = 4, TENON_CUDA_HELPER_FIRST = 3 };

typedef struct tenon__cuda_helper_request_t {
  int32_t architecture;
  uint32_t text_size;
} tenon__cuda_helper_request_t;

typedef struct tenon__cuda_helper_reply_t {
  uint64_t code_size; /* 0: it cannot be compiled */
} tenon__cuda_helper_reply_t;

/* All of it, or false: the other side is gone. */
static inline bool tenon__cuda_helper_send(int socket, const void* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t put = send(socket, (const char*)data + done, size - done, MSG_NOSIGNAL);
    if (put < 0 && errno != EINTR) {
      return false;
    }
    done += put > 0 ? (size_t)put : 0;
  }
  return true;
}
static inline bool tenon__cuda_helper_receive(int socket, void* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = recv(socket, (char*)data + done, size - done, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return false;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  return true;
}

enum { TENON_CUDA_HOPPER = 90 };

/* Writes the compiler's target, "sm_80" or on Hopper "sm_90a". Code for sm_90a runs on no other
 * architecture. A device loads only code for its own architecture anyway. */
static inline void tenon__cuda_write_target(int architecture, char* out_text, size_t capacity) {
  (void)snprintf(out_text, capacity, "sm_%d%s", architecture,
                 architecture == TENON_CUDA_HOPPER ? "a" : "");
}

/* The one set of options for all texts. Without contraction: each instruction of a program rounds,
 * as it does elsewhere. */
typedef struct tenon__cuda_compile_options_t {
  char target[40];
  const char* items[8];
  int count;
} tenon__cuda_compile_options_t;

static inline void tenon__cuda_compile_options(int architecture,
                                               tenon__cuda_compile_options_t* out) {
  static const char* const fixed[] = {"--fmad=false", "--std=c++17", "-default-device", "-w"};
  char target[16];
  tenon__cuda_write_target(architecture, target, sizeof(target));
  (void)snprintf(out->target, sizeof(out->target), "--gpu-architecture=%s", target);
  out->items[0] = out->target;
  out->count = 1;
  for (size_t k = 0; k < sizeof(fixed) / sizeof(*fixed); k++) {
    out->items[out->count++] = fixed[k];
  }
}

#endif
