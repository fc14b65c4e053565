/* Packed constants of convolutions: type and order are converted element by element when the plan
 * is built. */
#include "constants.h"

#include <stdio.h>
#include <string.h>

#include "tenon/narrow.h"

static bool is_weights(tenon__cudnn_region_t region, uint32_t input) {
  return input == tenon__cudnn_operand(region, 1)->input;
}

bool tenon__cudnn_is_packed(tenon__cudnn_region_t region, tenon__cudnn_choice_t choice,
                            uint32_t input) {
  const tenon_value_info_t* value = tenon__cudnn_argument(region, input);
  const bool turns =
      is_weights(region, input) && choice.channels_last != 0 && tenon__cudnn_has_taps(region);
  return value != NULL && (value->flags & TENON_VALUE_CONSTANT) != 0 &&
         tenon__cudnn_count(value->dims_max, value->rank) > 0 &&
         (turns || choice.narrow != TENON_DTYPE_UNDEFINED);
}

/* `count` elements that lie `step` apart, one behind the other. */
static void store(const void* from, int64_t step, tenon_dtype_t narrow, size_t element_bytes,
                  void* to, int64_t count) {
  const int64_t same = narrow == TENON_DTYPE_UNDEFINED ? count : 0;
  for (int64_t k = 0; k < same; k++) {
    memcpy((char*)to + (size_t)k * element_bytes,
           (const char*)from + (size_t)(k * step) * element_bytes, element_bytes);
  }
  for (int64_t k = same; k < count; k++) {
    ((uint16_t*)to)[k] = tenon_narrow_of(narrow, ((const float*)from)[k * step]);
  }
}

/* Channels behind the axes in space, for each of the outermost; rows where nothing is turned. */
static void write_all(const tenon_value_info_t* value, bool turns, tenon_dtype_t narrow,
                      size_t element_bytes, void* out) {
  const int64_t channels = turns ? value->dims_max[1] : 1;
  const int64_t taps = turns ? tenon__cudnn_count(value->dims_max + 2, value->rank - 2) : 1;
  const int64_t count = tenon__cudnn_count(value->dims_max, value->rank);
  const size_t packed_bytes = narrow == TENON_DTYPE_UNDEFINED ? element_bytes : sizeof(uint16_t);
  if (!turns) {
    store(value->constant_data, 1, narrow, element_bytes, out, count);
    return;
  }
  for (int64_t line = 0; line < count / channels; line++) { /* all channels of one tap */
    const int64_t place = line / taps * channels * taps + line % taps;
    store((const char*)value->constant_data + (size_t)place * element_bytes, taps, narrow,
          element_bytes, (char*)out + (size_t)(line * channels) * packed_bytes, channels);
  }
}

static tenon_status_t pack(const tenon_prepare_t* call, tenon__cudnn_choice_t choice,
                           uint32_t input) {
  const tenon__cudnn_region_t region = {call->region, call->table};
  const tenon_value_info_t* value = tenon__cudnn_argument(region, input);
  const uint32_t source = call->table->input(call->region, input);
  const bool turns =
      choice.channels_last != 0 && value->rank == tenon__cudnn_operand(region, 0)->rank;
  const size_t wide = value->dtype == TENON_DTYPE_FLOAT32 ? 4 : 2;
  const size_t element = choice.narrow == TENON_DTYPE_UNDEFINED ? wide : 2;
  char parameters[32];
  void* data = NULL;
  int32_t ready = 0;
  (void)snprintf(parameters, sizeof(parameters), "%s, type %u", turns ? "channels last" : "rows",
                 (unsigned)(choice.narrow == TENON_DTYPE_UNDEFINED ? value->dtype : choice.narrow));
  const tenon_packing_t packing = {
      .size = sizeof(packing),
      .format = "cudnn.constant/1",
      .parameters = parameters,
      .sources = &source,
      .source_count = 1,
      .size_bytes = (size_t)tenon__cudnn_count(value->dims_max, value->rank) * element};
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &data, &ready);
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (value->constant_data == NULL) { /* a plan without what it should have packed */
    return TENON_ERROR_INVALID_DATA;
  }
  write_all(value, turns, choice.narrow, wide, data);
  return TENON_OK;
}

tenon_status_t tenon__cudnn_pack_constants(const tenon_prepare_t* call,
                                           tenon__cudnn_convolution_t* convolution) {
  tenon_status_t status = TENON_OK;
  uint32_t count = 0;
  for (uint32_t k = 0; k < TENON_CUDNN_INPUTS; k++) {
    convolution->packs[k] = TENON_NONE;
  }
  for (uint32_t k = 0; status == TENON_OK && k < call->table->input_count(call->region); k++) {
    if (tenon__cudnn_is_packed(convolution->region, convolution->choice, k)) {
      convolution->packs[k] = count++;
      status = pack(call, convolution->choice, k);
    }
  }
  return status;
}
