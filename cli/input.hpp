// Input files, read whole or piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace articula::cli {

/// A file, or stdin for `-`, piece by piece. `what` names it in the InputError that is thrown if it cannot be read.
class Pieces {
 public:
  Pieces(const std::string& path, std::string what);
  ~Pieces();
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  /// How many bytes came; none: the end.
  std::size_t read(char* to, std::size_t room);

 private:
  [[noreturn]] void refuse() const;
  std::string what_;
  int fd_;
};

/// The content of a file, or of stdin for `-`. `what`: as of Pieces.
std::string read_all(const std::string& path, const std::string& what);

/// What read_all("-", ..) will give.
std::string_view look_ahead();

}  // namespace articula::cli
