/* Inside the ELF reader: bounds-checked views, for elf_file.c (segments, notes) and elf_dynamic.c
 * (symbols). */
#ifndef TENON_PLUGIN_REGISTRY_ELF_READER_H_
#define TENON_PLUGIN_REGISTRY_ELF_READER_H_

#include <link.h>

#include "plugin_registry/elf_file.h"

/* Most plugins have all that we look at but their dynamic section in the first pages. */
enum { TENON_ELF_HEAD_BYTES = 8192 };

typedef struct tenon__elf_reader_t {
  tenon__arena_t* arena;
  const tenon__elf_source_t* source;
  const ElfW(Phdr) * segments;
  size_t segment_count;
  uint64_t viewed_bytes;  /* beyond the head, all together */
  tenon__finding_t fault; /* the first one */
  size_t head_size;
  _Alignas(16) unsigned char head[TENON_ELF_HEAD_BYTES];
} tenon__elf_reader_t;

/* Notes the fault, unless there was one already. Returns false. */
bool tenon__elf_fail(tenon__elf_reader_t* reader, tenon__plugin_reason_t reason, const char* format,
                     ...) __attribute__((format(printf, 3, 4)));
/* Bytes of the file, valid while the reader and the arena live; NULL after a fault. Alignment is
 * not known. */
const unsigned char* tenon__elf_view(tenon__elf_reader_t* reader, uint64_t offset, uint64_t size,
                                     const char* what);
/* The same by address: the range must lie in the bytes of one loaded segment. */
const unsigned char* tenon__elf_view_address(tenon__elf_reader_t* reader, uint64_t address,
                                             uint64_t size, const char* what);
/* Dynamic section, strings, symbols. */
bool tenon__elf_read_dynamic(tenon__elf_reader_t* reader, const ElfW(Phdr) * segment,
                             tenon__elf_t* elf);

#endif
