// What the libFuzzer targets share. Each makes of any bytes what the program makes of a file; errors that say
// what is wrong are expected, whatever else is thrown is a find.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "articula/error.hpp"
#include "articula/files/urdf.hpp"
#include "cli/subcommand.hpp"

namespace articula::testing {

/// Bytes behind a file's name, for readers that take nothing else.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0 || write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

/// Joints of several kinds, one of them with a quaternion.
inline const Model& fuzz_model() {
  static const Model model(parse_urdf_spec(
                               R"(<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="c"><inertial>
    <mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="d">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.1" friction="0.2"/></joint>
    <joint name="s" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
    <joint name="f" type="floating"><parent link="a"/><child link="d"/></joint></robot>)",
                               "fuzz")
                               .spec);
  return model;
}

/// Runs `read` on bytes; errors with a text are what bad bytes should give.
template <class Read>
int attempt(const std::uint8_t* data, std::size_t size, const Read& read) {
  const auto must_say = [](const std::exception& error) {
    if (std::string_view(error.what()).empty()) std::abort();
  };
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    must_say(error);
  } catch (const cli::InputError& error) {
    must_say(error);
  } catch (const cli::ComputationError& error) {
    must_say(error);
  }
  return 0;
}

}  // namespace articula::testing

/// Defines a target by what it does with `text`.
#define ARTICULA_FUZZ(text)                                                           \
  static void articula_fuzz(std::string_view text);                                   \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    return articula::testing::attempt(data, size, articula_fuzz);                     \
  }                                                                                   \
  static void articula_fuzz(std::string_view text)
