/*
 * Limits the errors of types of lower precision. If a build permits f16 or bf16 and has samples of
 * the network's inputs, the plan is built with these types and run on the samples, as is a plan
 * that keeps all types. Values that f16 cannot represent keep their types from the beginning. If
 * the results differ by more than the limit, the values that cause the largest errors keep their
 * types too, and the plan is built again.
 *
 * The error of one value is measured with the exact plan on the host: an input, or a kernel's
 * output, is rounded before it is read.
 */
#ifndef TENON_CORE_BUILDER_GUARD_H_
#define TENON_CORE_BUILDER_GUARD_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"

/* Default limit of the error: the norm of the difference divided by the norm of the result. The
 * rounding error of bf16 is 2^-9 in each value, and sums of many roundings have a multiple of
 * it. */
#define TENON__ACCURACY_BOUND 0.01

/* Same as tenon__build, which it calls. It calls it once if no lower precision is permitted or
 * there are no samples. Otherwise the returned plan has been run on all samples, unless it has no
 * value of lower precision. The sink gets a message for each value that keeps its type, with the
 * reason and the error. Returns INVALID_ARGUMENT for a sample that does not fit the network. */
tenon_status_t tenon__build_guarded(const tenon__network_t* network, tenon__catalog_t* catalog,
                                    const tenon__build_options_t* options, void** out_plan_data,
                                    size_t* out_plan_size);

#endif
