#include "core/kernel/fault.h"

#include "core/base/test.h"
#include "core/kernel/bound.h"

static const char* const texts[] = {"index {value} is out of range", "it is not sorted", NULL};
static const tenon_kernel_t kernel = {.size = sizeof(kernel), .faults = texts};
static const tenon_kernel_t silent = {.size = sizeof(silent)};

TENON_TEST(is_told_in_the_kernels_words) {
  static const struct {
    tenon_fault_t fault;
    tenon_status_t status;
    const char* message;
  } rows[] = {
      {{.code = 1, .value = -7}, TENON_ERROR_INVALID_DATA, "step: index -7 is out of range"},
      {{.code = 2, .value = 9}, TENON_ERROR_INVALID_DATA, "step: it is not sorted"},
      {{.code = 3}, TENON_ERROR_INTERNAL, "step: the kernel tells fault 3, it has texts of 2"}};
  const tenon__instance_t instance = {.kernel = {.kernel = &kernel}, .prefix = "step: "};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    tenon__test_messages_t messages;
    const tenon_sink_t* sink = tenon__test_listen(&messages);
    EXPECT_STATUS(tenon__instance_tell_fault(&instance, &rows[k].fault, sink), rows[k].status);
    EXPECT_CONTAINS(messages.text, rows[k].message);
  }
}

TENON_TEST(a_kernel_without_texts_has_none) {
  const tenon__instance_t with = {.kernel = {.kernel = &kernel}};
  const tenon__instance_t without = {.kernel = {.kernel = &silent}};
  EXPECT(tenon__instance_has_faults(&with));
  EXPECT(!tenon__instance_has_faults(&without));
  EXPECT(!tenon__instance_has_faults(NULL)); /* a step of the core's own */
}
