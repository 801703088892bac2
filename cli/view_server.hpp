// The server behind `articula view`: the page and its numbers, for one person on this machine.
//
// It listens on the loopback interface only. Every request must carry the random token that the printed
// address holds, so that other users and other pages in the browser get nothing, and must name this host, so
// that a foreign name that resolves to 127.0.0.1 (DNS rebinding) gets nothing either.
#pragma once

#include <functional>
#include <string>

namespace articula::cli {

struct ViewHandlers {
  std::function<std::string()> page;
  /// The answer to a request's body, JSON both. May throw InputError or ArgumentError: 400 with the message.
  std::function<std::string(const std::string&)> state;
};

/// Whether the program was built with a server (cpp-httplib).
bool has_view_server();
/// Serves until SIGINT, SIGTERM or SIGHUP. `ready` is called with the address once it can be opened. port 0:
/// any that is free. Throws ComputationError if the port cannot be had.
void serve_view(int port, const ViewHandlers& handlers, const std::function<void(const std::string&)>& ready);

}  // namespace articula::cli
