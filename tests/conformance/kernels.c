/*
 * Runs regions of expressions and of moves by a device's kernels, and compares with
 * plugins/reference.
 *
 *   device_kernels PLUGIN.so DEVICE [RANDOM_PROGRAMS [GROUP]]
 *
 * GROUP is one of opcodes, types, places, rows, loads, recorded, moves, random; without it all.
 *
 * Exits with 77 where there is no such device.
 */
#include <dlfcn.h>

#include "kernels.h"

#include "kernel_case.h"
#include "kernel_tables.h"

typedef struct group_t {
  const char* name;
  void (*check)(void);
} group_t;
static const group_t groups[] = {
    {"opcodes", kernels_check_opcodes}, {"types", kernels_check_types},
    {"places", kernels_check_places},   {"rows", kernels_check_rows},
    {"loads", kernels_check_loads},     {"recorded", kernels_check_recorded},
    {"moves", kernels_check_moves},     {NULL, NULL}};

/* Checks that the regions reach these kernels. The stand-in of the driver lists launched kernels. A
 * GPU's driver does not, so nothing is checked there. */
static void expect_launches(void) {
  static const char* const names[] = {"dense", "vectors", "singles", "split_1"};
  int (*was_launched)(const char*) = NULL;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* function = driver == NULL ? NULL : dlsym(driver, "stand_in_was_launched");
  memcpy(&was_launched, &function, sizeof(function));
  for (size_t k = 0; was_launched != NULL && k < sizeof(names) / sizeof(names[0]); k++) {
    if (was_launched(names[k]) == 0) {
      (void)printf("FAILED '%s' was not launched\n", names[k]);
      kernel_failures++;
    }
  }
  if (driver != NULL) {
    (void)dlclose(driver);
  }
}

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
  const char* wanted = argument_count > 4 ? arguments[4] : NULL;
  for (const group_t* group = groups; group->name != NULL; group++) {
    if (wanted == NULL || strcmp(wanted, group->name) == 0) {
      group->check();
    }
  }
  if (wanted == NULL || strcmp(wanted, "random") == 0) {
    kernels_check_random(programs);
  }
  if (wanted == NULL) {
    expect_launches();
  }
  kernel_forget_blobs();
  opened_stop(&kernel_device);
  (void)printf("%d regions, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
