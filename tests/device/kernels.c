/*
 * Runs regions of expressions and of moves by a device's kernels, and compares with
 * plugins/reference.
 *
 *   device_kernels PLUGIN.so DEVICE [RANDOM_PROGRAMS]
 *
 * Exits with 77 where there is no such device.
 */
#include "kernels.h"

#include "kernel_case.h"

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    (void)fprintf(stderr, "device_kernels PLUGIN.so DEVICE [RANDOM_PROGRAMS]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  const unsigned programs = argument_count > 3 ? (unsigned)strtoul(arguments[3], NULL, 10) : 40;
  kernels_check_opcodes();
  kernels_check_types();
  kernels_check_places();
  kernels_check_rows();
  kernels_check_loads();
  kernels_check_recorded();
  kernels_check_moves();
  kernels_check_random(programs);
  kernel_forget_blobs();
  opened_stop(&kernel_device);
  (void)printf("%d regions, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 ? 0 : OPENED_FAILED;
}
