/* Opens, checks and reads one file; in an order in which each step may rely on the one before. */
#include "plugin_registry/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* Read at once when the digest of a file is made. */
#define DIGEST_CHUNK 65536

static tenon__finding_t unreadable(tenon__arena_t* arena, int reason) {
  const char* detail = tenon__arena_copy_string(arena, strerror(reason));
  return tenon__finding(TENON_PLUGIN_REASON_UNREADABLE, detail);
}

/* Where a link led: the directories of the target count, not those of the link. */
static tenon__finding_t check_target(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                     const char** out_target) {
  char target[PATH_MAX];
  if (realpath(path, target) == NULL) {
    return unreadable(arena, errno);
  }
  *out_target = tenon__arena_copy_string(arena, target);
  if (*out_target == NULL) {
    return TENON_FINDING_MEMORY;
  }
  char* slash = strrchr(target, '/');
  slash[slash == target] = '\0';
  return tenon__trust_directory(trust, arena, target);
}

/* The descriptor must be of the target that was checked: nobody else can change a checked
 * directory, so it is, unless the link's own directory was changed meanwhile by its owner. */
static tenon__finding_t open_link(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                  const char** out_target, int* out_descriptor) {
  const tenon__finding_t finding = check_target(trust, arena, path, out_target);
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    return finding;
  }
  *out_descriptor = open(*out_target, OPEN_FLAGS | O_NOFOLLOW);
  return *out_descriptor >= 0 ? TENON_FINDING_NONE : unreadable(arena, errno);
}

tenon__finding_t tenon__inspect_open(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                     int* out_descriptor, tenon__file_identity_t* out_identity) {
  const char* target = path;
  tenon__finding_t finding = TENON_FINDING_NONE;
  int descriptor = open(path, OPEN_FLAGS | O_NOFOLLOW);
  if (descriptor < 0 && errno == ELOOP) {
    finding = open_link(trust, arena, path, &target, &descriptor);
  } else if (descriptor < 0) {
    finding = errno == ENXIO ? (tenon__finding_t){TENON_PLUGIN_REASON_NOT_A_FILE, ""}
                             : unreadable(arena, errno);
  }
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    return finding;
  }
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    finding = unreadable(arena, errno);
  } else if (!S_ISREG(status.st_mode)) {
    finding.reason = TENON_PLUGIN_REASON_NOT_A_FILE;
  } else {
    finding = tenon__trust_file(trust, arena, target, &status);
  }
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    (void)close(descriptor);
    return finding;
  }
  *out_descriptor = descriptor;
  *out_identity = tenon__file_identity(&status);
  return finding;
}

/* ---- A plugin ---- */

static tenon__finding_t read_manifest(tenon__arena_t* keep, const tenon__elf_t* elf,
                                      const tenon__manifest_t** out_manifest) {
  if (elf->note == NULL) {
    return (tenon__finding_t){TENON_PLUGIN_REASON_NO_MANIFEST, ""};
  }
  tenon__manifest_t* manifest = tenon__arena_allocate(keep, 1, sizeof(*manifest));
  if (manifest == NULL) {
    return TENON_FINDING_MEMORY;
  }
  const tenon__finding_t finding = tenon__manifest_parse(keep, elf->note, elf->note_size, manifest);
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    *out_manifest = manifest;
  }
  return finding;
}

/* The versions decide before the audit: a later major may have other rules. */
static tenon__finding_t read_plugin(tenon__arena_t* keep, tenon__arena_t* scratch,
                                    const tenon__elf_source_t* source, tenon__abi_range_t range,
                                    const tenon__manifest_t** out_manifest) {
  tenon__elf_reader_t reader;
  tenon__elf_t elf;
  tenon__finding_t finding = tenon__elf_begin(&reader, scratch, source, &elf);
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding = read_manifest(keep, &elf, out_manifest);
  }
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding =
        tenon__audit_versions(scratch, (*out_manifest)->built, (*out_manifest)->needed, range);
  }
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding = tenon__audit_instruction_sets(scratch, *out_manifest);
  }
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding = tenon__elf_finish(&reader, &elf);
  }
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding = tenon__audit_plugin(scratch, &elf, *out_manifest);
  }
  return finding;
}

void tenon__inspect_plugin(tenon__trust_t* trust, tenon__arena_t* keep, const char* path,
                           tenon__abi_range_t range, tenon__inspection_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  out_result->descriptor = -1;
  int descriptor = -1;
  out_result->finding = tenon__inspect_open(trust, keep, path, &descriptor, &out_result->identity);
  if (out_result->finding.reason != TENON_PLUGIN_REASON_NONE) {
    return;
  }
  tenon__arena_t scratch;
  tenon__arena_initialize(&scratch, keep->allocator);
  const tenon__elf_source_t source =
      tenon__elf_source_of_file(&descriptor, out_result->identity.size_bytes);
  tenon__finding_t finding = read_plugin(keep, &scratch, &source, range, &out_result->manifest);
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    out_result->descriptor = descriptor;
  } else {
    (void)close(descriptor);
    finding.detail = tenon__arena_copy_string(keep, finding.detail);
    finding = finding.detail == NULL ? TENON_FINDING_MEMORY : finding;
  }
  out_result->finding = finding;
  tenon__arena_deinitialize(&scratch);
}

bool tenon__inspect_digest(int descriptor, uint64_t size_bytes, tenon__digest_t* out_digest) {
  unsigned char chunk[DIGEST_CHUNK];
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  const tenon__elf_source_t source = tenon__elf_source_of_file(&descriptor, size_bytes);
  for (uint64_t offset = 0; offset < size_bytes;) {
    const uint64_t left = size_bytes - offset;
    const size_t size = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
    if (!source.read(source.user, offset, chunk, size)) {
      return false;
    }
    tenon__digest_add(&state, chunk, size);
    offset += size;
  }
  *out_digest = tenon__digest_end(&state);
  return true;
}
