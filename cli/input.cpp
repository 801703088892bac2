#include "cli/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

std::optional<std::string> ahead;  // of standard input: read, but not asked for yet

std::string read_file(const std::string& path, const std::string& what) {
  const auto refuse = [&] {
    throw InputError(fmt::format("{}: cannot be read ({})", what, std::strerror(errno)));
  };
  const int fd = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse();
  std::string text;
  constexpr std::size_t chunk = 1 << 16;
  for (ssize_t n = 1; n != 0;) {
    const std::size_t used = text.size();
    text.resize(used + chunk);
    n = read(fd, text.data() + used, chunk);
    if (n < 0 && errno != EINTR) refuse();
    text.resize(used + (n > 0 ? static_cast<std::size_t>(n) : 0));
  }
  if (fd != STDIN_FILENO) close(fd);
  return text;
}

}  // namespace

std::string read_all(const std::string& path, const std::string& what) {
  return path == "-" && ahead ? std::exchange(*ahead, {}) : read_file(path, what);
}

std::string_view look_ahead() {
  if (!ahead) ahead = read_file("-", "<stdin>");
  return *ahead;
}

}  // namespace articula::cli
