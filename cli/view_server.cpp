#include "cli/view_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr std::size_t most_connections = 64;

std::string random_token() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw ComputationError("view: the system has no random numbers");
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

/// A file descriptor, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Signals that end the server become readable instead of ending the program.
class EndSignals {
 public:
  EndSignals() : fd_(-1) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (fd_.get() < 0) throw ComputationError("view: the system gives no descriptor for signals");
  }
  ~EndSignals() {
    signalfd_siginfo taken;  // or it would end the program as soon as it is let through
    while (read(fd_.get(), &taken, sizeof taken) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int fd() const { return fd_.get(); }

 private:
  Descriptor fd_;
  sigset_t before_;
};

/// Listening; port 0 becomes the one that was free.
Descriptor listen_at(int& port) {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const where = reinterpret_cast<sockaddr*>(&at);
  if (listener.get() < 0 || setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      bind(listener.get(), where, size) != 0 || listen(listener.get(), SOMAXCONN) != 0 ||
      getsockname(listener.get(), where, &size) != 0)
    throw ComputationError(fmt::format("view: port {} of 127.0.0.1 cannot be had; try another --port", port));
  port = ntohs(at.sin_port);
  return listener;
}

/// One request and its answer.
class Connection {
 public:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  bool is_answered() const { return answered_; }
  Clock::time_point deadline() const { return deadline_; }
  pollfd wanted() const {
    const int events = (ended_ ? 0 : POLLIN) | (sent_ < out_.size() ? POLLOUT : 0);
    return {socket_.get(), static_cast<short>(events), 0};
  }

  /// Takes what has arrived. False: this is over.
  template <class Answer>
  bool receive(const Answer& answer) {
    std::array<char, 1 << 16> chunk;
    const ssize_t n = recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
      ended_ = true;
      return sent_ < out_.size();
    }
    if (answered_) return true;  // what follows is read, for the answer to arrive, and dropped
    in_.append(chunk.data(), static_cast<std::size_t>(n));
    if (auto text = answer(in_)) {
      out_ = std::move(*text);
      in_ = {};
      answered_ = true;
      deadline_ = Clock::now() + 30s;
      return send_more();
    }
    return true;
  }

  bool send_more() {
    const ssize_t n = send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(n);
    if (sent_ == out_.size()) {  // the other end closes now, or is left
      shutdown(socket_.get(), SHUT_WR);
      deadline_ = std::min(deadline_, Clock::now() + 2s);
    }
    return true;
  }

 private:
  Descriptor socket_;
  std::string in_, out_;
  std::size_t sent_ = 0;
  bool answered_ = false, ended_ = false;  // ended: nothing more will arrive
  Clock::time_point deadline_ = Clock::now() + 10s;
};

class Server {
 public:
  Server(Descriptor listener, ViewAddress address, const ViewHandlers& handlers)
      : listener_(std::move(listener)), address_(std::move(address)), handlers_(handlers) {}

  /// One thread for all: nobody waits for anybody, for no call here waits.
  void run_until_readable(int end) {
    for (;;) {
      std::vector<pollfd> wanted{{end, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      int wait = -1;  // milliseconds to the first deadline
      for (const Connection& c : connections_) {
        wanted.push_back(c.wanted());
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(c.deadline() - Clock::now()).count();
        const int ms = static_cast<int>(std::clamp<long>(left, 0, 60'000));
        wait = wait < 0 ? ms : std::min(wait, ms);
      }
      if (poll(wanted.data(), wanted.size(), wait) < 0 && errno != EINTR)
        throw ComputationError("view: the system does not say when requests come");
      if (wanted[0].revents) return;
      for (std::size_t i = connections_.size(); i-- > 0;)
        if (!advance(connections_[i], wanted[i + 2].revents)) connections_.erase(connections_.begin() + i);
      if (wanted[1].revents) accept_one();
    }
  }

 private:
  bool advance(Connection& c, short events) {
    if (c.deadline() <= Clock::now()) return false;
    if ((events & POLLOUT) && !c.send_more()) return false;
    if (!(events & (POLLIN | POLLHUP | POLLERR))) return true;
    return c.receive([&](std::string_view arrived) { return answer_http(arrived, address_, handlers_); });
  }

  /// In place of the one that has waited longest, where there are too many: first of those that have not yet
  /// asked for anything whole.
  void accept_one() {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool none_left = socket.get() < 0 && (errno == EMFILE || errno == ENFILE);
    if (connections_.size() >= most_connections || (none_left && !connections_.empty())) {
      const auto idle = std::find_if(connections_.begin(), connections_.end(),
                                     [](const Connection& c) { return !c.is_answered(); });
      connections_.erase(idle == connections_.end() ? connections_.begin() : idle);
    }
    if (socket.get() >= 0) connections_.emplace_back(std::move(socket));
  }

  Descriptor listener_;
  ViewAddress address_;
  const ViewHandlers& handlers_;
  std::vector<Connection> connections_;  // oldest first
};

}  // namespace

void serve_view(int port, const ViewHandlers& handlers,
                const std::function<void(const std::string&)>& ready) {
  const EndSignals signals;
  Descriptor listener = listen_at(port);
  const ViewAddress address{port, random_token()};
  Server server(std::move(listener), address, handlers);
  ready(address.text());
  server.run_until_readable(signals.fd());
}

}  // namespace articula::cli
