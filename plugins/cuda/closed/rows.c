/* The table of rows.h, and the kernels on offer that it makes. */
#include "rows.h"

#include <string.h>

#include "../texts.h"

#define TABLE_ROW(row_name, row_text, faults, names, ...) \
  {.name = #row_name,                                     \
   .text = tenon__cuda_closed_##row_text##_text,          \
   .attributes = (names),                                 \
   __VA_ARGS__},
static const tenon__closed_row_t rows[] = {TENON_CLOSED_ROWS(TABLE_ROW, TABLE_ROW, TABLE_ROW)};

const tenon__closed_row_t* tenon__closed_find(const char* op) {
  static const char domain[] = "standard.";
  const size_t prefix = sizeof(domain) - 1;
  if (op == NULL || strncmp(op, domain, prefix) != 0) {
    return NULL;
  }
  for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
    const size_t length = strlen(rows[k].name);
    if (strncmp(op + prefix, rows[k].name, length) == 0 &&
        strcmp(op + prefix + length, "/1") == 0) {
      return &rows[k];
    }
  }
  return NULL;
}

#define OFFERED(kernel_name, end, row_flags, row_name, fault_texts, names) \
  {.size = sizeof(tenon_kernel_t),                                         \
   .name = (kernel_name),                                                  \
   .device = "cuda",                                                       \
   .operators = LIST("standard." #row_name "/1"),                          \
   .attributes = (names),                                                  \
   .version = 1,                                                           \
   .flags = (row_flags),                                                   \
   .match = tenon__closed_match##end,                                      \
   .tactics = tenon__closed_tactics,                                       \
   .begin_prepare = tenon__closed_begin_prepare,                           \
   .prepare = tenon__closed_prepare##end,                                  \
   .bind = tenon__closed_bind,                                             \
   .enqueue = tenon__closed_enqueue,                                       \
   .destroy = tenon__closed_destroy,                                       \
   .faults = (fault_texts)},
#define OFFERED_ROW(name, text, faults, names, ...) OFFERED(#name, , 0, name, faults, names)
#define OFFERED_KNOWN(name, text, faults, names, ...) \
  OFFERED(#name, , 0, name, faults, names)            \
  OFFERED(#name "_known", _known, 0, name, NULL, names)
#define OFFERED_LAST(name, text, faults, names, ...) \
  OFFERED(#name, , TENON_KERNEL_REFERENCE, name, faults, names)
static const tenon_kernel_t kernels[] = {
    TENON_CLOSED_ROWS(OFFERED_ROW, OFFERED_KNOWN, OFFERED_LAST)};
const tenon_offering_t tenon__closed_kernels = TENON_OFFERING_OF("kernel/1", kernels);
