// What the server of `articula view` answers: HTTP/1.1 as far as its own page needs it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "cli/view_server.hpp"

namespace articula::cli {

namespace {

constexpr std::size_t largest_head = 16 << 10, largest_body = 1 << 20;

struct Head {
  std::string_view method, path, query;
  std::multimap<std::string, std::string_view> fields;  // by names in lower case

  std::string_view field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string_view{} : found->second;
  }
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// The text before a mark, which is taken off with it; nothing if the mark is not there.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return {};
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

/// The request line and the fields, each ended by its line end; nothing if it is not HTTP.
std::optional<Head> parse_head(std::string_view text) {
  Head head;
  std::string_view line = take_until(text, "\r\n").value_or("");
  const auto method = take_until(line, " "), target = take_until(line, " ");
  if (!method || !target || !line.starts_with("HTTP/1.") || !target->starts_with('/')) return {};
  head.method = *method;
  const std::size_t mark = std::min(target->find('?'), target->size());
  head.path = target->substr(0, mark);
  head.query = target->substr(std::min(mark + 1, target->size()));
  while (!text.empty()) {
    line = take_until(text, "\r\n").value_or("");
    const auto name = take_until(line, ":");
    if (!name || name->empty() || name->find_first_of(" \t") != name->npos) return {};
    std::string lower(*name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    head.fields.emplace(std::move(lower), trimmed(line));
  }
  return head;
}

std::string_view given_token(const Head& head) {
  if (head.fields.contains("x-articula-token")) return head.field("x-articula-token");
  for (std::string_view rest = head.query; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    if (one.starts_with("token=")) return one.substr(6);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return {};
}

/// In a time that does not tell how much of it is right.
bool same(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned char different = 0;
  for (std::size_t i = 0; i < token.size(); ++i) different |= static_cast<unsigned char>(given[i] ^ token[i]);
  return different == 0;
}

/// Why a request is not answered, or nothing.
const char* refusal(const Head& head, const ViewAddress& address) {
  const auto is_us = [&](std::string_view host) {
    return host == fmt::format("127.0.0.1:{}", address.port) ||
           host == fmt::format("localhost:{}", address.port);
  };
  if (head.fields.count("host") != 1 || !is_us(head.field("host")))
    return "this server answers to its own address only";
  if (head.fields.contains("origin")) {
    const std::string_view origin = head.field("origin");
    if (head.fields.count("origin") != 1 || !origin.starts_with("http://") || !is_us(origin.substr(7)))
      return "asked by a foreign page";
  }
  if (!same(given_token(head), address.token))
    return "the token is missing or wrong: open the address that articula view printed";
  return nullptr;
}

std::string answer(const char* status, const char* type, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      "\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\n\r\n{}",
      status, type, body.size(), body);
}
std::string refused(const char* status, std::string_view why) {
  return answer(status, "text/plain; charset=utf-8", fmt::format("{}\n", why));
}

/// What Content-Length says; nothing if that is no number.
std::optional<std::size_t> body_size(const Head& head) {
  if (!head.fields.contains("content-length")) return 0;
  const std::string_view text = head.field("content-length");
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc::result_out_of_range) return largest_body + 1;
  if (error != std::errc() || end != text.data() + text.size() || head.fields.count("content-length") != 1)
    return {};
  return size;
}

}  // namespace

std::string ViewAddress::text() const { return fmt::format("http://127.0.0.1:{}/?token={}", port, token); }

std::optional<std::string> answer_http(std::string_view arrived, const ViewAddress& address,
                                       const ViewHandlers& handlers) {
  const std::size_t end = arrived.substr(0, largest_head).find("\r\n\r\n");
  if (end == arrived.npos) {
    if (arrived.size() < largest_head) return {};
    return refused("431 Request Header Fields Too Large", "the head is too large");
  }
  const auto head = parse_head(arrived.substr(0, end + 2));
  if (!head) return refused("400 Bad Request", "this is not HTTP/1.1");
  if (const char* why = refusal(*head, address)) return refused("403 Forbidden", why);
  const auto size = body_size(*head);
  if (!size) return refused("400 Bad Request", "Content-Length: expected one number");
  // A body of unknown size, or one that is larger than it says, has no place here.
  if (*size > largest_body || head->fields.contains("transfer-encoding") ||
      head->fields.contains("content-encoding"))
    return refused("413 Content Too Large", "expected a body of at most 1 MiB, plain and in one piece");
  const std::string_view rest = arrived.substr(end + 4);
  if (rest.size() < *size) return {};
  if (head->path == "/" && head->method == "GET")
    return answer("200 OK", "text/html; charset=utf-8", handlers.page());
  if (head->path != "/state" || head->method != "POST")
    return refused("404 Not Found", "there is nothing here");
  try {
    return answer("200 OK", "application/json", handlers.state(std::string(rest.substr(0, *size))));
  } catch (const std::exception& error) {
    return refused("400 Bad Request", error.what());
  }
}

}  // namespace articula::cli
