// Recordings: names and units, files that give back the same bits, files that are damaged.
#include "articula/simulation/recording.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "tests/support/cases.hpp"
#include "tests/support/motions.hpp"

namespace articula::testing {
namespace {

namespace fs = std::filesystem;

class Recordings : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("articula_recording_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

Recording example() {
  const Start start = quadruped_in_flight();
  Simulator sim(start.model, Integrator::rk45);
  sim.q = start.q, sim.v = start.v;
  Recorder recorder(sim);
  Recording r;
  r.columns = recorder.columns();
  r.about = {{"model", "quadruped"}, {"note", "ä, \"quoted\""}};
  std::vector<double> row(r.columns.size());
  for (int i = 0; i <= 20; ++i) {
    if (i) sim.advance(i * 0.01);
    recorder.row(row);
    r.numbers.insert(r.numbers.end(), row.begin(), row.end());
  }
  return r;
}

TEST_F(Recordings, EveryFormatGivesBackTheSameBits) {
  Recording r = example();
  r.numbers[5] = -0.0, r.numbers[6] = 5e-324, r.numbers[7] = 1.7976931348623157e308;
  for (const char* name : {"a.csv", "a.npz", "a.h5"}) {
    const FileFormat format = format_of(name);
    write_recording(path(name), format, r);
    const Recording again = read_recording(path(name), format);
    ASSERT_EQ(again.columns.size(), r.columns.size()) << name;
    for (std::size_t i = 0; i < r.columns.size(); ++i) {
      EXPECT_EQ(again.columns[i].name, r.columns[i].name);
      if (format != FileFormat::csv) {
        EXPECT_EQ(again.columns[i].unit, r.columns[i].unit);
      }
    }
    ASSERT_EQ(again.numbers.size(), r.numbers.size());
    EXPECT_EQ(std::memcmp(again.numbers.data(), r.numbers.data(), r.numbers.size() * sizeof(double)), 0)
        << name;
    if (format != FileFormat::csv) {
      EXPECT_EQ(again.about, r.about);
    }
  }
  // No rows at all is a recording too.
  r.numbers.clear();
  for (const char* name : {"b.csv", "b.npz", "b.h5"}) {
    write_recording(path(name), format_of(name), r);
    EXPECT_EQ(read_recording(path(name), format_of(name)).size(), 0u) << name;
  }
}

TEST_F(Recordings, NamesAndUnitsOfEveryJointKind) {
  for_each_case([&](const Case& c) {
    Simulator sim(c.model);
    Recorder recorder(sim);
    EXPECT_EQ(int(coordinate_columns(c.model).size()), c.model.nq());
    EXPECT_EQ(int(velocity_columns(c.model).size()), c.model.nv());
    EXPECT_EQ(recorder.columns()[0].name, "time");
    std::vector<double> row(recorder.columns().size());
    sim.q = c.state.q, sim.v = c.state.v;
    recorder.row(row);
    // Back into another simulator, to the last bit.
    Simulator other(c.model);
    Recorder of_other(other);
    of_other.restore(row, row);
    EXPECT_EQ(other.q, sim.q);
    EXPECT_EQ(other.v, sim.v);
  });
  const auto columns = coordinate_columns(shipped("quadruped", {.base = Base::free}));
  EXPECT_EQ(columns[0].name, "q:root_joint.0");
  EXPECT_EQ(columns[0].unit, "1");
  EXPECT_EQ(columns[6].unit, "m");
  EXPECT_EQ(columns[7].unit, "rad");
}

TEST_F(Recordings, DamagedFilesAreReported) {
  const Recording r = example();
  for (const char* name : {"a.npz", "a.h5"}) {
    write_recording(path(name), format_of(name), r);
    const auto size = fs::file_size(path(name));
    fs::resize_file(path(name), size / 2);
    EXPECT_THROW(read_recording(path(name), format_of(name)), ArgumentError) << name;
    std::ofstream(path(name)) << "not that";
    EXPECT_THROW(read_recording(path(name), format_of(name)), ArgumentError) << name;
    EXPECT_THROW(read_recording(path("absent") + name, format_of(name)), ArgumentError);
  }
  {  // a flipped bit of an archive is found by its checksum
    write_recording(path("c.npz"), FileFormat::npz, r);
    std::fstream f(path("c.npz"), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(1000);
    f.put('\x55');
  }
  EXPECT_THROW(read_recording(path("c.npz"), FileFormat::npz), ArgumentError);
  // Any bit of an HDF5 file, and any length.
  write_recording(path("c.h5"), FileFormat::hdf5, r);
  std::string whole;
  {
    std::ifstream in(path("c.h5"), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole;
    const std::size_t at = i < 100 ? std::size_t(i) : random() % whole.size();
    if (i % 3 == 0)
      damaged.resize(at);
    else
      damaged[at] = char(damaged[at] ^ (1 << random() % 8));
    std::ofstream(path("d.h5"), std::ios::binary) << damaged;
    EXPECT_THROW(read_recording(path("d.h5"), FileFormat::hdf5), ArgumentError) << at;
  }
  const auto csv = [&](const std::string& text) {
    std::ofstream(path("x.csv")) << text;
    return read_recording(path("x.csv"), FileFormat::csv);
  };
  EXPECT_EQ(csv("time,a\n0,1\n1,2\n2,").size(), 2u);  // an unfinished line is left out
  EXPECT_EQ(csv("time, a\r\n0, 1\r\n").columns[1].name, "a");
  EXPECT_THROW(csv(""), ArgumentError);
  EXPECT_THROW(csv("a,time\n0,1\n"), ArgumentError);
  EXPECT_THROW(csv("time,a\n0\n"), ArgumentError);
  EXPECT_THROW(csv("time,a\n0,1,2\n"), ArgumentError);
  EXPECT_THROW(csv("time,a\n0,one\n"), ArgumentError);
  EXPECT_EQ(csv("time,\"a,\"\"b\"\n0,1\n").columns[1].name, "a,\"b");
  const Recording two = csv("# units: s,rad\ntime,\" a\nb\"\n0,1\n2,3\n");
  EXPECT_EQ(two.columns[1].name, " a\nb");
  EXPECT_EQ(two.columns[1].unit, "rad");
  EXPECT_EQ(two.size(), 2u);
  EXPECT_THROW(csv("time,\"a\n0,1\n"), ArgumentError);
  for (const FileFormat f : {FileFormat::csv, FileFormat::npz, FileFormat::hdf5}) {
    if (fs::exists("/dev/full")) {
      EXPECT_THROW(write_recording("/dev/full", f, r), Error);
    }
  }
  EXPECT_THROW(write_recording(path("no/such/folder.h5"), FileFormat::hdf5, r), Error);
}

}  // namespace
}  // namespace articula::testing
