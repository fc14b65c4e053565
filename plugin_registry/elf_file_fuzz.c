/* Anything as a shared object: the whole reading of a plugin, up to the point where it would be
 * loaded. */
#include <stdint.h>
#include <string.h>

#include "core/base/allocator.h"
#include "plugin_registry/audit.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/* Every text that came out is one. */
static size_t touch(const tenon__elf_t* elf, const tenon__manifest_t* manifest) {
  size_t total = strlen(manifest->name) + strlen(manifest->version) + strlen(manifest->offers_text);
  for (size_t i = 0; i < elf->export_count; ++i) {
    total += strlen(elf->exports[i]);
  }
  for (size_t i = 0; i < elf->library_count; ++i) {
    total += strlen(elf->libraries[i]);
  }
  for (size_t i = 0; i < manifest->offer_count; ++i) {
    total += strlen(manifest->offers[i].text) + strlen(manifest->offers[i].name);
  }
  return total;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tenon__elf_bytes_t bytes = {data, size};
  const tenon__elf_source_t source = tenon__elf_source_of_bytes(&bytes);
  tenon__arena_t arena;
  tenon__elf_t elf;
  tenon__manifest_t manifest;
  size_t total = 0;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  if (tenon__elf_read(&arena, &source, &elf).reason == TENON_PLUGIN_REASON_NONE &&
      elf.note != NULL &&
      tenon__manifest_parse(&arena, elf.note, elf.note_size, &manifest).reason ==
          TENON_PLUGIN_REASON_NONE) {
    total += touch(&elf, &manifest);
    (void)tenon__audit_plugin(&arena, &elf, &manifest);
  }
  tenon__arena_deinitialize(&arena);
  return total > (size_t)1 << 30 ? -1 : 0;
}
