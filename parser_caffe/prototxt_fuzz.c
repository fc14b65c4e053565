/* Any bytes as a prototxt: read and converted with a builder that takes everything. */
#include "testing/under_test.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tenon__fake_parse_alone(&under_test, data, size);
  return 0;
}
