/* See memory.h. */
#include "check/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATTERN = 0x6b, ALIGNMENT = 16, GUARD_BYTES = 1 << 20 };

bool check_memory_make(size_t size_bytes, check_memory_t* out_memory) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t rounded = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  const size_t pages = (rounded + page - 1) / page * page + (rounded == 0 ? page : 0);
  uint8_t* whole = mmap(NULL, pages + 2 * (size_t)GUARD_BYTES, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) {
    return false;
  }
  if (mprotect(whole + GUARD_BYTES, pages, PROT_READ | PROT_WRITE) != 0) {
    (void)munmap(whole, pages + 2 * (size_t)GUARD_BYTES);
    return false;
  }
  *out_memory = (check_memory_t){.data = whole + GUARD_BYTES + pages - rounded,
                                 .size_bytes = size_bytes,
                                 .pages = whole + GUARD_BYTES,
                                 .pages_bytes = pages};
  check_memory_poison(out_memory, 0);
  return true;
}

void check_memory_free(check_memory_t* memory) {
  if (memory->pages != NULL) {
    (void)munmap(memory->pages - GUARD_BYTES, memory->pages_bytes + 2 * (size_t)GUARD_BYTES);
  }
  *memory = (check_memory_t){0};
}

void check_memory_protect(const check_memory_t* memory, bool read_only) {
  (void)mprotect(memory->pages, memory->pages_bytes,
                 read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

void check_memory_poison(const check_memory_t* memory, uint8_t byte) {
  memset(memory->pages, PATTERN, memory->pages_bytes);
  memset(memory->data, byte, memory->size_bytes);
}

int64_t check_memory_overrun(const check_memory_t* memory) {
  const uint8_t* data = memory->data;
  const uint8_t* end = memory->pages + memory->pages_bytes;
  for (const uint8_t* at = data + memory->size_bytes; at < end; ++at) {
    if (*at != PATTERN) {
      return at - (data + memory->size_bytes) + 1;
    }
  }
  for (const uint8_t* at = data; at > memory->pages; --at) {
    if (at[-1] != PATTERN) {
      return at - 1 - data;
    }
  }
  return 0;
}
