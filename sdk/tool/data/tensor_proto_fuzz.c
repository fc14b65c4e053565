/* Any bytes as a recorded tensor, sequence and optional. */
#include "data/tensor_proto.h"
#include "text/console.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tool_console_silence(true);
  for (uint32_t kind = TENON_ARGUMENT_TENSOR; kind <= TENON_ARGUMENT_OPTIONAL; ++kind) {
    tool_value_t value;
    if (tool_tensor_proto_parse("fuzz", data, size, kind, &value) == TENON_OK) {
      tool_value_free(&value);
    }
  }
  return 0;
}
