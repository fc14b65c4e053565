/*
 * Memory of a device or of the host, from which arenas, workspaces, growing outputs, weights and
 * trial data are allocated. A block is freed with its size by the memory that allocated it.
 */
#ifndef TENON_CORE_DEVICE_MEMORY_H_
#define TENON_CORE_DEVICE_MEMORY_H_

#include "core/base/allocator.h"
#include "core/device/device.h"

/* The host's memory from the allocator if `device` is NULL or has the host's memory. Otherwise the
 * device's, in the order of `stream`. Passed by value; borrows all members. */
typedef struct tenon__memory_t {
  tenon_allocator_t allocator;
  const tenon__device_t* device;
  tenon_stream_t* stream;
} tenon__memory_t;

/* Returns the host's memory. */
tenon__memory_t tenon__memory_host(tenon_allocator_t allocator);
/* Returns true if the host may read and write it. */
bool tenon__memory_is_host(const tenon__memory_t* memory);
/* Allocates a block aligned to at least 64 bytes; 0 bytes give a block too. Sends no message for
 * OUT_OF_MEMORY; other failures of a device have a message. Blocks of the host are filled with
 * zeros. On a device that would be work, so the caller clears the block if necessary. */
tenon_status_t tenon__memory_allocate(const tenon__memory_t* memory, size_t size_bytes,
                                      void** out_block);
/* Frees a block; NULL does nothing. On a device it is freed in the order of the stream. */
void tenon__memory_free(const tenon__memory_t* memory, void* block, size_t size_bytes);
/* Fills the block with zeros, in the order of the stream. */
tenon_status_t tenon__memory_clear(const tenon__memory_t* memory, void* block, size_t size_bytes);
/* Copies from and to the host, in the order of the stream. The host's memory must stay valid until
 * the copy is complete. */
tenon_status_t tenon__memory_write(const tenon__memory_t* memory, void* block, const void* source,
                                   size_t size_bytes);
tenon_status_t tenon__memory_read(const tenon__memory_t* memory, void* target, const void* block,
                                  size_t size_bytes);

#endif
