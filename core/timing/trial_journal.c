/* A file with one key: written before a trial, cleared after it, locked while a build uses it. */
#include "core/timing/trial_journal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/status.h"

enum { KEY_LENGTH = TENON_JOURNAL_KEY_SIZE - 1 };

static bool read_key(int file, char out_key[TENON_JOURNAL_KEY_SIZE]) {
  const ssize_t got = pread(file, out_key, KEY_LENGTH, 0);
  out_key[KEY_LENGTH] = '\0';
  if (got != KEY_LENGTH || strspn(out_key, "0123456789abcdef") != KEY_LENGTH) {
    out_key[0] = '\0';
  }
  return out_key[0] != '\0';
}

tenon_status_t tenon__trial_journal_open(tenon_allocator_t allocator, const char* path,
                                         tenon__trial_journal_t* out_journal,
                                         char out_key[TENON_JOURNAL_KEY_SIZE]) {
  const size_t size = strlen(path) + 1;
  *out_journal = (tenon__trial_journal_t){.allocator = allocator};
  out_key[0] = '\0';
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) {
    return TENON_OK;
  }
  char* copy = tenon__allocate(allocator, size, 1);
  if (copy == NULL || flock(file, LOCK_EX | LOCK_NB) != 0) {
    (void)close(file);
    tenon__free(allocator, copy, size);
    return copy == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
  }
  memcpy(copy, path, size);
  out_journal->is_open = true;
  out_journal->file = file;
  out_journal->path = copy;
  (void)read_key(file, out_key);
  return TENON_OK;
}

void tenon__trial_journal_begin(const tenon__trial_journal_t* journal, const tenon__digest_t* key) {
  char text[TENON_JOURNAL_KEY_SIZE];
  if (journal->is_open) {
    tenon__digest_text(key, text);
    (void)!pwrite(journal->file, text, KEY_LENGTH, 0);
  }
}

void tenon__trial_journal_end(const tenon__trial_journal_t* journal) {
  if (journal->is_open) {
    (void)!pwrite(journal->file, "-", 1, 0);
  }
}

void tenon__trial_journal_close(tenon__trial_journal_t* journal) {
  char key[TENON_JOURNAL_KEY_SIZE];
  if (!journal->is_open) {
    return;
  }
  if (!read_key(journal->file, key)) {
    (void)unlink(journal->path);
  }
  (void)close(journal->file);
  tenon__free(journal->allocator, journal->path, strlen(journal->path) + 1);
  *journal = (tenon__trial_journal_t){.is_open = false};
}
