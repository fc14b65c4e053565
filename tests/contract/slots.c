/* Operators whose kernels say yes to whatever they are asked, each with slots of other limits: what
 * the host hands them is what it reads of those. */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("slots", "1.0.0", "offers: operator *\noffers: kernel *\n");

enum {
  ANY_BROADCAST = TENON_BROADCAST_SCALAR | TENON_BROADCAST_CHANNEL | TENON_BROADCAST_ROW |
                  TENON_BROADCAST_FULL | TENON_BROADCAST_OTHER
};

#define SLOT(...) \
  { .size = sizeof(tenon_slot_t), .kind = TENON_SLOT_EPILOGUE, __VA_ARGS__ }
#define TAKES(broadcast) SLOT(.max_operands = 9, .broadcasts = (broadcast), .channel_axis = 1)

/* NAME, slots. */
#define OPERATORS(X)                                                                  \
  X(plain, SLOT(.max_operands = 9, .broadcasts = ANY_BROADCAST))                      \
  X(no_operand, SLOT(.broadcasts = ANY_BROADCAST))                                    \
  X(one_operand, SLOT(.max_operands = 1, .broadcasts = ANY_BROADCAST))                \
  X(short, SLOT(.max_instructions = 3))                                               \
  X(scalar, TAKES(TENON_BROADCAST_SCALAR))                                            \
  X(channel, TAKES(TENON_BROADCAST_CHANNEL))                                          \
  X(row, TAKES(TENON_BROADCAST_ROW))                                                  \
  X(full, TAKES(TENON_BROADCAST_FULL))                                                \
  X(other, TAKES(TENON_BROADCAST_OTHER))                                              \
  X(floats, SLOT(.arithmetic = TENON_DTYPE_FLOAT32))                                  \
  X(prologue, {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_PROLOGUE})            \
  X(side, {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_SIDE})                    \
  X(second, SLOT(.index = 1))                                                         \
  X(sixth, {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_SIDE}, SLOT(.index = 1), \
    {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_PROLOGUE}, SLOT(.index = 1),    \
    {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_SIDE}, SLOT(.index = 0))

static int32_t yes(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                   tenon_refusal_t* out_refusal) {
  (void)state;
  (void)region;
  (void)table;
  (void)out_refusal;
  return 1;
}

static tenon_status_t never_run(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_INTERNAL;
}

#define SLOTS(name, ...)                                    \
  static const tenon_slot_t name##_slots[] = {__VA_ARGS__}; \
  static const char* const name##_operators[] = {"slots." #name "/1", NULL};
OPERATORS(SLOTS)

#define OPERATOR(name, ...) STRANGER_UNARY("slots." #name "/1"),
static const tenon_operator_t operators[] = {OPERATORS(OPERATOR)};

#define KERNEL(name_, ...)             \
  {.size = sizeof(tenon_kernel_t),     \
   .name = #name_,                     \
   .device = "cpu",                    \
   .operators = name_##_operators,     \
   .slots = TENON_LIST(name_##_slots), \
   .version = 1,                       \
   .match = yes,                       \
   .enqueue = never_run},
static const tenon_kernel_t kernels[] = {OPERATORS(KERNEL)};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("slots")
