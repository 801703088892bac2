// articula view and report: pages on disk, and the server that answers its own page only.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "articula/report/report.hpp"
#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

using nlohmann::json;

Printed run_with_errors(const std::string& arguments) {
  return printed("'" ARTICULA_PROGRAM "' " + arguments + " 2>&1 < /dev/null");
}

/// `articula view` while this lives.
class Served {
 public:
  explicit Served(const std::string& model) {
    int out[2];
    if (pipe(out) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(out[1], 1);
      close(out[0]);
      heed_signals();
      execl(ARTICULA_PROGRAM, ARTICULA_PROGRAM, "view", model.c_str(), "--no-browser",
            static_cast<char*>(nullptr));
      _exit(127);
    }
    close(out[1]);
    char c;
    while (read(out[0], &c, 1) == 1 && c != '\n') address += c;
    close(out[0]);
    const std::size_t colon = address.rfind(':'), slash = address.find('/', colon);
    if (slash == address.npos) return;
    port = std::stoi(address.substr(colon + 1, slash - colon - 1));
    token = address.substr(address.find("token=") + 6);
  }
  ~Served() {
    if (child_ > 0) end(SIGKILL);
  }
  /// The exit code after a signal; -1 if it died of it.
  int end(int signal) {
    int status = 0;
    kill(child_, signal);
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// A connection on which these bytes have been sent.
  int connection(const std::string& request) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0)
      for (std::size_t sent = 0; sent < request.size();) {
        const ssize_t n = send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;  // refused before all of it was sent
        sent += static_cast<std::size_t>(n);
      }
    return fd;
  }
  /// All that comes back to these bytes.
  std::string raw(const std::string& request) const {
    const int fd = connection(request);
    std::string answer;
    std::array<char, 65536> chunk;
    for (ssize_t n; (n = ::read(fd, chunk.data(), chunk.size())) > 0;) answer.append(chunk.data(), n);
    close(fd);
    return answer;
  }
  /// Megabytes of memory that it has had at most.
  int peak_memory() const {
    std::ifstream status("/proc/" + std::to_string(child_) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoi(line.substr(6)) / 1024;
    return -1;
  }
  std::string get(const std::string& target, const std::string& host, const std::string& more = "") const {
    return raw("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n");
  }
  std::string post(const std::string& body, const std::string& given_token,
                   const std::string& more = "") const {
    return raw("POST /state HTTP/1.1\r\nHost: " + host() +
               "\r\nConnection: close\r\nX-Articula-Token: " + given_token +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" + body);
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port); }

  std::string address, token;
  int port = 0;

 private:
  pid_t child_ = -1;
};
int status_of(const std::string& answer) { return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0; }
std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

class ViewCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_page()) GTEST_SKIP() << "built without the page";
  }
};

TEST(ViewWithoutPage, SaysSo) {
  if (has_page()) GTEST_SKIP() << "built with the page";
  const Printed ran = run_with_errors("view arm7 --out -");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("Node.js"), std::string::npos);
}

TEST_F(ViewCommand, WritesAPageToDisk) {
  const fs::path file = fs::temp_directory_path() / ("articula_view_" + std::to_string(getpid()) + ".html");
  for (const char* model : {"arm7", "humanoid --base free", "hand", "chain:40", "double_pendulum"}) {
    const Printed ran = run_with_errors(std::string("view ") + model + " --out " + file.string());
    EXPECT_EQ(ran.code, 0) << ran.out;
    std::ifstream page(file);
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    EXPECT_NE(text.find("\"kind\":\"view\""), std::string::npos) << model;
    EXPECT_NE(text.find("\"live\":false"), std::string::npos) << model;
  }
  fs::remove(file);
}

TEST_F(ViewCommand, SimulateWritesAReport) {
  const fs::path folder =
      fs::temp_directory_path() / ("articula_simulate_report_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string page = (folder / "run.html").string(), rows = (folder / "run.csv").string();
  const Printed ran = run_with_errors("simulate double_pendulum --duration 0.2 --step 0.01 --out " + rows +
                                      " --report " + page);
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"kind\":\"report\""), std::string::npos);
  EXPECT_NE(text.find("\"group\":\"drift\""), std::string::npos);
  EXPECT_NE(text.find("\"kind\":\"cylinder\""), std::string::npos) << "drawn as the file says";
  // Rows to stdout, the page to a file.
  EXPECT_EQ(run_with_errors("simulate chain:3 --duration 0.1 --step 0.05 --report " + page).code, 0);
  EXPECT_EQ(run_with_errors("simulate chain:3 --duration 0.1 --step 0.05 --report -").code, 2);
  EXPECT_EQ(
      run_with_errors("simulate chain:3 --duration 0.1 --step 0.05 --out " + page + " --report " + page).code,
      2);
  EXPECT_EQ(run_with_errors("simulate chain:3 --duration 0.1 --monte-carlo 2 --report " + page).code, 2);
  EXPECT_EQ(run_with_errors("simulate chain:3 --duration 0.1 --report /no/such/folder/x.html").code, 2);
  fs::remove_all(folder);
}

TEST_F(ViewCommand, WrongCommandLines) {
  EXPECT_EQ(run_with_errors("view").code, 2);
  EXPECT_EQ(run_with_errors("view no_such_robot").code, 2);
  EXPECT_EQ(run_with_errors("view arm7 --port 70000").code, 2);
  EXPECT_EQ(run_with_errors("view arm7 --port -1").code, 2);
  EXPECT_EQ(run_with_errors("view arm7 --out /no/such/folder/x.html").code, 2);
}

TEST_F(ViewCommand, AnswersItsOwnPageOnly) {
  Served served("arm7");
  ASSERT_GT(served.port, 0);
  EXPECT_EQ(served.token.size(), 32u);
  const std::string with_token = "/?token=" + served.token;
  const std::string page = served.get(with_token, served.host());
  EXPECT_EQ(status_of(page), 200);
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("\"live\":true"), std::string::npos);
  EXPECT_EQ(page.find(served.token), std::string::npos) << "the page itself does not hold the token";
  EXPECT_EQ(status_of(served.get(with_token, "localhost:" + std::to_string(served.port))), 200);
  // No token, a wrong one, a part of it.
  EXPECT_EQ(status_of(served.get("/", served.host())), 403);
  EXPECT_EQ(status_of(served.get("/?token=", served.host())), 403);
  EXPECT_EQ(status_of(served.get("/?token=" + std::string(32, '0'), served.host())), 403);
  EXPECT_EQ(status_of(served.get("/?token=" + served.token.substr(0, 31), served.host())), 403);
  EXPECT_EQ(status_of(served.get("/anything", served.host())), 403);
  // Another name for this machine (DNS rebinding), another page in the browser.
  EXPECT_EQ(status_of(served.get(with_token, "evil.example:" + std::to_string(served.port))), 403);
  EXPECT_EQ(status_of(served.get(with_token, "127.0.0.1")), 403);
  EXPECT_EQ(status_of(served.get(with_token, served.host(), "Origin: http://evil.example\r\n")), 403);
  EXPECT_EQ(status_of(served.get(with_token, served.host(), "Origin: null\r\n")), 403);
  EXPECT_EQ(status_of(served.get(with_token, served.host(), "Host: evil.example\r\n")), 403);
  EXPECT_EQ(status_of(served.post("{}", "wrong")), 403);
  EXPECT_EQ(status_of(served.get("/other?token=" + served.token, served.host())), 404);
  EXPECT_EQ(served.end(SIGINT), 0) << "Ctrl-C ends it cleanly";
}

TEST_F(ViewCommand, ComputesWhatSlidersAskFor) {
  Served served("planar_2r");
  ASSERT_GT(served.port, 0);
  const auto ask = [&](const std::string& body) { return served.post(body, served.token); };
  const std::string answer = ask(R"({"values": [0.1, 0.2], "frame": 0})");
  ASSERT_EQ(status_of(answer), 200);
  const json bent = json::parse(body_of(ask(R"({"values": [0.1, 1.5], "frame": 0})")));
  const json state = json::parse(body_of(answer));
  EXPECT_NE(state["massMatrix"], bent["massMatrix"]);
  EXPECT_NE(state["poses"], bent["poses"]);
  EXPECT_EQ(state["D"].size(), 2u);
  for (const char* wrong : {"", "{", "[]", "{}", R"({"values": [1, 2]})", R"({"values": [1], "frame": 0})",
                            R"({"values": 1, "frame": 0})", R"({"values": [1, "x"], "frame": 0})",
                            R"({"values": [1, null], "frame": 0})", R"({"values": [1, 1e999], "frame": 0})",
                            R"({"values": [1, 2], "frame": 99})", R"({"values": [1, 2], "frame": -1})",
                            R"({"values": [1, 2], "frame": 1e30})", R"({"values": [1, 2], "frame": "0"})"}) {
    const std::string refused = ask(wrong);
    EXPECT_EQ(status_of(refused), 400) << wrong << " " << refused;
  }
  const std::string large(2 << 20, ' ');
  EXPECT_GE(status_of(ask(large)), 400);
  EXPECT_GE(status_of(served.raw("nonsense\r\n\r\n")), 400);
  EXPECT_EQ(status_of(ask(R"({"values": [0, 0], "frame": 0})")), 200) << "it still answers";
  EXPECT_EQ(served.end(SIGTERM), 0);
}

TEST_F(ViewCommand, DragsAFrame) {
  Served served("arm7");
  ASSERT_GT(served.port, 0);
  const auto ask = [&](const std::string& more, int frame = 8) {
    return served.post(
        R"({"values": [0.3, 0.4, 0.3, 0.4, 0.3, 0.4, 0.3], "frame": )" + std::to_string(frame) + more + "}",
        served.token);
  };
  const json before = json::parse(body_of(ask("")));
  std::vector<double> to = before["position"];
  to[0] += 0.03, to[2] -= 0.05;
  const json after = json::parse(body_of(ask(R"(, "drag": {"position": )" + json(to).dump() + "}")));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(after["position"][i].get<double>(), to[i], 1e-8);
  EXPECT_NE(after["values"], before["values"]);
  const json turned = json::parse(body_of(ask(R"(, "drag": {"position": )" + json(to).dump() +
                                              R"(, "quaternion": )" + before["quaternion"].dump() + "}")));
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(turned["quaternion"][i].get<double>(), before["quaternion"][i].get<double>(), 1e-7);
  for (const char* wrong :
       {R"(, "drag": 1)", R"(, "drag": {})", R"(, "drag": {"position": [1, 2]})",
        R"(, "drag": {"position": [1, 2, NaN]})", R"(, "drag": {"position": [1, 2, null]})",
        R"(, "drag": {"position": [1, 2, 1e999]})", R"(, "drag": {"position": [1, 2, "3"]})",
        R"(, "drag": {"position": [1, 2, 3], "quaternion": [0, 0, 0, 0]})",
        R"(, "drag": {"position": [1, 2, 3], "quaternion": [1, 0, 0]})", R"(, "move": [])",
        R"(, "move": {"slider": 0})", R"(, "move": {"slider": -1, "to": 0})",
        R"(, "move": {"slider": 99, "to": 0})", R"(, "move": {"slider": 0.5, "to": 0})",
        R"(, "move": {"slider": 0, "to": "x"})",
        R"(, "move": {"slider": 0, "to": 0}, "drag": {"position": [0, 0, 0]})", R"(, "frame": 0)"}) {
    const std::string refused = ask(wrong);
    EXPECT_EQ(status_of(refused), 400) << wrong;
    const std::string why = body_of(refused);
    EXPECT_EQ(std::count(why.begin(), why.end(), '\n'), 1) << why;
  }
  EXPECT_EQ(status_of(ask(R"(, "drag": {"position": [0, 0, 0]})", 99)), 400) << "no such frame";
  EXPECT_EQ(status_of(ask(R"(, "drag": {"position": [1e300, -1e300, 1e300]})")), 200) << "far, that is all";
  EXPECT_EQ(served.end(SIGTERM), 0);
}

TEST_F(ViewCommand, ShowsScenesWithTheirLoopsClosed) {
  for (const char* scene : {"four_bar", "gripper", "slider_crank", "stewart", "two_arms"})
    EXPECT_EQ(run_with_errors("view " + std::string(scene) + " --out /dev/null").code, 0) << scene;
  Served served("four_bar");
  ASSERT_GT(served.port, 0);
  const std::string page = served.get("/?token=" + served.token, served.host());
  EXPECT_NE(page.find("\"title\":\"four_bar\""), std::string::npos);
  EXPECT_NE(page.find("\"closed\":true"), std::string::npos);
  const std::string q = "[1.0, -0.5518306301574996, -2.2941283453776]";
  const json moved = json::parse(body_of(served.post(
      R"({"values": )" + q + R"(, "frame": 0, "move": {"slider": 0, "to": 1.2}})", served.token)));
  const auto at = moved["values"].get<std::vector<double>>();
  EXPECT_NEAR(at[0], 1.2, 1e-8);
  EXPECT_GT(std::abs(at[1] + 0.5518306301574996), 0.01) << "the others follow";
  const std::string open = served.post(R"({"values": [0, 0, 0], "frame": 0})", served.token);
  EXPECT_EQ(status_of(open), 200) << "closed from there";
  EXPECT_EQ(served.end(SIGTERM), 0);
}

TEST_F(ViewCommand, ComparesTwoRecordings) {
  const fs::path folder = fs::temp_directory_path() / ("articula_compare_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto in = [&](const char* name) { return (folder / name).string(); };
  const auto simulate = [&](const std::string& words, const char* out) {
    EXPECT_EQ(run_with_errors("simulate " + words + " --out " + in(out)).code, 0) << words;
  };
  simulate("double_pendulum --duration 0.2 --step 0.01", "a.csv");
  simulate("double_pendulum --duration 0.2 --step 0.01 --integrator euler", "b.npz");
  simulate("chain:3 --duration 0.1 --step 0.01", "chain.csv");
  simulate("four_bar --duration 0.1 --step 0.01", "bars.csv");
  const auto page = [&](const std::string& words) {
    return run_with_errors("report " + words + " --out " + in("page.html"));
  };
  EXPECT_EQ(page("double_pendulum " + in("a.csv")).code, 0);
  const Printed ran = page("double_pendulum " + in("a.csv") + " --compare " + in("b.npz"));
  ASSERT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(in("page.html"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const char* what :
       {"\"position difference\"", "\"compared\":true", "\"twin\":0", "dashed, see-through: b.npz"})
    EXPECT_NE(text.find(what), std::string::npos) << what;
  EXPECT_EQ(page("four_bar " + in("bars.csv") + " --compare " + in("bars.csv")).code, 0);
  EXPECT_EQ(run_with_errors("report double_pendulum " + in("a.csv") + " --out -").code, 0);
  const auto refused = [&](const std::string& words, const char* why) {
    const Printed told = page(words);
    EXPECT_EQ(told.code, 2) << words;
    EXPECT_NE(told.out.find(why), std::string::npos) << told.out;
    EXPECT_EQ(told.out.find('\n'), told.out.size() - 1) << "one line: " << told.out;
  };
  refused("double_pendulum " + in("a.csv") + " --compare " + in("chain.csv"), "columns differ");
  refused("double_pendulum " + in("chain.csv"), "no column");
  refused("double_pendulum " + in("none.csv"), "none.csv");
  refused("double_pendulum " + in("a.csv") + " --compare " + in("none.csv"), "none.csv");
  refused("no_such_robot " + in("a.csv"), "no_such_robot");
  EXPECT_EQ(run_with_errors("report double_pendulum " + in("a.csv")).code, 2) << "--out is needed";
  EXPECT_EQ(run_with_errors("report double_pendulum " + in("a.csv") + " --out " + in("a.csv")).code, 2);
  fs::remove_all(folder);
}

TEST_F(ViewCommand, BodiesBeyondOneMegabyteAreRefused) {
  Served served("planar_2r");
  ASSERT_GT(served.port, 0);
  const int before = served.peak_memory();
  const std::string head =
      "POST /state HTTP/1.1\r\nHost: " + served.host() + "\r\nX-Articula-Token: " + served.token + "\r\n";
  EXPECT_EQ(status_of(served.raw(head + "Content-Length: 1048577\r\n\r\n")), 413);
  EXPECT_EQ(status_of(served.raw(head + "Content-Length: 99999999999999999999999\r\n\r\n")), 413);
  EXPECT_EQ(status_of(served.raw(head + "Content-Length: 10\r\nContent-Length: 10\r\n\r\n0123456789")), 400);
  EXPECT_EQ(status_of(served.raw(head + "Content-Length: -1\r\n\r\n")), 400);
  std::string chunks;
  for (int i = 0; i < 600; ++i) chunks += "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  EXPECT_EQ(status_of(served.raw(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks)), 413);
  EXPECT_EQ(
      status_of(served.raw(head + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00")),
      413);
  EXPECT_EQ(status_of(served.raw(head + "X: " + std::string(100'000, 'x') + "\r\n\r\n")), 431);
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1800; ++i) ranges += ",0-";
  const std::string page = served.get("/?token=" + served.token, served.host());
  EXPECT_EQ(served.get("/?token=" + served.token, served.host(), ranges + "\r\n").size(), page.size());
  EXPECT_EQ(status_of(served.post(R"({"values": [0, 0], "frame": 0})", served.token)), 200);
  EXPECT_LT(served.peak_memory() - before, 20);
  std::string deep(500'000, '[');
  EXPECT_EQ(status_of(served.post(deep, served.token)), 400);
  EXPECT_EQ(served.end(SIGTERM), 0);
}

TEST_F(ViewCommand, HalfRequestsDoNotBlockThePage) {
  Served served("planar_2r");
  ASSERT_GT(served.port, 0);
  std::vector<int> half;
  for (int i = 0; i < 200; ++i) half.push_back(served.connection(i % 2 ? "GET / HTTP/1.1\r\nHost: " : ""));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(status_of(served.get("/?token=" + served.token, served.host())), 200);
  EXPECT_EQ(status_of(served.post(R"({"values": [0, 0], "frame": 0})", served.token)), 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(served.end(SIGTERM), 0) << "nor does it wait for them at the end";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  for (const int fd : half) close(fd);
}

TEST_F(ViewCommand, EndsBySignalsAtAnyTime) {
  for (int i = 0; i < 200; ++i) {
    Served served("planar_2r");
    ASSERT_GT(served.port, 0);
    if (i % 4 == 3) close(served.connection("GET / HTTP/1.1\r\n"));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(served.end(i % 2 ? SIGTERM : SIGINT), 0) << i;
    ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << i;
  }
}

TEST_F(ViewCommand, ATakenPortIsAnError) {
  Served served("arm7");
  ASSERT_GT(served.port, 0);
  const Printed ran = run_with_errors("view arm7 --no-browser --port " + std::to_string(served.port));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("port"), std::string::npos);
  EXPECT_EQ(ran.out.find('\n'), ran.out.size() - 1) << "one line: " << ran.out;
}

}  // namespace
}  // namespace articula::testing

#endif
