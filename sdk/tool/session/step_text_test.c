/* What is found in a step's texts. */
#include "session/step_text.h"

#include "core/base/test.h"

TENON_TEST(finds_a_tensor_anywhere_in_a_list) {
  static const char list[] =
      "a b f32[1,64] channels last, absent, c i8[2] row-major, made sequence";
  EXPECT(tool_step_list_has(list, "a b"));
  EXPECT(tool_step_list_has(list, "c"));
  EXPECT(tool_step_list_has(list, "made"));
  EXPECT(!tool_step_list_has(list, "a"));
  EXPECT(!tool_step_list_has(list, "b"));
  EXPECT(!tool_step_list_has(list, "absent"));
  EXPECT(!tool_step_list_has(list, "channels"));
  EXPECT(!tool_step_list_has("cc f32[1] row-major, d f32[1] row-major", "c"));
  EXPECT(!tool_step_list_has("", "c"));
}
