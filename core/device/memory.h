/*
 * Memory of a device, the host's among them: what arenas, workspaces, growing outputs, weights and
 * trials are allocated from. A block is given back to where it came from, with its size.
 */
#ifndef TENON_CORE_DEVICE_MEMORY_H_
#define TENON_CORE_DEVICE_MEMORY_H_

#include "core/base/allocator.h"
#include "core/device/device.h"

/* Of the host where `device` is NULL or has the host's memory: then the allocator's. Otherwise the
 * device's, in the order of `stream`. Passed by value, borrows all. */
typedef struct tenon__memory_t {
  tenon_allocator_t allocator;
  const tenon__device_t* device;
  tenon_stream_t* stream;
} tenon__memory_t;

/* The host's. */
tenon__memory_t tenon__memory_host(tenon_allocator_t allocator);
/* May the host read and write it? */
bool tenon__memory_is_host(const tenon__memory_t* memory);
/* NULL where there is none; 0 bytes are a block too. Aligned to 64 bytes at least. Filled with
 * zeros on the host alone: elsewhere that is work, which who needs it asks for. */
void* tenon__memory_allocate(const tenon__memory_t* memory, size_t size_bytes);
/* NULL is fine. On a device: when the stream has come so far. */
void tenon__memory_free(const tenon__memory_t* memory, void* block, size_t size_bytes);
/* In the order of the stream. */
tenon_status_t tenon__memory_clear(const tenon__memory_t* memory, void* block, size_t size_bytes);
/* From and to the host, in the order of the stream: what the host gives or gets stays until then.
 */
tenon_status_t tenon__memory_write(const tenon__memory_t* memory, void* block, const void* source,
                                   size_t size_bytes);
tenon_status_t tenon__memory_read(const tenon__memory_t* memory, void* target, const void* block,
                                  size_t size_bytes);

#endif
