// articula view: pages on disk, and the server that answers its own page only.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

Printed run(const std::string& arguments) {
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
  /// Sends these bytes and returns all that comes back.
  std::string raw(const std::string& request) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
        write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      std::array<char, 65536> chunk;
      for (ssize_t n; (n = ::read(fd, chunk.data(), chunk.size())) > 0;) answer.append(chunk.data(), n);
    }
    close(fd);
    return answer;
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
  const Printed ran = run("view arm7 --out -");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("Node.js"), std::string::npos);
}

TEST_F(ViewCommand, WritesAPageToDisk) {
  const fs::path file = fs::temp_directory_path() / ("articula_view_" + std::to_string(getpid()) + ".html");
  for (const char* model : {"arm7", "humanoid --base free", "hand", "chain:40", "double_pendulum"}) {
    const Printed ran = run(std::string("view ") + model + " --out " + file.string());
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
  const Printed ran =
      run("simulate double_pendulum --duration 0.2 --step 0.01 --out " + rows + " --report " + page);
  EXPECT_EQ(ran.code, 0) << ran.out;
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"kind\":\"report\""), std::string::npos);
  EXPECT_NE(text.find("\"group\":\"drift\""), std::string::npos);
  EXPECT_NE(text.find("\"kind\":\"cylinder\""), std::string::npos) << "drawn as the file says";
  // Rows to stdout, the page to a file.
  EXPECT_EQ(run("simulate chain:3 --duration 0.1 --step 0.05 --report " + page).code, 0);
  EXPECT_EQ(run("simulate chain:3 --duration 0.1 --step 0.05 --report -").code, 2);
  EXPECT_EQ(run("simulate chain:3 --duration 0.1 --step 0.05 --out " + page + " --report " + page).code, 2);
  EXPECT_EQ(run("simulate chain:3 --duration 0.1 --monte-carlo 2 --report " + page).code, 2);
  EXPECT_EQ(run("simulate chain:3 --duration 0.1 --report /no/such/folder/x.html").code, 2);
  fs::remove_all(folder);
}

TEST_F(ViewCommand, WrongCommandLines) {
  EXPECT_EQ(run("view").code, 2);
  EXPECT_EQ(run("view no_such_robot").code, 2);
  EXPECT_EQ(run("view arm7 --port 70000").code, 2);
  EXPECT_EQ(run("view arm7 --port -1").code, 2);
  EXPECT_EQ(run("view arm7 --out /no/such/folder/x.html").code, 2);
}

TEST_F(ViewCommand, AnswersItsOwnPageOnly) {
  Served served("arm7");
  if (served.port == 0) GTEST_SKIP() << "built without a server";
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
  if (served.port == 0) GTEST_SKIP() << "built without a server";
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

TEST_F(ViewCommand, ATakenPortIsAnError) {
  Served served("arm7");
  if (served.port == 0) GTEST_SKIP() << "built without a server";
  const Printed ran = run("view arm7 --no-browser --port " + std::to_string(served.port));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("port"), std::string::npos);
  EXPECT_EQ(ran.out.find('\n'), ran.out.size() - 1) << "one line: " << ran.out;
}

}  // namespace
}  // namespace articula::testing

#endif
