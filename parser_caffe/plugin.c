/* The Caffe parser and its converters, as one plugin. */
#include "converters/families.h"
#include "parser.h"

TENON_PLUGIN_MANIFEST("caffe", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: parser caffe\n"
                      "offers: converter *\n");

static const tenon_parser_t parsers[] = {{
    .size = sizeof(tenon_parser_t),
    .format = "caffe",
    .summary = "Caffe networks: a prototxt, its caffemodel, a mean as binaryproto",
    .extensions = ".prototxt;.caffemodel;.binaryproto",
    .sniff = tenon__caffe_parser_sniff,
    .parse = tenon__caffe_parser_parse,
}};

static const tenon_offering_t* const offerings[] = {
    TENON_OFFERING("parser/1", parsers), TENON__CAFFE_FAMILIES(TENON__CAFFE_FAMILY_ENTRY)};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "caffe",
    .version = "0.2.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
