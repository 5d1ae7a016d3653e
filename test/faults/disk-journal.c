/*
 * Writes down what a process does to the files of one folder, in the order in which it was done, so that a test can tell
 * what a power cut would have left of them. Loaded with LD_PRELOAD; DISK_FOLDER names the folder, DISK_JOURNAL the
 * file that is written, DISK_SYNC_MS how long a flush to the disk takes longer, DISK_READ_ONLY a file: while it is
 * there, nothing in the folder can be written; DISK_FULL one: while it is there, no file in the folder can grow.
 *
 * A record: when it began (CLOCK_MONOTONIC, nanoseconds), an offset or a size, the kind of change, the lengths of two
 * paths and of the data; then the paths and the data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, FLUSH, RENAME, LINK, UNLINK, MKDIR };

struct head {
  uint64_t at, offset;
  uint32_t kind, path, to, data;
};

static char folder[4096];
static size_t folder_length;
static int journal = -1;
static unsigned sync_ms;
/* Copies: a program may use the memory of its environment for something else. */
static char *read_only, *full;

static char *copy_of(const char *text) { return text ? strdup(text) : 0; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("DISK_FOLDER"), *file = getenv("DISK_JOURNAL"), *ms = getenv("DISK_SYNC_MS");
  if (!where || !realpath(where, folder)) return;
  folder_length = strlen(folder);
  if (file) journal = REAL(open)(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (ms) sync_ms = atoi(ms);
  read_only = copy_of(getenv("DISK_READ_ONLY"));
  full = copy_of(getenv("DISK_FULL"));
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

static int inside(const char *path) {
  return folder_length && path && !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

/* The path behind a descriptor, if it is one of the folder. */
static int path_of(int fd, char *path) {
  char link[64];
  int error = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = folder_length ? readlink(link, path, 4095) : -1;
  errno = error;
  if (length < 0) return 0;
  path[length] = 0;
  return inside(path);
}

/* Whether a write that ends there has to fail, as on a disk that the system has made read-only or that is full. */
static int refused(int fd, off_t end) {
  char path[4096];
  struct stat file;
  int is_read_only = read_only && access(read_only, F_OK) == 0, is_full = full && access(full, F_OK) == 0;
  if (!(is_read_only || is_full) || !path_of(fd, path)) return 0;
  if (!is_read_only && (fstat(fd, &file) != 0 || end <= file.st_size)) return 0;
  errno = is_read_only ? EROFS : ENOSPC;
  return 1;
}

static off_t size_of(const struct iovec *parts, int count) {
  off_t size = 0;
  for (int n = 0; n < count; n++) size += parts[n].iov_len;
  return size;
}

static void note(uint64_t at, uint32_t kind, const char *path, const char *to, uint64_t offset, const void *data, size_t size) {
  if (journal < 0) return;
  int error = errno;
  struct head head = {at, offset, kind, strlen(path), to ? strlen(to) : 0, size};
  struct iovec parts[] = {
      {&head, sizeof head}, {(void *)path, head.path}, {(void *)to, head.to}, {(void *)data, size}};
  /* One call: what several threads write does not mix. */
  if (REAL(writev)(journal, parts, 4) != (ssize_t)(sizeof head + head.path + head.to + size)) abort();
  errno = error;
}

static int opened(int (*open)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  uint64_t at = now();
  int made = (flags & O_CREAT) && inside(path) && access(path, F_OK) != 0;
  int fd = open(path, flags, mode);
  if (fd < 0 || !inside(path)) return fd;
  if (made) note(at, CREATE, path, 0, 0, 0, 0);
  else if (flags & O_TRUNC) note(at, TRUNCATE, path, 0, 0, 0, 0);
  return fd;
}

#define OPEN(name)                              \
  int name(const char *path, int flags, ...) {  \
    va_list rest;                               \
    va_start(rest, flags);                      \
    mode_t mode = va_arg(rest, mode_t);         \
    va_end(rest);                               \
    return opened(REAL(name), path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

static void wrote(uint64_t at, int fd, const void *data, ssize_t size, off_t offset) {
  char path[4096];
  if (size > 0 && path_of(fd, path)) note(at, WRITE, path, 0, offset < 0 ? lseek(fd, 0, SEEK_CUR) - size : offset, data, size);
}

ssize_t write(int fd, const void *data, size_t size) {
  uint64_t at = now();
  if (refused(fd, lseek(fd, 0, SEEK_CUR) + size)) return -1;
  ssize_t done = REAL(write)(fd, data, size);
  wrote(at, fd, data, done, -1);
  return done;
}

#define PWRITE(name)                                                      \
  ssize_t name(int fd, const void *data, size_t size, off_t offset) {     \
    uint64_t at = now();                                                  \
    if (refused(fd, offset + size)) return -1;                            \
    ssize_t done = REAL(name)(fd, data, size, offset);                    \
    wrote(at, fd, data, done, offset);                                    \
    return done;                                                          \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

static void wrote_parts(uint64_t at, int fd, const struct iovec *parts, int count, ssize_t left, off_t offset) {
  if (offset < 0 && left > 0) offset = lseek(fd, 0, SEEK_CUR) - left;
  for (int n = 0; n < count && left > 0; n++) {
    ssize_t size = left < (ssize_t)parts[n].iov_len ? left : (ssize_t)parts[n].iov_len;
    wrote(at, fd, parts[n].iov_base, size, offset);
    offset += size;
    left -= size;
  }
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  uint64_t at = now();
  if (refused(fd, lseek(fd, 0, SEEK_CUR) + size_of(parts, count))) return -1;
  ssize_t done = REAL(writev)(fd, parts, count);
  char path[4096];
  if (done > 0 && path_of(fd, path)) wrote_parts(at, fd, parts, count, done, -1);
  return done;
}

#define PWRITEV(name)                                                          \
  ssize_t name(int fd, const struct iovec *parts, int count, off_t offset) {   \
    uint64_t at = now();                                                       \
    if (refused(fd, offset + size_of(parts, count))) return -1;                \
    ssize_t done = REAL(name)(fd, parts, count, offset);                       \
    wrote_parts(at, fd, parts, count, done, offset);                           \
    return done;                                                               \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define FTRUNCATE(name)                                                  \
  int name(int fd, off_t size) {                                         \
    uint64_t at = now();                                                 \
    char path[4096];                                                     \
    if (refused(fd, size)) return -1;                                    \
    int failed = REAL(name)(fd, size);                                   \
    if (!failed && path_of(fd, path)) note(at, TRUNCATE, path, 0, size, 0, 0); \
    return failed;                                                       \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

#define FALLOCATE(name)                                                 \
  int name(int fd, off_t offset, off_t size) {                          \
    return refused(fd, offset + size) ? errno : REAL(name)(fd, offset, size); \
  }
FALLOCATE(posix_fallocate)
FALLOCATE(posix_fallocate64)

#define FLUSHING(name)                                             \
  int name(int fd) {                                               \
    uint64_t at = now();                                           \
    char path[4096];                                               \
    int ours = path_of(fd, path);                                  \
    if (ours && sync_ms) usleep(sync_ms * 1000);                   \
    int failed = REAL(name)(fd);                                   \
    if (!failed && ours) note(at, FLUSH, path, 0, 0, 0, 0);        \
    return failed;                                                 \
  }
FLUSHING(fsync)
FLUSHING(fdatasync)

#define OF_TWO(name, kind)                                         \
  int name(const char *from, const char *to) {                     \
    uint64_t at = now();                                           \
    int failed = REAL(name)(from, to);                             \
    if (!failed && (inside(from) || inside(to))) note(at, kind, from, to, 0, 0, 0); \
    return failed;                                                 \
  }
OF_TWO(rename, RENAME)
OF_TWO(link, LINK)

#define OF_ONE(name)                                               \
  int name(const char *path) {                                     \
    uint64_t at = now();                                           \
    int failed = REAL(name)(path);                                 \
    if (!failed && inside(path)) note(at, UNLINK, path, 0, 0, 0, 0); \
    return failed;                                                 \
  }
OF_ONE(unlink)
OF_ONE(rmdir)
OF_ONE(remove)

int unlinkat(int fd, const char *path, int flags) {
  uint64_t at = now();
  char whole[8192];
  int failed = REAL(unlinkat)(fd, path, flags);
  if (failed) return failed;
  if (path[0] != '/' && path_of(fd, whole)) {
    strcat(strcat(whole, "/"), path);
    path = whole;
  }
  if (inside(path)) note(at, UNLINK, path, 0, 0, 0, 0);
  return failed;
}

int mkdir(const char *path, mode_t mode) {
  uint64_t at = now();
  int failed = REAL(mkdir)(path, mode);
  if (!failed && inside(path)) note(at, MKDIR, path, 0, 0, 0, 0);
  return failed;
}
