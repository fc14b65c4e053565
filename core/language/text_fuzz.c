/* Any bytes as each kind of text. */
#include "core/base/allocator.h"
#include "core/language/text.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  const char* source = tenon__arena_copy_text(&arena, (const char*)data, size);
  if (source != NULL) {
    tenon__text_t text = {0};
    tenon__calls_t calls;
    const tenon__syntax_t* expression = NULL;
    (void)tenon__text_parse(&arena, source, NULL, &text);
    (void)tenon__text_parse_expression(&arena, source, NULL, &expression);
    (void)tenon__calls_parse(&arena, source, NULL, &calls);
  }
  tenon__arena_deinitialize(&arena);
  return 0;
}
