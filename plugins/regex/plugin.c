/* Regular expressions: the operator regex.full_match/1, its kernel for the device "cpu", and ONNX's
 * RegexFullMatch. */
#include "kernel.h"
#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST("regex", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: operator regex.full_match/1\n"
                      "offers: kernel full_match regex.full_match/1 cpu\n"
                      "offers: converter onnx::RegexFullMatch\n"
                      "needs-library: libpcre2-8.so.0 linked\n");

static const tenon_attribute_descriptor_t attributes[] = {
    {sizeof(*attributes), .name = "pattern", .kind = TENON_ATTRIBUTE_STRING,
     .flags = TENON_ATTRIBUTE_REQUIRED, .summary = "a regular expression of RE2's syntax"}};
static const tenon_port_t ports_in[] = {{sizeof(*ports_in), .name = "x", .type = "str"}};
static const tenon_port_t ports_out[] = {{sizeof(*ports_out), .name = "y", .type = "bool"}};
static const tenon_operator_t operators[] = {
    {sizeof(*operators), .name = "regex.full_match/1",
     .summary = "whether the whole of each string matches", .attributes = TENON_LIST(attributes),
     .inputs = TENON_LIST(ports_in), .outputs = TENON_LIST(ports_out),
     .infer = tenon__full_match_infer, .traits = "pure"}};

/* The only one, so that it is the oracle too. */
static const tenon_kernel_t kernels[] = {
    {sizeof(*kernels), .name = "full_match", .device = "cpu",
     .operators = (const char* const[]){"regex.full_match/1", NULL},
     .attributes = (const char* const[]){"pattern", NULL}, .version = 1,
     .flags = TENON_KERNEL_REFERENCE, .prepare = tenon__full_match_prepare,
     .bind = tenon__full_match_bind, .enqueue = tenon__full_match_enqueue,
     .unbind = tenon__full_match_unbind, .destroy = tenon__full_match_destroy}};

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {TENON_MAKE_ROW(convert, "onnx", "", "RegexFullMatch", 20, 0,
                                                       tenon_make_same, "regex.full_match/1",
                                                       "pattern")};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels),
                                                    TENON_OFFERING("converter/1", rows)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "regex", .version = "0.2.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
