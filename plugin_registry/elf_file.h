/*
 * Reads a shared object without running it. All offsets and sizes are untrusted and checked against
 * the file. Nothing is mapped, so a file that shrinks causes an error and not a signal. Follows the
 * generic ELF specification, chapters 4 and 5, and the layout of DT_GNU_HASH. Supports the native
 * class and byte order only.
 */
#ifndef TENON_PLUGIN_REGISTRY_ELF_FILE_H_
#define TENON_PLUGIN_REGISTRY_ELF_FILE_H_

#include <link.h>
#include <stdbool.h>

#include "core/base/arena.h"
#include "plugin_registry/reason.h"

/* The source of the bytes. `read` returns false if the bytes [offset, offset + size) are not
 * available. `size` is the file's size when it was opened. If it has shrunk since, read fails. */
typedef struct tenon__elf_source_t {
  const void* user;
  bool (*read)(const void* user, uint64_t offset, void* out_data, size_t size);
  uint64_t size;
} tenon__elf_source_t;

/* Data read from a file. Strings and arrays are in the arena, the note may be in the reader.
 * Members that elf_begin does not set are zero until elf_finish. audit.h checks the rules. */
typedef struct tenon__elf_t {
  const char* note; /* text of the Tenon note, not terminated; may be NULL */
  size_t note_size;
  bool is_program;
  bool executable_stack;
  bool writable_code;
  bool text_relocations;
  const char* run_path;         /* may be NULL */
  const char* const* libraries; /* DT_NEEDED */
  size_t library_count;
  const char* other_library;  /* one of DT_AUXILIARY, DT_FILTER, DT_AUDIT, DT_DEPAUDIT, or NULL */
  const char* const* exports; /* names of defined dynamic symbols, the query symbol excluded */
  size_t export_count;
  bool has_query;           /* exported, and a function */
  const char* tenon_import; /* an undefined symbol that begins with tenon_, or NULL */
} tenon__elf_t;

/* In most plugins, all data except the dynamic section are in the first pages. */
enum { TENON_ELF_HEAD_BYTES = 8192 };

/* The state of a reading. Views of the file are valid while it and the arena live. */
typedef struct tenon__elf_reader_t {
  tenon__arena_t* arena;
  const tenon__elf_source_t* source;
  const ElfW(Phdr) * segments;
  const ElfW(Phdr) * dynamic; /* one of the segments, or NULL */
  size_t segment_count;
  uint64_t viewed_bytes;  /* total, without the head */
  tenon__finding_t fault; /* the first one */
  size_t head_size;
  _Alignas(16) unsigned char head[TENON_ELF_HEAD_BYTES];
} tenon__elf_reader_t;

/* Reads header, segments and note, and sets the members that depend on them. Reading has two parts,
 * because a manifest may show that the rest need not be read. Reasons: NOT_ELF, DAMAGED, MACHINE,
 * UNREADABLE, MEMORY; MANIFEST for a truncated note. */
tenon__finding_t tenon__elf_begin(tenon__elf_reader_t* out_reader, tenon__arena_t* arena,
                                  const tenon__elf_source_t* source, tenon__elf_t* out_elf);
/* Reads the rest after a successful begin: dynamic section and symbols. Exports and imports are
 * read through the hash table and the symbols, as by the loader. Same reasons. */
tenon__finding_t tenon__elf_finish(tenon__elf_reader_t* reader, tenon__elf_t* inout_elf);
/* Does both; the note is in the arena. */
tenon__finding_t tenon__elf_read(tenon__arena_t* arena, const tenon__elf_source_t* source,
                                 tenon__elf_t* out_elf);

/* Sources: an open file, and bytes in memory. */
tenon__elf_source_t tenon__elf_source_of_file(const int* descriptor, uint64_t size);
typedef struct tenon__elf_bytes_t {
  const void* data;
  size_t size;
} tenon__elf_bytes_t;
/* Both borrow their argument, the descriptor by its address. */
tenon__elf_source_t tenon__elf_source_of_bytes(const tenon__elf_bytes_t* bytes);

#endif
