/*
 * Description of a model file: inputs, outputs, the types of its nodes and their converters.
 *
 * It is built together with the network while the file is parsed, and kept if the network cannot be
 * built. Thus a model with unsupported node types can still be listed, with its missing types. If
 * memory runs out, the description is shortened and nothing else fails.
 */
#ifndef TENON_SDK_LIBRARY_DESCRIPTION_H_
#define TENON_SDK_LIBRARY_DESCRIPTION_H_

#include "sdk/library/library.h"

/* One for each (domain, type, version) of the file, in order of appearance. */
struct tenon__node_type_t {
  tenon_node_type_t info;
  uint32_t missing_count; /* number of reports that it is missing */
};

/* Clears the description before a parse. */
void tenon__description_begin(tenon_parse_t* parse);
/* Functions of the parser's table. Entries are dropped if memory runs out. The caller's shapes
 * replace extents that the file leaves open, and inputs with a given value are not listed. */
void tenon__describe_value(tenon_parse_t* parse, int32_t is_output, const char* name,
                           const tenon_value_type_t* type, const char* const* symbols);
/* Counts a node by its type; `node` is the name of the first one. */
void tenon__describe_node(tenon_parse_t* parse, const char* domain, const char* type,
                          int64_t version, const char* node);
void tenon__describe_missing(tenon_parse_t* parse, const char* domain, const char* type,
                             int64_t version, const char* node);
/* Ends the description after a parse and adds the converters. If the parse has failed, the
 * description replaces the network. Strings are in the network's arena. */
void tenon__description_end(tenon_parse_t* parse, bool has_failed);

/* Returns the description of a network that could not be built; NULL if there is a network. */
const tenon__description_t* tenon__description_of(const tenon_network_t* network);

#endif
