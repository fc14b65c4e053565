/* Header, segments and notes of a shared object. */
#include "plugin_registry/elf_file.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "plugin_registry/elf_reader.h"

/* More than any linker writes. */
#define SEGMENT_LIMIT 128u
#define NOTE_SEGMENT_LIMIT ((uint64_t)1 << 20)

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#elif defined(__i386__)
#define NATIVE_MACHINE EM_386
#elif defined(__arm__)
#define NATIVE_MACHINE EM_ARM
#elif defined(__riscv)
#define NATIVE_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define NATIVE_MACHINE EM_PPC64
#elif defined(__s390x__)
#define NATIVE_MACHINE EM_S390
#else
#error "name this machine's ELF number here"
#endif
#define NATIVE_CLASS (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32)
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER ELFDATA2MSB
#else
#define NATIVE_ORDER ELFDATA2LSB
#endif

/* ---- Header and segments ---- */

static bool read_segments(tenon__elf_reader_t* reader, uint64_t offset, uint32_t count) {
  if (count == 0 || count > SEGMENT_LIMIT) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED, "it has %u segments", count);
  }
  const size_t size = count * sizeof(ElfW(Phdr));
  const unsigned char* bytes = tenon__elf_view(reader, offset, size, "the table of segments");
  if (bytes == NULL) {
    return false;
  }
  reader->segments = tenon__arena_copy(reader->arena, bytes, size);
  reader->segment_count = count;
  return reader->segments != NULL ||
         tenon__elf_fail(reader, TENON_PLUGIN_REASON_MEMORY, "the table of segments");
}

static bool read_header(tenon__elf_reader_t* reader) {
  ElfW(Ehdr) header;
  if (reader->head_size < SELFMAG || memcmp(reader->head, ELFMAG, SELFMAG) != 0) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_NOT_ELF, "%s",
                           reader->head_size == 0 ? "it is empty" : "");
  }
  if (reader->head_size < EI_NIDENT) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED, "it ends in its header");
  }
  if (reader->head[EI_CLASS] != NATIVE_CLASS || reader->head[EI_DATA] != NATIVE_ORDER) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MACHINE, "class %u, byte order %u",
                           reader->head[EI_CLASS], reader->head[EI_DATA]);
  }
  if (reader->head_size < sizeof(header)) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED, "it ends in its header");
  }
  memcpy(&header, reader->head, sizeof(header));
  if (header.e_machine != NATIVE_MACHINE) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MACHINE, "ELF machine %u, this is %u",
                           header.e_machine, (unsigned)NATIVE_MACHINE);
  }
  if (header.e_type != ET_DYN) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_NOT_A_LIBRARY, "ELF type %u", header.e_type);
  }
  if (header.e_phentsize != sizeof(ElfW(Phdr))) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED, "its segments have %u bytes each",
                           header.e_phentsize);
  }
  return read_segments(reader, header.e_phoff, header.e_phnum);
}

/* ---- Notes ---- */

static uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/* One note at `data`: its whole size, 0 when it does not fit into `size` bytes. What is aligned is
 * where the description begins and the note ends, not how long the name is: in segments aligned to
 * 8 the header of 12 bytes and the name "GNU" together fill 16. */
static uint64_t read_note(const unsigned char* data, uint64_t size, uint64_t alignment,
                          tenon__elf_t* elf, bool* out_second) {
  tenon_note_header_t note = {0};
  const size_t fixed = offsetof(tenon_note_header_t, name);
  if (size < fixed) {
    return 0;
  }
  memcpy(&note, data, size < sizeof(note) ? (size_t)size : sizeof(note));
  const uint64_t text = align_up(fixed + (uint64_t)note.name_size, alignment);
  if (text > size || note.text_size > size - text) {
    return 0;
  }
  if (note.type == TENON_NOTE_TYPE && note.name_size == sizeof(TENON_NOTE_NAME) &&
      memcmp(note.name, TENON_NOTE_NAME, sizeof(TENON_NOTE_NAME)) == 0) {
    *out_second = elf->note != NULL;
    elf->note = (const char*)data + text;
    elf->note_size = note.text_size;
  }
  const uint64_t whole = align_up(text + note.text_size, alignment);
  return whole < size ? whole : size;
}

static bool read_notes(tenon__elf_reader_t* reader, const ElfW(Phdr) * segment, tenon__elf_t* elf) {
  if (segment->p_filesz > NOTE_SEGMENT_LIMIT) {
    return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MANIFEST,
                           "a segment of notes has %llu bytes",
                           (unsigned long long)segment->p_filesz);
  }
  const uint64_t alignment = segment->p_align == 8 ? 8 : 4;
  const unsigned char* data =
      tenon__elf_view(reader, segment->p_offset, segment->p_filesz, "a segment of notes");
  uint64_t left = data == NULL ? 0 : segment->p_filesz;
  while (left > 0) {
    bool second = false;
    const uint64_t used = read_note(data, left, alignment, elf, &second);
    if (used == 0) {
      return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MANIFEST, "a note is cut short");
    }
    if (second) {
      return tenon__elf_fail(reader, TENON_PLUGIN_REASON_MANIFEST, "it has two manifests");
    }
    data += used;
    left -= used;
  }
  return data != NULL;
}

static bool read_segment(tenon__elf_reader_t* reader, const ElfW(Phdr) * segment,
                         tenon__elf_t* elf) {
  const uint64_t size = reader->source->size;
  switch (segment->p_type) {
    case PT_LOAD:
      if (segment->p_filesz > segment->p_memsz || segment->p_offset > size ||
          segment->p_filesz > size - segment->p_offset) {
        return tenon__elf_fail(reader, TENON_PLUGIN_REASON_DAMAGED,
                               "it is cut short: a segment ends at byte %llu, the file at %llu",
                               (unsigned long long)segment->p_offset + segment->p_filesz,
                               (unsigned long long)size);
      }
      elf->writable_code |= (segment->p_flags & PF_W) != 0 && (segment->p_flags & PF_X) != 0;
      return true;
    case PT_NOTE:
      return read_notes(reader, segment, elf);
    case PT_INTERP:
      elf->is_program = true;
      return true;
    case PT_GNU_STACK:
      elf->executable_stack = (segment->p_flags & PF_X) != 0;
      return true;
    case PT_DYNAMIC:
      reader->dynamic = segment;
      return true;
    default:
      return true;
  }
}

tenon__finding_t tenon__elf_begin(tenon__elf_reader_t* out_reader, tenon__arena_t* arena,
                                  const tenon__elf_source_t* source, tenon__elf_t* out_elf) {
  tenon__elf_reader_t* reader = out_reader;
  memset(reader, 0, offsetof(tenon__elf_reader_t, head));
  reader->arena = arena;
  reader->source = source;
  reader->fault = TENON_FINDING_NONE;
  reader->head_size =
      source->size < sizeof(reader->head) ? (size_t)source->size : sizeof(reader->head);
  if (!source->read(source->user, 0, reader->head, reader->head_size)) {
    (void)tenon__elf_fail(reader, TENON_PLUGIN_REASON_UNREADABLE, "%s", strerror(errno));
    return reader->fault;
  }
  /* Without the segment that says so, loaders take the stack to be executable. */
  *out_elf = (tenon__elf_t){.executable_stack = true};
  bool good = read_header(reader);
  for (size_t i = 0; good && i < reader->segment_count; ++i) {
    good = read_segment(reader, &reader->segments[i], out_elf);
  }
  return reader->fault;
}

tenon__finding_t tenon__elf_read(tenon__arena_t* arena, const tenon__elf_source_t* source,
                                 tenon__elf_t* out_elf) {
  tenon__elf_reader_t reader;
  tenon__finding_t finding = tenon__elf_begin(&reader, arena, source, out_elf);
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding = tenon__elf_finish(&reader, out_elf);
  }
  if (finding.reason == TENON_PLUGIN_REASON_NONE && out_elf->note != NULL) {
    /* One byte more than none, so that an empty note is still there. */
    out_elf->note = tenon__arena_copy_text(arena, out_elf->note, out_elf->note_size);
    finding = tenon__finding(TENON_PLUGIN_REASON_NONE, out_elf->note == NULL ? NULL : "");
  }
  return finding;
}

/* ---- Sources ---- */

static bool read_file(const void* user, uint64_t offset, void* out_data, size_t size) {
  const int descriptor = *(const int*)user;
  char* data = out_data;
  while (size > 0) {
    const ssize_t got = pread(descriptor, data, size, (off_t)offset);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      errno = got == 0 ? ENODATA : errno;
      return false;
    }
    data += got;
    offset += (uint64_t)got;
    size -= (size_t)got;
  }
  return true;
}

tenon__elf_source_t tenon__elf_source_of_file(const int* descriptor, uint64_t size) {
  return (tenon__elf_source_t){descriptor, read_file, size};
}

static bool read_bytes(const void* user, uint64_t offset, void* out_data, size_t size) {
  const tenon__elf_bytes_t* bytes = user;
  memcpy(out_data, (const char*)bytes->data + offset, size);
  return true;
}

tenon__elf_source_t tenon__elf_source_of_bytes(const tenon__elf_bytes_t* bytes) {
  return (tenon__elf_source_t){bytes, read_bytes, bytes->size};
}
