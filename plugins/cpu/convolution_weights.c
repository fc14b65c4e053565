/*
 * A convolution's weights as its products want them: packed once when the plan is built, or in each
 * run where they are no constants. They come as [groups][out][in][taps]; panels have a row for each
 * tap of each channel, tap by tap.
 */
#include <math.h>
#include <stdio.h>

#include "convolution.h"

/* Transposing rows of taps pays from so many on; with fewer, channels are the rows. */
enum { LEAST_TAPS = 4 };

/* Panel `panel` of a group: a transpose of [out][in][taps]. */
static void pack_panel(const tenon__cpu_convolution_t* c, const float* w, size_t panel,
                       float* out) {
  const tenon__cpu_tiles_t* tiles = c->isa->tiles;
  const size_t first = panel * tenon__cpu_panel_width(tiles);
  const size_t panels = tenon__cpu_panel_count(tiles, (size_t)c->out_channels);
  const size_t taps = (size_t)tenon__cpu_window_taps(&c->window);
  const size_t channels = (size_t)c->in_channels;
  const bool by_tap = taps < LEAST_TAPS;
  tenon__cpu_panel_rows_t rows = {
      .k_stride = by_tap ? (int64_t)taps : 1,
      .n_stride = (int64_t)c->depth,
      .count = by_tap ? channels : taps,
      .step = by_tap ? 1 : channels,
      .depth = c->depth,
      .columns =
          panel + 1 < panels ? tenon__cpu_panel_width(tiles) : (size_t)c->out_channels - first,
  };
  for (size_t k = 0; k < (by_tap ? taps : channels); k++) {
    rows.first = k * (by_tap ? channels : 1);
    tenon__cpu_pack_rows(tiles, c->isa->elements, &rows,
                         w + first * c->depth + k * (by_tap ? 1 : taps), out + first * c->depth);
  }
}

/* From [channels][inputs of a group][taps] to [taps][inputs][channels]. Behind the weights stands
 * whether all are finite: 1, else 0. */
static void pack_small_groups(const tenon__cpu_convolution_t* c, const float* w, float* out) {
  const size_t channels = (size_t)(c->groups * c->out_channels);
  const size_t inputs = (size_t)c->in_channels;
  const size_t taps = c->depth / inputs;
  bool finite = true;
  for (size_t t = 0; t < taps * inputs; t++) {
    const size_t from = t % inputs * taps + t / inputs;
    for (size_t channel = 0; channel < channels; channel++) {
      const float weight = w[channel * c->depth + from];
      out[t * channels + channel] = weight;
      finite = finite && isfinite(weight);
    }
  }
  out[channels * c->depth] = finite ? 1.0F : 0.0F;
}

typedef struct packing_t {
  const tenon__cpu_convolution_t* convolution;
  const float* w;
  float* out;
} packing_t;

static uint32_t task_count(const tenon__cpu_convolution_t* c) {
  return c->small_groups
             ? 1
             : (uint32_t)((size_t)c->groups *
                          tenon__cpu_panel_count(c->isa->tiles, (size_t)c->out_channels));
}

/* Packs one panel of a group. Small groups are packed by a single task. */
static void pack_task(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const packing_t* packing = user;
  const tenon__cpu_convolution_t* c = packing->convolution;
  if (c->small_groups) {
    pack_small_groups(c, packing->w, packing->out);
    return;
  }
  const size_t panels = tenon__cpu_panel_count(c->isa->tiles, (size_t)c->out_channels);
  const size_t group = index / panels;
  pack_panel(c, packing->w + group * (size_t)c->out_channels * c->depth, index % panels,
             packing->out + group * c->packed_group);
}

size_t tenon__cpu_convolution_floats(bool small_groups, int64_t groups, size_t packed_group) {
  return (size_t)groups * packed_group + (small_groups ? 1 : 0);
}

tenon_status_t tenon__cpu_convolution_pack_once(tenon__cpu_convolution_t* inout_convolution,
                                                tenon__cpu_region_t region,
                                                tenon__cpu_preparation_t* preparation) {
  tenon__cpu_convolution_t* c = inout_convolution;
  const uint32_t source = region.table->node_input(region.handle, 0, 1);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  char parameters[64];
  void* data = NULL;
  int32_t ready = 0;
  const bool depthwise = c->small_groups && c->in_channels == 1;
  if (c->small_groups) { /* the same for every processor */
    (void)snprintf(parameters, sizeof(parameters), "groups of %lld", (long long)c->in_channels);
  } else {
    (void)snprintf(parameters, sizeof(parameters), "%u floats, %lld groups",
                   c->isa->tiles->vector_floats, (long long)c->groups);
  }
  const size_t floats = tenon__cpu_convolution_floats(c->small_groups, c->groups, c->packed_group);
  const tenon_packing_t wanted = {.size = sizeof(wanted),
                                  .format = depthwise         ? "cpu.depthwise/2"
                                            : c->small_groups ? "cpu.small_groups/1"
                                                              : "cpu.patches/1",
                                  .parameters = depthwise ? "" : parameters,
                                  .sources = &source,
                                  .source_count = 1,
                                  .size_bytes = floats * sizeof(float)};
  const tenon_status_t status =
      preparation->host->pack(preparation->handle, &wanted, &data, &ready);
  c->packed = data;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (w->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  packing_t packing = {c, w->constant_data, data};
  for (uint32_t k = 0; k < task_count(c); k++) {
    pack_task(&packing, k, 0);
  }
  return TENON_OK;
}

const float* tenon__cpu_convolution_pack_now(const tenon__cpu_convolution_t* convolution,
                                             const float* w, const tenon_enqueue_t* call) {
  packing_t packing = {convolution, w, call->host->scratch(call->run)};
  tenon__cpu_parallel(call, task_count(convolution), pack_task, &packing);
  return packing.out;
}
