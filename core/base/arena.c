/* An arena is a list of blocks, newest first; allocations are cut from the newest. What would waste
 * much of a fresh block gets a block of its own behind the newest. Under the address sanitizer
 * every allocation is followed by bytes that may not be touched. */
#include "core/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_ARENA_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TENON_ARENA_POISON 1
#endif

#ifdef TENON_ARENA_POISON
#include <sanitizer/asan_interface.h>
#define TENON_ARENA_GAP ((size_t)16)
#else
#define TENON_ARENA_GAP ((size_t)0)
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define TENON_ARENA_FIRST_BLOCK ((size_t)4096)
#define TENON_ARENA_LARGEST_BLOCK ((size_t)1 << 20)
#define TENON_ARENA_ALIGNMENT ((size_t)16)

typedef struct tenon__arena_block_t {
  struct tenon__arena_block_t* next;
  size_t size_bytes; /* with this header */
} tenon__arena_block_t;

_Static_assert(sizeof(tenon__arena_block_t) % 16 == 0, "allocations are aligned to 16");

void tenon__arena_initialize(tenon__arena_t* out_arena, tenon_allocator_t allocator) {
  *out_arena = (tenon__arena_t){.allocator = allocator};
}

void tenon__arena_deinitialize(tenon__arena_t* arena) {
  tenon__arena_block_t* block = arena->blocks;
  while (block != NULL) {
    tenon__arena_block_t* next = block->next;
    ASAN_UNPOISON_MEMORY_REGION(block, block->size_bytes);
    tenon__free(arena->allocator, block, block->size_bytes);
    block = next;
  }
  tenon__arena_initialize(arena, arena->allocator);
}

/* NULL when memory is out. The list is the caller's to change. */
static tenon__arena_block_t* add_block(tenon__arena_t* arena, size_t size_bytes) {
  size_t total = 0;
  if (!tenon__add_size(arena->total_bytes, size_bytes, &total)) {
    return NULL;
  }
  tenon__arena_block_t* block = tenon__allocate(arena->allocator, 1, size_bytes);
  if (block == NULL) {
    return NULL;
  }
  block->size_bytes = size_bytes;
  arena->total_bytes = total;
  ASAN_POISON_MEMORY_REGION((char*)block + sizeof(*block), size_bytes - sizeof(*block));
  return block;
}

/* Blocks double, so that their number stays small whatever the arena holds. */
static size_t next_block_size(const tenon__arena_t* arena) {
  size_t size_bytes = arena->total_bytes;
  size_bytes = size_bytes < TENON_ARENA_FIRST_BLOCK ? TENON_ARENA_FIRST_BLOCK : size_bytes;
  return size_bytes > TENON_ARENA_LARGEST_BLOCK ? TENON_ARENA_LARGEST_BLOCK : size_bytes;
}

/* `size_bytes` is rounded up. NULL when memory is out. Fresh blocks are zero already. */
static char* cut(tenon__arena_t* arena, size_t size_bytes) {
  if (arena->blocks != NULL && size_bytes <= arena->blocks->size_bytes - arena->used_bytes) {
    char* place = (char*)arena->blocks + arena->used_bytes;
    arena->used_bytes += size_bytes;
    return place;
  }
  const size_t header = sizeof(tenon__arena_block_t);
  const size_t block_size = next_block_size(arena);
  if (size_bytes > block_size / 4) {
    size_t own_size = 0;
    tenon__arena_block_t* own =
        tenon__add_size(size_bytes, header, &own_size) ? add_block(arena, own_size) : NULL;
    if (own == NULL) {
      return NULL;
    }
    if (arena->blocks == NULL) {
      arena->blocks = own;
      arena->used_bytes = own_size;
    } else {
      own->next = arena->blocks->next;
      arena->blocks->next = own;
    }
    return (char*)own + header;
  }
  tenon__arena_block_t* block = add_block(arena, block_size);
  if (block == NULL) {
    return NULL;
  }
  block->next = arena->blocks;
  arena->blocks = block;
  arena->used_bytes = header + size_bytes;
  return (char*)block + header;
}

/* `size_bytes` with what must lie behind it. */
static bool round_up(size_t size_bytes, size_t* out_rounded) {
  const bool fits =
      tenon__add_size(size_bytes, TENON_ARENA_ALIGNMENT - 1 + TENON_ARENA_GAP, out_rounded);
  *out_rounded &= ~(TENON_ARENA_ALIGNMENT - 1);
  return fits;
}

void* tenon__arena_allocate(tenon__arena_t* arena, size_t count, size_t size_bytes) {
  size_t wanted = 0;
  size_t rounded = 0;
  char* place = NULL;
  if (tenon__multiply_size(count, size_bytes, &wanted)) {
    wanted = wanted > 0 ? wanted : 1;
    place = round_up(wanted, &rounded) ? cut(arena, rounded) : NULL;
  }
  if (place != NULL) {
    ASAN_UNPOISON_MEMORY_REGION(place, wanted);
  } else {
    arena->failed = true;
  }
  return place;
}

char* tenon__arena_copy_text(tenon__arena_t* arena, const char* data, size_t size) {
  size_t with_nul = 0;
  if (!tenon__add_size(size, 1, &with_nul)) {
    arena->failed = true;
    return NULL;
  }
  char* text = tenon__arena_allocate(arena, 1, with_nul);
  if (text != NULL && size > 0) {
    memcpy(text, data, size);
  }
  return text;
}

void* tenon__arena_allocate_aligned(tenon__arena_t* arena, size_t size_bytes) {
  enum { ALIGNMENT = 64 };
  size_t padded = 0;
  char* raw = tenon__add_size(size_bytes, ALIGNMENT, &padded)
                  ? tenon__arena_allocate(arena, padded, 1)
                  : NULL;
  return raw == NULL ? NULL : raw + (ALIGNMENT - (uintptr_t)raw % ALIGNMENT) % ALIGNMENT;
}

char* tenon__arena_copy_string(tenon__arena_t* arena, const char* text) {
  return tenon__arena_copy_text(arena, text, strlen(text));
}

void* tenon__arena_copy(tenon__arena_t* arena, const void* data, size_t size_bytes) {
  void* copy = tenon__arena_allocate(arena, 1, size_bytes);
  if (copy != NULL && size_bytes > 0) {
    memcpy(copy, data, size_bytes);
  }
  return copy;
}

bool tenon__arena_grow(tenon__arena_t* arena, void* inout_array, uint32_t* inout_capacity,
                       uint32_t needed, size_t element_size) {
  const uint32_t capacity = *inout_capacity;
  if (needed <= capacity) {
    return true;
  }
  const uint32_t doubled = capacity < 4 ? 8 : capacity > UINT32_MAX / 2 ? needed : capacity * 2;
  const uint32_t grown = doubled < needed ? needed : doubled;
  void* moved = tenon__arena_allocate(arena, grown, element_size);
  if (moved == NULL) {
    return false;
  }
  /* The caller's variable is a pointer to its element; memcpy reads and writes it as what it is. */
  void* array = NULL;
  memcpy(&array, inout_array, sizeof(array));
  if (capacity > 0) {
    memcpy(moved, array, capacity * element_size);
  }
  memcpy(inout_array, &moved, sizeof(moved));
  *inout_capacity = grown;
  return true;
}

char* tenon__arena_format(tenon__arena_t* arena, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int size = vsnprintf(NULL, 0, format, arguments);
  char* text = size < 0 ? NULL : tenon__arena_allocate(arena, 1, (size_t)size + 1);
  if (text != NULL) {
    (void)vsnprintf(text, (size_t)size + 1, format, again);
  }
  va_end(again);
  va_end(arguments);
  return text;
}
