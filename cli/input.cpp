#include "cli/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

std::optional<std::string> ahead;  // of standard input: read before it was asked for
std::size_t taken = 0;             // of that

}  // namespace

Pieces::Pieces(const std::string& path, std::string what)
    : what_(std::move(what)), fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) refuse();
}
Pieces::~Pieces() {
  if (fd_ != STDIN_FILENO) close(fd_);
}
void Pieces::refuse() const {
  throw InputError(fmt::format("{}: cannot be read ({})", what_, std::generic_category().message(errno)));
}
std::size_t Pieces::read(char* to, std::size_t room) {
  if (fd_ == STDIN_FILENO && ahead) {
    const std::size_t n = ahead->copy(to, room, taken);
    taken += n;
    return n;
  }
  ssize_t n = 0;
  while ((n = ::read(fd_, to, room)) < 0)
    if (errno != EINTR) refuse();
  return static_cast<std::size_t>(n);
}

std::string read_all(const std::string& path, const std::string& what) {
  Pieces pieces(path, what);
  std::string text;
  constexpr std::size_t piece = 1 << 16;
  for (std::size_t n = 1; n != 0;) {
    const std::size_t used = text.size();
    text.resize(used + piece);
    n = pieces.read(text.data() + used, piece);
    text.resize(used + n);
  }
  return text;
}

std::string_view look_ahead() {
  if (!ahead) ahead = read_all("-", "<stdin>");
  return std::string_view(*ahead).substr(taken);
}

}  // namespace articula::cli
