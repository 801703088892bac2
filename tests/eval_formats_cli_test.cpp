// articula eval as a stream: states and results as JSON, lines, .npz, .npy and HDF5, in memory that does not grow.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <sys/resource.h>

#include <cstring>

#include "articula/simulation/recording.hpp"
#include "articula/simulation/recording_arrays.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/slowness.hpp"

namespace articula::testing {
namespace {

class EvalFormats : public CommandLine {
 protected:
  static std::string state(int i) {
    return R"({"q": [)" + std::to_string(0.1 * i) + R"(, -1e-3], "v": [2, -0], "tau": [0.5, 1E1]})";
  }
  static std::string lines(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += state(i) + "\n";
    return out;
  }
  static std::string list(int count) {
    std::string out = "{\"states\": [";
    for (int i = 0; i < count; ++i) out += (i ? ",\n" : "") + state(i);
    return out + "]}";
  }
  static std::vector<double> numbers(const std::string& file, const std::string& name,
                                     std::vector<std::size_t>& shape) {
    const recording_files::ArrayFile arrays(file, {});
    const auto place = arrays.arrays.at(name);
    std::vector<double> out(place.count);
    arrays.bytes->read(place.at, {reinterpret_cast<char*>(out.data()), out.size() * sizeof(double)});
    shape = place.shape;
    return out;
  }
  /// An archive as numpy.savez writes it: sizes in 64 bits, behind the name.
  static std::string numpy_archive(const std::string& name, const std::string& npy) {
    std::string out("PK\x03\x04\x2d\0\0\0\0\0\0\0\x21\0", 14);
    const auto put = [&](std::uint64_t x, int bytes) {
      for (; bytes > 0; --bytes, x >>= 8) out += static_cast<char>(x & 0xff);
    };
    put(recording_files::crc32(npy), 4), put(0xffffffff, 4), put(0xffffffff, 4), put(name.size(), 2),
        put(20, 2);
    out += name;
    put(1, 2), put(16, 2), put(npy.size(), 8), put(npy.size(), 8);
    return out + npy;
  }
  static std::string npy(const std::vector<std::size_t>& shape, const std::vector<double>& x) {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
    for (const std::size_t n : shape) header += std::to_string(n) + ",";
    header += ")}";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\0\x76\0", 10) + header + "\n" +
           std::string(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double));
  }
  const Words quantities{"eval", "double_pendulum", "forward_dynamics", "kinetic_energy", "mass_matrix"};
  Words with(const Words& more) const {
    Words out = quantities;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
};

TEST_F(EvalFormats, LinesAreStates) {
  const Ran one = run(quantities, list(40)), other = run(quantities, lines(40));
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(other.out, one.out);
  const Ran each = run(with({"--format", "ndjson"}), list(40));
  EXPECT_EQ(each.code, 0) << each.err;
  const Json results = Json::parse(one.out)["results"];
  std::istringstream text(each.out);
  std::string line;
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(std::getline(text, line)) << i;
    EXPECT_EQ(Json::parse(line), results[i]);
  }
  EXPECT_FALSE(std::getline(text, line));
}

TEST_F(EvalFormats, FaultsAreNamedWhereverTheyAre) {
  const auto after = [](const std::string& end) { return lines(20) + end; };
  expect_failure(2, quantities, after("{\"q\": [1, x]}\n"),
                 {"<stdin>: not JSON: parse error at line 21, column 11: "});
  expect_failure(2, quantities, after("{\"q\": [1, 2], \"v\": [1]"),
                 {"line 21, column 23", "unexpected end of input"});
  expect_failure(2, quantities, after("7 "), {"line 21, column 1: ", "expected end of input"});
  expect_failure(2, quantities, after("7\n"), {"line 21, column 0: ", "expected end of input"});
  expect_failure(2, quantities, after("{\"q\": [1, 2]}\n"), {"state 20: v is missing"});
  expect_failure(2, quantities, after("{\"q\": [1, 2, 3]}\n"), {"state 20: q has 3 numbers", "nq = 2"});
  expect_failure(2, quantities, after("{\"q\": [1, 2], \"q\": [1, 2]}\n"), {"key \"q\" appears twice"});
  std::string cut = list(20);
  for (const char* wrong : {"01", "1.", ".5", "-", "1e", "+1", "0x1", "inf", "1.e3"}) {
    const std::string with_it = cut.substr(0, cut.size() - 2) + R"(, {"q": [0, )" + wrong + "]}]}";
    expect_failure(2, quantities, with_it, {"not JSON: ", "line 20, column "});
  }
  expect_failure(2, quantities, cut.substr(0, cut.size() - 2) + ", ]}", {"line 20"});
  expect_failure(2, with({"--out", path("r.json")}), cut.substr(0, cut.size() - 9), {"not JSON"});
  expect_failure(2, with({"--out", path("r.npz")}), after("{}"), {"state 20: q is missing"});
  EXPECT_FALSE(fs::exists(path("r.json")) || fs::exists(path("r.npz")));
}

TEST_F(EvalFormats, ArraysComeBack) {
  const Json results = json(quantities, list(600))["results"];
  for (const std::string name : {"r.npz", "r.h5"}) {
    SCOPED_TRACE(name);
    const Ran ran = run(with({"linearized_forward", "--out", path(name)}), list(600));
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::vector<std::size_t> shape;
    const auto a = numbers(path(name), "forward_dynamics", shape),
               m = numbers(path(name), "mass_matrix", shape);
    if (name == "r.npz") EXPECT_EQ(shape, (std::vector<std::size_t>{600, 2, 2}));
    const auto energy = numbers(path(name), "kinetic_energy", shape);
    ASSERT_EQ(a.size(), 1200u);
    ASSERT_EQ(m.size(), 2400u);
    ASSERT_EQ(energy.size(), 600u);
    EXPECT_EQ(numbers(path(name), "linearized_forward.dtau", shape).size(), 2400u);
    for (std::size_t i = 0; i < 600; ++i) {
      EXPECT_EQ(a[2 * i + 1], results[i]["forward_dynamics"][1].get<double>()) << i;
      EXPECT_EQ(m[4 * i + 2], results[i]["mass_matrix"][1][0].get<double>()) << i;
      EXPECT_EQ(energy[i], results[i]["kinetic_energy"].get<double>()) << i;
    }
  }
}

/// What simulate recorded is what eval finds at the recorded states.
TEST_F(EvalFormats, RecordingsAreStates) {
  for (const std::string name : {"m.npz", "m.h5"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(run({"simulate", "double_pendulum", "--duration", "1", "--out", path(name)}).code, 0);
    const Recording recording = read_recording(path(name), format_of(name));
    const auto energy = recording.values(recording.find("potential_energy"));
    const Ran ran = run({"eval", "double_pendulum", "potential_energy", "--states", path(name)});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find("of its arrays some are not read: "), std::string::npos) << ran.err;
    const Json results = Json::parse(ran.out)["results"];
    ASSERT_EQ(results.size(), energy.size());
    for (std::size_t i = 0; i < energy.size(); ++i)
      EXPECT_NEAR(results[i]["potential_energy"].get<double>(), energy[i], 1e-12) << i;
  }
}

TEST_F(EvalFormats, NumpyFiles) {
  const Words gravity{"eval", "double_pendulum", "gravity_forces", "--states"};
  const auto of = [&](const std::string& file) {
    Words out = gravity;
    out.push_back(file);
    return out;
  };
  const std::vector<double> q{0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  const std::string expected = run({"eval", "double_pendulum", "gravity_forces"},
                                   R"({"states": [{"q": [0.1, 0.2]}, {"q": [0.3, 0.4]}, {"q": [0.5, 0.6]}]})")
                                   .out;
  const std::string whole = numpy_archive("q.npy", npy({3, 2}, q));
  for (const std::string& bytes : {npy({3, 2}, q), whole}) {
    const Ran ran = run(of(write("q", bytes)));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, expected);
  }
  expect_failure(2, of(write("q", npy({2, 3}, q))), "", {"array q has the shape (2, 3)", "nq = 2"});
  expect_failure(2, of(write("q", npy({4, 2}, q))), "", {"array 'q' has another size"});
  expect_failure(2, of(write("q", npy({3, 2}, {0, 0, 0, INFINITY, 0, 0}))), "", {"state 1: q[1] is inf"});
  expect_failure(2, of(write("v", numpy_archive("v.npy", npy({3, 2}, q)))), "",
                 {"q is missing; gravity_forces uses it"});
  expect_failure(2, {"eval", "double_pendulum", "gravity_forces"}, whole,
                 {"<stdin>: is a NumPy or HDF5 file"});
  for (std::size_t i = 0; i < whole.size(); i += 3) {  // damaged: no crash, an exit code of ours
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    EXPECT_LE(static_cast<unsigned>(run(of(write("d", damaged))).code), 2u) << i;
    expect_failure(2, of(write("d", whole.substr(0, i + 1))), "", {"articula: "});
  }
}

/// HDF5 from elsewhere, which libhdf5 reads in a process of its own: a file of ours without the block that says so.
TEST_F(EvalFormats, ForeignHdf5) {
  ASSERT_EQ(run({"simulate", "double_pendulum", "--duration", "0.2", "--out", path("m.h5")}).code, 0);
  const std::string ours = recording_files::read_bytes(path("m.h5")),
                    foreign = ours.substr(ours.find("\x89HDF"));
  const auto of = [&](const std::string& file) {
    return Words{"eval", "double_pendulum", "bias_forces", "--states", file};
  };
  const Ran ran = run(of(write("foreign.h5", foreign)));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, run(of(path("m.h5"))).out);
  EXPECT_NE(ran.err.find("some are not read: "), std::string::npos) << ran.err;
  expect_failure(2, of(write("d.h5", foreign.substr(0, foreign.size() / 2))), "", {"d.h5", "damaged"});
  for (std::size_t i = 0; i < 4000; i += 37) {  // no crash, no hang, an exit code of ours
    std::string damaged = foreign;
    for (std::size_t k = i; k < std::min(i + 2, damaged.size()); ++k)
      damaged[k] = static_cast<char>(damaged[k] ^ 0x55);
    EXPECT_LE(static_cast<unsigned>(run(of(write("d.h5", damaged))).code), 2u) << i;
  }
}

/// 1.6 kB per state it was: 200 000 of them would take 320 MB.
TEST_F(EvalFormats, MemoryDoesNotGrow) {
  constexpr long most = 100'000;  // kB
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  if (used.ru_maxrss >= most) GTEST_SKIP() << "a larger program has run before this test: run it by itself";
  if (slowness > 1) GTEST_SKIP() << "sanitizers take memory of their own";
  {
    std::ofstream out(path("many.json"));
    out << "{\"states\": [" << state(0);
    for (int i = 1; i < 200'000; ++i) out << ",\n" << state(i);
    out << "]}";
  }
  for (const char* name : {"r.json", "r.ndjson", "r.npz", "r.h5"}) {
    const Ran ran = shell(quoted(ARTICULA_PROGRAM) +
                          " eval double_pendulum forward_dynamics --states many.json --out " + name);
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  getrusage(RUSAGE_CHILDREN, &used);  // of the largest
  EXPECT_LT(used.ru_maxrss, most);
  EXPECT_EQ(fs::file_size(path("r.npz")) / 1000, 200'000 * 16 / 1000);
}

}  // namespace
}  // namespace articula::testing

#endif
