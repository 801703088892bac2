// A file to which whole blocks of text are appended, each with its checksum, so that whatever ends the program leaves
// every block before readable.
//
//   # block 12 failed 0 bytes 4711 crc32 89abcdef
//   (4711 bytes)
//
// The checksum is that of the line up to itself and of the text. No line of a block begins with #.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "articula/error.hpp"

namespace articula {

/// A block that is in a file.
struct Block {
  std::uint64_t number = 0, failed = 0;  // failed: how many of its rows tell of a failure
  std::uint64_t at = 0, bytes = 0;       // of its text
  std::uint32_t crc = 0;
};

/// Goes over the blocks of a file that another program may be writing.
class BlockReader {
 public:
  /// Begins where an earlier reader came to an end. Throws Error where there is no such file.
  explicit BlockReader(const std::string& path, std::uint64_t from = 0);
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  /// Blocks since the last call that are whole, by their sizes; what is damaged between them is passed over.
  std::vector<Block> more();
  /// Where the last of them ends.
  std::uint64_t end() const { return end_; }
  /// False: what is there has another checksum.
  bool read(const Block& block, std::string& text) const;
  bool is_sound(const Block& block) const;

 private:
  /// False: there is no header. `next`: where the block ends.
  bool header_at(std::uint64_t at, Block& block, std::uint64_t& next) const;

  std::string path_;
  int fd_;
  std::uint64_t end_ = 0;
};

/// The one writer of such a file.
class BlockWriter {
 public:
  /// Takes it, or makes it; what follows the last whole block is cut off. ArgumentError if another process has it.
  explicit BlockWriter(const std::string& path);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  /// Sound blocks that were there.
  const std::vector<Block>& blocks() const { return blocks_; }
  /// The block is on the disk when synchronise() returns, which may be called on another thread. Both throw Error if it
  /// cannot be written; the file ends before it, then.
  void write(std::uint64_t number, std::uint64_t failed, std::string_view text);
  void synchronise();
  void append(std::uint64_t number, std::uint64_t failed, std::string_view text) {
    write(number, failed, text);
    synchronise();
  }

 private:
  [[noreturn]] void undo();

  std::string path_;
  int fd_;
  std::uint64_t end_ = 0;  // of what is on the disk
  Block written_;          // what follows it
  std::vector<Block> blocks_;
};

/// Writes a file under another name first: there is the old one or the new one, whole. Throws Error.
void replace_file(const std::string& path, std::string_view text, bool lasting = true);
/// Makes a file, whole, unless there is one: then false. `lasting`: it is on the disk when this returns. Throws Error.
bool create_file(const std::string& path, std::string_view text, bool lasting = true);
/// Whether the file that is open is the one that the path names now.
bool is_open_at(int fd, const std::string& path);

}  // namespace articula
