#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "articula/simulation/recording_arrays.hpp"
#include "cli/stop.hpp"

namespace articula::cli {

namespace {

namespace fs = std::filesystem;

/// "FILE.PID.N.part", which runs that were killed leave behind: whoever wrote it is gone, and nobody has its lock (who
/// has may be on another machine).
void remove_abandoned(const std::string& path) {
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  const std::string begin = fs::path(path).filename().string() + ".";
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    int pid = 0, attempt = 0, length = 0;
    if (!name.starts_with(begin) ||
        // nine digits fit: NOLINTNEXTLINE(cert-err34-c)
        std::sscanf(name.c_str() + begin.size(), "%9d.%9d.part%n", &pid, &attempt, &length) != 2 ||
        begin.size() + static_cast<std::size_t>(length) != name.size() || pid <= 0 ||
        !(kill(pid, 0) != 0 && errno == ESRCH))
      continue;
    const int fd = open(entry.path().c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
    close(fd);
  }
}

}  // namespace

Output::Output(const std::string& path, const std::string& option) : path_(path), option_(option) {
  if (path == "-") return;
  if (path.empty()) throw InputError(option + ": the file name is empty; expected a file, or - for stdout");
  const auto refuse = [&] {
    throw InputError(
        fmt::format("{} {}: cannot be written ({})", option, path, std::generic_category().message(errno)));
  };
  struct stat existing {};
  const bool exists = stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode))
    throw InputError(fmt::format("{} {}: is a directory", option, path));
  if (exists && !S_ISREG(existing.st_mode)) {  // a device or a pipe: nothing to rename
    fd_ = open(path.c_str(), O_WRONLY);
    if (fd_ < 0) refuse();
    return;
  }
  std::error_code ignored;
  if (exists && access(path.c_str(), W_OK) != 0) refuse();
  if (const auto target = fs::canonical(path, ignored); exists && !ignored)
    path_ = target.string();  // behind a link
  remove_abandoned(path_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = fmt::format("{}.{}.{}.part", path_, getpid(), attempt);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0 || errno != EEXIST) break;
  }
  if (fd_ < 0) {
    temporary_.clear();
    refuse();
  }
  flock(fd_, LOCK_EX | LOCK_NB);
  remove_on_signals(temporary_);
  if (exists && fchmod(fd_, existing.st_mode & 07777) != 0) refuse();
}

void check_writable(const std::string& path, const std::string& option) {
  std::error_code ignored;
  const auto kind = fs::status(path, ignored).type();
  if (path == "-" || (kind != fs::file_type::not_found && kind != fs::file_type::regular &&
                      kind != fs::file_type::directory))
    return;  // opening a pipe or a device to see whether it can be done would be felt at its other end
  const Output probe(path, option);
}

Output::~Output() {
  if (fd_ > 1) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  doom("");
}

void Output::write(std::string_view text) {
  if (!recording_files::write_all(fd_, text))
    throw ComputationError(fmt::format("{} cannot be written ({})",
                                       fd_ == 1 ? "standard output" : option_ + " " + path_,
                                       std::generic_category().message(errno)));
}

void Output::finish() {
  if (fd_ <= 1) return;
  const auto require = [&](bool done) {
    if (!done)
      throw ComputationError(fmt::format("{} {} cannot be written ({})", option_, path_,
                                         std::generic_category().message(errno)));
  };
  // On the disk before it takes the name: a machine that loses power keeps the old file or the new one.
  if (!temporary_.empty()) require(fsync(fd_) == 0);
  require(close(std::exchange(fd_, -1)) == 0);
  if (!temporary_.empty()) require(std::rename(temporary_.c_str(), path_.c_str()) == 0);
  temporary_.clear();
  doom("");
}

void add_out_option(CLI::App& app, std::string& out) {
  app.add_option("--out", out, "Write to this file, whole or not at all (- for stdout)")->type_name("FILE");
}

namespace {
/// Names may be in any encoding and hold anything: the result is UTF-8, without control characters.
std::string dumped(const Json& value) {
  constexpr auto replace = Json::error_handler_t::replace;
  if (!value.is_string()) return value.dump();
  const std::string text = value.dump(-1, ' ', false, replace);
  return printable(text) == text ? text : value.dump(-1, ' ', true, replace);
}
}  // namespace

void append(const Json& value, int indent, std::string& text) {
  if (value.is_primitive()) return void(text += dumped(value));
  const bool flat = std::all_of(value.begin(), value.end(), [](const Json& x) { return x.is_primitive(); });
  const std::string margin = flat ? "" : "\n" + std::string(indent + 1, ' ');
  text += value.is_array() ? '[' : '{';
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (it != value.begin()) text += flat ? ", " : ",";
    text += margin;
    if (value.is_object()) text += dumped(it.key()) + ": ";
    append(*it, indent + 1, text);
  }
  if (!flat) text += "\n" + std::string(indent, ' ');
  text += value.is_array() ? ']' : '}';
}

std::string count_of(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

void append_results(std::size_t states, const std::function<Json(std::size_t)>& of, std::string& text) {
  text += " \"results\": [";
  for (std::size_t i = 0; i < states; ++i) {
    text += i ? ",\n  " : "\n  ";
    try {
      append(of(i), 2, text);
    } catch (const SingularError& error) {
      throw ComputationError(fmt::format("state {}: {}", i, error.what()));
    } catch (const ArgumentError& error) {
      throw InputError(fmt::format("state {}: {}", i, error.what()));
    }
  }
  text += states == 0 ? "]\n}\n" : "\n ]\n}\n";
}

Json describe_model(const Model& model) {
  Json joints = Json::array();
  for (const Joint& joint : model.joints()) {
    Json entry{{"name", joint.name}, {"type", name_of(joint.kind)}, {"q_index", joint.q_index},
               {"nq", joint.nq},     {"v_index", joint.v_index},    {"nv", joint.nv}};
    if (joint.mimics >= 0)
      entry["mimic"] = {{"joint", model.joints()[joint.mimics].name},
                        {"multiplier", joint.multiplier},
                        {"offset", joint.offset}};
    joints.push_back(std::move(entry));
  }
  return {{"name", model.name()},
          {"nq", model.nq()},
          {"nv", model.nv()},
          {"mass", model.mass()},
          {"joints", joints}};
}

}  // namespace articula::cli
