/* The simple operators of classical machine learning, domain "ai.onnx.ml". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "classical.h"

enum { TEXT_SIZE = 96 };

/* "keys_tensor", "keys_int64s", ... whichever is there. */
static tenon_value_t either(tenon_make_t* make, const char* prefix) {
  char name[TEXT_SIZE];
  tenon_value_t (*const readers[])(tenon_make_t*, const char*) = {
      tenon__onnx_tensor_of, tenon__onnx_ints_vector, tenon__onnx_floats_vector,
      tenon__onnx_strings_vector};
  static const char* const suffixes[] = {"tensor", "int64s", "floats", "strings"};
  for (uint32_t i = 0; i < 4; ++i) {
    (void)snprintf(name, sizeof(name), "%s_%s", prefix, suffixes[i]);
    const tenon_value_t value = readers[i](make, name);
    if (tenon_make_present(value)) {
      return value;
    }
  }
  tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no %s", prefix);
  return (tenon_value_t){0};
}

/* What stands for keys that are not found. */
static tenon_value_t default_value(tenon_make_t* make, tenon_dtype_t dtype) {
  const tenon_value_t given = tenon__onnx_tensor_of(make, "default_tensor");
  if (tenon_make_present(given)) {
    return tenon_make_rank(make, given) == 0 ? given : tenon_make_reshape(make, given, NULL, 0);
  }
  if (dtype == TENON_DTYPE_STRING) {
    const char* text = tenon_make_get_string(make, "default_string", "_Unused");
    const tenon_string_view_t view = {text, strlen(text)};
    return tenon_make_tensor(make, dtype, 0, NULL, &view);
  }
  const double number = tenon_make_is_float(dtype)
                            ? tenon_make_get_float(make, "default_float", -0.0)
                            : (double)tenon_make_get_int(make, "default_int64", -1);
  return tenon_make_number(make, dtype, number);
}

/* Every key is compared with every element: the place of the first that is equal picks the value.
 */
static void encode(tenon_make_t* make, tenon_value_t keys, tenon_value_t values) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t otherwise = default_value(make, tenon_make_dtype(make, values));
  const int64_t last = -1;
  const int64_t axis = (int64_t)tenon_make_rank(make, x);
  const tenon_value_t column = tenon_make_unsqueeze(make, x, &last, 1);
  const tenon_value_t equal = tenon_make_2(make, "equal", column, keys);
  const tenon_value_t found = tenon_make_reduce(make, "reduce_max", equal, &axis, 1, 0);
  const tenon_value_t numbers = tenon_make_cast(make, equal, TENON_DTYPE_INT32);
  tenon_make_begin(make, "arg_max");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_int(make, "keepdims", 0);
  tenon_make_add(make, numbers);
  const tenon_value_t place = tenon_make_end(make);
  const tenon_value_t picked = tenon__onnx_pick(make, values, place);
  tenon_make_output(make, 0, tenon_make_3(make, "where", found, picked, otherwise));
}

static void label_encoder(tenon_make_t* make) {
  encode(make, either(make, "keys"), either(make, "values"));
}

/* From strings to numbers, or back, depending on the input's type. */
static void encode_texts(tenon_make_t* make, tenon_value_t texts, tenon_value_t numbers) {
  const bool is_text = tenon_make_dtype(make, tenon_make_input(make, 0)) == TENON_DTYPE_STRING;
  if (!tenon_make_present(texts) || !tenon_make_present(numbers)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no lists of strings and numbers");
    return;
  }
  encode(make, is_text ? texts : numbers, is_text ? numbers : texts);
}

/* A string stands for its place in the list. */
static void label_encoder_before_2(tenon_make_t* make) {
  const tenon_value_t classes = tenon__onnx_strings_vector(make, "classes_strings");
  const int64_t count = tenon_make_present(classes) ? tenon_make_dim(make, classes, 0) : 0;
  int64_t* places = tenon_make_memory(make, (size_t)count + 1, sizeof(int64_t));
  if (places == NULL) {
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    places[i] = i;
  }
  encode_texts(make, classes, tenon_make_int64s(make, places, (size_t)count));
}

static void category_mapper(tenon_make_t* make) {
  encode_texts(make, tenon__onnx_strings_vector(make, "cats_strings"),
               tenon__onnx_ints_vector(make, "cats_int64s"));
}

/* Indices, a row of them, pick from the last axis. */
static void array_feature_extractor(tenon_make_t* make) {
  const int64_t flat[1] = {-1};
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t indices = tenon_make_reshape(make, tenon_make_input(make, 1), flat, 1);
  const int64_t rank = (int64_t)tenon_make_rank(make, x);
  const bool is_text = tenon_make_dtype(make, x) == TENON_DTYPE_STRING;
  if (is_text && tenon_make_dim(make, x, (uint32_t)rank - 1) > 0 &&
      tenon_make_elements(make, x, 0, (uint32_t)rank - 1) == 1) {
    const int64_t row[2] = {1, -1};
    const tenon_value_t vector = tenon_make_reshape(make, x, flat, 1);
    const tenon_value_t picked = tenon__onnx_pick(make, vector, indices);
    tenon_make_output(make, 0, tenon_make_reshape(make, picked, row, 2));
    return;
  }
  tenon_value_t y = tenon_make_gather(make, x, indices, rank - 1);
  if (rank == 1) {
    const int64_t axis = 0;
    y = tenon_make_unsqueeze(make, y, &axis, 1);
  }
  tenon_make_output(make, 0, y);
}

static void binarizer(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const tenon_value_t threshold =
      tenon_make_number(make, dtype, tenon_make_get_float(make, "threshold", 0));
  tenon_make_output(make, 0,
                    tenon_make_cast(make, tenon_make_2(make, "greater", x, threshold), dtype));
}

static void scaler(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_cast(make, tenon_make_input(make, 0), TENON_DTYPE_FLOAT32);
  const tenon_value_t offset = tenon__onnx_floats_vector(make, "offset");
  const tenon_value_t scale = tenon__onnx_floats_vector(make, "scale");
  tenon_value_t y = tenon_make_present(offset) ? tenon_make_2(make, "sub", x, offset) : x;
  y = tenon_make_present(scale) ? tenon_make_2(make, "mul", y, scale) : y;
  tenon_make_output(make, 0, y);
}

/* What equals the value to replace, NaN too, becomes the value for its column. */
static void imputer(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const bool is_float = tenon_make_is_float(dtype);
  const tenon_value_t values = is_float ? tenon__onnx_floats_vector(make, "imputed_value_floats")
                                        : tenon__onnx_ints_vector(make, "imputed_value_int64s");
  if (!tenon_make_present(values)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no %s",
                    is_float ? "imputed_value_floats" : "imputed_value_int64s");
    return;
  }
  const double replaced = tenon_make_get_float(make, "replaced_value_float", 0);
  const tenon_value_t known =
      is_float ? tenon_make_number(make, dtype, replaced)
               : tenon_make_int64(make, tenon_make_get_int(make, "replaced_value_int64", 0));
  const tenon_value_t missing =
      is_float && isnan(replaced)
          ? tenon_make_1(make, "is_nan", x)
          : tenon_make_2(make, "equal", x, tenon_make_cast(make, known, dtype));
  tenon_make_output(make, 0,
                    tenon_make_3(make, "where", missing, tenon_make_cast(make, values, dtype), x));
}

/* Rows by their norm; rows whose norm is 0 stay. MAX divides by the greatest element, not by the
 * greatest magnitude, as ONNX writes it. */
static void normalizer(tenon_make_t* make) {
  const char* norm = tenon_make_get_string(make, "norm", "MAX");
  const int64_t last = -1;
  const tenon_value_t x = tenon_make_cast(make, tenon_make_input(make, 0), TENON_DTYPE_FLOAT32);
  const char* op = strcmp(norm, "MAX") == 0  ? "reduce_max"
                   : strcmp(norm, "L1") == 0 ? "reduce_l1"
                   : strcmp(norm, "L2") == 0 ? "reduce_l2"
                                             : NULL;
  if (op == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "norm is '%s', not MAX, L1 or L2", norm);
    return;
  }
  const tenon_value_t length = tenon_make_reduce(make, op, x, &last, 1, 1);
  tenon_make_output(make, 0, tenon_make_math_2(make, "y = b == 0.0 ? a : a / b", x, length));
}

/* A 1 for each row. At a row without a 1 the run fails, because it reads element 1 of a table of 1
 * element. */
static tenon_value_t must_be_found(tenon_make_t* make, tenon_value_t rows) {
  const int64_t axis = (int64_t)tenon_make_rank(make, rows) - 1;
  const int64_t one[1] = {1};
  const tenon_value_t found = tenon_make_reduce(make, "reduce_max", rows, &axis, 1, 1);
  const tenon_value_t number = tenon_make_number(make, TENON_DTYPE_FLOAT32, 1);
  const tenon_value_t table = tenon_make_reshape(make, number, one, 1);
  const tenon_value_t missing = tenon_make_math_1(make, "y = 1 - a", found);
  return tenon_make_gather(make, table, tenon_make_cast(make, missing, TENON_DTYPE_INT64), 0);
}

/* A new last axis compares each element with every category. An element in no category gives zeros,
 * or fails the run if `zeros` is 0. */
static void one_hot_encoder(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const bool is_text = tenon_make_dtype(make, x) == TENON_DTYPE_STRING;
  const char* name = is_text ? "cats_strings" : "cats_int64s";
  const tenon_value_t categories =
      is_text ? tenon__onnx_strings_vector(make, name) : tenon__onnx_ints_vector(make, name);
  if (!tenon_make_present(categories)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no %s for its input", name);
    return;
  }
  const int64_t last = -1;
  const tenon_value_t keys = is_text ? x : tenon_make_cast(make, x, TENON_DTYPE_INT64);
  const tenon_value_t column = tenon_make_unsqueeze(make, keys, &last, 1);
  const tenon_value_t equal = tenon_make_2(make, "equal", column, categories);
  tenon_value_t y = tenon_make_cast(make, equal, TENON_DTYPE_FLOAT32);
  if (tenon_make_get_int(make, "zeros", 1) == 0) {
    y = tenon_make_2(make, "mul", y, must_be_found(make, y));
  }
  tenon_make_output(make, 0, y);
}

/* A table with so many columns: those that there are too many are cut off, those that are missing
 * are zeros, as ONNX Runtime has it. */
static tenon_value_t with_columns(tenon_make_t* make, tenon_value_t table, int64_t count) {
  const int64_t columns = tenon_make_dim(make, table, 1);
  const int64_t pads[4] = {0, 0, 0, columns < 0 ? count : count - columns};
  tenon_value_t wide = table;
  if (pads[3] > 0) {
    tenon_make_begin(make, "pad");
    tenon_make_add(make, table);
    tenon_make_add(make, tenon_make_int64s(make, pads, 4));
    wide = tenon_make_end(make);
  }
  return columns == count ? wide : tenon_make_slice(make, wide, 1, 0, count);
}

/* The columns of all inputs side by side; of more than two axes the rest are columns. */
static void feature_vectorizer(tenon_make_t* make) {
  static const int64_t row[2] = {1, -1};
  static const int64_t rows[2] = {0, -1};
  const int64_t* counts = NULL;
  size_t count = 0;
  const bool has_counts = tenon_make_get_ints(make, "inputdimensions", &counts, &count);
  tenon_value_t* columns = tenon_make_memory(make, make->input_count + 1, sizeof(*columns));
  if (has_counts && count != make->input_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu inputdimensions for %u inputs", count,
                    make->input_count);
  }
  for (uint32_t i = 0; tenon_make_ok(make) && i < make->input_count; ++i) {
    const tenon_value_t x = tenon_make_cast(make, tenon_make_input(make, i), TENON_DTYPE_FLOAT32);
    const uint32_t rank = tenon_make_rank(make, x);
    columns[i] = rank == 2 ? x : tenon_make_reshape(make, x, rank < 2 ? row : rows, 2);
    if (has_counts && counts[i] < 1) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "inputdimensions has %lld for input %u",
                      (long long)counts[i], i);
    } else if (has_counts) {
      columns[i] = with_columns(make, columns[i], counts[i]);
    }
  }
  if (tenon_make_ok(make)) {
    tenon_make_output(make, 0, tenon_make_concat(make, 1, make->input_count, columns));
  }
}

#define MADE(type, function) TENON__ONNX_ROW("ai.onnx.ml", type, 1, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("ArrayFeatureExtractor", array_feature_extractor),
    MADE("Binarizer", binarizer),
    MADE("CategoryMapper", category_mapper),
    MADE("FeatureVectorizer", feature_vectorizer),
    MADE("Imputer", imputer),
    TENON__ONNX_ROW("ai.onnx.ml", "LabelEncoder", 1, 2, label_encoder_before_2, NULL, NULL),
    TENON__ONNX_ROW("ai.onnx.ml", "LabelEncoder", 2, 0, label_encoder, NULL, NULL),
    MADE("Normalizer", normalizer),
    MADE("OneHotEncoder", one_hot_encoder),
    MADE("Scaler", scaler),
};
TENON__ONNX_FAMILY(classical);
