/* Short forms: nothing is lost that they promise, and limits count characters. */
#include "page/format.h"

#include "core/base/test.h"

TENON_TEST(tells_times_in_fitting_units) {
  char text[32];
  tool_format_time(4.6349e-4, text);
  EXPECT_TEXT(text, "463 \xC2\xB5s");
  tool_format_time(0.99996e-3, text);
  EXPECT_TEXT(text, "1 ms");
  tool_format_time(0.0992, text);
  EXPECT_TEXT(text, "99.2 ms");
  tool_format_time(1.25, text);
  EXPECT_TEXT(text, "1.25 s");
}

TENON_TEST(keeps_the_end_of_a_long_name) {
  EXPECT_TEXT(tool_format_tail("conv1", 5), "conv1");
  EXPECT_TEXT(tool_format_tail("layer/conv1", 6), "conv1");
  EXPECT_TEXT(tool_format_tail("\xC3\xA4\xC3\xB6\xC3\xBC", 3), "\xC3\xA4\xC3\xB6\xC3\xBC");
  EXPECT_TEXT(tool_format_tail("\xC3\xA4\xC3\xB6\xC3\xBC", 2), "\xC3\xBC");
  EXPECT_TEXT(tool_format_tail("", 3), "");
}

TENON_TEST(shortens_the_first_tensor_of_a_list) {
  char text[TOOL_FORMAT_BYTES];
  tool_format_tensor("a b f32[1,64,56] channels last, c i8[2] row-major", text);
  EXPECT_TEXT(text, "f32 1x64x56 channels last");
  tool_format_tensor("made sequence", text);
  EXPECT_TEXT(text, "");
}

TENON_TEST(finds_a_tensor_anywhere_in_a_list) {
  static const char list[] =
      "a b f32[1,64] channels last, absent, c i8[2] row-major, made sequence";
  EXPECT(tool_format_has_tensor(list, "a b"));
  EXPECT(tool_format_has_tensor(list, "c"));
  EXPECT(tool_format_has_tensor(list, "made"));
  EXPECT(!tool_format_has_tensor(list, "a"));
  EXPECT(!tool_format_has_tensor(list, "b"));
  EXPECT(!tool_format_has_tensor(list, "absent"));
  EXPECT(!tool_format_has_tensor(list, "channels"));
  EXPECT(!tool_format_has_tensor("cc f32[1] row-major, d f32[1] row-major", "c"));
  EXPECT(!tool_format_has_tensor("", "c"));
}

TENON_TEST(lists_the_other_nodes_of_a_step) {
  char text[TOOL_FORMAT_BYTES];
  tool_format_others(&(tenon_step_info_t){.name = "b", .nodes = "a, b, c"}, text);
  EXPECT_TEXT(text, "+ a, c");
  tool_format_others(&(tenon_step_info_t){.name = "m/b", .nodes = "m/b, m/x/Add, Mul"}, text);
  EXPECT_TEXT(text, "+ Add, Mul");
  tool_format_others(&(tenon_step_info_t){.name = "b", .nodes = "b"}, text);
  EXPECT_TEXT(text, "");
  tool_format_others(&(tenon_step_info_t){.name = "copy", .nodes = ""}, text);
  EXPECT_TEXT(text, "");
}

TENON_TEST(amounts_and_bytes_in_thousands) {
  char text[32];
  tool_format_amount(8.12e11, "FLOP", text);
  EXPECT(strcmp(text, "812 GFLOP") == 0);
  tool_format_amount(999.6, "B", text);
  EXPECT(strcmp(text, "1 kB") == 0);
  tool_format_amount(0, "B", text);
  EXPECT(strcmp(text, "0 B") == 0);
  tool_format_bytes(13.5 * 1048576, text);
  EXPECT(strcmp(text, "13.5 MiB") == 0);
  tool_format_bytes(1023.9, text);
  EXPECT(strcmp(text, "1 KiB") == 0);
}
