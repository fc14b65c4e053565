/* The texts of a step: the type and layout of its output, and its tensors. */
#ifndef TOOL_SESSION_STEP_TEXT_H_
#define TOOL_SESSION_STEP_TEXT_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* The type in memory of output 0, "" if it has none, and its layout, a part of the step's text. */
typedef struct tool_step_form_t {
  char type[16];
  const char* layout;
} tool_step_form_t;

tool_step_form_t tool_step_form(const tenon_step_info_t* step);
/* Returns whether a list "x f32[1,3] row-major, y ..." of a step's tensors, sequences or optionals
 * has a member of this name. */
bool tool_step_list_has(const char* list, const char* name);

#endif
