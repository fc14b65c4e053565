/* The UFF parser and its converters, as one plugin. */
#include "converters/families.h"
#include "parser.h"

TENON_PLUGIN_MANIFEST("uff", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: parser uff\n"
                      "offers: converter *\n");

static const tenon_parser_t parsers[] = {{
    .size = sizeof(tenon_parser_t),
    .format = "uff",
    .summary = "UFF files and frozen graphs of TensorFlow, binary or text",
    .extensions = ".uff;.pb;.pbtxt",
    .sniff = tenon__uff_parser_sniff,
    .parse = tenon__uff_parser_parse,
}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("parser/1", parsers),
                                                    TENON__UFF_FAMILIES(TENON__UFF_FAMILY_ENTRY)};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "uff",
    .version = "0.2.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
