/*
 * One parse: what parse.c (files, parsers), convert.c (converters), description.c (what the file
 * says) and missing.c (what nobody can convert) share. A parse tries to build a network and
 * describes the file meanwhile. What it is about belongs to the network; what it needs while it
 * goes on lies in its own arena and ends with it.
 */
#ifndef TENON_SDK_LIBRARY_PARSE_H_
#define TENON_SDK_LIBRARY_PARSE_H_

#include "sdk/library/library.h"

#include "core/network/builder_input.h"

/* One of the files that a model is made of. The first is the model itself. Names are as the parser
 * asks for them; data are mapped, or the caller's. */
typedef struct tenon__model_part_t {
  const char* name;
  const void* data;
  size_t size;
} tenon__model_part_t;

/* On the stack of one call of the library: the type behind the contract's opaque handle. `given`
 * and `asked` are marked while it goes on, so that a name which the model does not have can be
 * refused at its end. */
struct tenon_parse_t {
  tenon_network_t* network;
  tenon__arena_t arena; /* until the parse ends */
  const char* format;
  const char* folder; /* "" for the working directory, NULL for a model in memory */
  uint32_t part_count;
  tenon__model_part_t* parts;
  tenon_list_t shapes; /* of tenon_input_shape_t */
  uint32_t given_count;
  tenon__given_input_t* given;     /* inputs with a value */
  tenon__string_map_t conversions; /* "version:domain:type" -> who converts it, NULL: nobody */
  tenon__string_map_t types;       /* the same -> which of the description's */
  bool has_missing;                /* node types that nobody converts */
  const char* const* settings;     /* "name=value", NULL-terminated, or NULL */
  bool* asked;                     /* for each of them */
  /* Why a file beside the model could not be opened; the parser's next error ends with it. */
  char file_reason[1024];
};

/* convert.c: the converter for a node type, which asks those of the plugins, or makes the operator
 * of its name; NULL: there is neither. Found once for each type and version, then remembered.
 * *out_state is the state for tenon_conversion_t. It may load plugins. */
const tenon_converter_t* tenon__parse_find_converter(tenon_parse_t* parse, const char* domain,
                                                     const char* type, int64_t version,
                                                     void** out_state);
/* The plugin whose converter is asked first, or whose operator that is; NULL: no plugin's. */
const char* tenon__parse_find_plugin(tenon_parse_t* parse, const char* domain, const char* type,
                                     int64_t version);

/* convert_by_name.c: the operator that a node type names, NULL if there is none; and its node. */
const tenon__operator_t* tenon__parse_find_operator(tenon_parse_t* parse, const char* domain,
                                                    const char* type, int64_t version);
tenon_status_t tenon__parse_convert_by_name(tenon_parse_t* parse, const tenon__operator_t* op,
                                            const tenon_conversion_t* given);

/* Who would convert what is missing: one message with all of it; returns UNSUPPORTED. Each type
 * with how often it stands in the file, and what would be needed: another version of a plugin, one
 * that was refused, or an operator of its name. */
tenon_status_t tenon__missing_report(tenon_parse_t* parse);

#endif
