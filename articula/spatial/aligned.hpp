// A zeroed array on a cache line boundary, made once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace articula {

template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size)
      : size_(size), data_(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t(64)))) {
    std::uninitialized_fill_n(data_.get(), size, T{});
  }
  AlignedArray(const AlignedArray& other) : AlignedArray(other.size_) {
    std::copy_n(other.data(), size_, data_.get());
  }
  AlignedArray(AlignedArray&&) noexcept = default;
  AlignedArray& operator=(AlignedArray other) noexcept {
    std::swap(size_, other.size_);
    data_.swap(other.data_);
    return *this;
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace articula
