/* Attributes, maps and shapes of a network in a plan, as bytes. Readers check all ids. After an
 * error they return false, or the byte reader has failed. */
#ifndef TENON_CORE_PLAN_FILE_NETWORK_FILE_H_
#define TENON_CORE_PLAN_FILE_NETWORK_FILE_H_

#include "core/base/bytes.h"
#include "core/network/network.h"

/* State that these readers share. Ids are checked against the network as far as it is filled. */
typedef struct tenon__file_reading_t {
  tenon__byte_reader_t* reader;
  tenon__network_t* network; /* being filled; its arena holds the data */
  const tenon_sink_t* sink;
  bool out_of_memory; /* a failure is not the file's fault */
} tenon__file_reading_t;

/* Writes an attribute with its name and `defined`, which distinguishes a node's attributes from
 * defaults. */
void tenon__attribute_write(const tenon__scope_attribute_t* attribute,
                            tenon__byte_writer_t* writer);
bool tenon__attribute_read(tenon__file_reading_t* reading, tenon__scope_attribute_t* out_attribute);

void tenon__shape_write(uint32_t rank, const tenon_dim_t* dims, tenon__byte_writer_t* writer);
/* `with_unknown`: the rank may be TENON_NONE. */
bool tenon__shape_read(tenon__file_reading_t* reading, bool with_unknown, uint32_t* out_rank,
                       const tenon_dim_t** out_dims);

/* Writes the sources' coordinates as ids of the pool, and the kind, which users of the map
 * check. */
void tenon__index_map_write(const tenon__index_map_t* map, tenon__byte_writer_t* writer);
/* Reads a map and checks sources and fill against the number of the node's inputs. */
bool tenon__index_map_read(tenon__file_reading_t* reading, uint32_t input_count,
                           tenon__index_map_t* out_map);

/* A list of u32, each less than `limit`, or TENON_NONE if `with_none`. */
void tenon__list_write(const uint32_t* list, uint32_t count, tenon__byte_writer_t* writer);
bool tenon__list_read(tenon__file_reading_t* reading, uint32_t limit, bool with_none,
                      uint32_t* out_count, uint32_t** out_list);
/* Reads a string and copies it to the arena. Returns false if out of memory. */
bool tenon__text_read(tenon__file_reading_t* reading, const char** out_text);

#endif
