/*
 * Linear models and support vector machines, as products of matrices. A machine of many classes
 * decides between each two of them: the votes are counted, and the class with most of them is the
 * label.
 */
#include <stdio.h>
#include <string.h>

#include "classical.h"
#include "trees.h"

/* Weights of pairs of classes, most of which are 0: half a GiB while they are made. */
enum { TEXT_SIZE = 160, WEIGHT_LIMIT = 64 * 1024 * 1024 };

#define F32 TENON_DTYPE_FLOAT32

/* x [n, features], and what is multiplied with it. */
typedef struct model_t {
  tenon_value_t x;
  const double* coefficients;
  size_t coefficient_count;
  const double* offsets; /* intercepts or rho */
  size_t offset_count;
} model_t;

static model_t read_model(tenon_make_t* make, const char* offsets) {
  model_t model = {.x = tenon_make_cast(make, tenon__onnx_samples(make), F32)};
  (void)tenon_make_get_floats(make, "coefficients", &model.coefficients, &model.coefficient_count);
  (void)tenon_make_get_floats(make, offsets, &model.offsets, &model.offset_count);
  if (model.coefficient_count == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no coefficients");
  }
  return model;
}

/* x times rows of coefficients, `score_count` of them. */
static tenon_value_t rows_product(tenon_make_t* make, const model_t* model, size_t score_count) {
  static const int64_t swapped[2] = {1, 0};
  if (score_count == 0 || model->coefficient_count % score_count != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu coefficients for %zu scores",
                    model->coefficient_count, score_count);
    return model->x;
  }
  const int64_t dims[2] = {(int64_t)score_count, (int64_t)(model->coefficient_count / score_count)};
  const tenon_value_t rows = tenon__onnx_floats(make, F32, 2, dims, model->coefficients);
  return tenon_make_2(make, "mat_mul", model->x, tenon_make_permute(make, rows, swapped, 2));
}

/* Offsets added: one for each score, or one for all. */
static tenon_value_t add_offsets(tenon_make_t* make, const model_t* model, tenon_value_t scores) {
  if (model->offset_count == 0) {
    return scores;
  }
  const int64_t dims[1] = {(int64_t)model->offset_count};
  const tenon_value_t offsets = tenon__onnx_floats(make, F32, 1, dims, model->offsets);
  return tenon_make_2(make, "add", scores, offsets);
}

/* The entries of a list that should have so many; zeros, and how many there are, when it has not.
 */
static size_t get_exactly(tenon_make_t* make, const char* name, size_t count, double* out_values) {
  const double* values = NULL;
  size_t found = 0;
  (void)tenon_make_get_floats(make, name, &values, &found);
  for (size_t i = 0; i < count; ++i) {
    out_values[i] = values != NULL && found == count ? values[i] : 0.0;
  }
  return found;
}

static void linear_regressor(tenon_make_t* make) {
  const model_t model = read_model(make, "intercepts");
  const int64_t count = tenon_make_get_int(make, "targets", 1);
  if (count < 1 || (model.offset_count != 0 && (int64_t)model.offset_count != count)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu intercepts for %lld targets",
                    model.offset_count, (long long)count);
    return;
  }
  const tenon_value_t y = add_offsets(make, &model, rows_product(make, &model, (size_t)count));
  tenon_make_output(make, 0,
                    tenon__onnx_post_transform(make, tenon__onnx_get_post_transform(make), y));
}

static void linear_classifier(tenon_make_t* make) {
  static const char integers[] = "classlabels_ints";
  int64_t class_count = 0;
  (void)tenon__onnx_class_labels(make, integers, &class_count);
  const model_t model = read_model(make, "intercepts");
  const tenon__onnx_post_transform_t how = tenon__onnx_get_post_transform(make);
  const size_t count = model.offset_count > 0 ? model.offset_count : (size_t)class_count;
  if ((int64_t)count != class_count && (count != 1 || class_count != 2)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu intercepts for %lld classes", count,
                    (long long)class_count);
    return;
  }
  const tenon_value_t scores = add_offsets(make, &model, rows_product(make, &model, count));
  const tenon_value_t results = count == 1 && class_count == 2
                                    ? tenon__onnx_two_scores(make, how, scores, 1.0)
                                    : tenon__onnx_post_transform(make, how, scores);
  tenon__onnx_classify(make, integers, scores, 0.0, results);
}

/* The kernel of x with each of `count` support vectors: [n, count]. Distances are sums of squared
 * differences: the squares' own difference would lose digits. */
static tenon_value_t kernel(tenon_make_t* make, tenon_value_t x, int64_t count) {
  const char* type = tenon_make_get_string(make, "kernel_type", "LINEAR");
  double parameters[3];
  const size_t parameter_count = get_exactly(make, "kernel_params", 3, parameters);
  const double* vectors = NULL;
  size_t size = 0;
  char text[TEXT_SIZE];
  (void)tenon_make_get_floats(make, "support_vectors", &vectors, &size);
  if (count < 1 || size == 0 || size % (size_t)count != 0 ||
      (parameter_count != 3 && strcmp(type, "LINEAR") != 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu numbers of %lld support vectors, %zu kernel_params", size,
                    (long long)count, parameter_count);
    return x;
  }
  const int64_t dims[2] = {count, (int64_t)size / count};
  const tenon_value_t rows = tenon__onnx_floats(make, F32, 2, dims, vectors);
  if (strcmp(type, "RBF") == 0) {
    const int64_t middle = 1;
    const int64_t last = -1;
    const tenon_value_t column = tenon_make_unsqueeze(make, x, &middle, 1);
    const tenon_value_t apart = tenon_make_2(make, "sub", column, rows);
    const tenon_value_t distances =
        tenon_make_reduce(make, "reduce_sum_square", apart, &last, 1, 0);
    (void)snprintf(text, sizeof(text), "y = exp(a * (%.17g))", -parameters[0]);
    return tenon_make_math_1(make, text, distances);
  }
  static const int64_t swapped[2] = {1, 0};
  const tenon_value_t products =
      tenon_make_2(make, "mat_mul", x, tenon_make_permute(make, rows, swapped, 2));
  if (strcmp(type, "LINEAR") == 0) {
    return products;
  }
  if (strcmp(type, "POLY") == 0) {
    (void)snprintf(text, sizeof(text), "y = pow(a * (%.17g) + (%.17g), %.17g)", parameters[0],
                   parameters[1], parameters[2]);
  } else if (strcmp(type, "SIGMOID") == 0) {
    (void)snprintf(text, sizeof(text), "y = tanh(a * (%.17g) + (%.17g))", parameters[0],
                   parameters[1]);
  } else {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "kernel_type is '%s', not LINEAR, POLY, RBF or SIGMOID", type);
    return products;
  }
  return tenon_make_math_1(make, text, products);
}

static void svm_regressor(tenon_make_t* make) {
  model_t model = read_model(make, "rho");
  const int64_t count = tenon_make_get_int(make, "n_supports", 0);
  if (count > 0) {
    model.x = kernel(make, model.x, count);
  }
  if (model.offset_count != 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "rho has %zu entries, not 1",
                    model.offset_count);
    return;
  }
  tenon_value_t y = add_offsets(make, &model, rows_product(make, &model, 1));
  if (tenon_make_get_int(make, "one_class", 0) != 0) {
    y = tenon_make_math_1(make, "y = a > 0.0 ? 1.0 + 0.0 * a : -1.0 + 0.0 * a", y);
  }
  tenon_make_output(make, 0,
                    tenon__onnx_post_transform(make, tenon__onnx_get_post_transform(make), y));
}

/* Classes, their support vectors, and the pairs (i, j), i < j, between which the machine decides.
 */
typedef struct machine_t {
  int64_t class_count;
  int64_t vector_count;
  int64_t pair_count;
  const int64_t* vectors_per_class;
} machine_t;

static machine_t read_machine(tenon_make_t* make, const model_t* model, int64_t class_count) {
  machine_t machine = {.class_count = class_count,
                       .pair_count = class_count * (class_count - 1) / 2};
  size_t count = 0;
  (void)tenon_make_get_ints(make, "vectors_per_class", &machine.vectors_per_class, &count);
  /* Each vector has a coefficient against each other class: sums stay below the coefficients. */
  bool agrees = (int64_t)count == class_count;
  for (size_t i = 0; agrees && i < count; ++i) {
    agrees =
        machine.vectors_per_class[i] >= 0 &&
        machine.vectors_per_class[i] <= (int64_t)model->coefficient_count - machine.vector_count;
    machine.vector_count += agrees ? machine.vectors_per_class[i] : 0;
  }
  if (!agrees || class_count < 2 ||
      (int64_t)model->coefficient_count != (class_count - 1) * machine.vector_count ||
      (int64_t)model->offset_count != machine.pair_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu coefficients and %zu rho for %lld classes with %lld support vectors",
                    model->coefficient_count, model->offset_count, (long long)class_count,
                    (long long)machine.vector_count);
    return machine;
  }
  const int64_t rows = machine.vector_count > class_count ? machine.vector_count : class_count;
  if (rows > 0 && machine.pair_count > WEIGHT_LIMIT / rows) {
    const int64_t numbers = rows * machine.pair_count;
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "%lld classes with %lld support vectors need a matrix of %lld numbers; export "
                    "one machine for each class",
                    (long long)class_count, (long long)machine.vector_count, (long long)numbers);
  }
  return machine;
}

/* What support vectors say for each pair, [vectors, pairs]: row j - 1 of the coefficients holds
 * what those of class i say against class j, row i what those of class j say against class i. */
static tenon_value_t pair_weights(tenon_make_t* make, const model_t* model,
                                  const machine_t* machine) {
  const int64_t vectors = machine->vector_count;
  const int64_t dims[2] = {vectors, machine->pair_count};
  double* weights = tenon_make_memory(make, (size_t)(dims[0] * dims[1]) + 1, sizeof(*weights));
  int64_t pair = 0;
  int64_t first_i = 0;
  if (weights == NULL || model->coefficients == NULL || machine->vectors_per_class == NULL) {
    return (tenon_value_t){0};
  }
  for (int64_t i = 0; i < machine->class_count; ++i) {
    int64_t first_j = first_i + machine->vectors_per_class[i];
    for (int64_t j = i + 1; j < machine->class_count; ++j, ++pair) {
      for (int64_t v = 0; v < machine->vectors_per_class[i]; ++v) {
        weights[(first_i + v) * dims[1] + pair] =
            model->coefficients[(j - 1) * vectors + first_i + v];
      }
      for (int64_t v = 0; v < machine->vectors_per_class[j]; ++v) {
        weights[(first_j + v) * dims[1] + pair] = model->coefficients[i * vectors + first_j + v];
      }
      first_j += machine->vectors_per_class[j];
    }
    first_i += machine->vectors_per_class[i];
  }
  return tenon__onnx_floats(make, F32, 2, dims, weights);
}

/* How many pairs each class wins, [n, classes]: class j wins all its pairs, less those that i
 * takes. */
static tenon_value_t count_votes(tenon_make_t* make, const machine_t* machine,
                                 tenon_value_t scores) {
  const int64_t dims[2] = {machine->pair_count, machine->class_count};
  double* gains = tenon_make_memory(make, (size_t)(dims[0] * dims[1]) + 1, sizeof(*gains));
  double* starts = tenon_make_memory(make, (size_t)dims[1] + 1, sizeof(*starts));
  if (gains == NULL || starts == NULL) {
    return scores;
  }
  int64_t pair = 0;
  for (int64_t i = 0; i < dims[1]; ++i) {
    starts[i] = (double)i;
    for (int64_t j = i + 1; j < dims[1]; ++j, ++pair) {
      gains[pair * dims[1] + i] = 1;
      gains[pair * dims[1] + j] = -1;
    }
  }
  const tenon_value_t wins = tenon_make_math_1(make, "y = cast(a > 0.0, f32)", scores);
  const tenon_value_t changes =
      tenon_make_2(make, "mat_mul", wins, tenon__onnx_floats(make, F32, 2, dims, gains));
  return tenon_make_2(make, "add", changes, tenon__onnx_floats(make, F32, 1, dims + 1, starts));
}

/* A number for each pair, negated: what the sigmoid multiplies scores with, or adds to them. */
static tenon_value_t pair_numbers(tenon_make_t* make, const machine_t* machine, const char* name) {
  const int64_t dims[1] = {machine->pair_count};
  double* numbers = tenon_make_memory(make, (size_t)dims[0] + 1, sizeof(*numbers));
  if (numbers == NULL) {
    return (tenon_value_t){0};
  }
  const size_t found = get_exactly(make, name, (size_t)dims[0], numbers);
  if ((int64_t)found != dims[0]) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu %s for %lld pairs of %lld classes", found,
                    name, (long long)dims[0], (long long)machine->class_count);
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    numbers[i] = -numbers[i];
  }
  return tenon__onnx_floats(make, F32, 1, dims, numbers);
}

/* The classes' probabilities, from those of each two of them by Platt's sigmoid, within ONNX
 * Runtime's limits. */
static tenon_value_t probabilities(tenon_make_t* make, const machine_t* machine,
                                   tenon_value_t scores) {
  const tenon_value_t product =
      tenon_make_2(make, "mul", scores, pair_numbers(make, machine, "prob_a"));
  const tenon_value_t sum =
      tenon_make_2(make, "add", product, pair_numbers(make, machine, "prob_b"));
  const tenon_value_t first =
      tenon_make_math_1(make, "y = clamp(sigmoid(a), 0.0000001, 0.9999999)", sum);
  if (machine->class_count == 2) {
    const tenon_value_t both[2] = {first, tenon_make_math_1(make, "y = 1.0 - a", first)};
    return tenon_make_concat(make, 1, 2, both);
  }
  tenon_make_begin(make, "couple_pairs");
  tenon_make_set_int(make, "class_count", machine->class_count);
  tenon_make_add(make, first);
  return tenon_make_end(make);
}

static void svm_classifier(tenon_make_t* make) {
  static const char integers[] = "classlabels_ints";
  int64_t class_count = 0;
  (void)tenon__onnx_class_labels(make, integers, &class_count);
  const model_t model = read_model(make, "rho");
  const tenon__onnx_post_transform_t how = tenon__onnx_get_post_transform(make);
  if (!tenon_make_has(make, "vectors_per_class")) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "it has no vectors_per_class; export it as LinearClassifier");
    return;
  }
  const machine_t machine = read_machine(make, &model, class_count);
  if (!tenon_make_ok(make)) {
    return;
  }
  const tenon_value_t similar = kernel(make, model.x, machine.vector_count);
  const tenon_value_t products =
      tenon_make_2(make, "mat_mul", similar, pair_weights(make, &model, &machine));
  const tenon_value_t scores = add_offsets(make, &model, products);
  tenon_value_t votes = {0};
  tenon_value_t results = {0};
  if (tenon_make_has(make, "prob_a")) {
    const tenon_value_t shares = probabilities(make, &machine, scores);
    votes = class_count == 2 ? shares : count_votes(make, &machine, scores);
    results = tenon__onnx_post_transform(make, how, shares);
  } else {
    votes = count_votes(make, &machine, scores);
    results = class_count == 2 ? tenon__onnx_two_scores(make, how, scores, 0.0)
                               : tenon__onnx_post_transform(make, how, scores);
  }
  tenon__onnx_classify(make, integers, votes, 0.0, results);
}

#define MADE(type, function) TENON__ONNX_ROW("ai.onnx.ml", type, 1, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("LinearClassifier", linear_classifier),
    MADE("LinearRegressor", linear_regressor),
    MADE("SVMClassifier", svm_classifier),
    MADE("SVMRegressor", svm_regressor),
};
TENON__ONNX_FAMILY(linear_models);
