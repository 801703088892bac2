#include "cli/eval_arrays.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace articula::cli {

ArrayResults::ArrayResults(const std::string& out, FileFormat format, std::span<const Quantity> quantities)
    : path_(out), out_(out), format_(format) {
  for (const Quantity& q : quantities)
    for (const Quantity::Part& part : q.parts)
      columns_.push_back({q.parts.size() == 1 ? q.name : q.name + "." + part.key, part.shape,
                          Spool(Spool::folder_for(out))});
}
void ArrayResults::add(std::span<const Result> state) {
  std::size_t column = 0;
  for (const Result& result : state)
    for (std::size_t i = 0; i < result.quantity->parts.size(); ++i)
      columns_[column++].spool.add(result.part(i));
  ++states_;
}
void ArrayResults::finish() {
  const auto for_each = [&](const recording_files::UseArray& use) {
    for (Column& column : columns_) {
      recording_files::Array array{.name = column.name, .shape = {states_}};
      array.shape.insert(array.shape.end(), column.shape.begin(), column.shape.end());
      array.pieces = [&](const auto& use_numbers) { column.spool.for_each_piece(use_numbers); };
      use(array);
    }
  };
  write_arrays(path_, format_, for_each, out_);
  out_.finish();
}

void BlockResults::add(std::span<const Result> state) {
  static_assert(std::endian::native == std::endian::little);
  for (const Result& result : state)
    for (std::size_t i = 0; i < result.quantity->parts.size(); ++i) {
      const auto x = result.part(i);
      bytes.append(reinterpret_cast<const char*>(x.data()), x.size_bytes());
    }
}

namespace {
[[noreturn]] void damaged() {
  throw ComputationError("a block does not have the results that run.json says: files of another run?");
}
}  // namespace

void add_block(std::string_view bytes, std::size_t count, std::span<const Quantity> quantities,
               Results& results) {
  std::size_t width = 0, parts = 0;
  for (const Quantity& q : quantities)
    for (const Quantity::Part& part : q.parts) width += part.size(), ++parts;
  if (bytes.size() % (sizeof(double) * std::max<std::size_t>(1, width)) != 0 ||
      (width > 0 && bytes.size() / sizeof(double) / width != count))
    damaged();
  std::vector<double> row(width);
  std::vector<std::span<double>> arrays;
  arrays.reserve(parts);
  std::vector<Result> state;
  std::size_t at = 0;
  for (const Quantity& q : quantities) {
    const std::size_t first = arrays.size();
    for (const Quantity::Part& part : q.parts)
      arrays.push_back(std::span(row).subspan(at, part.size())), at += part.size();
    state.push_back({&q, std::span(arrays).subspan(first), 0});
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(row.data(), bytes.data() + i * width * sizeof(double), width * sizeof(double));
    // eval writes no other numbers.
    if (!std::ranges::all_of(row, [](double x) { return std::isfinite(x); })) damaged();
    results.add(state);
  }
}

}  // namespace articula::cli
