/* See feed.h. */
#include "session/feed.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "data/npy.h"
#include "data/tensor_proto.h"
#include "text/console.h"
#include "text/memory.h"

#define FIELD(name) offsetof(tool_feeding_t, name)

const tool_option_t tool_feeding_options[TOOL_FEEDING_OPTION_COUNT] = {
    {"--input", "i", "NAME=FILE", TOOL_OPTION_LIST, FIELD(inputs),
     TOOL_FOR_PARSING | TOOL_FOR_RUNNING,
     "read the data of one input: .npy, .pb (a recorded tensor) or a picture (PNG, JPEG, PGM, "
     "PPM); without NAME in the order of the inputs"},
    {"--data-set", NULL, "DIR", TOOL_OPTION_LIST, FIELD(data_sets),
     TOOL_FOR_PARSING | TOOL_FOR_RUNNING,
     "read a folder with input_<i>.pb and, to compare with, output_<i>.pb (or .npy)"},
    {"--batch", "b", "N", TOOL_OPTION_POSITIVE, FIELD(batch), TOOL_FOR_PARSING | TOOL_FOR_RUNNING,
     "set the extent of the first axis if it is dynamic; data are repeated to fill it (default: "
     "1)"},
    {"--seed", NULL, "N", TOOL_OPTION_COUNT, FIELD(seed), TOOL_FOR_RUNNING,
     "set the seed of random inputs (default: 0)"},
    {"--mean", NULL, "A[,B,C]", TOOL_OPTION_TEXT, FIELD(mean), TOOL_FOR_RUNNING,
     "subtract from the samples of pictures (0 to 255), for all channels or for each, and from "
     "arrays of bytes for inputs of floats (default: 0)"},
    {"--scale", NULL, "A[,B,C]", TOOL_OPTION_TEXT, FIELD(scale), TOOL_FOR_RUNNING,
     "multiply the result by this (default: 1, often 0.003921569 = 1/255)"},
    {"--bgr", NULL, NULL, TOOL_OPTION_FLAG, FIELD(bgr), TOOL_FOR_RUNNING,
     "order the channels of pictures as blue, green, red"},
};

const tool_option_rule_t tool_feeding_rules[TOOL_FEEDING_RULE_COUNT] = {
    {"--mean", "--input --data-set", NULL},
    {"--scale", "--input --data-set", NULL},
    {"--bgr", "--input", NULL},
};

enum { DATA_SET_GAP = 16 };

/* ---- Loading ---- */

static void take_shape(tool_feed_item_t* item, uint32_t rank, const int64_t* dims) {
  if (rank <= TOOL_RANK_MAX) {
    item->has_shape = true;
    item->rank = rank;
    memcpy(item->dims, dims, rank * sizeof(int64_t));
  }
}

static tenon_status_t load_array(tool_feed_item_t* item, const uint8_t* bytes, size_t size) {
  const tenon_status_t status = tool_npy_parse(item->path, bytes, size, &item->value);
  if (status == TENON_OK) {
    take_shape(item, item->value.rank, item->value.dims);
  }
  return status;
}

/* Adopts path, input and bytes. */
static tenon_status_t load_item(tool_feed_t* feed, tool_feed_item_t* item, uint8_t* bytes,
                                size_t size) {
  tenon_status_t status = TENON_OK;
  if (tool_picture_is_one(bytes, size)) {
    item->is_picture = true;
    status = tool_picture_parse(item->path, bytes, size, &item->picture);
  } else if (tool_npy_is_one(bytes, size)) {
    status = load_array(item, bytes, size);
  } else {
    /* A recorded tensor, or a sequence or optional: the network tells. */
    tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
    int64_t dims[64];
    uint32_t rank = 0;
    if (tool_tensor_proto_peek(bytes, size, &item->own_name, &dtype, &rank, dims)) {
      take_shape(item, rank, dims);
    }
    if (dtype == TENON_DTYPE_UNDEFINED && !tool_path_has_suffix(item->path, ".pb")) {
      status =
          tool_fail(TENON_ERROR_INVALID_DATA,
                    "%s: is neither a picture (PNG, JPEG, PGM, PPM), nor a NumPy array (.npy), "
                    "nor a recorded tensor (.pb)",
                    item->path);
    }
    item->bytes = bytes;
    item->size = size;
    bytes = NULL;
  }
  tool_free(bytes);
  feed->items = tool_grow(feed->items, &feed->capacity, feed->count + 1, sizeof(*feed->items));
  feed->items[feed->count++] = *item;
  return status;
}

static tenon_status_t load_path(tool_feed_t* feed, char* path, char* input, uint32_t position,
                                bool is_recorded) {
  tool_feed_item_t item = {
      .path = path, .input = input, .position = position, .is_recorded = is_recorded};
  uint8_t* bytes = NULL;
  size_t size = 0;
  const tenon_status_t status = tool_file_read(path, &bytes, &size);
  if (status != TENON_OK) {
    tool_free(path);
    tool_free(input);
    return status;
  }
  return load_item(feed, &item, bytes, size);
}

/* Names and paths may both hold "=": the first one with a file behind it, else the last. */
static const char* find_equals(const char* text) {
  const char* equals = strchr(text, '=');
  while (equals != NULL && !tool_file_exists(equals + 1)) {
    equals = strchr(equals + 1, '=');
  }
  return equals != NULL ? equals : strrchr(text, '=');
}

static tenon_status_t load_inputs(const tool_list_t* inputs, tool_feed_t* feed) {
  uint32_t position = 0;
  for (size_t i = 0; i < inputs->count; ++i) {
    const char* text = inputs->items[i];
    const char* equals = find_equals(text);
    const bool named = equals != NULL && !tool_file_exists(text);
    char* path = tool_copy_text(named ? equals + 1 : text);
    char* input = named ? tool_copy_bytes(text, (size_t)(equals - text)) : NULL;
    const tenon_status_t status =
        load_path(feed, path, input, named ? TENON_NONE : position++, false);
    if (status != TENON_OK) {
      return status;
    }
  }
  return TENON_OK;
}

char* tool_recorded_path(const char* folder, const char* what, uint32_t index) {
  static const char* const ends[] = {"pb", "npy"};
  for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); ++i) {
    char* path = tool_format("%s/%s_%u.%s", folder, what, index, ends[i]);
    if (tool_file_exists(path)) {
      return path;
    }
    tool_free(path);
  }
  return NULL;
}

static bool has_recorded(const char* folder, const char* what) {
  char* path = NULL;
  for (uint32_t i = 0; i < DATA_SET_GAP && path == NULL; ++i) {
    path = tool_recorded_path(folder, what, i);
  }
  tool_free(path);
  return path != NULL;
}

/* A folder inside with recorded tensors, the first by name; NULL: none. */
static char* find_data_set_inside(const char* folder) {
  struct dirent** entries = NULL;
  char* found = NULL;
  const int count = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < count; ++i) {
    char* path = tool_format("%s%s%s", folder, tool_path_has_suffix(folder, "/") ? "" : "/",
                             entries[i]->d_name);
    if (found == NULL && entries[i]->d_name[0] != '.' && has_recorded(path, "input")) {
      found = path;
      path = NULL;
    }
    tool_free(path);
    free(entries[i]);
  }
  free(entries);
  return found;
}

/* A network without inputs has outputs alone. */
static tenon_status_t check_data_set(const char* folder) {
  if (!tool_folder_exists(folder)) {
    return tool_fail(TENON_ERROR_NOT_FOUND, "--data-set %s: there is no such folder", folder);
  }
  if (has_recorded(folder, "input") || has_recorded(folder, "output")) {
    return TENON_OK;
  }
  char* inside = find_data_set_inside(folder);
  (void)tool_fail(TENON_ERROR_NOT_FOUND, "--data-set %s: no input_0.pb or .npy is in it%s%s%s",
                  folder, inside != NULL ? "; did you mean " : "", inside != NULL ? inside : "",
                  inside != NULL ? "?" : "");
  tool_free(inside);
  return TENON_ERROR_NOT_FOUND;
}

static tenon_status_t load_data_set(const char* folder, tool_feed_t* feed) {
  tenon_status_t status = check_data_set(folder);
  /* Inputs that are left out leave a gap. */
  uint32_t missing = 0;
  for (uint32_t i = 0; missing < DATA_SET_GAP && status == TENON_OK; ++i) {
    char* path = tool_recorded_path(folder, "input", i);
    missing = path == NULL ? missing + 1 : 0;
    status = path != NULL ? load_path(feed, path, NULL, i, true) : TENON_OK;
  }
  return status;
}

static void free_item(tool_feed_item_t* item) {
  tool_free(item->path);
  tool_free(item->input);
  tool_free(item->own_name);
  tool_free(item->bytes);
  tool_picture_free(&item->picture);
  tool_value_free(&item->value);
}

/* What is recorded for an input that is a constant belongs to no input, and what is recorded after
 * it moves up. The files of --input are counted among the inputs that there are. */
static void drop_item(tool_feed_t* feed, size_t index) {
  const uint32_t position = feed->items[index].position;
  free_item(&feed->items[index]);
  --feed->count;
  memmove(&feed->items[index], &feed->items[index + 1],
          (feed->count - index) * sizeof(*feed->items));
  for (size_t i = 0; i < feed->count; ++i) {
    tool_feed_item_t* item = &feed->items[i];
    item->position -= item->is_recorded && item->position > position ? 1 : 0;
  }
}

static void drop_constants(tool_feed_t* feed, const tool_constants_t* constants) {
  for (size_t i = feed->count; i-- > 0;) {
    const tool_feed_item_t* item = &feed->items[i];
    if (item->is_recorded && item->own_name != NULL &&
        tool_constants_find(constants, item->own_name) != NULL) {
      drop_item(feed, i);
    }
  }
}

tenon_status_t tool_feeding_data_set(const tool_feeding_t* feeding, const char** out_data_set) {
  const tool_list_t* sets = &feeding->data_sets;
  if (sets->count > 1) {
    return tool_misuse("--data-set %s: %s is given already, and one is all that this command takes",
                       sets->items[1], sets->items[0]);
  }
  *out_data_set = sets->count > 0 ? sets->items[0] : NULL;
  return TENON_OK;
}

void tool_feeding_free(tool_feeding_t* feeding) {
  tool_list_free(&feeding->inputs);
  tool_list_free(&feeding->data_sets);
}

tenon_status_t tool_feed_load(const tool_feeding_t* feeding, const char* data_set,
                              const tool_constants_t* constants, tool_feed_t* out_feed) {
  tool_feed_t feed = {.batch = feeding->batch, .seed = feeding->seed, .data_set = data_set};
  tenon_status_t status = TENON_OK;
  feed.preprocess = (tool_preprocess_t){.scale = {1, 1, 1, 1},
                                        .bgr = feeding->bgr,
                                        .given = feeding->mean != NULL || feeding->scale != NULL};
  if (feeding->mean != NULL) {
    status = tool_preprocess_parse("--mean", feeding->mean, feed.preprocess.mean,
                                   &feed.preprocess.count);
  }
  if (status == TENON_OK && feeding->scale != NULL) {
    status = tool_preprocess_parse("--scale", feeding->scale, feed.preprocess.scale,
                                   &feed.preprocess.count);
  }
  if (status == TENON_OK) {
    status = load_inputs(&feeding->inputs, &feed);
  }
  if (status == TENON_OK && data_set != NULL) {
    status = load_data_set(data_set, &feed);
  }
  if (status != TENON_OK) {
    tool_feed_free(&feed);
    return status;
  }
  drop_constants(&feed, constants);
  *out_feed = feed;
  return TENON_OK;
}

void tool_feed_free(tool_feed_t* feed) {
  for (size_t i = 0; i < feed->count; ++i) {
    free_item(&feed->items[i]);
  }
  tool_free(feed->items);
  *feed = (tool_feed_t){0};
}

/* ---- Shapes ---- */

/* The batch that --batch asks for, where the axis is open. */
static int64_t wanted_batch(const tool_feed_t* feed, int64_t declared, int64_t own) {
  const bool fills = feed->batch > 0 && declared < 0 && own > 0 && feed->batch % own == 0;
  return fills ? feed->batch : own;
}

bool tool_feed_shape(const tool_feed_t* feed, const tool_feed_item_t* item, uint32_t rank,
                     const int64_t* dims, int64_t out_dims[TOOL_RANK_MAX]) {
  if (item->is_picture) {
    if (!tool_picture_shape(&item->picture, rank, dims, out_dims)) {
      return false;
    }
  } else if (item->has_shape && (rank == TENON_NONE || rank == item->rank)) {
    memcpy(out_dims, item->dims, item->rank * sizeof(int64_t));
    rank = item->rank;
  } else {
    return false;
  }
  if (rank > 0) {
    out_dims[0] = wanted_batch(feed, dims == NULL ? -1 : dims[0], out_dims[0]);
  }
  return true;
}

char* tool_feed_describe(const tool_feed_t* feed) {
  char* text = tool_format("batch %lld\n", (long long)feed->batch);
  for (size_t i = 0; i < feed->count; ++i) {
    const tool_feed_item_t* item = &feed->items[i];
    char shape[1024] = "?";
    if (item->is_picture) {
      (void)snprintf(shape, sizeof(shape), "picture %ux%u, %u channels", item->picture.width,
                     item->picture.height, item->picture.channels);
    } else if (item->has_shape) {
      tool_shape_print(item->rank, item->dims, shape, sizeof(shape));
    }
    tool_append(&text, "given %s %u %s\n", item->input != NULL ? item->input : "-", item->position,
                shape);
  }
  return text;
}

/* ---- Values ---- */

static tenon_status_t convert_type(const tool_feed_item_t* item, const tenon_io_info_t* input,
                                   tool_value_t* out_value) {
  tool_loss_t loss = {0};
  const tool_value_t* array = &item->value;
  const tenon_status_t status =
      tool_value_convert(item->path, array, input->dtype, out_value, &loss);
  if (status == TENON_OK && loss.count > 0) {
    tool_warn(
        "%s: %s is converted to %s for input '%s', which changes %llu of %llu numbers, the "
        "first from %.9g to %.9g",
        item->path, tool_dtype_name(array->dtype), tool_dtype_name(input->dtype), input->name,
        (unsigned long long)loss.count, (unsigned long long)array->count, loss.from, loss.to);
  } else if (status == TENON_OK) {
    tool_warn("%s: %s is converted to %s for input '%s'", item->path, tool_dtype_name(array->dtype),
              tool_dtype_name(input->dtype), input->name);
  }
  return status;
}

bool tool_feed_is_bytes(const tool_feed_item_t* item, const tenon_io_info_t* input) {
  const tenon_dtype_t dtype = item->value.dtype;
  return item->value.kind == TENON_ARGUMENT_TENSOR && tool_dtype_class(input->dtype) == 'f' &&
         (dtype == TENON_DTYPE_UINT8 || dtype == TENON_DTYPE_INT8);
}

static tenon_status_t convert_array(const tool_feed_t* feed, const tool_feed_item_t* item,
                                    const tenon_io_info_t* input, tool_value_t* out_value) {
  const tool_value_t* array = &item->value;
  if (tool_feed_is_bytes(item, input) && feed->preprocess.given) {
    return tool_bytes_to_value(item->path, array, &feed->preprocess, input->dtype, out_value);
  }
  if (array->dtype != input->dtype) {
    return convert_type(item, input, out_value);
  }
  tool_value_copy(array, out_value);
  return TENON_OK;
}

static tenon_status_t make_value(const tool_feed_t* feed, const tool_feed_item_t* item,
                                 const tenon_io_info_t* input, tool_value_t* out_value) {
  if (item->bytes != NULL) {
    return tool_tensor_proto_parse(item->path, item->bytes, item->size, input->kind, out_value);
  }
  if (input->kind != TENON_ARGUMENT_TENSOR) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "%s: input '%s' is a sequence or an optional: a .pb file holds one",
                     item->path, input->name);
  }
  if (!item->is_picture) {
    return convert_array(feed, item, input, out_value);
  }
  int64_t dims[TOOL_RANK_MAX];
  for (uint32_t k = 0; k < input->rank && k < TOOL_RANK_MAX; ++k) {
    dims[k] = k == 0 && input->rank > 2 && feed->batch > 0 ? 1 : input->dims[k];
  }
  const tenon_value_type_t type = {
      .kind = TENON_ARGUMENT_TENSOR, .dtype = input->dtype, .rank = input->rank, .dims = dims};
  return tool_picture_to_value(item->path, &item->picture, &feed->preprocess, &type, out_value);
}

tenon_status_t tool_feed_value(const tool_feed_t* feed, const tool_feed_item_t* item,
                               const tenon_io_info_t* input, tool_value_t* out_value) {
  tool_value_t value = {0};
  tenon_status_t status = make_value(feed, item, input, &value);
  if (status != TENON_OK) {
    return status;
  }
  const bool has_batch = feed->batch > 0 && value.kind == TENON_ARGUMENT_TENSOR && value.rank > 0 &&
                         input->rank == value.rank && value.dims[0] > 0 &&
                         value.dims[0] != feed->batch && feed->batch % value.dims[0] == 0 &&
                         (input->dims[0] < 0 || input->dims[0] == feed->batch);
  if (has_batch) {
    tool_value_t repeated;
    status = tool_value_repeat(item->path, &value, feed->batch / value.dims[0], &repeated);
    tool_value_free(&value);
    value = repeated;
  }
  if (status == TENON_OK) {
    *out_value = value;
  }
  return status;
}
