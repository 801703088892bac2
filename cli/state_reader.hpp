// States as they come in, whatever the form: checked one by one, given on in stretches. Internal to cli/states*.
#pragma once

#include <future>
#include <set>
#include <string>

#include "articula/simulation/recording_arrays.hpp"
#include "cli/input.hpp"
#include "cli/states.hpp"

namespace articula::cli {

class StateReader {
 public:
  StateReader(std::string file, const Model& model, const Needs& needs, const StateReading& reading,
              std::size_t at_once, const UseStates& use);

  /// The number of the first one, for messages.
  void begin_at(std::size_t index) { index_ = index; }
  /// The one that comes next, with nothing in it; the room of older ones is used again.
  State& next();
  /// next() has all its vectors: checks them together, and gives a full stretch on, to be used while the next is read.
  void take();
  /// A state as JSON, checked: InputError names its index, the vector and the sizes.
  void read(const nlohmann::json& entry);
  /// Waits for what is in use; throws what went wrong there.
  void settle();
  /// Gives on what is left.
  void finish();

  /// Once for each key, up to ten: a misspelt one must not pass in silence.
  void note_unread(const std::string& key, const std::string& place);
  template <class... A>
  [[noreturn]] void fail(fmt::format_string<A...> text, A&&... a) const {
    fail_with(fmt::format(text, std::forward<A>(a)...));
  }
  const std::string& file() const { return file_; }
  std::size_t size_of(Input input) const { return articula::size_of(model_, input); }
  /// Whether a quantity uses it.
  bool needed(int input) const { return !needs_[input].empty(); }
  std::string expected_size(Input input) const;
  [[noreturn]] void missing(Input input) const;

 private:
  [[noreturn]] void fail_with(const std::string& text) const;
  std::vector<double> numbers(const nlohmann::json& value, const std::string& name, std::size_t size,
                              const std::string& needs) const;
  void read_wrenches(const nlohmann::json& value, State& state) const;

  std::string file_;
  const Model& model_;
  const Needs& needs_;
  const StateReading& reading_;
  const UseStates& use_;
  std::vector<State> stretch_, given_;  // being read; in use
  std::size_t count_ = 0, index_ = 0;   // in the stretch; of all
  std::set<std::string> noted_;
  std::future<void> busy_;  // the last one, so that what it uses outlives it
};

/// Bytes from outside through a window, which the readers of text share.
class Bytes {
 public:
  Bytes(const std::string& path, std::string what) : pieces_(path, std::move(what)), window_(1 << 18) {}
  const char *at = nullptr, *end = nullptr;
  /// Widens the window, or moves it on if all of it is read. False: at the end, or too wide.
  bool more();

 private:
  Pieces pieces_;
  std::vector<char> window_;
};

/// JSON: {"states": [..]}, one state, or one state per line.
void read_json_states(Bytes& bytes, StateReader& reader);
/// .npz, .npy and HDF5: arrays q, v, .. of (states, numbers). Files that begin so:
bool holds_array_states(std::string_view begin);
class ArrayStates {
 public:
  ArrayStates(const std::string& path, const StateReader& reader);
  std::size_t size() const { return size_; }
  void read(std::size_t first, std::size_t count, StateReader& reader);

 private:
  /// The array of one vector.
  struct Rows {
    Input input;
    std::size_t width, at;          // numbers per state; of the first row in the file
    std::vector<double> numbers{};  // of some states
  };
  void find_rows(const StateReader& reader);
  void take_row(std::size_t row, StateReader& reader) const;

  recording_files::ArrayFile file_;
  std::vector<Rows> all_;
  std::size_t size_ = 0;
};

}  // namespace articula::cli
