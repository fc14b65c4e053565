/* Any bytes as a PGM or PPM picture. */
#include "data/picture.h"
#include "text/console.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tool_picture_t picture;
  tool_console_silence(true);
  if (tool_pnm_parse("fuzz", data, size, &picture) == TENON_OK) {
    tool_picture_free(&picture);
  }
  return 0;
}
