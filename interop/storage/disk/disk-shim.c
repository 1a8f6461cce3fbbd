/*
 * Stands between a program and the disk (LD_PRELOAD). For files under $DISK_FOLDER it
 *   - appends what is done to them to $DISK_LOG, in the order in which it was done;
 *   - lets every sync take $DISK_SYNC_DELAY milliseconds longer, before it begins;
 *   - fails the Nth write or sync whose path ends in $DISK_FAULT_SUFFIX ($DISK_FAULT = write:N:ERRNO or sync:N:ERRNO),
 *     and every later one of that kind, as long as there is a file $DISK_FAULT_WHILE when it is named.
 * A record is: kind (1 byte: w t s c u r), path length (4), path, offset (8), data length (8), data; little endian.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -2;
static const char *folder;
static char fault_kind;
static long fault_at, fault_count;
static int fault_errno;
static const char *fault_suffix = "";
static const char *fault_while;
static long sync_delay;

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t raw_write(int fd, const void *data, size_t size) {
  REAL(write);
  return real(fd, data, size);
}

static void setup(void) {
  if (log_fd != -2) return;
  folder = getenv("DISK_FOLDER");
  const char *log = getenv("DISK_LOG");
  const char *fault = getenv("DISK_FAULT");
  if (getenv("DISK_SYNC_DELAY")) sync_delay = atol(getenv("DISK_SYNC_DELAY"));
  if (getenv("DISK_FAULT_SUFFIX")) fault_suffix = getenv("DISK_FAULT_SUFFIX");
  fault_while = getenv("DISK_FAULT_WHILE");
  if (fault) {
    char kind[8];
    if (sscanf(fault, "%7[a-z]:%ld:%d", kind, &fault_at, &fault_errno) == 3) fault_kind = kind[0];
  }
  log_fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}

/* The path of fd when it is one of ours. */
static int path_of(int fd, char *path) {
  char link[64];
  setup();
  if (!folder || fd == log_fd) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static int is_ours(const char *path) {
  setup();
  return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static void record(char kind, const char *path, int64_t offset, const void *data, uint64_t size) {
  if (log_fd < 0) return;
  uint32_t length = strlen(path);
  uint64_t held = kind == 'w' || kind == 'r' ? size : 0;
  size_t total = 1 + 4 + length + 8 + 8 + held;
  char *buffer = malloc(total), *at = buffer;
  *at++ = kind;
  memcpy(at, &length, 4), at += 4;
  memcpy(at, path, length), at += length;
  memcpy(at, &offset, 8), at += 8;
  memcpy(at, &held, 8), at += 8;
  if (held) memcpy(at, data, held);
  raw_write(log_fd, buffer, total);
  free(buffer);
}

/* Whether this call is to fail; errno is set then. */
static int fails(char kind, const char *path) {
  size_t length = strlen(path), end = strlen(fault_suffix);
  if (kind != fault_kind || length < end || strcmp(path + length - end, fault_suffix)) return 0;
  if (__sync_add_and_fetch(&fault_count, 1) < fault_at) return 0;
  if (fault_while && access(fault_while, F_OK)) return 0;
  errno = fault_errno;
  return 1;
}

static ssize_t positioned(int fd, const void *data, size_t size, off_t offset, ssize_t (*call)(int, const void *, size_t, off_t)) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return call(fd, data, size, offset);
  if (fails('w', path)) return -1;
  pthread_mutex_lock(&order);
  ssize_t written = call(fd, data, size, offset);
  if (written > 0) record('w', path, offset, data, written);
  pthread_mutex_unlock(&order);
  return written;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  REAL(pwrite);
  return positioned(fd, data, size, offset, real);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  REAL(pwrite64);
  return positioned(fd, data, size, offset, real);
}

ssize_t write(int fd, const void *data, size_t size) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return raw_write(fd, data, size);
  if (fails('w', path)) return -1;
  pthread_mutex_lock(&order);
  off_t offset = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
  ssize_t written = raw_write(fd, data, size);
  if (written > 0) record('w', path, offset, data, written);
  pthread_mutex_unlock(&order);
  return written;
}

static int truncated(int fd, off_t size, int (*call)(int, off_t)) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return call(fd, size);
  if (fails('w', path)) return -1;
  pthread_mutex_lock(&order);
  int result = call(fd, size);
  if (result == 0) record('t', path, size, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  return truncated(fd, size, real);
}

int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  return truncated(fd, size, real);
}

static int synced(int fd, int (*call)(int)) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return call(fd);
  if (fails('s', path)) return -1;
  if (sync_delay) usleep(sync_delay * 1000);
  int result = call(fd);
  pthread_mutex_lock(&order);
  if (result == 0) record('s', path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return synced(fd, real);
}

int fsync(int fd) {
  REAL(fsync);
  return synced(fd, real);
}

int unlink(const char *path) {
  REAL(unlink);
  pthread_mutex_lock(&order);
  int result = real(path);
  if (result == 0 && is_ours(path)) record('u', path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  pthread_mutex_lock(&order);
  int result = real(from, to);
  if (result == 0 && is_ours(from)) record('r', from, 0, to, strlen(to));
  pthread_mutex_unlock(&order);
  return result;
}
