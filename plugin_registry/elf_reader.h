/* Bounds-checked views of a shared object, for elf_file.c (segments, notes) and elf_dynamic.c
 * (symbols). */
#ifndef TENON_PLUGIN_REGISTRY_ELF_READER_H_
#define TENON_PLUGIN_REGISTRY_ELF_READER_H_

#include "plugin_registry/elf_file.h"

/* Notes the fault, unless there was one already. Returns false. In the reader's arena; the words
 * carry the values that were found. */
bool tenon__elf_fail(tenon__elf_reader_t* reader, tenon__plugin_reason_t reason, const char* format,
                     ...) __attribute__((format(printf, 3, 4)));
/* Bytes of the file, valid while the reader and the arena live; NULL after a fault. Alignment is
 * not known. Bytes beyond the first pages are read for each view, 16 MiB of a file altogether: a
 * damaged file cannot make the reader read for ever. `what` names them in a fault. */
const unsigned char* tenon__elf_view(tenon__elf_reader_t* reader, uint64_t offset, uint64_t size,
                                     const char* what);
/* The same by address: the range must lie in the bytes of one loaded segment. */
const unsigned char* tenon__elf_view_address(tenon__elf_reader_t* reader, uint64_t address,
                                             uint64_t size, const char* what);

#endif
