/* Tops that come from nowhere: learned blobs, and constants. Inputs are no layers here. */
#include <string.h>

#include "families.h"

/* A learned blob as it is. */
static void parameter(tenon_make_t* make) {
  const int64_t* dims = NULL;
  size_t count = 0;
  (void)tenon_make_get_ints(make, "parameter_param.shape.dim", &dims, &count);
  if (count > TENON_MAKE_LIST_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its shape has %zu axes", count);
  } else {
    tenon_make_output(make, 0, tenon__caffe_weight(make, 0, (uint32_t)count, dims));
  }
}

/* Entry `index` of a list that has one for each top, or one for all; 0 when there is none. */
static int64_t entry_of(tenon_make_t* make, const char* name, uint32_t index) {
  const int64_t* values = NULL;
  size_t count = 0;
  (void)tenon_make_get_ints(make, name, &values, &count);
  return count == 0 ? 0 : values[index < count ? index : count - 1];
}

/* The message `name` for a top, or the last there is; NULL when there is none. */
static const tenon_source_t* message_of(tenon_make_t* make, const char* name, uint32_t index) {
  const tenon_source_t* data = NULL;
  const tenon_source_t* found = NULL;
  if (make->table->get_tree(make->source, "dummy_data_param", 0, &data) != TENON_OK) {
    return NULL;
  }
  const uint32_t count = make->table->tree_count(data, name);
  const uint32_t which = index < count ? index : count - 1;
  return count > 0 && make->table->get_tree(data, name, which, &found) == TENON_OK ? found : NULL;
}

/* The value of a constant filler; the others fill with random numbers. */
static double value_of(tenon_make_t* make, uint32_t index) {
  const tenon_source_t* filler = message_of(make, "data_filler", index);
  tenon_string_view_t type = {"constant", strlen("constant")};
  double value = 0;
  if (filler == NULL) {
    return 0;
  }
  (void)make->table->get_string(filler, "type", &type);
  (void)make->table->get_float(filler, "value", &value);
  if (type.size != strlen("constant") || memcmp(type.data, "constant", type.size) != 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "it makes random numbers: put a layer of type Input in its place");
  }
  return value;
}

static void dummy_data(tenon_make_t* make) {
  static const char* const legacy[4] = {"dummy_data_param.num", "dummy_data_param.channels",
                                        "dummy_data_param.height", "dummy_data_param.width"};
  for (uint32_t i = 0; i < make->output_count; ++i) {
    const tenon_source_t* shape = message_of(make, "shape", i);
    int64_t numbers[4];
    const int64_t* dims = numbers;
    size_t count = 4;
    if (shape != NULL) {
      count = 0;
      (void)make->table->get_ints(shape, "dim", &dims, &count);
    } else {
      for (uint32_t k = 0; k < 4; ++k) {
        numbers[k] = entry_of(make, legacy[k], i);
      }
    }
    const tenon_value_t value = tenon_make_number(make, TENON_DTYPE_FLOAT32, value_of(make, i));
    tenon_make_output(make, i,
                      tenon_make_2(make, "filled", value, tenon_make_int64s(make, dims, count)));
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__CAFFE_ROW("", "DummyData", dummy_data, NULL, NULL),
    TENON__CAFFE_ROW("", "Parameter", parameter, NULL, NULL),
};
TENON__CAFFE_FAMILY(data);
