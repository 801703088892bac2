// A library to preload that makes one call of the system fail: ARTICULA_FAULT=write:3 the third write, and so for
// open, fsync, rename, truncate and malloc. With ARTICULA_FAULT_COUNTS=FILE it writes there at the end how often each
// was called ("write 12", a line each), so that a test knows how far it can go. Calls count from the program's start:
// what libraries do before is theirs. What goes to stderr never fails, for it tells of the rest.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Kind { write_, open_, fsync_, rename_, truncate_, malloc_, kinds };
constexpr const char* names[kinds] = {"write", "open", "fsync", "rename", "truncate", "malloc"};
std::atomic<long> calls[kinds];
long failing[kinds];  // 0: none
std::atomic<bool> started = false;

/// True if this call is the one.
bool fails(Kind kind, int error) {
  if (!started) return false;
  if (++calls[kind] != failing[kind]) return false;
  errno = error;
  return true;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

int (*program_main)(int, char**, char**);

int begin(int argc, char** argv, char** environment) {
  if (const char* fault = std::getenv("ARTICULA_FAULT"))
    for (int k = 0; k < kinds; ++k)
      if (const std::size_t n = std::strlen(names[k]);
          std::strncmp(fault, names[k], n) == 0 && fault[n] == ':')
        failing[k] = std::strtol(fault + n + 1, nullptr, 10);
  started = true;
  return program_main(argc, argv, environment);
}

__attribute__((destructor)) void end() {
  started = false;
  const char* file = std::getenv("ARTICULA_FAULT_COUNTS");
  if (!file) return;
  const long fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (int k = 0; k < kinds; ++k) {
    char line[64];
    const int n = std::snprintf(line, sizeof line, "%s %ld\n", names[k], calls[k].load());
    syscall(SYS_write, fd, line, n);
  }
  syscall(SYS_close, fd);
}

}  // namespace

extern "C" {

/// What calls main(); calls count from there.
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  program_main = main;
  return next<int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*)>(
      "__libc_start_main")(begin, argc, argv, init, fini, loader_fini, stack_end);
}

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t size) { return fails(malloc_, ENOMEM) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) {
  return fails(malloc_, ENOMEM) ? nullptr : __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t size) {
  return fails(malloc_, ENOMEM) ? nullptr : __libc_realloc(p, size);
}

ssize_t write(int fd, const void* data, std::size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  return fd != 2 && fails(write_, ENOSPC) ? -1 : real(fd, data, size);
}
ssize_t pwrite(int fd, const void* data, std::size_t size, off_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  return fails(write_, ENOSPC) ? -1 : real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, std::size_t size, off_t at) { return pwrite(fd, data, size, at); }
std::size_t fwrite(const void* data, std::size_t size, std::size_t n, std::FILE* file) {
  static const auto real = next<std::size_t (*)(const void*, std::size_t, std::size_t, std::FILE*)>("fwrite");
  return file != stderr && fails(write_, ENOSPC) ? 0 : real(data, size, n, file);
}

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  return fails(open_, EMFILE) ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  return open(path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) {
  static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen");
  return fails(open_, EMFILE) ? nullptr : real(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(fsync_, EIO) ? -1 : real(fd);
}
int fdatasync(int fd) { return fsync(fd); }
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return fails(rename_, EIO) ? -1 : real(from, to);
}
int ftruncate(int fd, off_t size) {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return fails(truncate_, EIO) ? -1 : real(fd, size);
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

}  // extern "C"
