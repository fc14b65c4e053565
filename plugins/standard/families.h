/* The families of operators: one file and one table each. X(file, what it holds). plugin.c
 * offers the tables as they are; what each operator means, its row says, and README.md lists
 * them. */
#ifndef PLUGINS_STANDARD_FAMILIES_H_
#define PLUGINS_STANDARD_FAMILIES_H_

#include "declare.h"

#define TENON__FAMILIES(X)                                     \
  X(arithmetic, "arithmetic on elements")                      \
  X(activation, "activation functions")                        \
  X(logic, "comparisons, logic, bits")                         \
  X(conversion, "between types")                               \
  X(quantization, "between numbers and their quantised forms") \
  X(normalization, "normalisation of rows and channels")       \
  X(reduction, "reductions")                                   \
  X(movement, "moves")                                         \
  X(generator, "contents made from shapes and scalars")        \
  X(convolution, "convolutions")                               \
  X(product, "products of matrices")                           \
  X(pooling, "windows without weights")                        \
  X(sampling, "reading at fractional coordinates, regions")    \
  X(detection, "from predictions to boxes")                    \
  X(recurrent, "recurrent layers")                             \
  X(indexing, "order, search and scattering")                  \
  X(signal, "Fourier transforms")                              \
  X(attention, "attention and its company")                    \
  X(random, "random numbers")                                  \
  X(text, "strings")                                           \
  X(loss, "losses")                                            \
  X(trees, "ensembles of decision trees")                      \
  X(sequence, "sequences and optionals")                       \
  X(control, "control forms")

#define TENON__FAMILY_DECLARATION(family, summary) \
  extern const tenon_offering_t tenon__##family##_family;
TENON__FAMILIES(TENON__FAMILY_DECLARATION)
#undef TENON__FAMILY_DECLARATION

/* Ends the file of a family: its array `operators`, which it counts, is on offer. */
#define FAMILY(family) \
  const tenon_offering_t tenon__##family##_family = TENON_OFFERING_OF("operator/1", operators)

/* The attribute names an axis of the port, counted from the end where negative; for a CHECK. An
 * attribute that may be one past the end (an insertion) needs its own. */
#define AXIS_CHECK(attribute, port)                                        \
  CHECK(attribute " >= -rank(" port ") && " attribute " < rank(" port ")", \
        attribute " is {" attribute "}, " port " has rank {rank(" port ")}")

#endif
