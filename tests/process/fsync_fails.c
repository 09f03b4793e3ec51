// LD_PRELOAD shim: fsync and fdatasync of files whose path starts with $FSYNC_FAILS_FOR fail with EIO while the file
// $FSYNC_FAILS_WHEN exists.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int must_fail(int fd) {
  const char* when = getenv("FSYNC_FAILS_WHEN");
  const char* prefix = getenv("FSYNC_FAILS_FOR");
  if (when == NULL || prefix == NULL || access(when, F_OK) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return strncmp(path, prefix, strlen(prefix)) == 0;
}

static int forward(const char* name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) {
  if (must_fail(fd)) return errno = EIO, -1;
  return forward("fsync", fd);
}

int fdatasync(int fd) {
  if (must_fail(fd)) return errno = EIO, -1;
  return forward("fdatasync", fd);
}
