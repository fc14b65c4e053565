/* Building once and loading often: plans as files and in memory, the timing cache, progress,
 * verification. plan_file MODEL FOLDER      writes FOLDER/model.plan and FOLDER/timings */
#include "example.h"

#include <stdlib.h>
#include <string.h>

static int32_t on_progress(void* user, const char* phase, uint32_t done, uint32_t total) {
  uint32_t* calls = user;
  ++*calls;
  (void)phase;
  (void)done;
  (void)total;
  return 0; /* anything else cancels the build */
}

/* Loads the model into a network from memory, as an application with models of its own would. */
static tenon_status_t parse_from_memory(tenon_network_t* network, const char* path,
                                        void** out_data) {
  tenon_status_t status = TENON_ERROR_IO;
  FILE* file = fopen(path, "rb");
  long size = 0;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 &&
      fseek(file, 0, SEEK_SET) == 0) {
    *out_data = malloc((size_t)size);
    if (*out_data != NULL && fread(*out_data, 1, (size_t)size, file) == (size_t)size) {
      status = tenon_network_parse_memory(network, *out_data, (size_t)size, path, NULL);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return status;
}

static tenon_status_t describe(const tenon_engine_t* engine) {
  tenon_status_t status = TENON_OK;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  TRY(tenon_engine_get_info(engine, &info));
  (void)printf("device %s, %u threads, %u steps, plan of %llu bytes\n", info.device,
               info.thread_count, tenon_engine_step_count(engine),
               (unsigned long long)info.plan_bytes);
  (void)printf("a context takes %llu bytes of scratch, with one thread %llu\n",
               (unsigned long long)info.scratch_bytes,
               (unsigned long long)tenon_engine_scratch_bytes(engine, 1));
  for (uint32_t i = 0; i < tenon_engine_input_count(engine); ++i) {
    tenon_io_info_t input = {.size = sizeof(input)};
    const int64_t* largest = NULL;
    TRY(tenon_engine_get_input(engine, i, &input));
    TRY(tenon_engine_get_profile(engine, i, 2, &largest));
    (void)printf("input %s, batch up to %lld\n", input.name, (long long)largest[0]);
  }
  for (uint32_t i = 0; i < tenon_engine_output_count(engine); ++i) {
    tenon_io_info_t output = {.size = sizeof(output)};
    TRY(tenon_engine_get_output(engine, i, &output));
    (void)printf("output %s\n", output.name);
  }
done:
  return status;
}

int main(int argc, char** argv) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_timing_cache_t* timings = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* from_file = NULL;
  tenon_engine_t* from_memory = NULL;
  void* model = NULL;
  char plan_path[4096];
  char timing_path[4096];
  uint32_t calls = 0;
  if (argc != 3) {
    (void)fprintf(stderr, "usage: plan_file MODEL FOLDER\n");
    return 2;
  }
  (void)snprintf(plan_path, sizeof(plan_path), "%s/model.plan", argv[2]);
  (void)snprintf(timing_path, sizeof(timing_path), "%s/timings", argv[2]);
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(parse_from_memory(network, argv[1], &model));

  /* What was measured before is not measured again. */
  TRY(tenon_timing_cache_create(registry, timing_path, &timings));
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.timing_cache = timings;
  options.progress = on_progress;
  options.progress_user = &calls;
  TRY(tenon_build(network, &options, &plan));
  TRY(tenon_timing_cache_save(timings, timing_path));
  (void)printf("%u measurements kept, %s\n", tenon_timing_cache_entry_count(timings),
               calls > 0 ? "progress was told" : "no progress");

  TRY(tenon_plan_save(plan, plan_path));
  tenon_engine_options_t verify = TENON_OPTIONS(tenon_engine_options_t);
  verify.verify = 1; /* digests of all weights and plugins */
  TRY(tenon_engine_create_from_file(registry, plan_path, &verify, &from_file));
  TRY(describe(from_file));

  const void* data = NULL;
  size_t size = 0;
  TRY(tenon_plan_get_data(plan, &data, &size));
  (void)printf("%s a plan\n", tenon_plan_sniff(data, size) ? "is" : "is not");
  TRY(tenon_engine_create_from_memory(registry, data, size, NULL, &from_memory));
  TRY(tenon_engine_verify(from_memory));

  char digest[65];
  TRY(tenon_digest_file(plan_path, digest));
  (void)printf("SHA-256 of the plan has %zu digits\n", strlen(digest));
done:
  tenon_engine_release(from_memory);
  tenon_engine_release(from_file);
  tenon_plan_destroy(plan);
  tenon_timing_cache_destroy(timings);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  free(model);
  return status == TENON_OK ? 0 : 1;
}
