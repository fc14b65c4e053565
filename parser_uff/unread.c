/* What a node says and nobody asked for: each attribute is named once, with the first node. */
#include <string.h>

#include "source.h"

/* Types that follow from the inputs, empty texts, hints for placement and speed, what is only
 * printed: they change no result. */
static bool is_idle(const tenon__uff_attribute_t* attribute) {
  static const char* const names[] = {"use_cudnn_on_gpu",
                                      "parallel_iterations",
                                      "validate_shape",
                                      "validate_indices",
                                      "container",
                                      "shared_name",
                                      "N",
                                      "use_locking",
                                      "caching_device",
                                      "incompatible_shape_error",
                                      "grad_x",
                                      "grad_y",
                                      "grad_a",
                                      "grad_b",
                                      "message"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
    if (strcmp(names[i], attribute->name) == 0) {
      return true;
    }
  }
  const bool is_empty = attribute->kind == TENON_FIELD_STRING && attribute->text.size == 0;
  return is_empty || attribute->is_type || attribute->kind == TENON_FIELD_NONE;
}

tenon_status_t tenon__uff_source_tell_unread(const tenon_source_t* source) {
  tenon__uff_program_t* program = source->program;
  tenon_reader_t* reader = program->reader;
  const tenon__uff_node_t* node = source->node;
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    const tenon__uff_attribute_t* attribute = &node->attributes[i];
    if (attribute->is_read || is_idle(attribute)) {
      continue;
    }
    const char* key = tenon_reader_format(reader, "%s:%s", node->operation, attribute->name);
    if (key == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    if (tenon_reader_names_find(&program->told, key) == NULL) {
      tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                       "%s: its attribute '%s' is not known and ignored",
                       tenon__uff_node_text(reader, node), attribute->name);
      TENON_READER_TRY(tenon_reader_names_set(reader, &program->told, key, program));
    }
  }
  return TENON_OK;
}
