/* Two ranges for each device, and a list of blocks, by address, that covers the range. */
#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "environment.h"

struct far_block_t {
  far_block_t* next;
  size_t offset;
  size_t room; /* a multiple of 256 */
  size_t size; /* as it was asked for */
  bool used;
};

enum { ALIGNMENT = 256 };

static char* reserve(size_t size, int protection) {
  void* range = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? NULL : range;
}

bool far_memory_reserve(tenon_device_t* device) {
  const size_t range = far_environment()->range;
  if (device->outside != NULL) {
    return true;
  }
  far_block_t* block = calloc(1, sizeof(*block));
  char* outside = reserve(range, PROT_NONE);
  char* inside = reserve(range, PROT_READ | PROT_WRITE);
  if (block == NULL || outside == NULL || inside == NULL) {
    free(block);
    if (outside != NULL) {
      (void)munmap(outside, range);
    }
    if (inside != NULL) {
      (void)munmap(inside, range);
    }
    return false;
  }
  block->room = range;
  device->blocks = block;
  device->outside = outside;
  device->inside = inside;
  device->range = range;
  return true;
}

bool far_memory_owns(const tenon_device_t* device, const void* address) {
  return device->outside != NULL && (uintptr_t)address - (uintptr_t)device->outside < device->range;
}

tenon_device_t* far_memory_owner(const void* address) {
  for (uint32_t index = 0; index < FAR_DEVICES; ++index) {
    tenon_device_t* device = far_device(index);
    far_lock(device);
    const bool owns = far_memory_owns(device, address);
    far_unlock(device);
    if (owns) {
      return device;
    }
  }
  return NULL;
}

/* The block that an offset is in; never NULL for one in the range. */
static far_block_t* block_at(const tenon_device_t* device, size_t offset) {
  far_block_t* block = device->blocks;
  while (block->next != NULL && block->next->offset <= offset) {
    block = block->next;
  }
  return block;
}

void* far_memory_inside(tenon_device_t* device, const void* address, size_t size, const char* who) {
  if (!far_memory_owns(device, address)) {
    (void)far_mistake(device, "%s: %zu bytes at %p are not in its memory", who, size, address);
    return NULL;
  }
  const size_t offset = (size_t)((const char*)address - device->outside);
  far_lock(device);
  const far_block_t* block = block_at(device, offset);
  const bool used = block->used;
  const size_t within = offset - block->offset;
  const size_t block_size = block->size;
  far_unlock(device);
  if (!used || within > block_size || size > block_size - within) {
    (void)far_mistake(device, "%s: %zu bytes at %p are %s", who, size, address,
                      used ? "more than was allocated there" : "not allocated");
    return NULL;
  }
  return device->inside + offset;
}

/* Cuts what is too much off a free block. */
static bool split(far_block_t* block, size_t room) {
  if (block->room == room) {
    return true;
  }
  far_block_t* rest = calloc(1, sizeof(*rest));
  if (rest == NULL) {
    return false;
  }
  *rest = (far_block_t){
      .next = block->next, .offset = block->offset + room, .room = block->room - room};
  block->next = rest;
  block->room = room;
  return true;
}

tenon_status_t far_memory_allocate(tenon_device_t* device, size_t size, void** out_address) {
  if (size > device->range) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const size_t room = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  far_lock(device);
  far_counts_t* counts = &device->counts;
  far_block_t* block = device->blocks;
  while (block != NULL && (block->used || block->room < room)) {
    block = block->next;
  }
  const bool fits = counts->live_bytes + size <= device->settings[FAR_SETTING_MEMORY];
  if (!fits || block == NULL || !split(block, room)) {
    far_unlock(device);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  block->used = true;
  block->size = size;
  ++counts->live_allocations;
  counts->live_bytes += size;
  counts->peak_bytes =
      counts->live_bytes > counts->peak_bytes ? counts->live_bytes : counts->peak_bytes;
  const size_t offset = block->offset;
  far_unlock(device);
  memset(device->inside + offset, FAR_FRESH_BYTE, room);
  *out_address = device->outside + offset;
  return TENON_OK;
}

/* Makes one block of it and what is free behind it. */
static void join(far_block_t* block) {
  far_block_t* next = block->next;
  if (next != NULL && !next->used && !block->used) {
    block->room += next->room;
    block->next = next->next;
    free(next);
  }
}

void far_memory_free(tenon_device_t* device, void* address, size_t size) {
  if (!far_memory_owns(device, address)) {
    (void)far_mistake(device, "free: %p is not in its memory", address);
    return;
  }
  const size_t offset = (size_t)((const char*)address - device->outside);
  far_lock(device);
  far_block_t* block = block_at(device, offset);
  const bool used = block->used;
  const size_t allocated = block->size;
  const bool good = used && block->offset == offset && allocated == size;
  if (good) {
    memset(device->inside + offset, FAR_FREED_BYTE, block->room);
    block->used = false;
    --device->counts.live_allocations;
    device->counts.live_bytes -= size;
    join(block);
    if (block != device->blocks) {
      join(block_at(device, offset - 1));
    }
  }
  far_unlock(device);
  if (!good) {
    (void)far_mistake(device, "free: %zu bytes at %p, where %s (%zu bytes)", size, address,
                      used ? "something else was allocated" : "nothing is allocated", allocated);
  }
}
