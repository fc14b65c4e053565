/* The reader never leaves its data: the first bytes of the input choose what is read from the rest.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void read_one(tenon__byte_reader_t* reader, uint8_t choice) {
  switch (choice % 8) {
    case 0:
      (void)tenon__read_u8(reader);
      break;
    case 1:
      (void)tenon__read_u32(reader);
      break;
    case 2:
      (void)tenon__read_u64(reader);
      break;
    case 3:
      (void)tenon__read_f64(reader);
      break;
    case 4:
      if (strlen(tenon__read_string(reader)) > reader->size) {
        abort();
      }
      break;
    case 5:
      if (tenon__read_count(reader, choice) > reader->size - reader->position) {
        abort();
      }
      break;
    case 6: {
      const volatile uint8_t* view = tenon__read_view(reader, choice);
      for (size_t i = 0; view != NULL && i < choice; ++i) {
        (void)view[i];
      }
      break;
    }
    default:
      (void)tenon__read_i64(reader);
      break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t choice_count = size < 16 ? size : 16;
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, data + choice_count, size - choice_count);
  for (size_t i = 0; i < choice_count; ++i) {
    read_one(&reader, data[i]);
    if (reader.position > reader.size) {
      abort();
    }
  }
  return 0;
}
