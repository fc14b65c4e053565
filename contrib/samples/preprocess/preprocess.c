/* Preprocessing of pictures as the first node of a network: bytes as a camera or a decoder gives
 * them, batch x height x width x channels, become floats, batch x channels x size. A converter
 * makes standard operators and one expression of the node, so that no kernel is needed and the
 * arithmetic is fused. Attributes:
 *
 *   resize  [h, w]: the picture is sampled to these extents, linearly; []: it is not
 *   crop    [h, w]: then this part in its middle is taken; []: all
 *   mean, std  for each channel, of values from 0 to 1 (default: 0 and 1)
 *   swap    1: the order of the channels is reversed, from BGR to RGB (default: 0)
 */
#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST("preprocess", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: converter onnx:preprocess:Picture\n");

enum { MAX_CHANNELS = 16, MAX_EXTENT = 1 << 16 };

/* Reads two extents. False: the attribute is absent or empty, or has failed. */
static bool get_extents(tenon_make_t* make, const char* name, const int64_t** out_extents) {
  size_t count = 0;
  if (!tenon_make_get_ints(make, name, out_extents, &count) || count == 0) {
    return false;
  }
  const int64_t* extents = *out_extents;
  if (count != 2 || extents[0] < 1 || extents[1] < 1 || extents[0] > MAX_EXTENT ||
      extents[1] > MAX_EXTENT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s wants 2 extents from 1 to %d", name,
                    MAX_EXTENT);
    return false;
  }
  return true;
}

/* One number for each channel as a constant of rank 1, computed as (number * scale). */
static tenon_value_t get_channels(tenon_make_t* make, const char* name, int64_t channels,
                                  double otherwise, double scale) {
  const double* numbers = NULL;
  size_t count = 0;
  float values[MAX_CHANNELS] = {0};
  const bool has = tenon_make_get_floats(make, name, &numbers, &count);
  if (has && count != (size_t)channels) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s has %zu numbers for %d channels", name,
                    count, (int)channels);
    return (tenon_value_t){0};
  }
  for (int64_t k = 0; k < channels; ++k) {
    values[k] = (float)((has ? numbers[k] : otherwise) * scale);
  }
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, &channels, values);
}

/* Batch x height x width x channels as it is, with the channels reversed. */
static tenon_value_t reverse_channels(tenon_make_t* make, tenon_value_t x, int64_t channels) {
  tenon_value_t parts[MAX_CHANNELS];
  for (int64_t k = 0; k < channels; ++k) {
    parts[k] = tenon_make_slice(make, x, 3, channels - 1 - k, channels - k);
  }
  return tenon_make_concat(make, 3, (uint32_t)channels, parts);
}

static tenon_value_t resize(tenon_make_t* make, tenon_value_t x, int64_t channels,
                            const int64_t* extents) {
  const int64_t batch = tenon_make_dim(make, x, 0);
  const int64_t sizes[] = {batch, channels, extents[0], extents[1]};
  if (batch < 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "resize needs a fixed batch");
  }
  tenon_make_begin(make, "resize");
  tenon_make_set_string(make, "mode", "linear");
  tenon_make_add(make, x);
  tenon_make_add(make, tenon_make_int64s(make, sizes, 4));
  return tenon_make_end(make);
}

static tenon_value_t crop(tenon_make_t* make, tenon_value_t x, const int64_t* extents) {
  for (uint32_t k = 0; k < 2; ++k) {
    const int64_t extent = tenon_make_dim(make, x, k + 2);
    if (extent < extents[k]) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "crop takes %d of an extent that is %d: use resize before it",
                      (int)extents[k], (int)extent);
    }
    const int64_t begin = (extent - extents[k]) / 2;
    x = tenon_make_slice(make, x, k + 2, begin, begin + extents[k]);
  }
  return x;
}

static void picture(tenon_make_t* make) {
  static const int64_t channels_first[] = {0, 3, 1, 2};
  tenon_value_t x = tenon_make_input(make, 0);
  const int64_t channels = tenon_make_rank(make, x) == 4 ? tenon_make_dim(make, x, 3) : -1;
  const int64_t* extents = NULL;
  if (tenon_make_dtype(make, x) != TENON_DTYPE_UINT8 || channels < 1 || channels > MAX_CHANNELS) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "the input is not batch x height x width x 1 to %d channels of u8",
                    MAX_CHANNELS);
    return;
  }
  if (tenon_make_get_int(make, "swap", 0) != 0) {
    x = reverse_channels(make, x, channels);
  }
  const tenon_value_t operands[] = {x, get_channels(make, "mean", channels, 0, 255),
                                    get_channels(make, "std", channels, 1, 255)};
  x = tenon_make_math(make, "y = (cast(a, f32) - along(b, 3)) / along(c, 3)", 3, operands);
  x = tenon_make_permute(make, x, channels_first, 4);
  if (get_extents(make, "resize", &extents)) {
    x = resize(make, x, channels, extents);
  }
  if (get_extents(make, "crop", &extents)) {
    x = crop(make, x, extents);
  }
  tenon_make_output(make, 0, x);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "onnx", "preprocess", "Picture", 1, 0, picture, NULL, NULL)};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("converter/1", rows)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "preprocess", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
