/*
 * Narrower types, and what they do to results. A build that may keep values in f16 or bf16 and has
 * samples of the network's inputs is made so, and run on them beside one that keeps everything as
 * it is. What f16 cannot hold stays in its own type from the beginning. Where the results differ by
 * more than is permitted, the values that do most harm stay so too, and it is built again.
 *
 * How much harm one value does is seen in the exact plan: it runs on the host, and an input, or
 * what a kernel wrote, is rounded before anybody reads it.
 */
#ifndef TENON_CORE_BUILDER_GUARD_H_
#define TENON_CORE_BUILDER_GUARD_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"

/* By how much results may differ where nobody says it: the norm of the difference, as a part of the
 * result's. bf16 has 2^-9 of it in every value; sums of many roundings come out some times that. */
#define TENON__ACCURACY_BOUND 0.01

/* As tenon__build, which it calls: once where nothing less exact is permitted or there are no
 * samples. Otherwise the plan that it gives has been run on all samples, unless nothing in it is
 * less exact than the network says; the sink is told of each value that stays as it is, why, and by
 * how much the results differ. INVALID_ARGUMENT for a sample that the network does not take. */
tenon_status_t tenon__build_guarded(const tenon__network_t* network, tenon__catalog_t* catalog,
                                    const tenon__build_options_t* options, void** out_plan_data,
                                    size_t* out_plan_size);

#endif
