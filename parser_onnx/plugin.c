/* The ONNX parser and its converters, as one plugin. */
#include "converters/families.h"
#include "parser.h"

/* The build says whether the plugin contains the decoder's library or needs it. */
#if ONNX_LINKS_PROTOBUF_C
#define NEEDS_PROTOBUF_C "needs-library: libprotobuf-c.so.1 linked\n"
#else
#define NEEDS_PROTOBUF_C ""
#endif

TENON_PLUGIN_MANIFEST("onnx", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: parser onnx\n"
                      "offers: converter *\n" NEEDS_PROTOBUF_C);

static const tenon_parser_t parsers[] = {{
    .size = sizeof(tenon_parser_t),
    .format = "onnx",
    .summary = "ONNX models, operator sets 1 to 28",
    .extensions = ".onnx",
    .sniff = tenon__onnx_parser_sniff,
    .parse = tenon__onnx_parser_parse,
}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("parser/1", parsers),
                                                    TENON__ONNX_FAMILIES(TENON__ONNX_FAMILY_ENTRY)};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "onnx",
    .version = "0.2.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
