/* Bytes: copies, fills, and memory by a stream's order. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_COPY_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_COPY_H_

#include "stream.h"

/* Of the descriptor. */
tenon_status_t far_allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                            void** out_data);
void far_free(tenon_device_t* device, tenon_stream_t* stream, void* data, size_t size_bytes);
tenon_status_t far_copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                        void* target, const void* source, size_t size_bytes);
tenon_status_t far_fill(tenon_device_t* device, tenon_stream_t* stream, void* target, int32_t byte,
                        size_t size_bytes);

#endif
