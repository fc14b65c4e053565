/* See truth.h. */
#include "session/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "data/npy.h"
#include "data/picture.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/shape_text.h"

/* `labels` NULL: `label` for every row. */
static tenon_status_t check_classes(const char* truth, const char* output,
                                    const tool_value_t* value, const tool_value_t* labels,
                                    double label, tool_truth_t* out_truth) {
  const uint64_t classes = value->rank > 0 ? (uint64_t)value->dims[value->rank - 1] : 0;
  const uint64_t rows = classes > 0 ? value->count / classes : 0;
  if (rows == 0 || (labels != NULL && labels->count != rows)) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "--truth %s: %llu labels for the %llu rows of output '%s'", truth,
                     (unsigned long long)(labels != NULL ? labels->count : 1),
                     (unsigned long long)rows, output);
  }
  if (labels == NULL && !(label >= 0 && label < (double)classes && floor(label) == label)) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "--truth %s: the classes of output '%s' are 0 to %llu", truth, output,
                     (unsigned long long)classes - 1);
  }
  uint64_t right = 0;
  for (uint64_t row = 0; row < rows; ++row) {
    const double wanted =
        labels != NULL ? tool_element_get(labels->dtype, labels->data, row, 0) : label;
    right += (double)tool_value_largest(value, row * classes, classes, NULL) == wanted ? 1 : 0;
  }
  *out_truth = (tool_truth_t){(double)right / (double)rows, rows == 1};
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_unsigned(&json, "right", right);
    tool_json_unsigned(&json, "rows", rows);
    tool_json_number(&json, "accuracy", (double)right / (double)rows);
    tool_json_end(&json);
  } else if (rows == 1) {
    tool_say("truth: %.0f, which is %s\n",
             labels == NULL ? label : tool_element_get(labels->dtype, labels->data, 0, 0),
             right == 1 ? "right" : "another one");
  } else {
    tool_say("truth: %llu of %llu are right, %.2f %%\n", (unsigned long long)right,
             (unsigned long long)rows, 100 * (double)right / (double)rows);
  }
  return TENON_OK;
}

static tenon_status_t check_mask(const char* name, const char* output, const tool_value_t* value,
                                 const tool_picture_t* truth, tool_truth_t* out_truth) {
  const uint64_t pixels = (uint64_t)truth->width * truth->height;
  const bool fits = value->rank >= 2 && value->count == pixels &&
                    value->dims[value->rank - 1] == truth->width &&
                    value->dims[value->rank - 2] == truth->height;
  if (!fits) {
    char shape[512];
    tool_shape_print(value->rank, value->dims, shape, sizeof(shape));
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "--truth %s: a picture of %u x %u pixels is no mask for output '%s', which is "
                     "%s",
                     name, truth->width, truth->height, output, shape);
  }
  uint64_t both = 0;
  uint64_t either = 0;
  for (uint64_t i = 0; i < pixels; ++i) {
    const bool ours = tool_element_get(value->dtype, value->data, i, 0) >= 0.5;
    const bool theirs = 2u * truth->samples[i * truth->channels] > truth->maximum;
    both += ours && theirs ? 1 : 0;
    either += ours || theirs ? 1 : 0;
  }
  const double overlap = either > 0 ? (double)both / (double)either : 1;
  *out_truth = (tool_truth_t){overlap, false};
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_number(&json, "overlap", overlap);
    tool_json_end(&json);
  } else {
    tool_say("truth: overlap (IoU) %.4f\n", overlap);
  }
  return TENON_OK;
}

tenon_status_t tool_truth_check(const char* truth, const char* output, const tool_value_t* value,
                                tool_truth_t* out_truth) {
  char* end = NULL;
  uint8_t* bytes = NULL;
  size_t size = 0;
  const double label = strtod(truth, &end);
  if (value->kind != TENON_ARGUMENT_TENSOR || value->dtype == TENON_DTYPE_STRING) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "--truth %s: output '%s' has no numbers", truth,
                     output);
  }
  if (*end == '\0' && end != truth) {
    return check_classes(truth, output, value, NULL, label, out_truth);
  }
  tenon_status_t status = tool_file_read(truth, &bytes, &size);
  if (status == TENON_OK && tool_picture_is_one(bytes, size)) {
    tool_picture_t picture;
    status = tool_picture_parse(truth, bytes, size, &picture);
    if (status == TENON_OK) {
      status = check_mask(truth, output, value, &picture, out_truth);
      tool_picture_free(&picture);
    }
  } else if (status == TENON_OK) {
    tool_value_t labels;
    status = tool_npy_parse(truth, bytes, size, &labels);
    if (status == TENON_OK) {
      status = check_classes(truth, output, value, &labels, 0, out_truth);
      tool_value_free(&labels);
    }
  }
  tool_free(bytes);
  return status;
}
