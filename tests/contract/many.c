/* A hundred kernels that match one operator by pattern. Each is slow. */
#include "stranger.h"

#define OFFER(number) "offers: kernel many" #number " * cpu\n"
#define TEN_OFFERS(tens) \
  OFFER(tens##0)         \
  OFFER(tens##1)         \
  OFFER(tens##2)         \
  OFFER(tens##3)         \
  OFFER(tens##4) OFFER(tens##5) OFFER(tens##6) OFFER(tens##7) OFFER(tens##8) OFFER(tens##9)
TENON_PLUGIN_MANIFEST("many", "1.0.0",
                      TEN_OFFERS(0) TEN_OFFERS(1) TEN_OFFERS(2) TEN_OFFERS(3) TEN_OFFERS(4)
                          TEN_OFFERS(5) TEN_OFFERS(6) TEN_OFFERS(7) TEN_OFFERS(8) TEN_OFFERS(9));

STRANGER_TACTICS(slow) {
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &(tenon_tactic_t){
                       .size = sizeof(tenon_tactic_t), .name = "slow", .estimate_seconds = 1});
}

static tenon_status_t never_run(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_INTERNAL;
}

#define KERNEL(number)                                                                     \
  {                                                                                        \
    .size = sizeof(tenon_kernel_t), .name = "many" #number, .device = "cpu", .version = 1, \
    .pattern = "y = standard.relu/1(x)", .tactics = slow, .enqueue = never_run             \
  }
#define TEN(tens)                                                                      \
  KERNEL(tens##0), KERNEL(tens##1), KERNEL(tens##2), KERNEL(tens##3), KERNEL(tens##4), \
      KERNEL(tens##5), KERNEL(tens##6), KERNEL(tens##7), KERNEL(tens##8), KERNEL(tens##9)

static const tenon_kernel_t kernels[] = {TEN(0), TEN(1), TEN(2), TEN(3), TEN(4),
                                         TEN(5), TEN(6), TEN(7), TEN(8), TEN(9)};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("many")
