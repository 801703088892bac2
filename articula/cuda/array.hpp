// An array in a GPU's memory, and one in memory of the host that the GPU copies from and to by itself.
#pragma once

#include <memory>
#include <span>

#include "articula/cuda/driver.hpp"

namespace articula::cuda {

/// Throws DeviceError where the GPU's memory is used up. Copies wait for the stream.
template <class T>
class Array {
 public:
  Array() = default;
  Array(std::shared_ptr<const Context> context, std::size_t size);
  Array(int device, std::size_t size) : Array(std::make_shared<const Context>(device), size) {}
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(context_, other.context_), std::swap(at_, other.at_), std::swap(size_, other.size_);
    return *this;
  }
  ~Array();
  T* data() const { return reinterpret_cast<T*>(at_); }
  std::size_t size() const { return size_; }
  /// Addresses on the GPU, as Batch takes them; nothing for the host to read.
  operator std::span<const T>() const { return {data(), size_}; }
  operator std::span<T>() { return {data(), size_}; }
  void upload(std::span<const T> from, Handle stream = nullptr);
  void download(std::span<T> to, Handle stream = nullptr) const;

 private:
  std::shared_ptr<const Context> context_;
  Address at_ = 0;
  std::size_t size_ = 0;
};

template <class T>
Array<T>::Array(std::shared_ptr<const Context> context, std::size_t size)
    : context_(std::move(context)), size_(size) {
  const Use use(*context_);
  if (size > 0)
    driver().check(driver().MemAlloc(&at_, size * sizeof(T)),
                   "make room for " + std::to_string(size * sizeof(T)) + " bytes on the GPU");
}
template <class T>
Array<T>::~Array() {
  if (!at_) return;
  Handle before;
  driver().CtxPushCurrent(context_->handle());
  driver().MemFree(at_);
  driver().CtxPopCurrent(&before);
}
template <class T>
void Array<T>::upload(std::span<const T> from, Handle stream) {
  if (from.empty()) return;
  const Use use(*context_);
  driver().check(driver().MemcpyHtoDAsync(at_, from.data(), from.size_bytes(), stream), "copy to the GPU");
  driver().check(driver().StreamSynchronize(stream), "copy to the GPU");
}
template <class T>
void Array<T>::download(std::span<T> to, Handle stream) const {
  if (to.empty()) return;
  const Use use(*context_);
  driver().check(driver().MemcpyDtoHAsync(to.data(), at_, to.size_bytes(), stream), "copy from the GPU");
  driver().check(driver().StreamSynchronize(stream), "copy from the GPU");
}

}  // namespace articula::cuda
