/* Any bytes as a picture of any format. */
#include "fake_host.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fake_host_t host = {0};
  const tenon__picture_t picture =
      fake_decode(&host, data, size, (tenon__picture_order_t)(size % 3), 1 << 16);
  if ((picture.status != TENON_OK) != (picture.message[0] != '\0')) {
    abort(); /* a failure without a word, or words about nothing */
  }
  free(host.pixels);
  return 0;
}
