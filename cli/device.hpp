// --device of eval, bench and simulate --monte-carlo.
#pragma once

#include <unistd.h>

#include <string>

#include "articula/cuda/batch.hpp"
#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace articula::cli {

inline void add_device_option(CLI::App& app, std::string& device, const std::string& help) {
  app.add_option("--device", device, help)->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str();
}
/// A GPU's batch of rows in this process's memory. Throws DeviceError where there is no GPU.
inline cuda::Batch<double> device_batch(const Model& model, int device = 0, Layout layout = Layout::rows,
                                        cuda::Where memory = cuda::Where::host) {
  cuda::BatchOptions options{.layout = layout, .device = device, .memory = memory};
  if (isatty(STDERR_FILENO)) options.progress = [](const std::string& text) { say("{}", text); };
  return cuda::Batch<double>(model, options);
}
/// Algorithms that are computed one state after the other stay on the processor.
inline bool on_devices(const Model& model, const Algorithm& algorithm) {
  return algorithm.many<double>() &&
         !(model.has_mimics() && std::string_view(algorithm.name) == "operational_space");
}

}  // namespace articula::cli
