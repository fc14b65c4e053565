/* Which item is for which input, and does it fit? See feed.h. */
#include <string.h>

#include "session/feed.h"
#include "text/console.h"
#include "text/memory.h"

const tool_feed_item_t* tool_feed_find(const tool_feed_t* feed, const char* name,
                                       uint32_t position) {
  for (size_t i = 0; i < feed->count; ++i) {
    if (feed->items[i].input != NULL && strcmp(feed->items[i].input, name) == 0) {
      return &feed->items[i];
    }
  }
  for (size_t i = 0; i < feed->count; ++i) {
    if (feed->items[i].input == NULL && feed->items[i].position == position) {
      return &feed->items[i];
    }
  }
  return NULL;
}

tenon_status_t tool_network_inputs(const tenon_network_t* network, tenon_io_info_t** out_inputs) {
  const uint32_t count = tenon_network_input_count(network);
  tenon_io_info_t* inputs = tool_allocate(count, sizeof(*inputs));
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < count && status == TENON_OK; ++i) {
    inputs[i].size = sizeof(inputs[i]);
    status = tenon_network_get_input(network, i, &inputs[i]);
  }
  if (status != TENON_OK) {
    tool_free(inputs);
    return status;
  }
  *out_inputs = inputs;
  return TENON_OK;
}

char* tool_input_names(const tenon_io_info_t* inputs, uint32_t input_count) {
  char* names = tool_copy_text("");
  for (uint32_t k = 0; k < input_count; ++k) {
    tool_append(&names, "%s%s", k == 0 ? "" : ", ", inputs[k].name);
  }
  return names;
}

/* Do the extents of an array or a recorded tensor fit the input's, as far as these are known? */
static tenon_status_t check_shape(const tool_feed_t* feed, const tool_feed_item_t* item,
                                  const tenon_io_info_t* input) {
  if (!item->has_shape || input->kind != TENON_ARGUMENT_TENSOR || input->rank == TENON_NONE) {
    return TENON_OK;
  }
  bool fits = item->rank == input->rank;
  for (uint32_t k = 0; fits && k < input->rank; ++k) {
    const bool repeats =
        k == 0 && feed->batch > 0 && item->dims[0] > 0 && feed->batch % item->dims[0] == 0;
    fits = input->dims[k] < 0 || input->dims[k] == item->dims[k] || repeats;
  }
  if (fits) {
    return TENON_OK;
  }
  char given[512];
  char wanted[512];
  tool_shape_print(item->rank, item->dims, given, sizeof(given));
  tool_shape_print(input->rank, input->dims, wanted, sizeof(wanted));
  return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s: has the shape %s, input '%s' is %s",
                   item->path, given, input->name, wanted);
}

/* Texts become no numbers. */
static tenon_status_t check_texts(const tool_feed_item_t* item, const tenon_io_info_t* input) {
  if (item->value.dtype != TENON_DTYPE_STRING || input->kind != TENON_ARGUMENT_TENSOR ||
      input->dtype == TENON_DTYPE_STRING) {
    return TENON_OK;
  }
  return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s: holds texts, input '%s' is %s", item->path,
                   input->name, tool_dtype_name(input->dtype));
}

/* Numbers that name things (tokens, classes) are no brightness. */
static tenon_status_t check_picture(const tool_feed_item_t* item, const tenon_io_info_t* input) {
  if (!item->is_picture || input->kind != TENON_ARGUMENT_TENSOR ||
      tool_picture_fits_type(input->dtype)) {
    return TENON_OK;
  }
  return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                   "%s: a picture is no input '%s', which is %s: its numbers are no brightness",
                   item->path, input->name, tool_dtype_name(input->dtype));
}

/* No other file of --input may be for this input. */
static tenon_status_t check_single(const tool_feed_t* feed, const tool_feed_item_t* item,
                                   const char* name, uint32_t position) {
  for (size_t i = 0; i < feed->count; ++i) {
    const tool_feed_item_t* other = &feed->items[i];
    const bool same = other->input != NULL ? strcmp(other->input, name) == 0
                                           : !other->is_recorded && other->position == position;
    if (other != item && same) {
      return tool_misuse("%s: input '%s' is given by %s already", other->path, name, item->path);
    }
  }
  return TENON_OK;
}

/* Recorded outputs are those of the recorded inputs, not of random ones. */
static tenon_status_t check_data_set(const tool_feed_t* feed, const tenon_io_info_t* inputs,
                                     uint32_t input_count) {
  if (feed->data_set == NULL) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < input_count; ++k) {
    if (tool_feed_find(feed, inputs[k].name, k) == NULL) {
      return tool_fail(TENON_ERROR_NOT_FOUND,
                       "--data-set %s: input '%s' is not recorded there, no input_%u.pb or .npy",
                       feed->data_set, inputs[k].name, k);
    }
  }
  return TENON_OK;
}

/* Could --batch be the first extent of this input? */
static bool takes_batch(const tool_feed_t* feed, const tool_feed_item_t* item,
                        const tenon_io_info_t* input) {
  if (input->kind != TENON_ARGUMENT_TENSOR || input->rank == 0) {
    return false;
  }
  if (input->rank == TENON_NONE || input->dims[0] == feed->batch) {
    return true;
  }
  const bool repeats = item == NULL || !item->has_shape || item->rank == 0 ||
                       (item->dims[0] > 0 && feed->batch % item->dims[0] == 0);
  return input->dims[0] < 0 && repeats;
}

/* Does --batch act on any input? */
static tenon_status_t check_batch(const tool_feed_t* feed, const tenon_io_info_t* inputs,
                                  uint32_t input_count) {
  const tenon_io_info_t* fixed = NULL;
  const tool_feed_item_t* given = NULL;
  if (feed->batch > 0) {
    for (uint32_t k = 0; k < input_count; ++k) {
      const tool_feed_item_t* item = tool_feed_find(feed, inputs[k].name, k);
      if (takes_batch(feed, item, &inputs[k])) {
        return TENON_OK;
      }
      const bool has_axis = inputs[k].kind == TENON_ARGUMENT_TENSOR && inputs[k].rank > 0;
      fixed = fixed == NULL && has_axis && inputs[k].dims[0] >= 0 ? &inputs[k] : fixed;
      given = given == NULL && has_axis && inputs[k].dims[0] < 0 ? item : given;
    }
  }
  const long long batch = (long long)feed->batch;
  if (given != NULL) {
    return tool_misuse("--batch %lld: the %lld of %s cannot be repeated to that", batch,
                       (long long)given->dims[0], given->path);
  }
  if (fixed != NULL) {
    return tool_misuse("--batch %lld: axis 0 of input '%s' is fixed at %lld", batch, fixed->name,
                       (long long)fixed->dims[0]);
  }
  return feed->batch > 0 ? tool_misuse("--batch %lld: no input has an axis", batch) : TENON_OK;
}

/* --mean, --scale and --bgr act on pictures, the first two on bytes that become floats too. */
static tenon_status_t check_preprocess(const tool_feed_t* feed, const tenon_io_info_t* inputs,
                                       uint32_t input_count) {
  bool any_picture = false;
  bool any_bytes = false;
  for (uint32_t k = 0; k < input_count; ++k) {
    const tool_feed_item_t* item = tool_feed_find(feed, inputs[k].name, k);
    any_picture = any_picture || (item != NULL && item->is_picture);
    any_bytes = any_bytes || (item != NULL && tool_feed_is_bytes(item, &inputs[k]));
  }
  if (feed->preprocess.bgr && !any_picture) {
    return tool_misuse("--bgr is for pictures, and none is given");
  }
  if (feed->preprocess.given && !any_picture && !any_bytes) {
    return tool_misuse(
        "--mean and --scale are for pictures, and for arrays of bytes where the network wants "
        "floats; none is given");
  }
  return TENON_OK;
}

/* Is there an input for it? */
static tenon_status_t check_input(const tool_feed_item_t* item, const tenon_io_info_t* inputs,
                                  uint32_t input_count) {
  bool belongs = item->input == NULL && item->position < input_count;
  for (uint32_t k = 0; k < input_count; ++k) {
    belongs = belongs || (item->input != NULL && strcmp(item->input, inputs[k].name) == 0);
  }
  if (belongs) {
    return TENON_OK;
  }
  char* names = tool_input_names(inputs, input_count);
  const tenon_status_t status =
      item->input != NULL
          ? tool_misuse("there is no input '%s'; the inputs are: %s", item->input, names)
          : tool_misuse("%s: is for input %u, but there are only %u: %s", item->path,
                        item->position, input_count, names);
  tool_free(names);
  return status;
}

tenon_status_t tool_feed_check(const tool_feed_t* feed, const tenon_io_info_t* inputs,
                               uint32_t input_count) {
  for (size_t i = 0; i < feed->count; ++i) {
    TOOL_TRY(check_input(&feed->items[i], inputs, input_count));
  }
  for (uint32_t k = 0; k < input_count; ++k) {
    const tool_feed_item_t* item = tool_feed_find(feed, inputs[k].name, k);
    if (item != NULL) {
      TOOL_TRY(check_picture(item, &inputs[k]));
      TOOL_TRY(check_texts(item, &inputs[k]));
      TOOL_TRY(check_shape(feed, item, &inputs[k]));
      TOOL_TRY(check_single(feed, item, inputs[k].name, k));
    }
  }
  TOOL_TRY(check_data_set(feed, inputs, input_count));
  TOOL_TRY(check_batch(feed, inputs, input_count));
  return check_preprocess(feed, inputs, input_count);
}
