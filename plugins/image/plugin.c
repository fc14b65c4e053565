/*
 * Decoding of pictures: the operator image.decode_picture/1, its kernel for the device "cpu", and
 * ONNX's ImageDecoder. Which formats there are depends on the libraries that were found when this
 * was built: TENON_IMAGE_PNG and so on are the names that the loader knows them by.
 */
#include <string.h>

#include "kernel.h"
#include "tenon/maker.h"

#define NEEDS(soname) "needs-library: " soname " linked\n"
#ifdef TENON_IMAGE_JPEG
#define NEEDS_JPEG NEEDS(TENON_IMAGE_JPEG)
#else
#define NEEDS_JPEG ""
#endif
#ifdef TENON_IMAGE_JPEG2000
#define NEEDS_JPEG2000 NEEDS(TENON_IMAGE_JPEG2000)
#else
#define NEEDS_JPEG2000 ""
#endif
#ifdef TENON_IMAGE_PNG
#define NEEDS_PNG NEEDS(TENON_IMAGE_PNG)
#else
#define NEEDS_PNG ""
#endif
#ifdef TENON_IMAGE_TIFF
#define NEEDS_TIFF NEEDS(TENON_IMAGE_TIFF)
#else
#define NEEDS_TIFF ""
#endif
#ifdef TENON_IMAGE_WEBP
#define NEEDS_WEBP NEEDS(TENON_IMAGE_WEBP)
#else
#define NEEDS_WEBP ""
#endif

TENON_PLUGIN_MANIFEST("image", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: operator image.decode_picture/1\n"
                      "offers: kernel decode_picture image.decode_picture/1 cpu\n"
                      "offers: converter onnx::ImageDecoder\n" NEEDS_JPEG NEEDS_JPEG2000 NEEDS_PNG
                          NEEDS_TIFF NEEDS_WEBP);

static const tenon_attribute_descriptor_t attributes[] = {
    {sizeof(*attributes), .name = "pixel_format", .kind = TENON_ATTRIBUTE_STRING,
     .default_text = "'rgb'", .choices = "rgb|bgr|grayscale",
     .summary = "the order of the channels, or one channel: the luma of ITU-R BT.601"}};
static const tenon_port_t ports_in[] = {
    {sizeof(*ports_in), .name = "x", .type = "u8", .summary = "the bytes of a file"}};
static const tenon_port_t ports_out[] = {
    {sizeof(*ports_out), .name = "y", .type = "u8", .summary = "height, width, channels"}};
static const tenon_check_t checks[] = {
    {sizeof(*checks), .condition = "rank(x) == 1",
     .message = "a picture's file is a vector of bytes, not a tensor of rank {rank(x)}"}};
static const tenon_operator_t operators[] = {
    {sizeof(*operators), .name = "image.decode_picture/1",
     .summary = "the pixels of a BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file",
     .attributes = TENON_LIST(attributes), .inputs = TENON_LIST(ports_in),
     .outputs = TENON_LIST(ports_out), .checks = TENON_LIST(checks),
     .shape = "y.rank = 3; y[d] = d < 2 ? fresh() : pixel_format == 'grayscale' ? 1 : 3",
     .traits = "pure"}};

/* The only one, so that it is the oracle too: bytes that the host makes up are no picture, and
 * would fail in a trial. */
static const tenon_kernel_t kernels[] = {
    {sizeof(*kernels), .name = "decode_picture", .device = "cpu",
     .operators = (const char* const[]){"image.decode_picture/1", NULL},
     .attributes = (const char* const[]){"pixel_format", NULL}, .version = 1,
     .flags = TENON_KERNEL_REFERENCE, .prepare = tenon__decode_prepare,
     .enqueue = tenon__decode_enqueue}};

static void image_decoder(tenon_make_t* make) {
  static const char* const names[][2] = {
      {"RGB", "rgb"}, {"BGR", "bgr"}, {"Grayscale", "grayscale"}};
  const char* format = tenon_make_get_string(make, "pixel_format", "RGB");
  const char* name = NULL;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    name = strcmp(format, names[i][0]) == 0 ? names[i][1] : name;
  }
  if (name == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "pixel_format is '%s', not RGB, BGR or Grayscale", format);
    return;
  }
  tenon_make_begin(make, "image.decode_picture/1");
  tenon_make_set_string(make, "pixel_format", name);
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "onnx", "", "ImageDecoder", 20, 0, image_decoder, NULL, NULL)};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels),
                                                    TENON_OFFERING("converter/1", rows)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "image", .version = "0.2.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
