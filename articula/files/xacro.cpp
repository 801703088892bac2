#include "articula/files/xacro.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "articula/error.hpp"

extern char** environ;

namespace articula {

namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

std::string all_of(std::FILE* file) {
  std::rewind(file);
  std::string out;
  char buffer[1 << 16];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) out.append(buffer, n);
  return out;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1).substr(0, 200);
}

}  // namespace

std::string expand_xacro(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw ModelError(fmt::format("{}: there is no such file; check the path", path));
  // No shell: the path is an argument, whatever is in it. "./": never an option.
  const std::string file = path.starts_with('-') ? "./" + path : path;
  const File out(std::tmpfile()), complaints(std::tmpfile());
  if (!out || !complaints) throw ModelError(fmt::format("{}: no temporary file for xacro's output", path));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), 1);
  posix_spawn_file_actions_adddup2(&actions, fileno(complaints.get()), 2);
  std::string program = "xacro", argument = file;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "xacro", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 127 << 8;
  if (!failed)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  if (failed || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    throw ModelError(fmt::format(
        "{}: this is a xacro file, and the program xacro is not installed; get it by `pip install "
        "xacro` (or with ROS), or expand the file elsewhere: xacro {} > robot.urdf",
        path, path));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw ModelError(
        fmt::format("{}: xacro could not expand it: {}", path, last_line(all_of(complaints.get()))));
  return all_of(out.get());
}

}  // namespace articula
