/*
 * Faults of the operating system, for `npm run prove:faults`: loaded into a process by LD_PRELOAD. The file that
 * FAULTS_FILE names is mapped into memory, so that the proof switches faults on and off while the process runs; its
 * layout is that of `struct faults`. Writes and flushes fail only for files whose path contains FAULTS_PATH.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

static struct faults none;
static struct faults *now = &none;
static const char *part = NULL;

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("FAULTS_FILE");
  part = getenv("FAULTS_PATH");
  int fd = file == NULL ? -1 : open(file, O_RDWR);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) now = mapped;
  close(fd);
}

/* Declares `real`, the function of this name that this file replaces. */
#define REAL(name) \
  static __typeof__(&name) real = NULL; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* True if the descriptor is of a file whose path contains FAULTS_PATH. */
static int is_meant(int fd) {
  char link[64], path[4096];
  if (part == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return strstr(path, part) != NULL;
}

static int fails(void) {
  __atomic_add_fetch(&now->hits, 1, __ATOMIC_SEQ_CST);
  errno = EIO;
  return -1;
}

int fsync(int fd) {
  REAL(fsync);
  return now->flushes_fail && is_meant(fd) ? fails() : real(fd);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return now->flushes_fail && is_meant(fd) ? fails() : real(fd);
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
  return most < 0 ? -1 : real(fd, bytes, (size_t)most, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  ssize_t most = allowed(fd, size);
  return most < 0 ? -1 : real(fd, bytes, (size_t)most);
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
