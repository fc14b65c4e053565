/* Samples from folders: files input_<i>.pb or .npy, in the order of the inputs. */
#include "session/samples.h"

#include "session/feed.h"
#include "text/console.h"
#include "text/memory.h"

static tenon_status_t load_input(const char* folder, const tool_feed_t* feed,
                                 const tenon_network_t* network, uint32_t input,
                                 tool_samples_t* samples, size_t at) {
  tenon_io_info_t info = {.size = sizeof(info)};
  TOOL_TRY(tenon_network_get_input(network, input, &info));
  const tool_feed_item_t* item = tool_feed_find(feed, info.name, input);
  if (item == NULL || info.kind != TENON_ARGUMENT_TENSOR) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "--samples %s: input '%s' %s", folder, info.name,
                     item == NULL ? "is not there" : "is no tensor");
  }
  TOOL_TRY(tool_feed_value(feed, item, &info, &samples->values[at]));
  tool_argument_make(&samples->values[at], &samples->arguments[at]);
  samples->views[at] = samples->arguments[at].tensor;
  return TENON_OK;
}

static tenon_status_t load_folder(const char* folder, const tenon_network_t* network,
                                  tool_samples_t* samples) {
  const tool_feeding_t feeding = {0};
  const tool_constants_t none = {0};
  const size_t first = (size_t)samples->count * samples->input_count;
  tool_feed_t feed = {0};
  tenon_status_t status = tool_feed_load(&feeding, folder, &none, &feed);
  for (uint32_t k = 0; k < samples->input_count && status == TENON_OK; ++k) {
    status = load_input(folder, &feed, network, k, samples, first + k);
  }
  samples->items[samples->count] =
      (tenon_sample_t){.inputs = &samples->views[first], .input_count = samples->input_count};
  samples->count += 1;
  tool_feed_free(&feed);
  return status;
}

tenon_status_t tool_samples_load(const tool_list_t* folders, const tenon_network_t* network,
                                 tool_samples_t* out_samples) {
  tool_samples_t samples = {.input_count = tenon_network_input_count(network)};
  const size_t count = folders->count * samples.input_count;
  samples.items = tool_allocate(folders->count, sizeof(*samples.items));
  samples.values = tool_allocate(count, sizeof(*samples.values));
  samples.arguments = tool_allocate(count, sizeof(*samples.arguments));
  samples.views = tool_allocate(count, sizeof(*samples.views));
  tenon_status_t status = TENON_OK;
  for (size_t k = 0; k < folders->count && status == TENON_OK; ++k) {
    status = load_folder(folders->items[k], network, &samples);
  }
  *out_samples = samples;
  if (status != TENON_OK) {
    tool_samples_free(out_samples);
  }
  return status;
}

void tool_samples_free(tool_samples_t* samples) {
  for (size_t k = 0; k < (size_t)samples->count * samples->input_count; ++k) {
    tool_argument_free(&samples->arguments[k]);
    tool_value_free(&samples->values[k]);
  }
  tool_free(samples->items);
  tool_free(samples->values);
  tool_free(samples->arguments);
  tool_free(samples->views);
  *samples = (tool_samples_t){0};
}
