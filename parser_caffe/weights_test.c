#include "weights.h"

#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/message.h"

enum { LAYER = 100, LAYER_V1 = 2, NAME = 1, BLOBS = 7, NAME_V1 = 4, BLOBS_V1 = 6 };
enum { DATA = 5, SHAPE = 7, DOUBLE_DATA = 8, RAW_TYPE = 10, RAW_DATA = 12 };

static const float floats[6] = {1, 2, 3, 4, 5, 6};

static void add_shape(tenon__message_t* m, const uint8_t* dims, size_t count) {
  tenon__message_begin(m, SHAPE);
  tenon__message_bytes(m, 1, dims, count);
  tenon__message_end(m);
}

/* A caffemodel of one layer with one blob: what `fill` writes. */
static tenon__message_t model_of(void (*fill)(tenon__message_t* m)) {
  tenon__message_t m = {.size = 0};
  tenon__message_text(&m, 1, "net");
  tenon__message_begin(&m, LAYER);
  tenon__message_text(&m, NAME, "conv1");
  tenon__message_text(&m, 2, "Convolution");
  tenon__message_begin(&m, BLOBS);
  fill(&m);
  tenon__message_end(&m);
  tenon__message_end(&m);
  return m;
}

typedef struct reading_t {
  tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__caffe_weights_t weights;
  tenon_tensor_view_t view;
  tenon_status_t status;
} reading_t;

/* Reads the file, and the first blob of the layer "conv1". */
static void read(const tenon__message_t* m, reading_t* out) {
  memset(&out->weights, 0, sizeof(out->weights));
  memset(&out->view, 0, sizeof(out->view));
  tenon__fake_initialize(&out->fake, &under_test);
  tenon__fake_reader(&out->fake, &out->reader);
  out->status = tenon__caffe_weights_read(&out->reader, m->bytes, m->size, &out->weights);
  tenon__caffe_blobs_t* blobs = tenon_reader_names_find(&out->weights.layers, "conv1");
  if (out->status == TENON_OK && blobs != NULL && blobs->count > 0) {
    out->status = tenon__caffe_blob_view(&out->reader, &blobs->blobs[0], "the blob", &out->view);
  }
}

static void expect_floats(void (*fill)(tenon__message_t* m), uint32_t rank, int64_t first_dim) {
  const tenon__message_t m = model_of(fill);
  static reading_t reading;
  read(&m, &reading);
  EXPECT_STATUS(reading.status, TENON_OK);
  EXPECT_TEXT(reading.fake.messages, "");
  EXPECT_INT(reading.view.rank, rank);
  for (size_t i = 0; reading.status == TENON_OK && i < 6; ++i) {
    float value = 0;
    double wide = 0;
    if (reading.view.dtype == TENON_DTYPE_FLOAT64) {
      memcpy(&wide, (const uint8_t*)reading.view.data + i * 8, 8);
    } else {
      memcpy(&value, (const uint8_t*)reading.view.data + i * 4, 4);
      wide = (double)value;
    }
    EXPECT(wide == (double)floats[i]);
  }
  EXPECT(reading.view.rank == 0 || reading.view.dims[0] == first_dim);
  tenon__fake_deinitialize(&reading.fake);
}

static void expect_refused(void (*fill)(tenon__message_t* m), tenon_status_t status,
                           const char* expected) {
  const tenon__message_t m = model_of(fill);
  static reading_t reading;
  read(&m, &reading);
  EXPECT_STATUS(reading.status, status);
  EXPECT_CONTAINS(reading.fake.messages, expected);
  EXPECT_INT(reading.fake.error_count, 1);
  tenon__fake_deinitialize(&reading.fake);
}

static void packed(tenon__message_t* m) {
  tenon__message_bytes(m, DATA, floats, sizeof(floats));
  add_shape(m, (const uint8_t[]){2, 3}, 2);
}

static void single(tenon__message_t* m) {
  for (size_t i = 0; i < 6; ++i) {
    tenon__message_fixed(m, DATA, &floats[i], 4);
  }
  tenon__message_begin(m, SHAPE);
  tenon__message_varint(m, 1, 2);
  tenon__message_varint(m, 1, 3);
  tenon__message_end(m);
}

static void in_pieces(tenon__message_t* m) {
  tenon__message_bytes(m, DATA, floats, 8);
  tenon__message_fixed(m, DATA, &floats[2], 4);
  add_shape(m, (const uint8_t[]){6}, 1);
  tenon__message_bytes(m, DATA, floats + 3, 12);
}

static void doubles(tenon__message_t* m) {
  for (size_t i = 0; i < 6; ++i) {
    const double wide = (double)floats[i];
    tenon__message_fixed(m, DOUBLE_DATA, &wide, 8);
  }
  add_shape(m, (const uint8_t[]){3, 2}, 2);
}

static void legacy(tenon__message_t* m) {
  tenon__message_varint(m, 1, 1);
  tenon__message_varint(m, 2, 1);
  tenon__message_varint(m, 3, 2);
  tenon__message_varint(m, 4, 3);
  tenon__message_bytes(m, DATA, floats, sizeof(floats));
  tenon__message_bytes(m, 6, floats, 8); /* diff: of no interest */
}

static void without_shape(tenon__message_t* m) {
  tenon__message_bytes(m, DATA, floats, sizeof(floats));
}

static void raw_floats(tenon__message_t* m) {
  tenon__message_varint(m, RAW_TYPE, 1);
  tenon__message_bytes(m, RAW_DATA, floats, sizeof(floats));
  add_shape(m, (const uint8_t[]){6}, 1);
}

TENON_TEST(reads_every_encoding) {
  expect_floats(packed, 2, 2);
  expect_floats(single, 2, 2);
  expect_floats(in_pieces, 1, 6);
  expect_floats(doubles, 2, 3);
  expect_floats(legacy, 4, 1);
  expect_floats(without_shape, 1, 6);
  expect_floats(raw_floats, 1, 6);
}

static void raw_halves(tenon__message_t* m) {
  static const uint16_t halves[2] = {0x3C00, 0xC000};
  tenon__message_varint(m, RAW_TYPE, 2);
  tenon__message_bytes(m, RAW_DATA, halves, sizeof(halves));
}

TENON_TEST(reads_halves_of_nvidias_fork) {
  const tenon__message_t m = model_of(raw_halves);
  static reading_t reading;
  uint16_t second = 0;
  read(&m, &reading);
  EXPECT_STATUS(reading.status, TENON_OK);
  EXPECT_INT(reading.view.dtype, TENON_DTYPE_FLOAT16);
  REQUIRE(reading.view.data != NULL);
  memcpy(&second, (const uint8_t*)reading.view.data + 2, 2);
  EXPECT_INT(second, 0xC000);
  tenon__fake_deinitialize(&reading.fake);
}

/* Half a gigabyte must not be copied: one run of floats stays where it is. */
TENON_TEST(leaves_elements_in_the_file) {
  const tenon__message_t m = model_of(packed);
  static reading_t reading;
  read(&m, &reading);
  const uint8_t* data = reading.view.data;
  EXPECT(data > m.bytes && data < m.bytes + m.size);
  tenon__fake_deinitialize(&reading.fake);
}

static void too_few(tenon__message_t* m) {
  tenon__message_bytes(m, DATA, floats, sizeof(floats));
  add_shape(m, (const uint8_t[]){7}, 1);
}

static void ragged(tenon__message_t* m) {
  tenon__message_bytes(m, DATA, floats, 7);
}

static void two_encodings(tenon__message_t* m) {
  static const double wide = 1;
  tenon__message_bytes(m, DATA, floats, 8);
  tenon__message_fixed(m, DOUBLE_DATA, &wide, 8);
}

static void raw_of_no_type(tenon__message_t* m) {
  tenon__message_varint(m, RAW_TYPE, 3);
  tenon__message_bytes(m, RAW_DATA, floats, 8);
}

static void huge(tenon__message_t* m) {
  static const uint8_t dims[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F,
                                 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F};
  add_shape(m, dims, sizeof(dims));
}

static void negative(tenon__message_t* m) {
  tenon__message_begin(m, SHAPE);
  tenon__message_varint(m, 1, (uint64_t)-1);
  tenon__message_end(m);
}

static void negative_legacy(tenon__message_t* m) {
  tenon__message_varint(m, 1, (uint64_t)-1);
}

static void wrong_wire(tenon__message_t* m) {
  tenon__message_varint(m, DATA, 1);
}

TENON_TEST(refuses_what_is_no_tensor) {
  expect_refused(too_few, TENON_ERROR_INVALID_DATA, "has 6 elements, its extents say 7");
  expect_refused(ragged, TENON_ERROR_INVALID_DATA, "7 bytes are no whole number of elements");
  expect_refused(two_encodings, TENON_ERROR_INVALID_DATA, "two encodings at once");
  expect_refused(raw_of_no_type, TENON_ERROR_UNSUPPORTED, "raw data of type 3");
  expect_refused(huge, TENON_ERROR_INVALID_DATA, "its extents say more than");
  expect_refused(negative, TENON_ERROR_INVALID_DATA, "negative");
  expect_refused(negative_legacy, TENON_ERROR_INVALID_DATA, "negative");
  expect_refused(wrong_wire, TENON_ERROR_INVALID_DATA, "wrong wire type");
}

/* Version 1 has other numbers. The later of two layers with one name counts, as in Caffe. */
TENON_TEST(reads_layers_of_both_versions) {
  tenon__message_t m = {.size = 0};
  static reading_t reading;
  for (int i = 0; i < 2; ++i) {
    tenon__message_begin(&m, LAYER_V1);
    tenon__message_text(&m, NAME_V1, "conv1");
    tenon__message_varint(&m, 5, 4);
    tenon__message_begin(&m, BLOBS_V1);
    tenon__message_bytes(&m, DATA, floats + i, 4);
    tenon__message_end(&m);
    tenon__message_end(&m);
  }
  read(&m, &reading);
  EXPECT_STATUS(reading.status, TENON_OK);
  REQUIRE(reading.view.data != NULL);
  float value = 0;
  memcpy(&value, reading.view.data, sizeof(value));
  EXPECT(value == floats[1]);
  tenon__fake_deinitialize(&reading.fake);
}

static void expect_broken(const tenon__message_t* m, tenon_status_t status, const char* expected) {
  static reading_t reading;
  read(m, &reading);
  EXPECT_STATUS(reading.status, status);
  EXPECT_CONTAINS(reading.fake.messages, expected);
  tenon__fake_deinitialize(&reading.fake);
}

TENON_TEST(tells_where_a_file_is_cut_off) {
  tenon__message_t m = model_of(packed);
  m.size -= 3;
  expect_broken(&m, TENON_ERROR_INVALID_DATA, "byte 5: a field is cut off");
  tenon__message_t old = {.size = 0};
  tenon__message_begin(&old, LAYER_V1);
  tenon__message_text(&old, 1, "a layer of version 0");
  tenon__message_end(&old);
  expect_broken(&old, TENON_ERROR_UNSUPPORTED, "upgrade_net_proto_binary");
}

/* Every prefix of a file is read or refused, and never more. */
TENON_TEST(any_prefix_is_handled) {
  void (*const fills[])(tenon__message_t*) = {packed, single, in_pieces, doubles, legacy};
  for (size_t k = 0; k < sizeof(fills) / sizeof(fills[0]); ++k) {
    tenon__message_t m = model_of(fills[k]);
    const size_t size = m.size;
    for (m.size = 0; m.size < size; ++m.size) {
      static reading_t reading;
      read(&m, &reading);
      EXPECT(reading.status == TENON_OK || reading.fake.error_count == 1);
      tenon__fake_deinitialize(&reading.fake);
    }
  }
}

TENON_TEST(tells_a_caffemodel_from_a_binaryproto) {
  const tenon__message_t model = model_of(packed);
  tenon__message_t blob = {.size = 0};
  packed(&blob);
  tenon__message_t old = {.size = 0};
  legacy(&old);
  EXPECT_INT(tenon__caffe_content(model.bytes, model.size), TENON__CAFFE_CONTENT_NET);
  EXPECT_INT(tenon__caffe_content(blob.bytes, blob.size), TENON__CAFFE_CONTENT_BLOB);
  EXPECT_INT(tenon__caffe_content(old.bytes, old.size), TENON__CAFFE_CONTENT_BLOB);
  EXPECT_INT(tenon__caffe_content("layer {", 7), TENON__CAFFE_CONTENT_NONE);
  EXPECT_INT(tenon__caffe_content(NULL, 0), TENON__CAFFE_CONTENT_NONE);
}
