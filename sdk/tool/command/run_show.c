/* See run.h. */
#include "command/run.h"
#include "session/show.h"
#include "session/truth.h"
#include "text/console.h"

static const tool_picture_t* find_picture(const tool_execution_t* execution,
                                          const tool_feed_t* feed, const tool_value_t** out_value) {
  for (uint32_t k = 0; k < execution->input_count; ++k) {
    const tool_feed_item_t* item = tool_feed_find(feed, execution->inputs[k].name, k);
    if (item != NULL && item->is_picture) {
      *out_value = &execution->values[k];
      return &item->picture;
    }
  }
  return NULL;
}

/* A mask has about the proportions of what the network saw. */
static tenon_status_t check_mask(const char* name, const tool_picture_t* mask,
                                 const tool_value_t* seen) {
  static const double most = 1.5;
  int64_t width = 0;
  int64_t height = 0;
  if (!tool_picture_extents(seen->rank, seen->dims, &width, &height)) {
    return TENON_OK;
  }
  const double ratio = (double)mask->width / (double)mask->height * (double)height / (double)width;
  if ((mask->channels == 1 || mask->class_count > 0) && ratio < most && ratio > 1 / most) {
    return TENON_OK;
  }
  return tool_fail(TENON_ERROR_INVALID_DATA,
                   "--overlay: output '%s', %u x %u with %u channels, is no mask of an input of "
                   "%lld x %lld",
                   name, mask->width, mask->height, mask->channels, (long long)width,
                   (long long)height);
}

static tenon_status_t write_overlay(const run_t* run, const tool_execution_t* execution,
                                    const tool_feed_t* feed, const char* name,
                                    const tool_picture_t* mask) {
  tool_picture_t overlay;
  const tool_value_t* seen = NULL;
  const tool_picture_t* input = find_picture(execution, feed, &seen);
  if (input == NULL) {
    return tool_misuse("--overlay: no input is a picture");
  }
  TOOL_TRY(check_mask(name, mask, seen));
  TOOL_TRY(tool_picture_overlay(input, mask, &overlay));
  const tenon_status_t status = tool_picture_write(run->overlay, &overlay);
  tool_picture_free(&overlay);
  return status;
}

static tenon_status_t write_pictures(const run_t* run, const tool_execution_t* execution,
                                     const tool_feed_t* feed, const char* name,
                                     const tool_value_t* value) {
  tool_picture_t mask;
  tenon_status_t status = tool_picture_from_value(name, value, &mask);
  if (status != TENON_OK) {
    return status;
  }
  if (mask.class_count > 0) {
    tool_say(
        "output %s: the class with the largest of %u scores at each pixel, by colour; class 0 "
        "is black\n",
        name, mask.class_count);
  }
  if (run->picture != NULL) {
    status = tool_picture_write(run->picture, &mask);
  }
  if (status == TENON_OK && run->overlay != NULL) {
    status = write_overlay(run, execution, feed, name, &mask);
  }
  tool_picture_free(&mask);
  return status;
}

/* One wrong class differs, as a recorded output does; shares are judged where a least one is given.
 */
static tenon_status_t check_truth(run_t* run, const char* name, const tool_value_t* value) {
  tool_truth_t truth;
  TOOL_TRY(tool_truth_check(run->truth, name, value, &truth));
  const double least = run->truth_at_least >= 0 ? run->truth_at_least : truth.is_single ? 1 : 0;
  run->task.different = run->task.different || truth.share < least;
  if (truth.share < least && !truth.is_single) {
    tool_say("truth: %.4f is less than %.4f\n", truth.share, least);
  }
  return TENON_OK;
}

bool run_asks_for_outputs(const run_t* run) {
  return run->top > 0 || run->labels != NULL || run->picture != NULL || run->overlay != NULL ||
         run->truth != NULL;
}

tenon_status_t run_show_outputs(run_t* run, const tool_execution_t* execution,
                                const tool_feed_t* feed) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < execution->output_count && status == TENON_OK; ++i) {
    tool_value_t value;
    status = tool_execution_get(execution, i, &value);
    if (status != TENON_OK) {
      break;
    }
    const char* name = execution->outputs[i].name;
    const bool classes = i == 0 && (run->top > 0 || run->labels != NULL) &&
                         value.kind == TENON_ARGUMENT_TENSOR && value.dtype != TENON_DTYPE_STRING;
    const bool is_picture = i == 0 && (run->picture != NULL || run->overlay != NULL);
    if (classes) {
      status = tool_classes_print(&value, run->top > 0 ? run->top : 5, run->labels);
    } else {
      tool_value_print("output", name, i, &value, is_picture);
    }
    if (status == TENON_OK && is_picture) {
      status = write_pictures(run, execution, feed, name, &value);
    }
    if (status == TENON_OK && i == 0 && run->truth != NULL) {
      status = check_truth(run, name, &value);
    }
    tool_value_free(&value);
  }
  return status;
}
