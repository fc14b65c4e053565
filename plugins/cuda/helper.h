/* Processes that compile texts beside ours: see helper/protocol.h. */
#ifndef PLUGINS_CUDA_HELPER_H_
#define PLUGINS_CUDA_HELPER_H_

#include "compiler.h"
#include "helper/protocol.h"

/* Starts one with NVRTC from the file `library`. False: a process cannot be started here, and who
 * asks compiles by itself. Nothing is to be waited for: it ends when its sockets are closed, and is
 * no child of this process. */
bool tenon__cuda_helper_start(const char* library, int out_sockets[TENON_CUDA_HELPER_SOCKETS]);
/* Through a socket that no other thread uses at the moment. False: the helper is gone. *out_code
 * NULL: the text cannot be compiled. The caller frees the code by the state's allocator. */
bool tenon__cuda_helper_compile(const tenon__cuda_state_t* state, int socket, const char* text,
                                int architecture, void** out_code, size_t* out_size);

#endif
