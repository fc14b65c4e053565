/* Messages for broken plans, and the digests of a plan file. */
#include "core/plan_file/plan_file.h"

#include <stdarg.h>
#include <stdio.h>
#include "core/base/status.h"

tenon_status_t tenon__plan_broken(const tenon__plan_reader_t* reader, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return tenon__fail(reader->sink, TENON_ERROR_INVALID_DATA, "the plan is broken: %s", text);
}

tenon_status_t tenon__plan_refused(const tenon__plan_reader_t* reader, tenon_status_t status,
                                   const char* what) {
  return status == TENON_ERROR_INVALID_DATA ? tenon__plan_broken(reader, "%s", what) : status;
}

tenon__digest_t tenon__weights_digest_now(const tenon__weights_t* weights,
                                          tenon__interrupt_t* interrupt) {
  tenon__weights_t copy = *weights;
  copy.digest_known = false;
  tenon__network_t alone = {.weights_count = 1, .weights = &copy, .interrupt = interrupt};
  return *tenon__weights_digest(&alone, 0);
}

tenon__digest_t tenon__plan_file_digest(const void* file, size_t structure_size) {
  const uint8_t* bytes = file;
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, bytes, TENON_PLAN_DIGEST_OFFSET);
  tenon__digest_add(&state, bytes + TENON_PLAN_HEADER_SIZE, structure_size);
  return tenon__digest_end(&state);
}
