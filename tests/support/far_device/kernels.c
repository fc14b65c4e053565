/*
 * Which of the reference's kernels the device has: all that its list names, but for those left out
 * here. `kernels.h` is the reference's.
 */
#include "plugins/reference/kernels.h"

#include <string.h>

#include "call.h"
#include "offering.h"
#include "slots.h"

/* Left out: random numbers, texts, sequences and optionals. */
#define LEFT_OUT ~, NO_KERNEL
#define FAR_scatter_elements LEFT_OUT /* by itself, below */
#define FAR_random_uniform LEFT_OUT
#define FAR_random_normal LEFT_OUT
#define FAR_bernoulli LEFT_OUT
#define FAR_multinomial LEFT_OUT
#define FAR_string_concat LEFT_OUT
#define FAR_string_split LEFT_OUT
#define FAR_string_normalizer LEFT_OUT
#define FAR_text_to_number LEFT_OUT
#define FAR_number_to_text LEFT_OUT
#define FAR_sequence_make LEFT_OUT
#define FAR_sequence_empty LEFT_OUT
#define FAR_sequence_at LEFT_OUT
#define FAR_sequence_length LEFT_OUT
#define FAR_sequence_insert LEFT_OUT
#define FAR_sequence_erase LEFT_OUT
#define FAR_split_to_sequence LEFT_OUT
#define FAR_concat_from_sequence LEFT_OUT
#define FAR_optional_make LEFT_OUT
#define FAR_optional_get LEFT_OUT
#define FAR_optional_has LEFT_OUT
#define FAR_optional_make_sequence LEFT_OUT
#define FAR_optional_get_sequence LEFT_OUT
#define FAR_optional_has_sequence LEFT_OUT

/* Those that wait: the run finds the extents of what they make. */
static const char* const waiting[] = {"standard.nonzero/1",
                                      "standard.unique/1",
                                      "standard.compress/1",
                                      "standard.arange_float/1",
                                      "standard.detection_output/1",
                                      "standard.propose_regions/1",
                                      "standard.non_max_suppression/1"};

int far_kernel_waits(const char* op) {
  for (size_t index = 0; op != NULL && index < sizeof(waiting) / sizeof(waiting[0]); ++index) {
    if (strcmp(waiting[index], op) == 0) {
      return 1;
    }
  }
  return 0;
}

#define ROW(name, scratch, row_flags, names) \
  {.op = "standard." #name "/1",             \
   .attributes = (names),                    \
   .compute = tenon__compute_##name,         \
   .scratch_count = (scratch),               \
   .flags = (row_flags)},
static const tenon__kernel_row_t rows[] = {TENON__KERNELS(ROW)};

const tenon__kernel_row_t* tenon__kernel_find(const char* op) {
  for (size_t index = 0; op != NULL && index < sizeof(rows) / sizeof(rows[0]); ++index) {
    if (strcmp(rows[index].op, op) == 0) {
      return &rows[index];
    }
  }
  return NULL;
}

#define LIFE                                                                                       \
  .device = "far", .version = 1, .tactics = far_tactics, .prepare = far_prepare, .bind = far_bind, \
  .enqueue = far_enqueue
#define OPERATOR_KERNEL(kernel_name, names)          \
  {.size = sizeof(tenon_kernel_t),                   \
   .name = #kernel_name,                             \
   .operators = LIST("standard." #kernel_name "/1"), \
   .attributes = (names),                            \
   .match = far_match_operator,                      \
   LIFE},
#define NO_KERNEL(kernel_name, names)
/* OPERATOR_KERNEL, or what FAR_name has behind its comma. */
#define SECOND(first, second, ...) second
#define CHOOSE(...) SECOND(__VA_ARGS__, OPERATOR_KERNEL, ~)
#define KERNEL(kernel_name, scratch, row_flags, names) CHOOSE(FAR_##kernel_name)(kernel_name, names)

/* What it finds in data it tells by a word, not by a failure of its stream. */
static const char* const faults[] = {"scatters to {value}, where nothing is", NULL};

static const tenon_kernel_t kernels[] = {
    {.size = sizeof(tenon_kernel_t),
     .name = "scatter_elements",
     .operators = LIST("standard.scatter_elements/1"),
     .attributes = LIST("axis", "reduction"),
     .match = far_match_operator,
     .faults = faults,
     LIFE},
    TENON__KERNELS(KERNEL){.size = sizeof(tenon_kernel_t),
                           .name = "expressions",
                           .flags = TENON_KERNEL_EXPRESSIONS,
                           .match = far_match_program,
                           LIFE},
    {.size = sizeof(tenon_kernel_t),
     .name = "moves",
     .flags = TENON_KERNEL_MOVES,
     .match = far_match_program,
     LIFE},
    {.size = sizeof(tenon_kernel_t),
     .name = "product",
     .operators = LIST("standard.mat_mul/1"),
     .attributes = NOTHING,
     .slots = TENON_LIST(far_product_slots),
     .match = far_match_slots,
     LIFE},
};
const tenon_offering_t far_kernel_offering = TENON_OFFERING_OF("kernel/1", kernels);
