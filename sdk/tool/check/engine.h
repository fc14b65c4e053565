/* Networks, engines and runs of one case, through the public interface. */
#ifndef TOOL_CHECK_ENGINE_H_
#define TOOL_CHECK_ENGINE_H_

#include "check/case.h"
#include "check/memory.h"

/* How the network differs from the node alone. */
typedef struct check_symbols_t check_symbols_t;
typedef struct check_form_t {
  bool symbolic;   /* equal extents of inputs that are no constants are one symbol each */
  bool transposed; /* inputs come through a permutation, outputs go through one */
  bool sliced;     /* inputs are parts of larger ones, outputs parts of a concatenation */
  uint32_t fused;  /* CHECK_FUSED_* */
  const check_symbols_t* extents; /* other extents than the case's; NULL: its own */
} check_form_t;

/* Arithmetic around the node. */
enum {
  CHECK_FUSED_NOT = 0,
  CHECK_FUSED_BEHIND = 1,  /* of output 0 alone */
  CHECK_FUSED_FULL = 2,    /* of output 0 and a tensor of its extents */
  CHECK_FUSED_CHANNEL = 3, /* of output 0 and a tensor that varies along axis 1 */
  CHECK_FUSED_BEFORE = 4,  /* of input 0 and a tensor of its extents */
  CHECK_FUSED_COUNT = 5
};

enum { CHECK_MOST_SYMBOLS = 32 };

/* Of a symbolic network: the symbol "dN" stands for the extent N of the case. */
struct check_symbols_t {
  int64_t extents[CHECK_MOST_SYMBOLS]; /* of the case */
  int64_t actual[CHECK_MOST_SYMBOLS];  /* of a run */
  uint32_t count;
};

/* Which kernels may compute it. */
typedef struct check_kernels_t {
  const check_kernel_t* only; /* and reference kernels, moves; NULL: reference kernels alone */
  bool by_expression;         /* with `only` NULL: no reference of the operator itself */
  bool any;                   /* all kernels, as a build chooses them */
  bool unmeasured;            /* only: by estimates */
  uint32_t threads;
} check_kernels_t;

typedef struct check_engine_t {
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  bool is_used;       /* a step has the kernel */
  char refusal[1024]; /* of the kernel; "" */
} check_engine_t;

/* The tensor with its data elsewhere. */
static inline tenon_tensor_view_t check_view(const tool_value_t* value, void* data) {
  return (tenon_tensor_view_t){.data = data,
                               .dims = value->dims,
                               .rank = value->rank,
                               .dtype = value->dtype,
                               .layout = TENON_NONE};
}

/* A failure leaves the message in tenon_last_message. */
tenon_status_t check_network_make(const check_plugin_t* plugin, const check_case_t* c,
                                  const check_form_t* form, tenon_network_t** out_network);
void check_symbols_find(const check_case_t* c, check_symbols_t* out_symbols);
int64_t check_symbol_actual(const check_symbols_t* symbols, int64_t extent);
/* `symbols` NULL: a network without symbols. */
tenon_status_t check_engine_make(const check_plugin_t* plugin, tenon_network_t* network,
                                 const check_case_t* c, const check_kernels_t* kernels,
                                 const check_symbols_t* symbols, check_engine_t* out_engine);
/* The build found the kernel wrong, or it failed when it was tried. */
bool check_engine_is_refuted(const check_engine_t* engine);
void check_engine_free(check_engine_t* engine);

/* Outputs of a run, copied. */
typedef struct check_results_t {
  tool_value_t values[CHECK_MOST_OUTPUTS];
  uint32_t count;
} check_results_t;

void check_results_free(check_results_t* results);
/* Bit by bit. *out_output: the first that differs. */
bool check_results_equal(const check_results_t* a, const check_results_t* b, uint32_t* out_output);

/* Sets the case's inputs, in the order of the network's. */
tenon_status_t check_context_feed(tenon_context_t* context, const check_case_t* c);
tenon_status_t check_context_take(tenon_context_t* context, const tenon_engine_t* engine,
                                  check_results_t* out_results);
/* A context of so many threads, one run, its results. is_changed: the network's inputs have other
 * extents than the case's. They get the case's numbers, repeated or cut. */
tenon_status_t check_engine_run(const check_engine_t* engine, const check_case_t* c,
                                uint32_t threads, bool is_changed, check_results_t* out_results);

#endif
