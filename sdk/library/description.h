/*
 * What a model file says of itself: inputs, outputs, the types of its nodes and who converts them.
 *
 * It is made beside the network while the file is parsed, and kept where no network comes of it: a
 * model with node types that nobody converts can still be listed, with what is missing. Memory that
 * runs out shortens it and nothing else.
 */
#ifndef TENON_SDK_LIBRARY_DESCRIPTION_H_
#define TENON_SDK_LIBRARY_DESCRIPTION_H_

#include "sdk/library/library.h"

/* One for each (domain, type, version) of the file, in the order in which they are met. */
struct tenon__node_type_t {
  tenon_node_type_t info;
  uint32_t missing_count; /* how often it was reported missing */
};

/* Before a parse: nothing is known. */
void tenon__description_begin(tenon_parse_t* parse);
/* Entries of the parser's table. What memory is out for is left out. The caller's shapes fill what
 * the file leaves open, and inputs with a given value are none. */
void tenon__describe_value(tenon_parse_t* parse, int32_t is_output, const char* name,
                           const tenon_value_type_t* type, const char* const* symbols);
/* Counted by type; `node` names the first of them. */
void tenon__describe_node(tenon_parse_t* parse, const char* domain, const char* type,
                          int64_t version, const char* node);
void tenon__describe_missing(tenon_parse_t* parse, const char* domain, const char* type,
                             int64_t version, const char* node);
/* After it: who converts what; a parse that has failed leaves the description instead of a network.
 * Strings lie in the network's arena. */
void tenon__description_end(tenon_parse_t* parse, bool has_failed);

/* What stands for a network that could not be made; NULL where there is a network. */
const tenon__description_t* tenon__description_of(const tenon_network_t* network);

#endif
