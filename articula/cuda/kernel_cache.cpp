#include "articula/cuda/kernel_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>

#include "articula/cuda/cache_folder.hpp"
#include "articula/cuda/driver.hpp"

namespace articula::cuda {

namespace {

namespace fs = std::filesystem;

/// FNV-1a.
std::uint64_t hash(std::string_view bytes, std::uint64_t start = 0xcbf29ce484222325u) {
  for (const unsigned char c : bytes) start = (start ^ c) * 0x100000001b3u;
  return start;
}

std::vector<std::string> options_of(const Program& program, int architecture) {
  std::vector<std::string> all{fmt::format("-arch=sm_{}", architecture), "-std=c++20", "-default-device",
                               "-w"};
  all.insert(all.end(), program.options.begin(), program.options.end());
  return all;
}

/// All that the machine code depends on, as 128 bits.
std::string key_of(const Program& program, int architecture, const std::string& version) {
  std::string all = version;
  const auto add = [&](std::string_view x) {
    all += fmt::format("\n{}\n", x.size());
    all += x;
  };
  for (const std::string& option : options_of(program, architecture)) add(option);
  add(program.text);
  for (const auto& [name, text] : program.files) add(name), add(text);
  return fmt::format("{:016x}{:016x}", hash(all), hash(all, 0x9e3779b97f4a7c15u));
}

fs::path folder_of_environment() {
  const auto value = [](const char* name) {
    const char* const x = std::getenv(name);
    return std::string(x ? x : "");
  };
  if (const std::string x = value("ARTICULA_CUDA_CACHE"); !x.empty()) return x;
  if (const std::string x = value("XDG_CACHE_HOME"); !x.empty()) return fs::path(x) / "articula";
  if (const std::string x = value("HOME"); !x.empty()) return fs::path(x) / ".cache/articula";
  return {};
}

constexpr std::string_view magic = "articula machine code 1\n";

/// Empty: there is none, or it is damaged.
std::string read_entry(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const std::size_t head = magic.size() + 17;
  if (all.size() <= head || all.compare(0, magic.size(), magic) != 0) return {};
  std::string code = all.substr(head);
  if (all.compare(magic.size(), 17, fmt::format("{:016x}\n", hash(code))) != 0) return {};
  return code;
}
/// Through a file of its own, which then takes its name: others see all of it or nothing.
void write_entry(const fs::path& path, const std::string& code) {
  std::error_code none;
  fs::create_directories(path.parent_path(), none);
  const fs::path temporary = fmt::format("{}.{}", path.string(), getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file << magic << fmt::format("{:016x}\n", hash(code)) << code;
    file.close();
    if (!file) {
      fs::remove(temporary, none);
      return;
    }
  }
  fs::rename(temporary, path, none);
  if (none) fs::remove(temporary, none);
}

/// Of the threads of this process that want the same program one compiles it; the others wait, and find it in the folder.
class Turn {
 public:
  explicit Turn(const std::string& key) : key_(key) {
    std::unique_lock lock(guard());
    free().wait(lock, [&] { return !taken().contains(key_); });
    taken().insert(key_);
  }
  ~Turn() {
    const std::lock_guard lock(guard());
    taken().erase(key_);
    free().notify_all();
  }
  Turn(const Turn&) = delete;

 private:
  static std::mutex& guard() {
    static std::mutex x;
    return x;
  }
  static std::condition_variable& free() {
    static std::condition_variable x;
    return x;
  }
  static std::set<std::string>& taken() {
    static std::set<std::string> x;
    return x;
  }
  const std::string key_;
};

struct Compilation {
  Handle handle = nullptr;
  ~Compilation() {
    if (handle) compiler().DestroyProgram(&handle);
  }
};

}  // namespace

std::string cache_folder() { return folder_of_environment(); }

std::string compile(const Program& program, int architecture) {
  const Compiler& c = compiler();
  std::vector<const char*> names, texts, options;
  for (const auto& [name, text] : program.files) names.push_back(name.c_str()), texts.push_back(text.c_str());
  const std::vector<std::string> given = options_of(program, architecture);
  for (const std::string& option : given) options.push_back(option.c_str());
  Compilation p;
  const auto check = [&](int result, const char* doing) {
    if (result != 0)
      throw DeviceError(
          fmt::format("GPU: could not {} {}: {}", doing, program.algorithm, c.GetErrorString(result)));
  };
  check(c.CreateProgram(&p.handle, program.text.c_str(), "articula.cu", static_cast<int>(names.size()),
                        texts.data(), names.data()),
        "begin to compile");
  if (const int result = c.CompileProgram(p.handle, static_cast<int>(options.size()), options.data());
      result != 0) {
    std::size_t size = 0;
    std::string log;
    if (c.GetProgramLogSize(p.handle, &size) == 0 && size > 1) {
      log.resize(size);
      c.GetProgramLog(p.handle, log.data());
      const std::size_t error = log.find("error");
      if (error != std::string::npos) log = log.substr(log.rfind('\n', error) + 1);
      log = log.substr(0, log.find('\n'));
    }
    throw DeviceError(fmt::format("GPU: could not compile {} for sm_{}: {}{}{}", program.algorithm,
                                  architecture, c.GetErrorString(result), log.empty() ? "" : ": ", log));
  }
  std::size_t size = 0;
  check(c.GetCUBINSize(p.handle, &size), "read the code of");
  std::string code(size, '\0');
  check(c.GetCUBIN(p.handle, code.data()), "read the code of");
  return code;
}

std::string machine_code(const Program& program, int architecture, const Progress& progress) {
  int major = 0, minor = 0;
  compiler().Version(&major, &minor);
  const fs::path at = folder_of_environment();
  const std::string key = key_of(program, architecture, fmt::format("{}.{}", major, minor));
  const fs::path entry = at.empty() ? at : at / (key + ".cubin");
  const Turn turn(key);
  if (!entry.empty())
    if (std::string code = read_entry(entry); !code.empty()) return code;
  if (progress) progress(fmt::format("compiling {} for sm_{}", program.algorithm, architecture));
  const auto begin = std::chrono::steady_clock::now();
  std::string code = compile(program, architecture);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (progress) progress(fmt::format("compiled {} in {:.1f} s", program.algorithm, took.count()));
  if (!entry.empty()) write_entry(entry, code);
  return code;
}

}  // namespace articula::cuda
