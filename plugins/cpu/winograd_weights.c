/* The weights of winograd convolutions: transformed and packed, and found again. See winograd.c. */
#include <stdio.h>
#include <string.h>

#include "winograd.h"

/* G w G' in double precision, G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1]. */
static void transform_weight(const float* w, double (*out)[TENON_CPU_WINOGRAD_SIDE]) {
  double rows[TENON_CPU_WINOGRAD_SIDE][TENON_CPU_WINOGRAD_TAPS];
  for (size_t k = 0; k < TENON_CPU_WINOGRAD_TAPS; k++) {
    const double a = (double)w[k];
    const double b = (double)w[TENON_CPU_WINOGRAD_TAPS + k];
    const double c = (double)w[(size_t)2 * TENON_CPU_WINOGRAD_TAPS + k];
    rows[0][k] = a;
    rows[1][k] = (a + b + c) / 2;
    rows[2][k] = (a - b + c) / 2;
    rows[3][k] = c;
  }
  for (size_t i = 0; i < TENON_CPU_WINOGRAD_SIDE; i++) {
    out[i][0] = rows[i][0];
    out[i][1] = (rows[i][0] + rows[i][1] + rows[i][2]) / 2;
    out[i][2] = (rows[i][0] - rows[i][1] + rows[i][2]) / 2;
    out[i][3] = rows[i][2];
  }
}

size_t tenon__cpu_winograd_place(const tenon__cpu_winograd_t* self, size_t in, size_t out) {
  const size_t panel_width = tenon__cpu_panel_width(self->isa->tiles);
  const size_t last = tenon__cpu_panel_count(self->isa->tiles, self->out) - 1;
  const size_t panel = out / panel_width < last ? out / panel_width : last;
  const size_t width =
      panel < last ? panel_width : self->packed_matrix / self->in - last * panel_width;
  return panel * panel_width * self->in + in * width + out - panel * panel_width;
}

static void pack(const tenon__cpu_winograd_t* self, const float* w, float* out) {
  memset(out, 0, TENON_CPU_WINOGRAD_MATRICES * self->packed_matrix * sizeof(float));
  for (size_t m = 0; m < self->out; m++) {
    for (size_t k = 0; k < self->in; k++) {
      double u[TENON_CPU_WINOGRAD_SIDE][TENON_CPU_WINOGRAD_SIDE];
      transform_weight(w + (m * self->in + k) * TENON_CPU_WINOGRAD_TAPS * TENON_CPU_WINOGRAD_TAPS,
                       u);
      const size_t place = tenon__cpu_winograd_place(self, k, m);
      for (size_t matrix = 0; matrix < TENON_CPU_WINOGRAD_MATRICES; matrix++) {
        out[matrix * self->packed_matrix + place] =
            (float)u[matrix / TENON_CPU_WINOGRAD_SIDE][matrix % TENON_CPU_WINOGRAD_SIDE];
      }
    }
  }
}

tenon_status_t tenon__cpu_winograd_pack(tenon__cpu_winograd_t* inout_self,
                                        tenon__cpu_region_t region,
                                        const tenon__cpu_preparation_t* preparation) {
  tenon__cpu_winograd_t* self = inout_self;
  const uint32_t source = region.table->node_input(region.handle, 0, 1);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  char parameters[32];
  void* data = NULL;
  int32_t ready = 0;
  (void)snprintf(parameters, sizeof(parameters), "%u floats", self->isa->tiles->vector_floats);
  const tenon_packing_t wanted = {
      .size = sizeof(wanted),
      .format = "cpu.winograd/1",
      .parameters = parameters,
      .sources = &source,
      .source_count = 1,
      .size_bytes = TENON_CPU_WINOGRAD_MATRICES * self->packed_matrix * sizeof(float)};
  const tenon_status_t status =
      preparation->host->pack(preparation->handle, &wanted, &data, &ready);
  self->packed = data;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (w->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  pack(self, w->constant_data, data);
  return TENON_OK;
}

float tenon__cpu_winograd_weight(const tenon__cpu_winograd_t* self, size_t place, size_t i,
                                 size_t j) {
  float u[TENON_CPU_WINOGRAD_SIDE];
  for (size_t k = 0; k < TENON_CPU_WINOGRAD_SIDE; k++) {
    const float* from = self->packed + k * TENON_CPU_WINOGRAD_SIDE * self->packed_matrix + place;
    const size_t step = self->packed_matrix;
    u[k] = j == 0 ? from[0] : j == 1 ? from[step] - from[2 * step] : from[3 * step];
  }
  return i == 0 ? u[0] : i == 1 ? u[1] - u[2] : u[3];
}
