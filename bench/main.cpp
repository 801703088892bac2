// articula_bench: every algorithm on robots and chains, beside the peers found on this machine; writes
// docs/performance.md.
#include <sched.h>

#include <ctime>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "articula/error.hpp"
#include "articula/kernels/instruction_set.hpp"
#include "bench/device.hpp"
#include "bench/page.hpp"
#include "bench/robot.hpp"

namespace articula::bench {

namespace {

cpu_set_t other_cores, one_core;

const std::vector<std::pair<std::string, decltype(&robots_section)>> sections{
    {"robots", robots_section},
    {"batch", batch_section},
    {"chains", chains_section},
    {"simulation", simulation_section},
    {"closed_chains", closed_chains_section},
    {"linearization", linearization_section},
    {"operational_space", operational_space_section},
    {"operators", operators_section},
};

constexpr const char* usage =
    R"(articula_bench [OPTION].. [MODEL.urdf | free:MODEL.urdf]..

Times every algorithm on the models (or the shipped arms, quadruped and humanoid) and on chains, beside the libraries
that CMake found and those given with --peer. Results are compared before they are timed; one that differs fails the run.
Prints Markdown.

  --peer FILE.so      a further library (bench/peer.hpp); may be repeated
  --no-peers          none of those that CMake found
  --only NAME,..      of the sections robots batch chains simulation closed_chains linearization operational_space operators
  --json FILE         all numbers
  --svg FOLDER        the pictures
  --performance FILE  the whole page, with the machine, the command and bench/performance_notes.md; pictures beside it
  --device cuda       on a GPU instead: states per second of each call, and the CPU's batch (docs/gpu.md)
  --variants          with --device: also other ways to compile the calls than the library's
  --effort X          times the usual time for each measurement
  --quick             a few calls each: shows that all of it works
  --help
)";

struct Arguments {
  Options options;
  std::vector<std::string> plugins, only;
  std::string json, svg, performance, command, device;
  double effort = 1;
  bool peers = true, variants = false;
};

[[noreturn]] void fail(const std::string& words) { throw std::runtime_error(words + "\n\n" + usage); }

Arguments parse(int argc, char** argv) {
  Arguments a;
  std::string& command = a.command = "build/articula_bench";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    // Folders of this machine mean nothing elsewhere.
    const auto bare = [](const std::string& path) {
      const bool free_base = path.starts_with("free:");
      return (free_base ? "free:" : "") + path.substr(path.find_last_of("/:") + 1);
    };
    command += " " + (word.starts_with("--") || word.starts_with("docs/") ? word : bare(word));
    const auto value = [&] {
      if (i + 1 >= argc) fail(word + " needs a value");
      const std::string given = argv[++i];
      command +=
          " " + (given.starts_with("docs") || given.find('/') == std::string::npos ? given : bare(given));
      return given;
    };
    if (word == "--help") {
      fmt::print("{}", usage);
      std::exit(0);
    } else if (word == "--peer")
      a.plugins.push_back(value());
    else if (word == "--no-peers")
      a.peers = false;
    else if (word == "--only") {
      std::stringstream names(value());
      for (std::string name; std::getline(names, name, ',');) {
        if (std::none_of(sections.begin(), sections.end(), [&](const auto& s) { return s.first == name; }))
          fail("--only: there is no section '" + name + "'");
        a.only.push_back(name);
      }
    } else if (word == "--json")
      a.json = value();
    else if (word == "--svg")
      a.svg = value();
    else if (word == "--performance")
      a.performance = value();
    else if (word == "--variants")
      a.variants = true;
    else if (word == "--device") {
      a.device = value();
      if (a.device != "cuda") fail("--device is '" + a.device + "', expected cuda");
    } else if (word == "--effort")
      a.effort = std::stod(value());
    else if (word == "--quick")
      a.options.quick = true;
    else if (word.starts_with("--"))
      fail("unknown option " + word);
    else
      a.options.robots.push_back(word);
  }
  if (a.options.robots.empty()) a.options.robots = shipped_robots();
  a.options.chains =
      a.options.quick ? std::vector{10, 100} : std::vector{10, 30, 100, 300, 1000, 10000, 100000};
  if (a.options.quick) a.options.effort = {2e-5, 1e-4};
  a.options.effort.total *= a.effort;
  return a;
}

nlohmann::json machine(const Peers& peers) {
  const std::time_t now = std::time(nullptr);
  char date[20];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  nlohmann::json names = nlohmann::json::array();
  for (const auto& peer : peers) names.push_back(peer->name());
  return {{"cpu", cpu_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"instruction_set", instruction_set()},
          {"compiler", ARTICULA_BENCH_COMPILER},
          {"flags", ARTICULA_BENCH_FLAGS},
          {"date", date},
          {"peers", names}};
}

std::string introduction(const nlohmann::json& machine, const std::string& command) {
  std::string peers;
  for (const auto& name : machine["peers"]) peers += (peers.empty() ? "" : ", ") + name.get<std::string>();
  const auto word = [&](const char* key) { return machine[key].get<std::string>(); };
  return fmt::format(
      "# Performance\n\n"
      "Written by `bench/` on {}; the section at the end is `bench/performance_notes.md`. To make it "
      "again:\n\n    {}\n\n"
      "- Machine: {}, {} cores, shared with other work. Kernels for x86-64-{}, chosen at run time. One core "
      "and one thread "
      "unless said.\n- Compiler: {}, `{}`.\n- Peers: {}. The same model (rotor inertia left out) and the "
      "same 16 states up to 3 rad from neutral, "
      "results compared before timing (more than 1e-8 apart is said below, more than 1e-4 ends the run "
      "without a "
      "page), the least processor time of many batches by turns. `make bench` installs "
      "those that Debian has, which are built for any x86-64 (no AVX); `bench/peer.hpp` says how to add "
      "another, built "
      "for this machine. Continuous joints are one angle for all, chains have every joint about z for peers, "
      "and a "
      "model with mimic joints races nobody.\n",
      word("date"), command, word("cpu"), machine["cores"].get<int>(), word("instruction_set"),
      word("compiler"), word("flags"), peers.empty() ? "none" : peers);
}

void write_file(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file);
}

std::string read_file(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int run(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  if (!a.device.empty()) return device_bench(a.options.robots, a.options.quick, a.variants);
  sched_getaffinity(0, sizeof other_cores, &other_cores);
  CPU_ZERO(&one_core);
  const int core = sched_getcpu();
  CPU_SET(core, &one_core);
  if (CPU_COUNT(&other_cores) > 1) CPU_CLR(core, &other_cores);
  stay_on_one_core();
  Peers peers;
  if (a.peers) peers = found_peers();
  for (const std::string& file : a.plugins) peers.push_back(plugin_peer(file));
  Page page;
  const nlohmann::json where = machine(peers);
  for (const auto& [name, section] : sections)
    if (a.only.empty() || std::find(a.only.begin(), a.only.end(), name) != a.only.end()) {
      const double seconds = seconds_of(
          [&, name = name, section = section](long) {
            try {
              section(a.options, peers, page);
            } catch (const std::exception& error) {  // what it has written until then stays
              Page::note(page.left_out, fmt::format("the rest of section {}: {}", name, error.what()));
            }
          },
          1);
      fmt::print(stderr, "articula_bench: {}, {:.0f} s\n", name, seconds);
    }
  if (!peers.empty()) {
    page.write("## Where a peer is ahead");
    if (page.behind.empty()) page.write("Nowhere in this run.");
    for (const std::string& line : page.behind) page.text += "- " + line + "\n";
    if (!page.behind.empty()) page.text += "\n";
  }
  const auto list = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    page.write(title);
    for (const std::string& line : lines) page.text += "- " + line + "\n";
    page.text += "\n";
    for (const std::string& line : lines) fmt::print(stderr, "articula_bench: {}\n", line);
  };
  list("## Results that agree less well than 1e-8, and were raced", page.apart);
  list("## Left out", page.left_out);
  const std::string text = introduction(where, a.command) + "\n" + page.text;
  fmt::print("{}", text);
  page.numbers["machine"] = where;
  page.numbers["command"] = a.command;
  if (!a.json.empty()) write_file(a.json, page.numbers.dump(1) + "\n");
  std::set<std::string> folders;
  if (!a.svg.empty()) folders.insert(a.svg);
  if (!page.differences.empty()) {
    for (const std::string& line : page.differences) fmt::print(stderr, "articula_bench: {}\n", line);
    return 1;  // no page of a run that is not to be trusted
  }
  if (!a.performance.empty()) {
    const auto slash = a.performance.find_last_of('/');
    folders.insert(slash == std::string::npos ? "." : a.performance.substr(0, slash));
    write_file(a.performance, text + read_file(ARTICULA_BENCH_NOTES));
  }
  for (const std::string& folder : folders)
    for (const Picture& picture : page.pictures) write_file(folder + "/" + picture.file, picture.svg);
  return 0;
}

}  // namespace

void stay_on_one_core() { sched_setaffinity(0, sizeof one_core, &one_core); }
void use_other_cores() { sched_setaffinity(0, sizeof other_cores, &other_cores); }

}  // namespace articula::bench

int main(int argc, char** argv) try {
  return articula::bench::run(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "articula_bench: {}\n", error.what());
  return 2;
}
