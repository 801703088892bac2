// articula doctor: what this program is, what it finds on this machine, and what is missing.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "articula/cuda/cache_folder.hpp"
#include "articula/cuda/driver.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "articula/report/report.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"

namespace articula::cli {

namespace {

struct Line {
  std::string key, value;
  std::string missing{};  // how to get it; empty: nothing is
};

/// Where a program is on PATH; empty: nowhere.
std::string program_on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}
bool has_library(const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (void* const found = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) return dlclose(found), true;
  return false;
}
Line program(const std::string& key, const std::string& name, const std::string& use) {
  const std::string found = program_on_path(name);
  return {key, found.empty() ? "not found" : found, found.empty() ? use : ""};
}

/// GPUs, their compiler and the folder of compiled programs (docs/gpu.md).
void add_gpu(std::vector<Line>& out) {
  std::string names;
  for (const cuda::Device& d : cuda::devices())
    names +=
        fmt::format("{}{} (compute capability {}.{})", names.empty() ? "" : ", ", d.name, d.major, d.minor);
  out.push_back({"GPU", names.empty() ? "not found" : names});
  try {
    out.push_back({"GPU compiler", cuda::compiler().path});
  } catch (const cuda::DeviceError&) {
    out.push_back({"GPU compiler", "not found"});
    if (!names.empty()) out.back().missing = "--device cuda: pip install nvidia-cuda-nvrtc";
  }
  const std::string folder = cuda::cache_folder();
  out.push_back({"GPU cache", folder.empty() ? "none" : folder});
}

std::vector<Line> findings() {
  std::vector<Line> out;
  out.push_back({"version", ARTICULA_VERSION});
#if defined(__clang__)
  out.push_back({"compiler", "clang " __clang_version__});
#else
  out.push_back({"compiler", "g++ " __VERSION__});
#endif
  out.push_back({"instruction set", fmt::format("{} (compiled, and this processor has: {})",
                                                instruction_set(), fmt::join(instruction_sets(), ", "))});
  out.push_back({"processors", std::to_string(std::thread::hardware_concurrency())});
  out.push_back({"models", fmt::format("{}", fmt::join(shipped_names(false), ", "))});
  if (shipped_names(false).empty()) out.back() = {"models", "none", "the shipped models are not installed"};
  out.push_back({"scenes", fmt::format("{}", fmt::join(shipped_names(true), ", "))});
  out.push_back(has_page()
                    ? Line{"report page", "built in"}
                    : Line{"report page", "not built in", "view and --report: build with Node.js and npm"});
  add_gpu(out);
  out.push_back(program("xacro", "xacro", "for .xacro files: pip install xacro"));
  out.push_back(program("browser", "xdg-open", "view opens no browser by itself: install xdg-utils"));
  std::string peers;
  const std::pair<const char*, std::vector<std::string>> all[] = {
      {"MuJoCo", {"libmujoco.so", "libmujoco.so.2.2.2"}},
      {"Simbody", {"libSimTKsimbody.so", "libSimTKsimbody.so.3.6"}},
      {"DART", {"libdart.so", "libdart.so.6.12"}},
      {"KDL", {"liborocos-kdl.so", "liborocos-kdl.so.1.5"}},
      {"Pinocchio", {"libpinocchio.so", "libpinocchio_default.so"}}};
  for (const auto& [name, files] : all)
    if (has_library(files)) peers += (peers.empty() ? "" : ", ") + std::string(name);
  out.push_back({"peers of bench", peers.empty() ? "none found" : peers});
  return out;
}

struct DoctorOptions {
  bool json = false;
};

ExitCode run(const DoctorOptions& options) {
  const auto lines = findings();
  std::string text;
  if (options.json) {
    Json all = Json::object(), missing = Json::array();
    for (const Line& line : lines) {
      all[line.key] = line.value;
      if (!line.missing.empty()) missing.push_back(line.key + ": " + line.missing);
    }
    all["missing"] = missing;
    append(all, 0, text);
    text += "\n";
  } else {
    for (const Line& line : lines)
      text += fmt::format("{:<16} {}{}\n", line.key, line.value,
                          line.missing.empty() ? "" : " (" + line.missing + ")");
  }
  Output out("-");
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_doctor(CLI::App& program) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App& app =
      *program.add_subcommand("doctor", "This program and this machine: what is there, what is missing");
  app.add_flag("--json", options->json, "Print JSON");
  app.footer("Example:\n  articula doctor\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
