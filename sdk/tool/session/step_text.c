/* See step_text.h. */
#include "session/step_text.h"

#include <stdio.h>
#include <string.h>

/* Returns whether a text begins with the name of a type, followed by `end`. */
static bool begins_with(const char* text, tenon_dtype_t dtype, const char* end) {
  const char* name = tenon_dtype_name(dtype);
  const size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && strncmp(text + length, end, strlen(end)) == 0;
}

/* The layout names the type if it is not the value's own: "bf16, row-major" of
 * "y f32[1,10] bf16, row-major". */
tool_step_form_t tool_step_form(const tenon_step_info_t* step) {
  tool_step_form_t form = {.type = "", .layout = step->layout};
  for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (begins_with(step->layout, dtype, ", ")) {
      (void)snprintf(form.type, sizeof(form.type), "%s", tenon_dtype_name(dtype));
      form.layout = step->layout + strlen(form.type) + 2;
      return form;
    }
  }
  for (const char* at = strchr(step->outputs, ' '); at != NULL; at = strchr(at + 1, ' ')) {
    for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
      if (begins_with(at + 1, dtype, "[")) {
        (void)snprintf(form.type, sizeof(form.type), "%s", tenon_dtype_name(dtype));
        return form;
      }
    }
  }
  return form;
}

/* One word follows the name of a tensor, then its extents. Names may contain blanks. */
static bool is_described(const char* text) {
  const size_t length = text[0] == ' ' ? strcspn(text + 1, " [,") : 0;
  return length > 0 && text[1 + length] != ' ';
}

bool tool_step_list_has(const char* list, const char* name) {
  const size_t length = strlen(name);
  if (length > 0) {
    for (const char* at = list; (at = strstr(at, name)) != NULL; ++at) {
      const bool begins = at == list || (at - list >= 2 && strncmp(at - 2, ", ", 2) == 0);
      if (begins && is_described(at + length)) {
        return true;
      }
    }
  }
  return false;
}
