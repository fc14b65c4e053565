/* A rewrite: the exponential of log_softmax is softmax. Some exported networks contain this pair.
 * The host tries a rewrite on small random networks before it applies it, and leaves it out if it
 * changes a result. */
#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("acme", "1.0.0",
                      "licence: your licence\n"
                      "offers: rewrite exp_of_log_softmax\n");

/* `{axis=a}`: the attribute of the matched node is called a, and the replacement gets it. */
static const tenon_rewrite_t rewrites[] = {
    {.size = sizeof(rewrites[0]),
     .name = "exp_of_log_softmax",
     .pattern = "t = standard.log_softmax/1(x){axis=a}; y = standard.exp/1(t)",
     .replacement = "y = standard.softmax/1(x){axis=a}"}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("rewrite/1", rewrites)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
