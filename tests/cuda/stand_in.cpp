// A stand-in for NVIDIA's driver and run-time compiler, in one library: programs are compiled for this processor and run
// by loops, so that all of articula/cuda runs where there is no GPU. ARTICULA_CUDA_DRIVER and ARTICULA_NVRTC name it.
//
// With NVIDIA's own compiler it takes programs for GPUs of any architecture (ARTICULA_STAND_IN_CAPABILITY, such as 80), as
// far as loading them: see compile_main.cpp.
//
// ARTICULA_STAND_IN_FAILS=NAME=RESULT[@N] lets call NAME (cuMemAlloc_v2, nvrtcCompileProgram, ..) give that result from
// its N-th call on. ARTICULA_STAND_IN_COMPILER: the C++ compiler. ARTICULA_STAND_IN_LOCAL_BYTES: what programs are said to
// need of a thread's memory, with one register. ARTICULA_STAND_IN_DEVICES: how many GPUs there are (1).
// ARTICULA_STAND_IN_LOG: a file that gets the number of each GPU that is used.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// What a call is to give instead of success; asked for anew every time, so that a test can change it.
int failure_of(const char* name) {
  static std::mutex mutex;
  static std::map<std::string, int> calls;
  const std::lock_guard lock(mutex);
  const char* const wanted = std::getenv("ARTICULA_STAND_IN_FAILS");
  if (!wanted || !*wanted) {
    calls.clear();
    return 0;
  }
  const std::string text = wanted;
  const std::size_t equal = text.find('='), at = text.find('@');
  if (text.substr(0, equal) != name) return 0;
  const int from = at == std::string::npos ? 1 : std::atoi(text.c_str() + at + 1);
  return ++calls[name] >= from ? std::atoi(text.c_str() + equal + 1) : 0;
}
#define FAIL_IF_TOLD                                            \
  if (const int failure = failure_of(__func__); failure != 0) { \
    return failure;                                             \
  }

struct Source {
  std::string text;
  std::vector<std::pair<std::string, std::string>> files;
  std::string log, code;
};
using Kernel = void (*)(const void*, unsigned, unsigned, int);
/// A loaded program: its function, and how many threads share a state.
struct Function {
  Kernel kernel;
  int sides;
};
constexpr char magic[9] = "standin1";

fs::path scratch() {
  static std::atomic<int> next{0};
  const fs::path p = fs::temp_directory_path() /
                     ("articula_stand_in_" + std::to_string(getpid()) + "_" + std::to_string(next++));
  fs::create_directories(p);
  return p;
}
std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

extern "C" {

// --- the compiler
int nvrtcVersion(int* major, int* minor) {
  *major = 0, *minor = 1;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* text, const char*, int count, const char* const* texts,
                       const char* const* names) {
  FAIL_IF_TOLD
  auto* const s = new Source;
  s->text = text;
  for (int i = 0; i < count; ++i) s->files.emplace_back(names[i], texts[i]);
  *program = s;
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Source*>(*program);
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  auto& s = *static_cast<Source*>(program);
  s.log = "articula.cu(1): error: told to fail\n";
  FAIL_IF_TOLD
  const fs::path folder = scratch();
  for (const auto& [name, text] : s.files) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  std::ofstream(folder / "program.cpp") << s.text;
  const char* const named = std::getenv("ARTICULA_STAND_IN_COMPILER");
  const std::string command = std::string(named ? named : "clang++-14") +
                              " -std=c++20 -O1 -w -fPIC -shared -nostdinc++ -DARTICULA_POISON -I" +
                              folder.string() + " " + (folder / "program.cpp").string() + " -o " +
                              (folder / "program.so").string() + " > " + (folder / "log").string() + " 2>&1";
  const int result = std::system(command.c_str());
  s.log = read(folder / "log");
  s.code = read(folder / "program.so");
  if (!std::getenv("ARTICULA_STAND_IN_KEEP")) fs::remove_all(folder);
  const std::uint64_t size = s.code.size();
  s.code.insert(0, reinterpret_cast<const char*>(&size), sizeof(size));
  s.code.insert(0, magic, 8);
  return result == 0 ? 0 : 6;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = static_cast<Source*>(program)->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  std::strcpy(log, static_cast<Source*>(program)->log.c_str());
  return 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = static_cast<Source*>(program)->code.size();
  return 0;
}
int nvrtcGetCUBIN(void* program, char* code) {
  const std::string& s = static_cast<Source*>(program)->code;
  std::memcpy(code, s.data(), s.size());
  return 0;
}
const char* nvrtcGetErrorString(int result) {
  return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

// --- the driver
int cuInit(unsigned) {
  FAIL_IF_TOLD
  return 0;
}
int cuGetErrorName(int result, const char** name) {
  *name = result == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : result == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
          : result == 46  ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
                          : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int result, const char** text) {
  *text = result == 2     ? "out of memory"
          : result == 209 ? "no kernel image is available for execution on the device"
          : result == 719 ? "unspecified launch failure"
          : result == 46  ? "CUDA-capable device(s) is/are busy or unavailable"
                          : "unknown error";
  return 0;
}
int cuDeviceGetCount(int* count) {
  FAIL_IF_TOLD
  const char* const devices = std::getenv("ARTICULA_STAND_IN_DEVICES");
  *count = devices ? std::atoi(devices) : 1;
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, size, "stand-in");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const char* const told = std::getenv("ARTICULA_STAND_IN_CAPABILITY");
  const int capability = told ? std::atoi(told) : 90;
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 4;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* size, int) {
  *size = std::size_t(1) << 30;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  FAIL_IF_TOLD
  static int one;
  if (const char* const log = std::getenv("ARTICULA_STAND_IN_LOG"))
    std::ofstream(log, std::ios::app) << device << "\n";
  *context = &one;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxPushCurrent_v2(void*) { return 0; }
int cuCtxPopCurrent_v2(void**) { return 0; }
int cuModuleLoadData(void** module, const void* code) {
  FAIL_IF_TOLD
  const char* const at = static_cast<const char*>(code);
  *module = nullptr;
  if (std::memcmp(at, "\177ELF", 4) == 0) return 0;  // a GPU's: nothing to run here
  if (std::memcmp(at, magic, 8) != 0) return 200;
  std::uint64_t size;
  std::memcpy(&size, at + 8, sizeof(size));
  const fs::path folder = scratch();
  std::ofstream(folder / "module.so", std::ios::binary).write(at + 16, static_cast<long>(size));
  *module = dlopen((folder / "module.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!*module) std::fprintf(stderr, "stand-in: %s\n", dlerror());
  fs::remove_all(folder);
  return *module ? 0 : 200;
}
int cuModuleUnload(void* module) { return module ? dlclose(module) : 0; }
int cuModuleGetFunction(void** function, void* module, const char*) {
  *function = nullptr;
  if (!module) return 0;
  const auto kernel = reinterpret_cast<Kernel>(dlsym(module, "articula_stand_in"));
  const auto* const sides = static_cast<const int*>(dlsym(module, "articula_stand_in_sides"));
  if (!kernel || !sides) return 500;
  static std::list<Function> all;  // as long as the process
  *function = &all.emplace_back(Function{kernel, *sides});
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  const char* const local_bytes = std::getenv("ARTICULA_STAND_IN_LOCAL_BYTES");
  *value = attribute == 3 && local_bytes ? std::atoi(local_bytes) : 1;
  return 0;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** parameters, void**) {
  FAIL_IF_TOLD
  const Function& f = *static_cast<const Function*>(function);
  std::vector<std::thread> others;
  for (int side = 1; side < f.sides; ++side)
    others.emplace_back([&, side] { f.kernel(parameters[0], blocks, threads, side); });
  f.kernel(parameters[0], blocks, threads, 0);
  for (std::thread& other : others) other.join();
  return 0;
}
std::atomic<long> stand_in_allocations{0};
long articula_stand_in_allocations() { return stand_in_allocations; }
int cuMemAlloc_v2(unsigned long long* at, std::size_t size) {
  FAIL_IF_TOLD
  ++stand_in_allocations;
  *at = reinterpret_cast<unsigned long long>(std::malloc(size));
  return *at ? 0 : 2;
}
int cuMemFree_v2(unsigned long long at) {
  std::free(reinterpret_cast<void*>(at));
  return 0;
}
int cuMemHostAlloc(void** at, std::size_t size, unsigned) {
  FAIL_IF_TOLD
  ++stand_in_allocations;
  *at = std::malloc(size);
  return *at ? 0 : 2;
}
int cuMemFreeHost(void* at) {
  std::free(at);
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t size, void*) {
  FAIL_IF_TOLD
  std::memcpy(reinterpret_cast<void*>(to), from, size);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t size, void*) {
  FAIL_IF_TOLD
  std::memcpy(to, reinterpret_cast<const void*>(from), size);
  return 0;
}
int cuMemsetD32Async(unsigned long long, unsigned, std::size_t, void*) { return 0; }
int cuStreamCreate(void** stream, unsigned) {
  *stream = std::malloc(1);
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  std::free(stream);
  return 0;
}
int cuStreamSynchronize(void*) {
  FAIL_IF_TOLD
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = std::malloc(1);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  std::free(event);
  return 0;
}
int cuEventRecord(void*, void*) { return 0; }
int cuEventSynchronize(void*) {
  FAIL_IF_TOLD
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1;
  return 0;
}
}
