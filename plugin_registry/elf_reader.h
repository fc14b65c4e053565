/* Bounds-checked views of a shared object, for elf_file.c (segments, notes) and elf_dynamic.c
 * (symbols). */
#ifndef TENON_PLUGIN_REGISTRY_ELF_READER_H_
#define TENON_PLUGIN_REGISTRY_ELF_READER_H_

#include "plugin_registry/elf_file.h"

/* Stores the error with a message in the reader's arena, unless there is one already. The message
 * contains the values found. Returns false. */
bool tenon__elf_fail(tenon__elf_reader_t* reader, tenon__plugin_reason_t reason, const char* format,
                     ...) __attribute__((format(printf, 3, 4)));
/* Returns bytes of the file, valid while the reader and the arena live; NULL after an error. The
 * alignment is unknown. Bytes after the first pages are read for each view, at most 16 MiB in
 * total, so that a damaged file cannot make the reader read forever. `what` is their name in
 * errors. */
const unsigned char* tenon__elf_view(tenon__elf_reader_t* reader, uint64_t offset, uint64_t size,
                                     const char* what);
/* Same by address. The range must be in the bytes of one loaded segment. */
const unsigned char* tenon__elf_view_address(tenon__elf_reader_t* reader, uint64_t address,
                                             uint64_t size, const char* what);

#endif
