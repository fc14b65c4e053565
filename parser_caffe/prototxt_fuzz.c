/* Any bytes as a prototxt: read and converted with a builder that takes everything. */
#include "testing/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tenon__fake_t fake;
  tenon__fake_initialize(&fake);
  tenon__fake_add_part(&fake, data, size);
  (void)tenon__fake_parse(&fake);
  tenon__fake_deinitialize(&fake);
  return 0;
}
