/* Rewrites as strangers write them: one that is right, and each of the others wrong in one way. */
#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("rewriter", "1.0.0",
                      "offers: operator rewriter.swish/1\noffers: operator rewriter.wrong/1\n"
                      "offers: rewrite *\noffers: kernel *\n");

static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{sizeof(*inputs), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{sizeof(*outputs), .name = "y", .type = "T"}};
static const tenon_case_t swish[] = {{sizeof(*swish), .text = "y = x * sigmoid(x)"}};
static const tenon_case_t wrong[] = {{sizeof(*wrong), .text = "y = x * sigmoid(x) + 0.25"}};

#define OPERATOR(identity, meaning)                                                         \
  {                                                                                         \
    sizeof(tenon_operator_t), .name = (identity), .types = TENON_LIST(types),               \
                              .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs), \
                              .cases = TENON_LIST(meaning)                                  \
  }
static const tenon_operator_t operators[] = {OPERATOR("rewriter.swish/1", swish),
                                             OPERATOR("rewriter.wrong/1", wrong)};

#define SWISH "s = standard.sigmoid/1(x); y = standard.mul/1(x, s)"
#define REWRITE(name_, pattern_, when_, replacement_)                                 \
  {                                                                                   \
    sizeof(tenon_rewrite_t), .name = (name_), .pattern = (pattern_), .when = (when_), \
                             .replacement = (replacement_)                            \
  }
static const tenon_rewrite_t rewrites[] = {
    REWRITE("broken", SWISH, NULL, "y = rewriter.wrong/1(x)"),
    REWRITE("right", SWISH, NULL, "y = rewriter.swish/1(x)"),
    REWRITE("endless", "y = standard.relu/1(x)", NULL,
            "t = standard.relu/1(x); y = standard.relu/1(t)"),
    /* No sample is of that shape. */
    REWRITE("sly", "y = standard.abs/1(x)", "rank(x) == 1 && dim(x, 0) == 77",
            "y = standard.neg/1(x)"),
    REWRITE("cut", "y = standard.relu/1(x", NULL, "y = standard.relu/1(x)"),
    REWRITE("misspelt", "y = standard.relu/1(x)", "rnak(x) == 2", "y = standard.relu/1(x)"),
    REWRITE("absent", "y = standard.relu/1(x)", NULL, "y = rewriter.absent/1(x)"),
    REWRITE("stranger", "y = nobody.knows/1(x)", NULL, "y = standard.relu/1(x)"),
    REWRITE("unfit", "y = standard.tanh/1(x)", NULL, "y = standard.cast/1(x){to=i32}"),
};

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_INTERNAL;
}

static const tenon_kernel_t kernels[] = {
    {sizeof(*kernels), .name = "cut", .device = "cpu",
     .pattern = "t = standard.mat_mul/1(a; y = standard.relu/1(t)", .enqueue = enqueue}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("rewrite/1", rewrites),
                                                    TENON_OFFERING("kernel/1", kernels)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "rewriter", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
