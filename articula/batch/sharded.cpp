#include "articula/batch/sharded.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <random>
#include <set>
#include <system_error>
#include <thread>

namespace articula {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }
double changed(const struct stat& file) {
  return double(file.st_mtim.tv_sec) + 1e-9 * double(file.st_mtim.tv_nsec);
}
std::string this_host() {
  char host[64] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

/// Who is at which block. A claim is made by one process only, as a link; it is its owner's as long as it changes at
/// least once in a lease, by the clock of the file system. Two owners of a block do no harm: both make the same bits.
class Claims {
 public:
  Claims(const std::string& folder, std::uint64_t shard, double lease)
      : folder_(path_in(folder, "claims")),
        clock_(path_in(folder_, fmt::format("shard-{:06}", shard))),
        text_(fmt::format("shard {} {} {}\n", shard, this_host(), getpid())),
        lease_(lease) {
    std::error_code failed;
    if (!fs::create_directory(folder_, failed) && failed)
      throw Error(fmt::format("{} cannot be made ({})", folder_, failed.message()));
    replace_file(clock_, text_, false);
  }
  /// `again`: it was somebody's, whose lease is over. False: somebody is at it.
  bool take(std::uint64_t block, bool& again) {
    again = false;
    const std::string path = path_of(block);
    if (access(path.c_str(), F_OK) != 0 && create_file(path, text_, false)) return true;
    struct stat file {};
    if (stat(path.c_str(), &file) != 0 || now() - changed(file) < lease_) return false;
    replace_file(path, text_, false);
    return again = true;
  }
  void release(std::uint64_t block) { unlink(path_of(block).c_str()); }
  /// Now and then, while at work.
  void keep(std::uint64_t block) {
    if (seconds_since(kept_) < lease_ / 4) return;
    kept_ = Clock::now();
    utimensat(AT_FDCWD, path_of(block).c_str(), nullptr, 0);
  }

 private:
  std::string path_of(std::uint64_t block) const { return path_in(folder_, fmt::format("{:09}", block)); }
  /// The file system's clock, which may not be this machine's.
  double now() const {
    struct stat file {};
    utimensat(AT_FDCWD, clock_.c_str(), nullptr, 0);
    if (stat(clock_.c_str(), &file) == 0) return changed(file);
    return double(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
  }
  std::string folder_, clock_, text_;
  double lease_;
  Clock::time_point kept_ = Clock::now();
};

/// Which blocks are done, as far as the files of all shards say.
class Survey {
 public:
  Survey(const std::string& folder, const RunManifest& run)
      : folder_(folder), ending_(run.ending()), read_(run.shards), done_(run.blocks()) {}
  bool is_done(std::uint64_t block) const { return done_[block]; }
  void set_done(std::uint64_t block) { done_[block] = true; }
  void look_at(std::uint64_t shard) {
    const std::string path = shard_file(folder_, shard, ending_);
    struct stat file {};
    if (shard >= read_.size() || stat(path.c_str(), &file) != 0 ||
        std::uint64_t(file.st_size) <= read_[shard])
      return;
    BlockReader reader(path, read_[shard]);
    for (const Block& block : reader.more())
      if (block.number < done_.size() && reader.is_sound(block)) done_[block.number] = true;
    read_[shard] = reader.end();
  }
  void look_at_all() {
    for (std::uint64_t shard = 0; shard < read_.size(); ++shard) look_at(shard);
  }
  std::uint64_t shards() const { return read_.size(); }

 private:
  std::string folder_, ending_;
  std::vector<std::uint64_t> read_;
  std::vector<bool> done_;
};

class ShardRun {
 public:
  ShardRun(const std::string& folder, const ShardedWork& work, const RunManifest& run, const Shard& shard,
           const ShardOptions& options)
      : folder_(folder),
        work_(work),
        run_(run),
        options_(options),
        index_(shard.index),
        writer_(shard_file(folder, shard.index, run.ending())),
        begin_(run.first_of(shard.index)),
        end_(run.first_of(shard.index + 1)) {
    note_.rows = run_.rows_of_shard(index_), note_.shard = index_, note_.host = this_host(),
    note_.process = getpid();
    for (const Block& block : writer_.blocks()) count(block.number, block.failed);
    out_.rows = note_.rows, out_.rows_before = note_.rows_done;
    if (options.steal) claims_.emplace(folder, index_, options.lease), survey_.emplace(folder, run);
  }

  ShardOutcome run() {
    try {
      say("running", true);
      for (std::uint64_t b = begin_; b < end_ && !stopped(); ++b) own(b);
      finish_writing();
      if (claims_) steal();
      out_.stopped = stopped();
      say(out_.stopped ? "stopped" : "done", true);
    } catch (...) {
      try {
        say("failed", true);
      } catch (const Error&) {  // the first error is the one to be told
      }
      throw;
    }
    out_.failed = note_.failed, out_.stolen = note_.stolen;
    return out_;
  }

 private:
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }
  bool is_own(std::uint64_t block) const { return block >= begin_ && block < end_; }
  /// A claim to another shard's block stays, to tell other thieves.
  void release(std::uint64_t block) {
    if (claims_ && is_own(block)) claims_->release(block);
  }
  void count(std::uint64_t block, std::uint64_t failed) {
    if (block >= run_.blocks() || !made_.insert(block).second) return;
    (is_own(block) ? note_.rows_done : note_.stolen) += run_.rows_of(block);
    note_.failed += failed;
  }
  /// The block is on the disk when the next one is written, or finish_writing() returns: a disk takes its time to
  /// synchronise, in which the next block is computed.
  void make(std::uint64_t block) {
    std::uint64_t failed = 0;
    std::string text = work_.make(block * run_.block, run_.rows_of(block), failed, [&](std::uint64_t rows) {
      if (claims_) claims_->keep(block);
      now_ = rows;
      say("running", false);
    });
    now_ = 0;
    finish_writing();
    if (stopped()) return release(block);
    written_ = block, written_failed_ = failed;
    writer_.write(block, failed, text);
    // Deferred where there is no thread to be had. The function owns nothing: after a thread that could not be made,
    // libstdc++ goes on with what it has already moved from.
    writing_ = std::async(std::launch::async | std::launch::deferred, [this] {
      writer_.synchronise();
      release(written_);
    });
  }
  void finish_writing() {
    if (!writing_.valid()) return;
    writing_.get();
    count(written_, written_failed_);
    made_here_ += run_.rows_of(written_);
    say("running", false);
  }
  void own(std::uint64_t block) {
    bool again = false;
    if (made_.contains(block) || (claims_ && (survey_->is_done(block) || !claims_->take(block, again))))
      return;
    if (again) survey_->look_at_all();  // a thief may have done it long ago
    if (again && survey_->is_done(block)) return;
    make(block);
  }

  /// Blocks of others, from the end of their parts, where they come last themselves; each thief begins elsewhere.
  void steal() {
    Survey& survey = *survey_;
    for (const std::uint64_t block : made_) survey.set_done(block);
    std::minstd_rand random(unsigned(index_ + 1));
    for (int turn = 0; !stopped(); ++turn) {
      const double wait = std::min({0.05 * std::exp2(std::min(turn, 10)), 2.0, options_.lease / 4});
      survey.look_at_all();
      bool all_done = true, took = false;
      for (std::uint64_t i = 0; i < run_.shards && !stopped(); ++i) {
        const std::uint64_t victim = (index_ + i) % run_.shards;
        for (std::uint64_t b = run_.first_of(victim + 1); b-- > run_.first_of(victim) && !stopped();) {
          if (survey.is_done(b)) continue;
          all_done = false;
          bool again = false;
          if (!claims_->take(b, again)) continue;
          again ? survey.look_at_all() : survey.look_at(victim);  // meanwhile it may have been done
          took = true;
          if (!survey.is_done(b)) make(b), finish_writing();
          if (made_.contains(b)) survey.set_done(b);
          release(b);
        }
      }
      if (all_done) return;
      if (took) {
        turn = -1;  // begins anew
        continue;
      }
      say("running", false);
      const double seconds = wait * (0.5 + double(random() % 1000) / 1000);
      for (const auto begin = Clock::now(); seconds_since(begin) < seconds && !stopped();)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  void say(const char* state, bool now) {
    if (options_.told) options_.told(std::min(note_.rows, note_.rows_done + now_), note_.rows);
    // Ten thousand shards that say something every second keep a file system busy with nothing else.
    if (!now && seconds_since(said_) < std::max(1.0, 1e-3 * double(run_.shards))) return;
    said_ = Clock::now();
    note_.state = state;
    note_.seconds = seconds_since(started_);
    note_.rows_per_second = double(made_here_ + now_) / std::max(1e-3, note_.seconds);
    write_note(folder_, note_);
  }

  const std::string& folder_;
  const ShardedWork& work_;
  const RunManifest& run_;
  const ShardOptions& options_;
  std::uint64_t index_;
  BlockWriter writer_;
  std::uint64_t begin_, end_, made_here_ = 0, now_ = 0;
  std::set<std::uint64_t> made_;
  std::optional<Claims> claims_;
  std::optional<Survey> survey_;
  ShardNote note_;
  ShardOutcome out_;
  Clock::time_point started_ = Clock::now(), said_ = started_;
  std::uint64_t written_ = 0, written_failed_ = 0;  // the block that is being written
  std::future<void> writing_;                       // the last member: what it uses outlives it
};

}  // namespace

ShardOutcome run_shard(const std::string& folder, const ShardedWork& work, const Shard& shard,
                       const ShardOptions& options) {
  if (shard.count == 0 || shard.index >= shard.count)
    throw ArgumentError(
        fmt::format("shard {}/{}: expected I/K with I from 0 to K - 1", shard.index, shard.count));
  const RunManifest run = enter_run(folder, work.run);
  // More shards than blocks: some have nothing to do, and touch nothing.
  if (run.first_of(shard.index) == run.first_of(shard.index + 1) && !options.steal) return {};
  return ShardRun(folder, work, run, shard, options).run();
}

}  // namespace articula
