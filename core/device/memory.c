/* Memory from the allocator for the host and from the device for its own memory. */
#include "core/device/memory.h"

#include <string.h>

tenon__memory_t tenon__memory_host(tenon_allocator_t allocator) {
  return (tenon__memory_t){.allocator = allocator};
}

bool tenon__memory_is_host(const tenon__memory_t* memory) {
  return memory->device == NULL || tenon__device_is_host(memory->device);
}

/* A device's block is never of nothing: what a plugin makes of 0 bytes nobody says. */
static size_t block_bytes(size_t size_bytes) {
  return size_bytes == 0 ? 1 : size_bytes;
}

tenon_status_t tenon__memory_allocate(const tenon__memory_t* memory, size_t size_bytes,
                                      void** out_block) {
  if (!tenon__memory_is_host(memory)) {
    return tenon__device_allocate(memory->device, memory->stream, block_bytes(size_bytes),
                                  out_block);
  }
  *out_block = tenon__allocate(memory->allocator, size_bytes, 1);
  return *out_block == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

void tenon__memory_free(const tenon__memory_t* memory, void* block, size_t size_bytes) {
  if (tenon__memory_is_host(memory)) {
    tenon__free(memory->allocator, block, size_bytes);
  } else {
    tenon__device_free(memory->device, memory->stream, block, block_bytes(size_bytes));
  }
}

tenon_status_t tenon__memory_clear(const tenon__memory_t* memory, void* block, size_t size_bytes) {
  if (!tenon__memory_is_host(memory)) {
    return tenon__device_clear(memory->device, memory->stream, block, size_bytes);
  }
  memset(block, 0, size_bytes);
  return TENON_OK;
}

tenon_status_t tenon__memory_write(const tenon__memory_t* memory, void* block, const void* source,
                                   size_t size_bytes) {
  if (tenon__memory_is_host(memory)) {
    memcpy(block, source, size_bytes);
    return TENON_OK;
  }
  return tenon__device_copy(memory->device, memory->stream, TENON_COPY_TO_DEVICE, block, source,
                            size_bytes);
}

tenon_status_t tenon__memory_read(const tenon__memory_t* memory, void* target, const void* block,
                                  size_t size_bytes) {
  if (tenon__memory_is_host(memory)) {
    memcpy(target, block, size_bytes);
    return TENON_OK;
  }
  return tenon__device_copy(memory->device, memory->stream, TENON_COPY_TO_HOST, target, block,
                            size_bytes);
}
