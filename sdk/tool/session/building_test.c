#include "session/building.h"

#include "core/base/test.h"

/* A command that only reads models takes the first of the table. */
TENON_TEST(options_for_reading_stand_first) {
  for (size_t i = 0; i < TOOL_BUILDING_OPTION_COUNT; ++i) {
    const tool_option_t* option = &tool_building_options[i];
    const bool is_reading = (option->traits & TOOL_FOR_PARSING) != 0;
    EXPECT_TEXT(is_reading == (i < TOOL_READING_OPTION_COUNT) ? "" : option->name, "");
  }
}
