#include "articula/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace articula::cuda {

namespace {

namespace fs = std::filesystem;

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function)
    throw DeviceError(
        fmt::format("the library has no function '{}': a driver or compiler that is too old", name));
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

Driver open_driver() {
  const std::string other = value_of("ARTICULA_CUDA_DRIVER");
  void* const library = dlopen(other.empty() ? "libcuda.so.1" : other.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw DeviceError(fmt::format("no GPU: NVIDIA's driver is not there ({})", dlerror()));
  Driver d{};
#define ARTICULA_FIND(name, symbol) find(library, symbol, d.name)
  ARTICULA_FIND(Init, "cuInit");
  ARTICULA_FIND(GetErrorName, "cuGetErrorName");
  ARTICULA_FIND(GetErrorString, "cuGetErrorString");
  ARTICULA_FIND(DeviceGetCount, "cuDeviceGetCount");
  ARTICULA_FIND(DeviceGet, "cuDeviceGet");
  ARTICULA_FIND(DeviceGetName, "cuDeviceGetName");
  ARTICULA_FIND(DeviceGetAttribute, "cuDeviceGetAttribute");
  ARTICULA_FIND(DeviceTotalMem, "cuDeviceTotalMem_v2");
  ARTICULA_FIND(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  ARTICULA_FIND(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  ARTICULA_FIND(CtxPushCurrent, "cuCtxPushCurrent_v2");
  ARTICULA_FIND(CtxPopCurrent, "cuCtxPopCurrent_v2");
  ARTICULA_FIND(ModuleLoadData, "cuModuleLoadData");
  ARTICULA_FIND(ModuleUnload, "cuModuleUnload");
  ARTICULA_FIND(ModuleGetFunction, "cuModuleGetFunction");
  ARTICULA_FIND(FuncGetAttribute, "cuFuncGetAttribute");
  ARTICULA_FIND(LaunchKernel, "cuLaunchKernel");
  ARTICULA_FIND(MemAlloc, "cuMemAlloc_v2");
  ARTICULA_FIND(MemFree, "cuMemFree_v2");
  ARTICULA_FIND(MemHostAlloc, "cuMemHostAlloc");
  ARTICULA_FIND(MemFreeHost, "cuMemFreeHost");
  ARTICULA_FIND(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  ARTICULA_FIND(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  ARTICULA_FIND(MemsetD32Async, "cuMemsetD32Async");
  ARTICULA_FIND(StreamCreate, "cuStreamCreate");
  ARTICULA_FIND(StreamDestroy, "cuStreamDestroy_v2");
  ARTICULA_FIND(StreamSynchronize, "cuStreamSynchronize");
  ARTICULA_FIND(EventCreate, "cuEventCreate");
  ARTICULA_FIND(EventDestroy, "cuEventDestroy_v2");
  ARTICULA_FIND(EventRecord, "cuEventRecord");
  ARTICULA_FIND(EventSynchronize, "cuEventSynchronize");
  ARTICULA_FIND(EventElapsedTime, "cuEventElapsedTime");
#undef ARTICULA_FIND
  d.check(d.Init(0), "start NVIDIA's driver");
  int count = 0;
  d.check(d.DeviceGetCount(&count), "count the GPUs");
  if (count == 0) throw DeviceError("no GPU: NVIDIA's driver is there, but sees none");
  return d;
}

/// Files of a folder that are libnvrtc, newest version first.
void add_from(const fs::path& folder, std::vector<std::string>& to) {
  std::error_code none;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libnvrtc.so")) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  to.insert(to.end(), found.begin(), found.end());
}
/// PyPI's nvidia-cuda-nvrtc below one of Python's folders.
void add_from_python(const fs::path& lib, std::vector<std::string>& to) {
  std::error_code none;
  for (const auto& python : fs::directory_iterator(lib, none))
    for (const char* const packages : {"site-packages", "dist-packages"})
      for (const char* const place : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu12/lib"})
        if (python.path().filename().string().starts_with("python3"))
          add_from(python.path() / packages / place, to);
}
std::vector<std::string> compiler_places() {
  std::vector<std::string> places;
  if (const std::string named = value_of("ARTICULA_NVRTC"); !named.empty()) {
    if (fs::is_directory(named))
      add_from(named, places);
    else
      places.push_back(named);
    return places;  // and nothing else
  }
  for (const char* const prefix : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string root = value_of(prefix); !root.empty())
      add_from_python(fs::path(root) / "lib", places);
  for (const char* const root : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = value_of(root); !home.empty()) add_from(fs::path(home) / "lib64", places);
  for (const char* const name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"}) places.push_back(name);
  add_from("/usr/local/cuda/lib64", places);
  if (const std::string home = value_of("HOME"); !home.empty())
    add_from_python(fs::path(home) / ".local/lib", places);
  for (const char* const lib : {"/usr/local/lib", "/usr/lib"}) add_from_python(lib, places);
  return places;
}

Compiler open_compiler() {
  void* library = nullptr;
  Compiler c{};
  std::string last = "no such library";
  for (const std::string& place : compiler_places()) {
    library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      c.path = place;
      break;
    }
    last = dlerror();
  }
  if (!library)
    throw DeviceError(fmt::format(
        "no compiler for GPUs: NVRTC was not found; install the CUDA toolkit or PyPI's nvidia-cuda-nvrtc, or "
        "set ARTICULA_NVRTC to the library or its folder ({})",
        last));
  find(library, "nvrtcVersion", c.Version);
  find(library, "nvrtcCreateProgram", c.CreateProgram);
  find(library, "nvrtcDestroyProgram", c.DestroyProgram);
  find(library, "nvrtcCompileProgram", c.CompileProgram);
  find(library, "nvrtcGetProgramLogSize", c.GetProgramLogSize);
  find(library, "nvrtcGetProgramLog", c.GetProgramLog);
  find(library, "nvrtcGetCUBINSize", c.GetCUBINSize);
  find(library, "nvrtcGetCUBIN", c.GetCUBIN);
  find(library, "nvrtcGetErrorString", c.GetErrorString);
  return c;
}

// Attributes by the numbers that the driver's interface fixes.
constexpr int multiprocessors = 16, capability_major = 75, capability_minor = 76;

Device device_of(const Driver& d, int number) {
  Device device{number, {}, 0, 0, 0, 0};
  int handle = 0;
  char name[256] = {};
  const std::string doing = fmt::format("ask about GPU {}", number);
  d.check(d.DeviceGet(&handle, number), doing);
  d.check(d.DeviceGetName(name, sizeof(name) - 1, handle), doing);
  d.check(d.DeviceGetAttribute(&device.major, capability_major, handle), doing);
  d.check(d.DeviceGetAttribute(&device.minor, capability_minor, handle), doing);
  d.check(d.DeviceGetAttribute(&device.processors, multiprocessors, handle), doing);
  d.check(d.DeviceTotalMem(&device.memory, handle), doing);
  device.name = name;
  return device;
}

}  // namespace

void Driver::check(Result result, const std::string& doing) const {
  if (result == 0) return;
  const char *name = nullptr, *text = nullptr;
  GetErrorName(result, &name);
  GetErrorString(result, &text);
  throw DeviceError(fmt::format("GPU: could not {}: {} ({})", doing, text ? text : "unknown error",
                                name ? name : std::to_string(result)));
}
const Driver& driver() {
  static const Driver d = open_driver();
  return d;
}
const Compiler& compiler() {
  static const Compiler c = open_compiler();
  return c;
}

std::vector<Device> devices() {
  std::vector<Device> all;
  try {
    const Driver& d = driver();
    int count = 0;
    d.check(d.DeviceGetCount(&count), "count the GPUs");
    for (int i = 0; i < count; ++i) all.push_back(device_of(d, i));
  } catch (const DeviceError&) {
    all.clear();
  }
  return all;
}
bool available(std::string* why) {
  try {
    driver();
    compiler();
    return true;
  } catch (const DeviceError& error) {
    if (why) *why = error.what();
    return false;
  }
}

Context::Context(int device) {
  const Driver& d = driver();
  int count = 0;
  d.check(d.DeviceGetCount(&count), "count the GPUs");
  if (device < 0 || device >= count)
    throw ArgumentError(fmt::format("GPU {} of {}: there is none of that number", device, count));
  device_ = device_of(d, device);
  d.check(d.DevicePrimaryCtxRetain(&handle_, device), fmt::format("open GPU {}", device));
}
Context::~Context() {
  if (handle_) driver().DevicePrimaryCtxRelease(device_.number);
}
Use::Use(const Context& context) { driver().check(driver().CtxPushCurrent(context.handle()), "use the GPU"); }
Use::~Use() {
  Handle before;
  driver().CtxPopCurrent(&before);
}

}  // namespace articula::cuda
