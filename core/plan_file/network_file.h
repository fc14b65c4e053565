/* The pieces of a network in a plan: attributes, maps and shapes as bytes. Readers check every id
 * against what there is; after a fault the byte reader has failed, or they return false. */
#ifndef TENON_CORE_PLAN_FILE_NETWORK_FILE_H_
#define TENON_CORE_PLAN_FILE_NETWORK_FILE_H_

#include "core/base/bytes.h"
#include "core/network/network.h"

/* What the pieces' readers share. Ids are checked against the network as far as it is filled. */
typedef struct tenon__file_reading_t {
  tenon__byte_reader_t* reader;
  tenon__network_t* network; /* being filled; its arena keeps what is read */
  const tenon_sink_t* sink;
  bool out_of_memory; /* asked before a failure is blamed on the file */
} tenon__file_reading_t;

/* With its name; `defined` is kept, so that what a node said is told from defaults. */
void tenon__attribute_write(const tenon__scope_attribute_t* attribute,
                            tenon__byte_writer_t* writer);
bool tenon__attribute_read(tenon__file_reading_t* reading, tenon__scope_attribute_t* out_attribute);

void tenon__shape_write(uint32_t rank, const tenon_dim_t* dims, tenon__byte_writer_t* writer);
/* `with_unknown`: the rank may be TENON_NONE. */
bool tenon__shape_read(tenon__file_reading_t* reading, bool with_unknown, uint32_t* out_rank,
                       const tenon_dim_t** out_dims);

/* Sources' coordinates as ids of the pool; the kind is written, and checked by who uses it. */
void tenon__index_map_write(const tenon__index_map_t* map, tenon__byte_writer_t* writer);
/* Sources and fill are checked against the number of the node's inputs. */
bool tenon__index_map_read(tenon__file_reading_t* reading, uint32_t input_count,
                           tenon__index_map_t* out_map);

/* A list of u32, each less than `limit`, or TENON_NONE where that is allowed. */
void tenon__list_write(const uint32_t* list, uint32_t count, tenon__byte_writer_t* writer);
bool tenon__list_read(tenon__file_reading_t* reading, uint32_t limit, bool with_none,
                      uint32_t* out_count, uint32_t** out_list);
/* A string copied to the arena; false when memory is out. */
bool tenon__text_read(tenon__file_reading_t* reading, const char** out_text);

#endif
