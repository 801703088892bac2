#include "cli/view_server.hpp"

#include "cli/subcommand.hpp"

#ifdef ARTICULA_HAS_SERVER

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "articula/error.hpp"

namespace articula::cli {

namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr const char* token_header = "X-Articula-Token";

std::string random_token() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw ComputationError("view: the system has no random numbers");
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

/// In a time that does not tell how much of it is right.
bool same(const std::string& given, const std::string& token) {
  if (given.size() != token.size()) return false;
  unsigned char different = 0;
  for (std::size_t i = 0; i < token.size(); ++i) different |= static_cast<unsigned char>(given[i] ^ token[i]);
  return different == 0;
}

/// Why a request is not answered, or nothing.
const char* refusal(const httplib::Request& request, const std::string& token, int port) {
  const auto is_us = [port](const std::string& host) {
    return host == fmt::format("{}:{}", loopback, port) || host == fmt::format("localhost:{}", port);
  };
  if (request.get_header_value_count("Host") != 1 || !is_us(request.get_header_value("Host")))
    return "this server answers to its own address only";
  if (request.has_header("Origin")) {
    const std::string origin = request.get_header_value("Origin");
    if (!origin.starts_with("http://") || !is_us(origin.substr(7))) return "asked by a foreign page";
  }
  const std::string given = request.has_header(token_header) ? request.get_header_value(token_header)
                                                             : request.get_param_value("token");
  if (!same(given, token))
    return "the token is missing or wrong: open the address that articula view printed";
  return nullptr;
}

void protect(httplib::Server& server) {
  server.set_default_headers({{"Content-Security-Policy",
                               "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                               "img-src data: blob:; connect-src "
                               "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cache-Control", "no-store"}});
  server.set_payload_max_length(1 << 20);
  server.set_keep_alive_timeout(1);  // what stopping may wait for
  server.set_read_timeout(5);
  server.set_write_timeout(5);
  // The library would share the port with another process; taken is to be taken.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(8); };
}

/// Signals that end the server arrive at wait() instead of ending the program; its threads inherit that.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  void wait() const {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
  }

 private:
  sigset_t set_, before_;
};

}  // namespace

bool has_view_server() { return true; }

void serve_view(int port, const ViewHandlers& handlers,
                const std::function<void(const std::string&)>& ready) {
  const EndSignals signals;
  const std::string token = random_token();
  httplib::Server server;
  protect(server);
  const bool bound =
      port == 0 ? (port = server.bind_to_any_port(loopback)) > 0 : server.bind_to_port(loopback, port);
  if (!bound)
    throw ComputationError(
        fmt::format("view: port {} of {} cannot be had; try another --port", port, loopback));

  std::mutex one_at_a_time;  // the workspaces are one set
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    const char* reason = refusal(request, token, port);
    if (!reason) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content(std::string(reason) + "\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    const std::lock_guard lock(one_at_a_time);
    response.set_content(handlers.page(), "text/html; charset=utf-8");
  });
  server.Post("/state", [&](const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(one_at_a_time);
    try {
      response.set_content(handlers.state(request.body), "application/json");
    } catch (const std::exception& error) {
      response.status = 400;
      response.set_content(std::string(error.what()) + "\n", "text/plain");
    }
  });
  std::thread serving([&] { server.listen_after_bind(); });
  ready(fmt::format("http://{}:{}/?token={}", loopback, port, token));
  signals.wait();
  server.stop();
  serving.join();
}

}  // namespace articula::cli

#else

namespace articula::cli {

bool has_view_server() { return false; }
void serve_view(int, const ViewHandlers&, const std::function<void(const std::string&)>&) {
  throw ComputationError(
      "view: this program was built without a server: install cpp-httplib (Debian: libcpp-httplib-dev) and "
      "build "
      "again, or write a page without sliders with --out FILE.html");
}

}  // namespace articula::cli

#endif
