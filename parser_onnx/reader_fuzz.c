/* Any bytes as a model: read, resolved and converted with a builder that takes everything. */
#include "testing/under_test.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tenon__fake_t fake;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, data, size);
  fake.file_path = "weights.bin";
  fake.file_data = "0123456789abcdef";
  fake.file_size = 16;
  (void)tenon__fake_parse(&fake);
  tenon__fake_deinitialize(&fake);
  return 0;
}
