/* Any bytes as a prototxt: read and converted with a builder that takes everything. */
#include "testing/under_test.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tenon__fake_t fake;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, data, size);
  (void)tenon__fake_parse(&fake);
  tenon__fake_deinitialize(&fake);
  return 0;
}
