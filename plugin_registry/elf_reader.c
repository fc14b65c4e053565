/* Views of a shared object's bytes: from the first pages, which are in memory, or read for the view. */
#include "plugin_registry/elf_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* All views of a file together: the strings and symbols of a plugin have some kilobytes. */
#define VIEW_LIMIT ((uint64_t)16 << 20)

bool tenon__elf_fail(tenon__elf_reader_t* reader, tenon__plugin_reason_t reason, const char* format,
                     ...) {
  if (reader->fault.reason == TENON_PLUGIN_REASON_NONE) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    const char* detail = tenon__arena_copy_string(reader->arena, message);
    reader->fault = (tenon__finding_t){reason, detail == NULL ? "" : detail};
  }
  return false;
}

const unsigned char* tenon__elf_view(tenon__elf_reader_t* reader, uint64_t offset, uint64_t size,
                                     const char* what) {
  const uint64_t file_size = reader->source->size;
  if (reader->fault.reason != TENON_PLUGIN_REASON_NONE) {
    return NULL;
  }
  if (offset > file_size || size > file_size - offset) {
    (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED,
                          "%s lies outside of the file: %llu bytes at %llu, of %llu", what,
                          (unsigned long long)size, (unsigned long long)offset,
                          (unsigned long long)file_size);
    return NULL;
  }
  if (offset <= reader->head_size && size <= reader->head_size - offset) {
    return reader->head + offset;
  }
  if (size > VIEW_LIMIT - reader->viewed_bytes) {
    (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED, "%s has %llu bytes", what,
                          (unsigned long long)size);
    return NULL;
  }
  reader->viewed_bytes += size;
  unsigned char* data = tenon__arena_allocate(reader->arena, 1, (size_t)size + 1);
  if (data == NULL) {
    (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_MEMORY, "%s", what);
    return NULL;
  }
  if (!reader->source->read(reader->source->user, offset, data, (size_t)size)) {
    (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_UNREADABLE, "%s: %s", what, strerror(errno));
    return NULL;
  }
  return data;
}

const unsigned char* tenon__elf_view_address(tenon__elf_reader_t* reader, uint64_t address,
                                             uint64_t size, const char* what) {
  for (size_t i = 0; i < reader->segment_count; ++i) {
    const ElfW(Phdr)* segment = &reader->segments[i];
    if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
        address - segment->p_vaddr <= segment->p_filesz &&
        size <= segment->p_filesz - (address - segment->p_vaddr)) {
      return tenon__elf_view(reader, segment->p_offset + (address - segment->p_vaddr), size, what);
    }
  }
  (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED,
                        "%s lies in no loaded segment: %llu bytes at address %llu", what,
                        (unsigned long long)size, (unsigned long long)address);
  return NULL;
}
