/* Anything as the text of a manifest. */
#include <stdint.h>
#include <string.h>

#include "core/base/allocator.h"
#include "plugin_registry/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenon__arena_t arena;
  tenon__manifest_t manifest;
  size_t total = 0;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  /* A corpus of texts is easier to read: the NUL is put there. */
  const char* text = tenon__arena_copy_text(&arena, (const char*)data, size);
  if (text != NULL &&
      tenon__manifest_parse(&arena, text, size + 1, &manifest).reason == TENON_PLUGIN_REASON_NONE) {
    total += strlen(manifest.offers_text) + strlen(manifest.vendor);
    for (size_t i = 0; i < manifest.offer_count; ++i) {
      total += strlen(manifest.offers[i].op) + strlen(manifest.offers[i].kind);
    }
  }
  tenon__arena_deinitialize(&arena);
  return total > (size_t)1 << 30 ? -1 : 0;
}
