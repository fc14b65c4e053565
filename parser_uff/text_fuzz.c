/* Any bytes as the text form of both formats, whatever their first field is. */
#include "graph.h"
#include "testing/under_test.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void read_as(const tenon__uff_schema_t* schema, const uint8_t* data, size_t size) {
  static tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__uff_message_t* message = NULL;
  tenon__uff_graph_t graph;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_reader(&fake, &reader);
  if (tenon__uff_text_read(&reader, schema, data, size, &message) == TENON_OK) {
    (void)(schema == &tenon__uff_graph_def
               ? tenon__uff_graph_read_tensorflow(&reader, message, &graph)
               : tenon__uff_graph_read_uff(&reader, message, &graph));
  }
  tenon__fake_deinitialize(&fake);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_as(&tenon__uff_graph_def, data, size);
  read_as(&tenon__uff_meta_graph, data, size);
  tenon__fake_parse_alone(&under_test, data, size);
  return 0;
}
