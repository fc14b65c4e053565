/* Writes an ONNX model of one node, y = TYPE(x), over a vector of floats.
 *   write_model FILE DOMAIN TYPE EXTENT [NODE [ATTRIBUTE FLOAT]] */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/onnx_message.h"

int main(int argc, char** argv) {
  if (argc < 5) {
    return 2;
  }
  const int64_t dims[] = {atoll(argv[4])}; /* NOLINT(cert-err34-c) */
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, 17);
  tenon__message_begin_node(&m, 1, argv[3], argc > 5 ? argv[5] : "node", "x", "y");
  tenon__message_text(&m, 7, argv[2]);
  if (argc > 7) {
    tenon__message_begin(&m, 5);
    tenon__message_text(&m, 1, argv[6]);
    tenon__message_varint(&m, 20, 1);
    tenon__message_float(&m, 2, strtof(argv[7], NULL));
    tenon__message_end(&m);
  }
  tenon__message_end(&m);
  tenon__message_value_info(&m, 11, "x", 1, 1, dims);
  tenon__message_value_info(&m, 12, "y", 1, 1, dims);
  tenon__message_end_model(&m);
  FILE* file = fopen(argv[1], "wb");
  if (file == NULL) {
    return 1;
  }
  const int good = fwrite(m.bytes, 1, m.size, file) == m.size;
  return fclose(file) == 0 && good ? 0 : 1;
}
