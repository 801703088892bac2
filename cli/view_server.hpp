// The server behind `articula view`: the page and its numbers, for one person on this machine.
//
// It listens on the loopback interface only. Every request must carry the random token that the printed
// address holds, so that other users and other pages in the browser get nothing, and must name this host, so
// that a foreign name that resolves to 127.0.0.1 (DNS rebinding) gets nothing either. Everything that others
// can make it keep is bounded: heads, bodies, connections and the time that they take.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace articula::cli {

struct ViewHandlers {
  std::function<std::string()> page;
  /// The answer to a request's body, JSON both. What it throws is answered by 400 with the message.
  std::function<std::string(const std::string&)> state;
};

/// Who is asked for, and by which token.
struct ViewAddress {
  int port;
  std::string token;
  std::string text() const;
};

/// The answer to the bytes that have arrived on one connection, or nothing while more must come.
std::optional<std::string> answer_http(std::string_view arrived, const ViewAddress& address,
                                       const ViewHandlers& handlers);

/// Serves until SIGINT, SIGTERM or SIGHUP. `ready` is called with the address once it can be opened. port 0:
/// any that is free. Throws ComputationError if the port cannot be had.
void serve_view(int port, const ViewHandlers& handlers, const std::function<void(const std::string&)>& ready);

}  // namespace articula::cli
