/*
 * A shared object, read without running it. Every offset and size comes from outside and is checked
 * against the file; nothing is mapped, so a file that shrinks meanwhile is an error and not a
 * signal. Follows the generic ELF specification, chapters 4 and 5, and the layout of DT_GNU_HASH.
 * Native class and byte order alone.
 */
#ifndef TENON_PLUGIN_REGISTRY_ELF_FILE_H_
#define TENON_PLUGIN_REGISTRY_ELF_FILE_H_

#include <link.h>
#include <stdbool.h>

#include "core/base/arena.h"
#include "plugin_registry/reason.h"

/* Where the bytes come from. `read` is false when the bytes [offset, offset + size) are not all
 * there. `size` is the file's when it was opened; it may have shrunk since, and then read fails. */
typedef struct tenon__elf_source_t {
  const void* user;
  bool (*read)(const void* user, uint64_t offset, void* out_data, size_t size);
  uint64_t size;
} tenon__elf_source_t;

/* What is known of a file. Strings and arrays lie in the arena, the note perhaps in the reader.
 * What elf_begin does not reach is zero until elf_finish. Nothing is judged here: audit.h does. */
typedef struct tenon__elf_t {
  const char* note; /* text of the Tenon note, not terminated; NULL when there is none */
  size_t note_size;
  bool is_program;
  bool executable_stack;
  bool writable_code;
  bool text_relocations;
  const char* run_path;         /* NULL when there is none */
  const char* const* libraries; /* DT_NEEDED */
  size_t library_count;
  const char* other_library;  /* one of DT_AUXILIARY, DT_FILTER, DT_AUDIT, DT_DEPAUDIT, or NULL */
  const char* const* exports; /* names of defined dynamic symbols, the query symbol excluded */
  size_t export_count;
  bool has_query;           /* exported, and a function */
  const char* tenon_import; /* an undefined symbol that begins with tenon_, or NULL */
} tenon__elf_t;

/* Most plugins have all that we look at but their dynamic section in the first pages. */
enum { TENON_ELF_HEAD_BYTES = 8192 };

/* A reading. Views of the file are valid while it and the arena live. */
typedef struct tenon__elf_reader_t {
  tenon__arena_t* arena;
  const tenon__elf_source_t* source;
  const ElfW(Phdr) * segments;
  const ElfW(Phdr) * dynamic; /* one of the segments, or NULL */
  size_t segment_count;
  uint64_t viewed_bytes;  /* beyond the head, all together */
  tenon__finding_t fault; /* the first one */
  size_t head_size;
  _Alignas(16) unsigned char head[TENON_ELF_HEAD_BYTES];
} tenon__elf_reader_t;

/* Header, segments and note: `note` and what segments tell are set. Reasons: NOT_ELF, DAMAGED,
 * MACHINE, UNREADABLE, MEMORY; a note that is cut short: MANIFEST. In two parts, since a manifest
 * may show that the rest need not be read at all. */
tenon__finding_t tenon__elf_begin(tenon__elf_reader_t* out_reader, tenon__arena_t* arena,
                                  const tenon__elf_source_t* source, tenon__elf_t* out_elf);
/* After a beginning without fault, the rest: dynamic section and symbols. The same reasons. Exports
 * and imports are looked at through the hash table and the symbols, as the loader will. */
tenon__finding_t tenon__elf_finish(tenon__elf_reader_t* reader, tenon__elf_t* inout_elf);
/* Both; the note lies in the arena. */
tenon__finding_t tenon__elf_read(tenon__arena_t* arena, const tenon__elf_source_t* source,
                                 tenon__elf_t* out_elf);

/* Sources: an open file, and bytes in memory. */
tenon__elf_source_t tenon__elf_source_of_file(const int* descriptor, uint64_t size);
typedef struct tenon__elf_bytes_t {
  const void* data;
  size_t size;
} tenon__elf_bytes_t;
/* Both borrow what they are given, the descriptor by its address. */
tenon__elf_source_t tenon__elf_source_of_bytes(const tenon__elf_bytes_t* bytes);

#endif
