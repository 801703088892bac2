// Another library to measure against in the same run: a shared object with these three C functions, given to
// dynamics_bench as --peer FILE.so. None is part of this repository.
//
//   const char* peer_name(void);
//   void* peer_load(const char* urdf, int free_base);               NULL: cannot load it
//   double peer_time_ns(void* model, const char* algorithm);        best ns per call, negative: does not have
//   it
//
// `algorithm` is a name of CLI.md's eval: inverse_dynamics, forward_dynamics, mass_matrix,
// inverse_mass_matrix, ...
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace articula::bench {

class Peer {
 public:
  explicit Peer(const std::string& file) : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error("cannot load peer: " + std::string(dlerror()));
    find("peer_name", name_);
    find("peer_load", load_);
    find("peer_time_ns", time_);
  }
  std::string name() const { return name_(); }
  void* load(const std::string& urdf, bool free_base) const { return load_(urdf.c_str(), free_base); }
  double time_ns(void* model, const std::string& algorithm) const { return time_(model, algorithm.c_str()); }

 private:
  template <class F>
  void find(const char* symbol, F& function) {
    function = reinterpret_cast<F>(dlsym(library_, symbol));
    if (!function) throw std::runtime_error(std::string("peer has no function ") + symbol);
  }
  void* library_;
  const char* (*name_)(){};
  void* (*load_)(const char*, int){};
  double (*time_)(void*, const char*){};
};

}  // namespace articula::bench
