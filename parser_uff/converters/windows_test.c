/* Convolutions and pools whose lists have entries for what is no window. */
#include "testing/graph_text.h"

#define PICTURE                                                                             \
  "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: 2 } " \
  "dim { size: 6 } dim { size: 6 } dim { size: 4 } } } } }\n"
#define POOL(ksize, strides, more)                 \
  PICTURE                                          \
  "node { name: 'a' op: 'MaxPool' input: 'x'"      \
  " attr { key: 'padding' value { s: 'VALID' } }"  \
  " attr { key: 'ksize' value { list { i: [" ksize \
  "] } } }"                                        \
  " attr { key: 'strides' value { list { i: [" strides "] } } } " more " }"
#define CONVOLUTION(padding, dilations, pads)                                               \
  PICTURE                                                                                   \
  "node { name: 'w' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: 3 } " \
  "dim { size: 3 } dim { size: 4 } dim { size: 4 } } } } }\n"                               \
  "node { name: 'a' op: 'Conv2D' input: 'x' input: 'w'"                                     \
  " attr { key: 'padding' value { s: '" padding                                             \
  "' } }"                                                                                   \
  " attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } }"                             \
  " attr { key: 'dilations' value { list { i: [" dilations                                  \
  "] } } }"                                                                                 \
  " attr { key: 'explicit_paddings' value { list { i: [" pads "] } } } }"

TENON_TEST(windows_are_of_pixels_alone) {
  EXPECT_STATUS(parse(POOL("1, 2, 2, 1", "1, 2, 2, 1", "")), TENON_OK);
  expect_refused(POOL("1, 1, 1, 2", "1, 1, 1, 2", ""), TENON_ERROR_UNSUPPORTED,
                 "MaxPool 'a': its strides for channels is 2, it can be only 1");
  expect_refused(POOL("1, 1, 1, 2", "1, 1, 1, 1", ""), TENON_ERROR_UNSUPPORTED,
                 "its ksize for channels is 2");
  expect_refused(POOL("1, 2, 2, 1", "2, 1, 1, 1", ""), TENON_ERROR_UNSUPPORTED,
                 "its strides for the batch is 2");
  EXPECT_STATUS(
      parse(POOL("1, 1, 2, 2", "1, 1, 2, 2", "attr { key: 'data_format' value { s: 'NCHW' } }")),
      TENON_OK);
}

TENON_TEST(convolutions_are_dilated_and_padded_along_pixels_alone) {
  EXPECT_STATUS(parse(CONVOLUTION("EXPLICIT", "1, 1, 1, 1", "0, 0, 1, 2, 0, 3, 0, 0")), TENON_OK);
  expect_refused(CONVOLUTION("VALID", "1, 1, 1, 3", ""), TENON_ERROR_UNSUPPORTED,
                 "its dilations for channels is 3");
  expect_refused(CONVOLUTION("EXPLICIT", "1, 1, 1, 1", "1, 0, 0, 0, 0, 0, 0, 0"),
                 TENON_ERROR_INVALID_DATA, "its explicit_paddings of axis 0 are 1 and 0");
  expect_refused(CONVOLUTION("EXPLICIT", "1, 1, 1, 1", "0, 0, -1, 0, 0, 0, 0, 0"),
                 TENON_ERROR_INVALID_DATA, "its explicit_paddings of axis 1 are -1 and 0");
}
