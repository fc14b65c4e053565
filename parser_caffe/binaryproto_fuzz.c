/* Any bytes as the mean that is subtracted from pictures. */
#include "testing/under_test.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char net[] =
      "input: 'x' input_dim: 1 input_dim: 2 input_dim: 4 input_dim: 4\n"
      "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' }";
  static tenon__fake_t fake;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, net, sizeof(net) - 1);
  tenon__fake_add_part(&fake, data, size);
  (void)tenon__fake_parse(&fake);
  tenon__fake_deinitialize(&fake);
  return 0;
}
