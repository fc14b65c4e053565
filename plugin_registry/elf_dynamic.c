/* The dynamic section of a shared object: libraries, search paths, symbols. The number of symbols
 * is what the hash table says, as for the loader; section headers are not looked at. */
#include <string.h>

#include "plugin_registry/elf_reader.h"

#define DYNAMIC_LIMIT ((uint64_t)64 << 10)
#define SYMBOL_LIMIT 65536u

/* Addresses and sizes as DT_* entries give them; 0 when absent. */
typedef struct dynamic_t {
  uint64_t strings;
  uint64_t strings_size;
  uint64_t symbols;
  uint64_t symbol_size;
  uint64_t hash;
  uint64_t gnu_hash;
  size_t library_count;
  const char* text; /* the string table */
} dynamic_t;

static bool fail(tenon__elf_reader_t* reader, const char* what) {
  return tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED, "%s", what);
}

static const char* string_at(tenon__elf_reader_t* reader, const dynamic_t* dynamic,
                             uint64_t offset) {
  if (offset >= dynamic->strings_size ||
      memchr(dynamic->text + offset, '\0', (size_t)(dynamic->strings_size - offset)) == NULL) {
    (void)fail(reader, "a string lies outside of the string table");
    return NULL;
  }
  return dynamic->text + offset;
}

/* A copy that outlives the reader. */
static const char* copy_string_at(tenon__elf_reader_t* reader, const dynamic_t* dynamic,
                                  uint64_t offset) {
  const char* text = string_at(reader, dynamic, offset);
  const char* copy = text == NULL ? NULL : tenon__arena_copy_string(reader->arena, text);
  if (text != NULL && copy == NULL) {
    (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_MEMORY, "strings");
  }
  return copy;
}

static void collect_entry(const ElfW(Dyn) * entry, dynamic_t* dynamic, tenon__elf_t* elf) {
  switch (entry->d_tag) {
    case DT_NEEDED:
      ++dynamic->library_count;
      break;
    case DT_STRTAB:
      dynamic->strings = entry->d_un.d_ptr;
      break;
    case DT_STRSZ:
      dynamic->strings_size = entry->d_un.d_val;
      break;
    case DT_SYMTAB:
      dynamic->symbols = entry->d_un.d_ptr;
      break;
    case DT_SYMENT:
      dynamic->symbol_size = entry->d_un.d_val;
      break;
    case DT_HASH:
      dynamic->hash = entry->d_un.d_ptr;
      break;
    case DT_GNU_HASH:
      dynamic->gnu_hash = entry->d_un.d_ptr;
      break;
    case DT_TEXTREL:
      elf->text_relocations = true;
      break;
    case DT_FLAGS:
      elf->text_relocations |= (entry->d_un.d_val & DF_TEXTREL) != 0;
      break;
    case DT_FLAGS_1:
      elf->is_program |= (entry->d_un.d_val & DF_1_PIE) != 0;
      break;
    default:
      break;
  }
}

static bool name_entry(tenon__elf_reader_t* reader, const ElfW(Dyn) * entry,
                       const dynamic_t* dynamic, const char** libraries, tenon__elf_t* elf) {
  const char** target = NULL;
  switch (entry->d_tag) {
    case DT_NEEDED:
      target = &libraries[elf->library_count++];
      break;
    case DT_RPATH:
    case DT_RUNPATH:
      target = &elf->run_path;
      break;
    case DT_AUXILIARY:
    case DT_FILTER:
    case DT_AUDIT:
    case DT_DEPAUDIT:
      target = &elf->other_library;
      break;
    default:
      return true;
  }
  *target = copy_string_at(reader, dynamic, entry->d_un.d_val);
  return *target != NULL;
}

/* ---- How many symbols ---- */

static uint32_t word_at(const unsigned char* data, uint64_t index) {
  uint32_t word = 0;
  memcpy(&word, data + index * sizeof(word), sizeof(word));
  return word;
}

/* The end of the chain that the largest bucket begins. */
static bool count_gnu_hash(tenon__elf_reader_t* reader, uint64_t address, uint32_t* out_count) {
  const unsigned char* header = tenon__elf_view_address(reader, address, 16, "the hash table");
  if (header == NULL) {
    return false;
  }
  const uint32_t bucket_count = word_at(header, 0);
  const uint32_t first = word_at(header, 1);
  const uint64_t buckets = address + 16 + (uint64_t)word_at(header, 2) * sizeof(ElfW(Addr));
  if (bucket_count > SYMBOL_LIMIT || first > SYMBOL_LIMIT) {
    return fail(reader, "its hash table is too large");
  }
  const unsigned char* bucket =
      tenon__elf_view_address(reader, buckets, 4ull * bucket_count, "the hash table's buckets");
  if (bucket == NULL) {
    return false;
  }
  uint32_t last = 0;
  for (uint32_t i = 0; i < bucket_count; ++i) {
    last = word_at(bucket, i) > last ? word_at(bucket, i) : last;
  }
  if (last < first) {
    *out_count = first;
    return true;
  }
  const uint64_t chain = buckets + 4ull * bucket_count;
  for (; last < SYMBOL_LIMIT; ++last) {
    const unsigned char* link = tenon__elf_view_address(reader, chain + 4ull * (last - first), 4,
                                                        "the hash table's chains");
    if (link == NULL) {
      return false;
    }
    if ((word_at(link, 0) & 1u) != 0) {
      *out_count = last + 1;
      return true;
    }
  }
  return fail(reader, "it has too many symbols");
}

static bool count_symbols(tenon__elf_reader_t* reader, const dynamic_t* dynamic,
                          uint32_t* out_count) {
  if (dynamic->gnu_hash != 0) {
    return count_gnu_hash(reader, dynamic->gnu_hash, out_count);
  }
  if (dynamic->hash == 0) {
    return fail(reader, "it has no hash table of symbols");
  }
  const unsigned char* header = tenon__elf_view_address(reader, dynamic->hash, 8, "the hash table");
  if (header == NULL) {
    return false;
  }
  *out_count = word_at(header, 1);
  return *out_count <= SYMBOL_LIMIT || fail(reader, "it has too many symbols");
}

/* ---- Symbols ---- */

static bool begins_with(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* An undefined symbol is looked for in the process; a defined one is seen by it unless it is local
 * or hidden. */
static bool take_symbol(tenon__elf_reader_t* reader, const dynamic_t* dynamic,
                        const ElfW(Sym) * symbol, const char** exports, tenon__elf_t* elf) {
  const unsigned binding = symbol->st_info >> 4;
  const unsigned type = symbol->st_info & 15u;
  const unsigned visibility = symbol->st_other & 3u;
  if (binding == STB_LOCAL || type == STT_SECTION || type == STT_FILE) {
    return true;
  }
  const char* name = string_at(reader, dynamic, symbol->st_name);
  if (name == NULL) {
    return false;
  }
  if (symbol->st_shndx == SHN_UNDEF) {
    if (begins_with(name, "tenon_") && elf->tenon_import == NULL) {
      elf->tenon_import = copy_string_at(reader, dynamic, symbol->st_name);
      return elf->tenon_import != NULL;
    }
    return true;
  }
  if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) {
    return true;
  }
  if (strcmp(name, TENON_PLUGIN_QUERY_SYMBOL) == 0) {
    elf->has_query = type == STT_FUNC;
    return true;
  }
  exports[elf->export_count] = copy_string_at(reader, dynamic, symbol->st_name);
  return exports[elf->export_count++] != NULL;
}

static bool read_symbols(tenon__elf_reader_t* reader, const dynamic_t* dynamic, tenon__elf_t* elf) {
  uint32_t count = 0;
  if (dynamic->symbol_size != sizeof(ElfW(Sym))) {
    return fail(reader, "its symbols have a size of their own");
  }
  if (!count_symbols(reader, dynamic, &count)) {
    return false;
  }
  const unsigned char* data = tenon__elf_view_address(
      reader, dynamic->symbols, (uint64_t)count * sizeof(ElfW(Sym)), "the table of symbols");
  const char** exports = tenon__arena_allocate(reader->arena, (size_t)count + 1, sizeof(*exports));
  if (data == NULL || exports == NULL) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MEMORY, "symbols");
  }
  elf->exports = exports;
  for (uint32_t i = 0; i < count; ++i) {
    ElfW(Sym) symbol;
    memcpy(&symbol, data + i * sizeof(symbol), sizeof(symbol));
    if (!take_symbol(reader, dynamic, &symbol, exports, elf)) {
      return false;
    }
  }
  return true;
}

/* DT_NULL past the end. */
static ElfW(Dyn) entry_at(const unsigned char* data, size_t index, size_t count) {
  ElfW(Dyn) entry = {.d_tag = DT_NULL};
  if (index < count) {
    memcpy(&entry, data + index * sizeof(entry), sizeof(entry));
  }
  return entry;
}

static bool read_dynamic(tenon__elf_reader_t* reader, const ElfW(Phdr) * segment,
                         tenon__elf_t* elf) {
  if (segment->p_filesz > DYNAMIC_LIMIT) {
    return fail(reader, "its dynamic section is too large");
  }
  const unsigned char* data =
      tenon__elf_view(reader, segment->p_offset, segment->p_filesz, "the dynamic section");
  const size_t room = (size_t)(segment->p_filesz / sizeof(ElfW(Dyn)));
  if (data == NULL) {
    return false;
  }
  dynamic_t dynamic = {0};
  size_t count = 0;
  for (ElfW(Dyn) entry = entry_at(data, 0, room); entry.d_tag != DT_NULL;
       entry = entry_at(data, ++count, room)) {
    collect_entry(&entry, &dynamic, elf);
  }
  const char** libraries =
      tenon__arena_allocate(reader->arena, dynamic.library_count + 1, sizeof(*libraries));
  if (libraries == NULL) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MEMORY, "libraries");
  }
  elf->libraries = libraries;
  dynamic.text = (const char*)tenon__elf_view_address(reader, dynamic.strings, dynamic.strings_size,
                                                      "the string table");
  if (dynamic.text == NULL) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Dyn) entry = entry_at(data, i, room);
    if (!name_entry(reader, &entry, &dynamic, libraries, elf)) {
      return false;
    }
  }
  return read_symbols(reader, &dynamic, elf);
}

tenon__finding_t tenon__elf_finish(tenon__elf_reader_t* reader, tenon__elf_t* inout_elf) {
  if (reader->dynamic == NULL) {
    (void)fail(reader, "it has no dynamic section");
  } else {
    (void)read_dynamic(reader, reader->dynamic, inout_elf);
  }
  return reader->fault;
}
