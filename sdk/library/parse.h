/*
 * One parse: declarations that parse.c (files, parsers), convert.c (converters), description.c (the
 * file's description) and missing.c (unsupported node types) share. A parse tries to build a
 * network and describes the file in the process. Its results belong to the network. Its working
 * data are in its own arena and freed at its end.
 */
#ifndef TENON_SDK_LIBRARY_PARSE_H_
#define TENON_SDK_LIBRARY_PARSE_H_

#include "sdk/library/library.h"

#include "core/network/builder_input.h"

/* One of the files that a model is made of. The first is the model itself. Names are those that the
 * parser requests. Data are mapped, or belong to the caller. */
typedef struct tenon__model_part_t {
  const char* name;
  const void* data;
  size_t size;
} tenon__model_part_t;

/* On the stack of one call of the library. This is the type behind the contract's opaque handle.
 * `given` and `asked` are marked during the parse, so that names that the model does not have are
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
  tenon__string_map_t conversions; /* "version:domain:type" -> its converter; NULL: none */
  tenon__string_map_t types;       /* the same -> index in the description */
  bool has_missing;                /* node types without a converter */
  const char* const* settings;     /* "name=value", NULL-terminated, or NULL */
  bool* asked;                     /* for each of them */
  /* The reason why a companion file of the model could not be opened. The parser's next error ends
   * with it. */
  char file_reason[1024];
};

/* convert.c: returns the converter for a node type. It asks the plugins' converters, or makes the
 * operator of that name. NULL if there is neither. Found once for each type and version, then
 * remembered. *out_state is the state for tenon_conversion_t. May load plugins. */
const tenon_converter_t* tenon__parse_find_converter(tenon_parse_t* parse, const char* domain,
                                                     const char* type, int64_t version,
                                                     void** out_state);
/* Returns the plugin of the first converter or of the operator; NULL: no plugin. */
const char* tenon__parse_find_plugin(tenon_parse_t* parse, const char* domain, const char* type,
                                     int64_t version);

/* convert_by_name.c: the first finds the operator that a node type names (NULL: none), the second
 * makes its node. */
const tenon__operator_t* tenon__parse_find_operator(tenon_parse_t* parse, const char* domain,
                                                    const char* type, int64_t version);
tenon_status_t tenon__parse_convert_by_name(tenon_parse_t* parse, const tenon__operator_t* op,
                                            const tenon_conversion_t* given);

/* Sends one message with all missing node types and returns UNSUPPORTED. It gives the number of
 * uses of each type and the remedy: another version of a plugin, a plugin that was refused, or an
 * operator of that name. */
tenon_status_t tenon__missing_report(tenon_parse_t* parse);

#endif
