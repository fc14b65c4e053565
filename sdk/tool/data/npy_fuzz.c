/* Any bytes as a .npy file. */
#include "data/npy.h"
#include "text/console.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tool_value_t value;
  tool_console_silence(true);
  if (tool_npy_parse("fuzz", data, size, &value) == TENON_OK) {
    tool_value_free(&value);
  }
  return 0;
}
