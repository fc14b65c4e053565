/* The ELF reader on real plugins, cut at every length and with bytes changed. */
#include "plugin_registry/elf_file.h"

#include <elf.h>
#include <link.h>

#include "core/base/test.h"
#include "tests/support/plugin_folder.h"

static tenon__finding_t read_bytes(tenon__arena_t* arena, const test_bytes_t* bytes,
                                   tenon__elf_t* out_elf) {
  const tenon__elf_bytes_t view = {bytes->data, bytes->size};
  const tenon__elf_source_t source = tenon__elf_source_of_bytes(&view);
  return tenon__elf_read(arena, &source, out_elf);
}

static tenon__plugin_reason_t reason_of(const test_bytes_t* bytes) {
  tenon__arena_t arena;
  tenon__elf_t elf;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  const tenon__finding_t finding = read_bytes(&arena, bytes, &elf);
  tenon__arena_deinitialize(&arena);
  return finding.reason;
}

TENON_TEST(reads_what_a_plugin_is) {
  tenon__arena_t arena;
  tenon__elf_t elf;
  test_bytes_t bytes = test_read_fixture("good");
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_INT(read_bytes(&arena, &bytes, &elf).reason, TENON_PLUGIN_REASON_NONE);
  REQUIRE(elf.note != NULL && elf.note_size > 20);
  EXPECT(strncmp(elf.note, "name: good\n", 11) == 0);
  EXPECT(!elf.is_program && !elf.executable_stack && !elf.writable_code && !elf.text_relocations);
  EXPECT(elf.has_query);
  EXPECT(elf.run_path == NULL);
  EXPECT(elf.tenon_import == NULL);
  tenon__arena_deinitialize(&arena);
  free(bytes.data);
}

#if defined(__x86_64__)
static bool has_notes_aligned_to_8(const test_bytes_t* bytes) {
  ElfW(Ehdr) header;
  memcpy(&header, bytes->data, sizeof(header));
  for (size_t i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    memcpy(&segment, bytes->data + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_NOTE && segment.p_align == 8) {
      return true;
    }
  }
  return false;
}

/* By default Ubuntu's and Fedora's toolchains put such a note before the manifest. */
TENON_TEST(reads_past_notes_aligned_to_8) {
  tenon__arena_t arena;
  tenon__elf_t elf;
  test_bytes_t bytes = test_read_fixture("property_note");
  REQUIRE(bytes.data != NULL && has_notes_aligned_to_8(&bytes));
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_INT(read_bytes(&arena, &bytes, &elf).reason, TENON_PLUGIN_REASON_NONE);
  REQUIRE(elf.note != NULL && elf.note_size > 20);
  EXPECT(strncmp(elf.note, "name: good\n", 11) == 0);
  tenon__arena_deinitialize(&arena);
  free(bytes.data);
}
#endif

TENON_TEST(a_file_that_is_cut_anywhere_is_refused) {
  test_bytes_t bytes = test_read_fixture("good");
  REQUIRE(bytes.data != NULL);
  /* The file ends with its section headers, which nobody looks at; its segments end before. */
  ElfW(Ehdr) header;
  memcpy(&header, bytes.data, sizeof(header));
  size_t needed = 0;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    memcpy(&segment, bytes.data + header.e_phoff + i * sizeof(segment), sizeof(segment));
    const size_t segment_end = segment.p_offset + segment.p_filesz;
    needed = segment.p_type == PT_LOAD && segment_end > needed ? segment_end : needed;
  }
  const size_t step = needed / 600 + 1;
  for (size_t size = 0; size < needed; size += step) {
    /* A block of exactly that size, so that a sanitizer sees one byte more. */
    test_bytes_t cut = {malloc(size + (size == 0)), size};
    REQUIRE(cut.data != NULL);
    memcpy(cut.data, bytes.data, size);
    const tenon__plugin_reason_t reason = reason_of(&cut);
    EXPECT(reason == TENON_PLUGIN_REASON_DAMAGED || reason == TENON_PLUGIN_REASON_NOT_ELF);
    free(cut.data);
  }
  bytes.size = needed;
  EXPECT_INT(reason_of(&bytes), TENON_PLUGIN_REASON_NONE);
  free(bytes.data);
}

/* Sets the 8 bytes at `offset` and expects a refusal, or nothing worse. */
static void set_word(const test_bytes_t* bytes, size_t offset, uint64_t value) {
  uint64_t old = 0;
  memcpy(&old, bytes->data + offset, sizeof(old));
  memcpy(bytes->data + offset, &value, sizeof(value));
  (void)reason_of(bytes);
  memcpy(bytes->data + offset, &old, sizeof(old));
}

TENON_TEST(no_number_in_a_file_leads_outside_of_it) {
  test_bytes_t bytes = test_read_fixture("good");
  REQUIRE(bytes.data != NULL);
  tenon__arena_t arena;
  tenon__elf_t elf;
  ElfW(Ehdr) header;
  memcpy(&header, bytes.data, sizeof(header));
  static const uint64_t values[] = {0,          1,
                                    7,          0xffff,
                                    0x7fffffff, 0xffffffff,
                                    1ull << 40, UINT64_MAX / 2,
                                    UINT64_MAX, UINT64_MAX - 7};
  tenon__arena_initialize(&arena, tenon__allocator_default());
  for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); ++v) {
    /* All of the header and of the segments, then of the dynamic section and of the symbols' hash
     * table. */
    const size_t tables = header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr));
    for (size_t offset = 4; offset + 8 <= tables; offset += 4) {
      set_word(&bytes, offset, values[v]);
    }
    for (size_t i = 0; i < header.e_phnum; ++i) {
      ElfW(Phdr) segment;
      memcpy(&segment, bytes.data + header.e_phoff + i * sizeof(segment), sizeof(segment));
      const bool is_wanted = segment.p_type == PT_DYNAMIC || segment.p_type == PT_NOTE;
      const size_t size = segment.p_filesz < 1024 ? segment.p_filesz : 1024;
      for (size_t offset = 0; is_wanted && offset + 8 <= size; offset += 4) {
        set_word(&bytes, segment.p_offset + offset, values[v]);
      }
    }
  }
  EXPECT_INT(read_bytes(&arena, &bytes, &elf).reason, TENON_PLUGIN_REASON_NONE);
  tenon__arena_deinitialize(&arena);
  free(bytes.data);
}

/* The entry of the dynamic section with `tag`; the file's size when there is none. */
static size_t find_dynamic(const test_bytes_t* bytes, long tag) {
  ElfW(Ehdr) header;
  memcpy(&header, bytes->data, sizeof(header));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    memcpy(&segment, bytes->data + header.e_phoff + i * sizeof(segment), sizeof(segment));
    for (size_t k = 0; segment.p_type == PT_DYNAMIC && k < segment.p_filesz;
         k += sizeof(ElfW(Dyn))) {
      ElfW(Dyn) entry;
      memcpy(&entry, bytes->data + segment.p_offset + k, sizeof(entry));
      if ((long)entry.d_tag == tag) {
        return segment.p_offset + k;
      }
    }
  }
  return bytes->size;
}

TENON_TEST(sees_text_relocations_and_filters) {
  test_bytes_t bytes = test_read_fixture("good");
  REQUIRE(bytes.data != NULL);
  const size_t place = find_dynamic(&bytes, DT_FINI); /* something that nobody misses here */
  REQUIRE(place < bytes.size);
  tenon__arena_t arena;
  tenon__elf_t elf;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  ElfW(Dyn) entry = {.d_tag = DT_TEXTREL};
  memcpy(bytes.data + place, &entry, sizeof(entry));
  EXPECT_INT(read_bytes(&arena, &bytes, &elf).reason, TENON_PLUGIN_REASON_NONE);
  EXPECT(elf.text_relocations);
  entry.d_tag = DT_AUXILIARY;
  entry.d_un.d_val = 1;
  memcpy(bytes.data + place, &entry, sizeof(entry));
  EXPECT_INT(read_bytes(&arena, &bytes, &elf).reason, TENON_PLUGIN_REASON_NONE);
  EXPECT(elf.other_library != NULL && elf.other_library[0] != '\0');
  tenon__arena_deinitialize(&arena);
  free(bytes.data);
}

static bool read_with(tenon_allocator_t allocator, void* user) {
  tenon__arena_t arena;
  tenon__elf_t elf;
  tenon__arena_initialize(&arena, allocator);
  const tenon__finding_t finding = read_bytes(&arena, user, &elf);
  tenon__arena_deinitialize(&arena);
  EXPECT(finding.reason == TENON_PLUGIN_REASON_NONE ||
         finding.reason == TENON_PLUGIN_REASON_MEMORY);
  return finding.reason == TENON_PLUGIN_REASON_NONE;
}

TENON_TEST(survives_when_memory_is_out) {
  test_bytes_t bytes = test_read_fixture("good");
  tenon__test_each_allocation(read_with, &bytes);
  free(bytes.data);
}
