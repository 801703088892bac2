// NVIDIA's driver and run-time compiler, found when first asked for: nothing of CUDA is needed to build the library.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "articula/error.hpp"

namespace articula::cuda {

/// No GPU, no compiler for it, no memory left on it, or it failed.
struct DeviceError : Error {
  using Error::Error;
};

using Result = int;
using Handle = void*;                // contexts, modules, functions, streams, events
using Address = unsigned long long;  // in a device's memory

/// The driver's calls by their own names (without cu), as its header has them.
struct Driver {
  Result (*Init)(unsigned);
  Result (*GetErrorName)(Result, const char**);
  Result (*GetErrorString)(Result, const char**);
  Result (*DeviceGetCount)(int*);
  Result (*DeviceGet)(int*, int);
  Result (*DeviceGetName)(char*, int, int);
  Result (*DeviceGetAttribute)(int*, int, int);
  Result (*DeviceTotalMem)(std::size_t*, int);
  Result (*DevicePrimaryCtxRetain)(Handle*, int);
  Result (*DevicePrimaryCtxRelease)(int);
  Result (*CtxPushCurrent)(Handle);
  Result (*CtxPopCurrent)(Handle*);
  Result (*ModuleLoadData)(Handle*, const void*);
  Result (*ModuleUnload)(Handle);
  Result (*ModuleGetFunction)(Handle*, Handle, const char*);
  Result (*FuncGetAttribute)(int*, int, Handle);
  Result (*LaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                         void**, void**);
  Result (*MemAlloc)(Address*, std::size_t);
  Result (*MemFree)(Address);
  Result (*MemHostAlloc)(void**, std::size_t, unsigned);
  Result (*MemFreeHost)(void*);
  Result (*MemcpyHtoDAsync)(Address, const void*, std::size_t, Handle);
  Result (*MemcpyDtoHAsync)(void*, Address, std::size_t, Handle);
  Result (*MemsetD32Async)(Address, unsigned, std::size_t, Handle);
  Result (*StreamCreate)(Handle*, unsigned);
  Result (*StreamDestroy)(Handle);
  Result (*StreamSynchronize)(Handle);
  Result (*EventCreate)(Handle*, unsigned);
  Result (*EventDestroy)(Handle);
  Result (*EventRecord)(Handle, Handle);
  Result (*EventSynchronize)(Handle);
  Result (*EventElapsedTime)(float*, Handle, Handle);

  /// Throws DeviceError that says what was being done, unless the result is success.
  void check(Result result, const std::string& doing) const;
};
/// Throws DeviceError where there is no driver or no GPU. ARTICULA_CUDA_DRIVER names another library than libcuda.so.1.
const Driver& driver();

/// The run-time compiler. ARTICULA_NVRTC names the library, or a folder that has it; otherwise it is looked for where
/// the toolkit and PyPI's nvidia-cuda-nvrtc put it.
struct Compiler {
  int (*Version)(int*, int*);
  int (*CreateProgram)(Handle*, const char*, const char*, int, const char* const*, const char* const*);
  int (*DestroyProgram)(Handle*);
  int (*CompileProgram)(Handle, int, const char* const*);
  int (*GetProgramLogSize)(Handle, std::size_t*);
  int (*GetProgramLog)(Handle, char*);
  int (*GetCUBINSize)(Handle, std::size_t*);
  int (*GetCUBIN)(Handle, char*);
  const char* (*GetErrorString)(int);
  std::string path;
};
/// Throws DeviceError where there is none.
const Compiler& compiler();

struct Device {
  int number;
  std::string name;
  int major, minor;  // compute capability
  std::size_t memory;
  int processors;
};
/// All GPUs; empty where there is none, or no driver.
std::vector<Device> devices();
/// Whether there is a GPU and a compiler for it; if not, `why` gets the reason.
bool available(std::string* why = nullptr);

/// A device's primary context, which other libraries of the process use too; made current for as long as a Use lives.
class Context {
 public:
  explicit Context(int device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  const Device& device() const { return device_; }
  Handle handle() const { return handle_; }

 private:
  Device device_;
  Handle handle_ = nullptr;
};
class Use {
 public:
  explicit Use(const Context& context);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
};

}  // namespace articula::cuda
