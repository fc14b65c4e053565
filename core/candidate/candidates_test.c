/* What kernels begin before they are asked to prepare: for every tactic that is about to be timed,
 * while other kernels are; and for what was chosen. */
#include "tests/support/tactics_world.h"

enum { ROWS = 4, TERMS = 16 };

/* What was called: a letter each. */
static char calls[64];

static void note(char letter) {
  const size_t used = strlen(calls);
  if (used + 1 < sizeof calls) {
    calls[used] = letter;
    calls[used + 1] = '\0';
  }
}

/* Of "first" and "second" the letter that stands for its call. */
static char letter_of(const tenon_prepare_t* call, char first) {
  return (char)(strcmp(call->tactic->name, "first") == 0 ? first : first + 1);
}

static void begin_ahead(const tenon_prepare_t* call) {
  void* memory = call->host->allocate(call->preparation, 16);
  EXPECT(memory != NULL && call->table->node_count(call->region) == 1);
  call->host->sink(call->preparation)
      ->report(call->host->sink(call->preparation)->user, TENON_SEVERITY_ERROR, "is not told");
  note(letter_of(call, 'a'));
}

static tenon_status_t prepare_begun(const tenon_prepare_t* call, void** out_instance) {
  (void)out_instance;
  note(letter_of(call, 'p'));
  return TENON_OK;
}

static tenon_status_t prepare_other(const tenon_prepare_t* call, void** out_instance) {
  (void)call;
  (void)out_instance;
  note('x');
  return TENON_OK;
}

static void build_begun(tenon__timing_cache_t* cache, bool measures, const char* exclude) {
  tenon_kernel_t begun = dense_of("begun", run_right);
  tenon_kernel_t other = dense_of("other", run_right_from_the_end);
  const char* const excluded[] = {exclude, NULL};
  char text[512];
  core_world_t world;
  begun.tactics = fast;
  begun.prepare = prepare_begun;
  begun.begin_prepare = begin_ahead;
  other.prepare = prepare_other;
  const tenon_kernel_t kernels[] = {begun, other};
  calls[0] = '\0';
  measuring_world(&world, kernels, 2);
  world.options.cache = cache;
  world.options.tuning.no_measuring = !measures;
  world.options.tuning.exclude = excluded;
  make_ones(&world.fixture, ROWS, TERMS);
  (void)build_steps(&world, text);
  EXPECT(strstr(world.fixture.messages.text, "is not told") == NULL);
  core_world_end(&world);
}

TENON_TEST(it_is_begun_before_anything_is_timed_and_timed_last) {
  build_begun(NULL, true, NULL);
  /* "second" is emitted first; whoever is chosen is prepared once more. */
  EXPECT(strncmp(calls, "baxqp", 5) == 0 || strncmp(calls, "abxpq", 5) == 0);
}

TENON_TEST(nothing_is_begun_for_what_is_known) {
  tenon__timing_cache_t* cache = NULL;
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  build_begun(cache, true, "tests:other");
  build_begun(cache, true, "tests:other");
  /* What was chosen alone: its weights are packed, then the plan is loaded. */
  EXPECT(strcmp(calls, "app") == 0 || strcmp(calls, "bqq") == 0);
  tenon__timing_cache_destroy(cache);
}

TENON_TEST(without_measuring_it_is_begun_for_what_is_chosen) {
  build_begun(NULL, false, "tests:other");
  EXPECT_TEXT(calls, "app"); /* of the lowest estimate */
}
