// What every use of libhdf5 needs: it crashes on some damaged files and where a disk is full, loops on others, and may
// take all memory. So it only works in processes of its own. Internal.
#pragma once

#include <hdf5.h>

#include <functional>
#include <iosfwd>
#include <string>

namespace articula::recording_files {

/// Closes an identifier; negative ones are errors.
class Id5 {
 public:
  Id5(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id5() {
    if (id_ >= 0) close_(id_);
  }
  Id5(const Id5&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};
/// HDF5 prints its own error stack unless told otherwise.
struct Quiet {
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function, data); }
  H5E_auto2_t function = nullptr;
  void* data = nullptr;
};

/// Does this in a process with bounds on time and memory, and returns what it wrote to the stream; nothing if it failed.
std::string in_another_process(const std::function<void(std::ostream& say)>& work);

}  // namespace articula::recording_files
