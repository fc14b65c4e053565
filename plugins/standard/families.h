/* The families of operators: one file and one table each. FAMILY(file, number of rows, what it
 * holds). */
#ifndef PLUGINS_STANDARD_FAMILIES_H_
#define PLUGINS_STANDARD_FAMILIES_H_

#include "declare.h"

#define TENON__FAMILIES(FAMILY)                                        \
  FAMILY(arithmetic, 35, "arithmetic on elements")                     \
  FAMILY(activation, 18, "activation functions")                       \
  FAMILY(logic, 17, "comparisons, logic, bits")                        \
  FAMILY(conversion, 5, "between types")                               \
  FAMILY(quantization, 3, "between numbers and their quantised forms") \
  FAMILY(normalization, 10, "normalisation of rows and channels")      \
  FAMILY(reduction, 12, "reductions")                                  \
  FAMILY(movement, 21, "moves")                                        \
  FAMILY(generator, 12, "contents made from shapes and scalars")       \
  FAMILY(convolution, 6, "convolutions")                               \
  FAMILY(product, 4, "products of matrices")                           \
  FAMILY(pooling, 5, "windows without weights")                        \
  FAMILY(sampling, 6, "reading at fractional coordinates, regions")    \
  FAMILY(detection, 3, "from predictions to boxes")                    \
  FAMILY(recurrent, 3, "recurrent layers")                             \
  FAMILY(indexing, 9, "order, search and scattering")                  \
  FAMILY(signal, 2, "Fourier transforms")                              \
  FAMILY(attention, 11, "attention and its company")                   \
  FAMILY(random, 4, "random numbers")                                  \
  FAMILY(text, 4, "strings")                                           \
  FAMILY(loss, 1, "losses")                                            \
  FAMILY(trees, 1, "ensembles of decision trees")                      \
  FAMILY(classes, 1, "from pairs of classes to classes")               \
  FAMILY(sequence, 11, "sequences and optionals")                      \
  FAMILY(control, 3, "control forms")

#define TENON__FAMILY_DECLARATION(family, rows, summary) \
  extern const tenon_operator_t tenon__##family##_operators[rows];
TENON__FAMILIES(TENON__FAMILY_DECLARATION)
#undef TENON__FAMILY_DECLARATION

/* Begins the table of a family. Too many rows do not compile; too few fail the family test. */
#define FAMILY_TABLE(family) const tenon_operator_t tenon__##family##_operators[]

/* The attribute names an axis of the port. */
#define AXIS_CHECK(attribute, port)                                        \
  CHECK(attribute " >= -rank(" port ") && " attribute " < rank(" port ")", \
        attribute " is {" attribute "}, " port " has rank {rank(" port ")}")

#endif
