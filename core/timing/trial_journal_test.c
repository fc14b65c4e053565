#include "core/timing/trial_journal.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/test.h"

typedef struct fixture_t {
  char path[64];
  tenon__trial_journal_t journal;
  char key[TENON_JOURNAL_KEY_SIZE];
} fixture_t;

static void start(fixture_t* fixture) {
  memset(fixture, 0, sizeof *fixture);
  (void)snprintf(fixture->path, sizeof fixture->path, "/tmp/tenon_journal_%ld", (long)getpid());
  (void)unlink(fixture->path);
}

static void open_journal(fixture_t* fixture) {
  EXPECT_STATUS(tenon__trial_journal_open(tenon__allocator_default(), fixture->path,
                                          &fixture->journal, fixture->key),
                TENON_OK);
}

TENON_TEST(a_trial_that_ends_leaves_no_file) {
  fixture_t f;
  const tenon__digest_t key = tenon__digest_of("a", 1);
  start(&f);
  open_journal(&f);
  EXPECT_TEXT(f.key, "");
  EXPECT(f.journal.is_open);
  tenon__trial_journal_begin(&f.journal, &key);
  tenon__trial_journal_end(&f.journal);
  tenon__trial_journal_close(&f.journal);
  EXPECT(access(f.path, F_OK) != 0);
}

TENON_TEST(a_trial_that_ends_its_process_is_found) {
  fixture_t f;
  char expected[TENON_JOURNAL_KEY_SIZE];
  const tenon__digest_t key = tenon__digest_of("b", 1);
  int status = 0;
  start(&f);
  const pid_t child = fork();
  if (child == 0) {
    open_journal(&f);
    tenon__trial_journal_begin(&f.journal, &key);
    _exit(0);
  }
  REQUIRE(waitpid(child, &status, 0) == child);
  open_journal(&f);
  tenon__digest_text(&key, expected);
  EXPECT_TEXT(f.key, expected);
  tenon__trial_journal_end(&f.journal);
  tenon__trial_journal_close(&f.journal);
  EXPECT(access(f.path, F_OK) != 0);
}

TENON_TEST(one_process_keeps_the_file) {
  fixture_t f;
  fixture_t other;
  start(&f);
  other = f;
  open_journal(&f);
  open_journal(&other);
  EXPECT(f.journal.is_open);
  EXPECT(!other.journal.is_open);
  tenon__trial_journal_end(&other.journal);
  tenon__trial_journal_close(&other.journal);
  tenon__trial_journal_close(&f.journal);
}

TENON_TEST(a_folder_that_cannot_be_written_leaves_no_journal) {
  fixture_t f;
  start(&f);
  (void)snprintf(f.path, sizeof f.path, "/no/such/folder/journal");
  open_journal(&f);
  EXPECT(!f.journal.is_open);
  tenon__trial_journal_close(&f.journal);
}
