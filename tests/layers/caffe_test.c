/*
 * Every layer of the Caffe parser against OpenCV's dnn and NumPy: small networks with what goes in
 * and must come out, in expected.bin (make_expected.py says how). Each is parsed from a prototxt
 * and a caffemodel as files.
 *
 *   test_layers_caffe      with the environment variable CAFFE_CASE: the cases whose name
 *                                 begins with it
 */
#include "tests/support/cases.h"

enum { SOURCE = 0, PROTOTXT = 1, MODEL = 2, TEXT_COUNT = 3 };

static test_folder_t folder;
static uint32_t counts[2]; /* by NumPy, by OpenCV */

static tenon_status_t parse(case_session_t* session, const case_t* from) {
  char prototxt[PATH_MAX];
  char model[PATH_MAX];
  const char* const parts[] = {test_folder_path(&folder, "case.caffemodel", model), NULL};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  options.parts = parts;
  EXPECT(test_folder_write(&folder, "case.prototxt", from->texts[PROTOTXT].data,
                           from->texts[PROTOTXT].size));
  EXPECT(test_folder_write(&folder, "case.caffemodel", from->texts[MODEL].data,
                           from->texts[MODEL].size));
  return tenon_network_parse_file(session->network,
                                  test_folder_path(&folder, "case.prototxt", prototxt), &options);
}

static void check(const case_session_t* session, const case_t* from, bool is_reference) {
  (void)session;
  counts[from->texts[SOURCE].data[0] == 'o'] += is_reference ? 0 : 1;
}

TENON_TEST(layers_give_what_opencv_and_numpy_say) {
  static const case_kind_t kind = {.file = EXPECTED_FILE,
                                   .letters = "TNCAFFE1",
                                   .variable = "CAFFE_CASE",
                                   .text_count = TEXT_COUNT,
                                   .parse = parse,
                                   .check = check};
  REQUIRE(test_folder_make(&folder));
  case_run_all(&kind);
  (void)printf("%u of them by OpenCV, %u by NumPy\n", counts[1], counts[0]);
  test_folder_remove(&folder);
}
