/*
 * Faults of the operating system, for `npm run prove:faults`: loaded into a process by LD_PRELOAD. The file that
 * FAULTS_FILE names is mapped into memory, so that the proof switches faults on and off while the process runs; its
 * layout is that of `struct faults`. Writes and flushes fail only for files whose path contains FAULTS_PATH.
 *
 * If FAULTS_RECORD names a file, every write, truncation and flush of these files is appended to it, each as a
 * `struct record` and its bytes, so that the proof can rebuild what a power cut leaves on the disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct faults {
  int64_t offset_ms;    /* added to the clock of the day; the monotonic clock keeps its pace */
  int32_t flushes_fail; /* 1: fsync and fdatasync answer EIO */
  int32_t writes_fail;  /* 1: a write takes half of its bytes, and the next one answers EIO */
  int32_t hits;         /* calls that failed */
};

enum { WRITTEN = 1, TRUNCATED = 2, FLUSHED = 3 };

struct record {
  int32_t kind;
  int32_t path_size;
  int64_t offset; /* of the write; the new size; or, for a flush, the size of the record when it began */
  int64_t size;   /* of the bytes that follow the path */
};

static struct faults none;
static struct faults *now = &none;
static const char *part = NULL;
static int record_fd = -1;
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("FAULTS_FILE");
  part = getenv("FAULTS_PATH");
  int fd = file == NULL ? -1 : open(file, O_RDWR);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) now = mapped;
  close(fd);
  const char *record = getenv("FAULTS_RECORD");
  if (record != NULL) record_fd = open(record, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

/* Declares `real`, the function of this name that this file replaces. */
#define REAL(name) \
  static __typeof__(&name) real = NULL; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int fails(void) {
  __atomic_add_fetch(&now->hits, 1, __ATOMIC_SEQ_CST);
  errno = EIO;
  return -1;
}

/* Reads the path of a descriptor; returns 0 unless it contains FAULTS_PATH. */
static int meant_path(int fd, char path[4096]) {
  char link[64];
  if (part == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, 4095);
  if (size < 0) return 0;
  path[size] = 0;
  return strstr(path, part) != NULL;
}

static int is_meant(int fd) {
  char path[4096];
  return meant_path(fd, path);
}

/* Appends a record; the process ends if it cannot, because a record that lacks a write would accuse the store. */
static void note(int fd, int32_t kind, int64_t offset, const void *bytes, size_t size) {
  char path[4096];
  if (record_fd < 0 || !meant_path(fd, path)) return;
  int problem = errno;
  struct record head = {kind, (int32_t)strlen(path), offset, (int64_t)size};
  struct iovec parts[] = {{&head, sizeof head}, {path, strlen(path)}, {(void *)bytes, size}};
  ssize_t all = (ssize_t)(sizeof head + strlen(path) + size);
  pthread_mutex_lock(&record_lock);
  if (writev(record_fd, parts, size > 0 ? 3 : 2) != all) abort();
  pthread_mutex_unlock(&record_lock);
  errno = problem;
}

/* A flush covers the writes that had returned when it began, and so had their record. */
static int flush(int fd, int (*real)(int)) {
  if (now->flushes_fail && is_meant(fd)) return fails();
  int64_t begun = record_fd < 0 ? 0 : (int64_t)lseek(record_fd, 0, SEEK_END);
  int result = real(fd);
  if (result == 0) note(fd, FLUSHED, begun, NULL, 0);
  return result;
}

int fsync(int fd) {
  REAL(fsync);
  return flush(fd, real);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return flush(fd, real);
}

/* Returns how many bytes a write may take: all, half of them, or none (-1). */
static ssize_t allowed(int fd, size_t size) {
  static _Thread_local int turn = 0;
  if (!now->writes_fail || !is_meant(fd)) return (ssize_t)size;
  turn = !turn;
  if (turn && size > 1) return (ssize_t)(size / 2);
  return fails();
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
  REAL(pwrite64);
  ssize_t most = allowed(fd, size);
  ssize_t written = most < 0 ? -1 : real(fd, bytes, (size_t)most, offset);
  if (written > 0) note(fd, WRITTEN, offset, bytes, (size_t)written);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  ssize_t most = allowed(fd, size);
  ssize_t written = most < 0 ? -1 : real(fd, bytes, (size_t)most);
  if (written > 0 && record_fd >= 0 && is_meant(fd))
    note(fd, WRITTEN, (int64_t)lseek(fd, 0, SEEK_CUR) - written, bytes, (size_t)written);
  return written;
}

int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  int result = real(fd, size);
  if (result == 0) note(fd, TRUNCATED, size, NULL, 0);
  return result;
}

int ftruncate(int fd, off_t size) {
  return ftruncate64(fd, size);
}

int clock_gettime(clockid_t id, struct timespec *at) {
  REAL(clock_gettime);
  int result = real(id, at);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
    at->tv_sec += now->offset_ms / 1000;
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  REAL(gettimeofday);
  int result = real(at, zone);
  if (result == 0) at->tv_sec += now->offset_ms / 1000;
  return result;
}

time_t time(time_t *at) {
  struct timespec read;
  clock_gettime(CLOCK_REALTIME, &read);
  if (at != NULL) *at = read.tv_sec;
  return read.tv_sec;
}
