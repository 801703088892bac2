#include "articula/files/xml_text.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>
#include <system_error>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "articula/error.hpp"
#include "articula/spatial/numbers.hpp"

namespace articula {

namespace {

constexpr std::string_view spaces = " \t\r\n\f\v";
constexpr int most_attributes = 256;

[[noreturn]] void give_up(const std::string& name, int line, const std::string& message) {
  throw ModelError(fmt::format("{}:{}: {}", name, line, message));
}

int line_of_offset(std::string_view text, std::size_t offset) {
  return 1 + int(std::count(text.begin(), text.begin() + std::ptrdiff_t(offset), '\n'));
}

/// A comment, declaration or the like, or a tag: where it begins and ends, and how many attributes it has.
struct Markup {
  std::size_t start, end;  // end: npos if it does not
  int attributes;          // of a tag; -1: no tag. Not counted beyond most_attributes
};

/// The first markup from `at` on. Follows the parser in what is a tag and a value.
std::optional<Markup> next_markup(std::string_view text, std::size_t at) {
  constexpr std::pair<std::string_view, std::string_view> skipped[] = {
      {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<!", ">"}, {"<?", "?>"}};
  const std::size_t start = text.find('<', at);
  if (start == text.npos) return {};
  const std::string_view rest = text.substr(start);
  for (const auto& [open, close] : skipped)
    if (rest.starts_with(open)) {
      const std::size_t end = text.find(close, start + open.size());
      return Markup{start, end == text.npos ? end : end + close.size(), -1};
    }
  int attributes = 0;
  for (at = text.find_first_of(">='\"", start); at != text.npos && text[at] != '>';
       at = text.find_first_of(">='\"", at + 1)) {
    if (text[at] != '=')
      at = text.find(text[at], at + 1);  // to the closing quote
    else if (++attributes > most_attributes)
      return Markup{start, at, attributes};
    if (at == text.npos) break;
  }
  return Markup{start, at, attributes};
}

/// What is put right before parsing. Line numbers stay.
class Repair {
 public:
  Repair(std::string_view text, const std::string& name, std::vector<Finding>& findings)
      : text_(text), name_(name), findings_(findings) {
    if (text.empty()) give_up(name, 1, "the file is empty; expected a model");
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      give_up(name, 1, "the file is UTF-16; expected UTF-8, save it so");
    drop_zeros();
    to_utf8();
    check_markup();
  }
  const std::string& text() const { return text_; }

 private:
  void warn(std::size_t offset, std::string message) {
    findings_.push_back({Finding::Severity::warning,
                         fmt::format("{}:{}", name_, line_of_offset(text_, offset)), std::move(message)});
  }

  void drop_zeros() {
    const std::size_t zero = text_.find('\0');
    if (zero == text_.npos) return;
    if (text_.find_first_not_of(std::string_view("\0 \t\r\n", 5), zero) != text_.npos)
      give_up(name_, line_of_offset(text_, zero), "there is a zero byte; expected text, is this a model?");
    warn(zero, "the file ends with zero bytes; they are passed over: remove them");
    text_.resize(zero);
  }

  /// Bytes that are not UTF-8 would be refused by whoever writes JSON later.
  void to_utf8() {
    std::size_t first = text_.npos;
    for (std::size_t i = 0; i < text_.size() && first == text_.npos;) {
      const std::size_t length = utf8_length(i);
      if (length == 0) first = i;
      i += length;
    }
    if (first == text_.npos) return;
    warn(first, "the file is not UTF-8; it is read as Latin-1: save it as UTF-8");
    std::string out;
    for (const char c : text_) {
      const unsigned char byte = static_cast<unsigned char>(c);
      if (byte < 0x80) {
        out += c;
      } else {
        out += static_cast<char>(0xc0 | byte >> 6);
        out += static_cast<char>(0x80 | (byte & 0x3f));
      }
    }
    text_ = std::move(out);
  }
  /// Of the character at i; 0: there is none.
  std::size_t utf8_length(std::size_t i) const {
    const auto byte = [&](std::size_t k) {
      return k < text_.size() ? static_cast<unsigned char>(text_[k]) : 0u;
    };
    const auto follows = [&](std::size_t k) { return (byte(k) & 0xc0) == 0x80; };
    const unsigned c = byte(i);
    if (c < 0x80) return 1;
    if (c >= 0xc2 && c < 0xe0) return follows(i + 1) ? 2 : 0;
    if (c >= 0xe0 && c < 0xf0) {
      const bool overlong = c == 0xe0 && byte(i + 1) < 0xa0, surrogate = c == 0xed && byte(i + 1) >= 0xa0;
      return follows(i + 1) && follows(i + 2) && !overlong && !surrogate ? 3 : 0;
    }
    if (c >= 0xf0 && c < 0xf5) {
      const bool overlong = c == 0xf0 && byte(i + 1) < 0x90, beyond = c == 0xf4 && byte(i + 1) >= 0x90;
      return follows(i + 1) && follows(i + 2) && follows(i + 3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
  }

  /// Declarations after the top become spaces. The parser compares every attribute with every other one, so
  /// that a file of a megabyte in one element could keep it busy for a minute.
  void check_markup() {
    bool told = false, first = true;
    for (auto m = next_markup(text_, 0); m; m = next_markup(text_, m->end)) {
      if (m->attributes > most_attributes)
        give_up(name_, line_of_offset(text_, m->start),
                fmt::format("an element has more than {} attributes; expected a model", most_attributes));
      if (m->end == text_.npos) return;
      const bool declaration = std::string_view(text_).substr(m->start).starts_with("<?xml");
      if (declaration && !first) {
        if (!told)
          warn(m->start, "<?xml ...?> stands twice, or not at the top; it is passed over: remove it");
        told = true;
        std::replace_if(
            text_.begin() + std::ptrdiff_t(m->start), text_.begin() + std::ptrdiff_t(m->end),
            [](char c) { return c != '\n' && c != '\r'; }, ' ');
      }
      first = false;
    }
  }

  std::string text_;
  const std::string& name_;
  std::vector<Finding>& findings_;
};

std::string_view say(tinyxml2::XMLError error) {
  switch (error) {
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "a closing tag does not match its opening one, or is missing";
    case tinyxml2::XML_ERROR_PARSING_ELEMENT:
      return "an element is malformed";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is malformed or given twice";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "a comment does not end";
    case tinyxml2::XML_ERROR_PARSING_CDATA:
      return "a CDATA section does not end";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "the declaration <?xml ...?> is malformed or not at the top";
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "there is no element";
    default:
      return "there is text where no text can be";
  }
}

void check_parsed(const std::string& name, const tinyxml2::XMLDocument& document) {
  if (document.Error())
    give_up(name, std::max(1, document.ErrorLineNum()),
            fmt::format("this is not well-formed XML: {}; correct the file here or just above",
                        say(document.ErrorID())));
  if (!document.RootElement()) give_up(name, 1, "there is no element");
}

/// A text cut so that no piece is nested deeper than the parser goes. Lines are those of the whole.
class Pieces {
 public:
  Pieces(const std::string& text, const std::string& name) : name_(name) {
    while (text.find(stand_in) != text.npos) stand_in += '_';  // no element of the file's own
    open_.push_back(begin(0));
    std::size_t from = 0;
    for (auto m = next_markup(text, 0); m; m = next_markup(text, from)) {
      const std::size_t end = m->end == text.npos ? m->end : m->end + (m->attributes >= 0);
      const std::string_view before = std::string_view(text).substr(from, m->start - from),
                             markup = std::string_view(text).substr(m->start, end - m->start);
      put(before);
      const bool tag = m->attributes >= 0, closing = markup.starts_with("</");
      if (tag && !closing && !markup.ends_with("/>")) open_element();
      put(markup);
      if (closing) close_element();
      if (end == text.npos) return;
      from = end;
    }
    put(std::string_view(text).substr(from));
  }
  std::vector<std::string> texts;
  std::string stand_in = "articula:below";

 private:
  static constexpr int at_most = 90;            // elements in a piece
  static constexpr std::size_t room = 1 << 26;  // of lines that are kept empty
  struct Open {
    std::size_t piece;
    int depth, line;  // where it begins
  };
  Open begin(int depth) {
    texts.emplace_back(std::size_t(line_ - 1), '\n');
    return {texts.size() - 1, depth, line_};
  }
  void put(std::string_view some) {
    texts[open_.back().piece] += some;
    line_ += int(std::count(some.begin(), some.end(), '\n'));
  }
  void open_element() {
    if (++depth_ > deepest_element)
      give_up(name_, line_,
              fmt::format("elements are nested more than {} deep; expected a robot", deepest_element));
    if (depth_ - open_.back().depth <= at_most) return;
    texts[open_.back().piece] += fmt::format("<{} piece=\"{}\"/>", stand_in, texts.size());
    if ((lines_ += std::size_t(line_)) > room)
      give_up(name_, line_, "the file is too long for elements so deep");
    open_.push_back(begin(depth_ - 1));
  }
  void close_element() {
    if (--depth_ != open_.back().depth || open_.size() == 1) return;
    const int lines = line_ - open_.back().line;
    open_.pop_back();
    if ((lines_ += std::size_t(lines)) > room)
      give_up(name_, line_, "the file is too long for elements so deep");
    texts[open_.back().piece].append(std::size_t(lines), '\n');
  }

  const std::string& name_;
  std::vector<Open> open_;
  std::size_t lines_ = 0;
  int depth_ = 0, line_ = 1;
};

/// What gives access to the line of a node, which the parser's clones lack.
struct Lines : tinyxml2::XMLNode {
  static int XMLNode::*member() { return &Lines::_parseLineNum; }
  static void copy(const XMLNode& from, XMLNode& to) {
    to.*member() = from.GetLineNum();
    XMLNode* other = to.FirstChild();
    for (const XMLNode* child = from.FirstChild(); child && other;
         child = child->NextSibling(), other = other->NextSibling())
      copy(*child, *other);
  }
};

/// The pieces as one document: each in place of what stands for it in one before it.
void join(const Pieces& pieces, const std::string& name, tinyxml2::XMLDocument& document) {
  std::vector<tinyxml2::XMLElement*> stand_ins(pieces.texts.size());
  for (std::size_t i = 0; i < pieces.texts.size(); ++i) {
    tinyxml2::XMLDocument part;
    tinyxml2::XMLDocument& parsed = i == 0 ? document : part;
    parsed.Parse(pieces.texts[i].data(), pieces.texts[i].size());
    check_parsed(name, parsed);
    tinyxml2::XMLElement* root = parsed.RootElement();
    if (i > 0) {
      if (!stand_ins[i]) give_up(name, root->GetLineNum(), "elements are nested, and not well-formed");
      tinyxml2::XMLNode& copy = *root->DeepClone(&document);
      Lines::copy(*root, copy);
      tinyxml2::XMLNode& parent = *stand_ins[i]->Parent();
      parent.InsertAfterChild(stand_ins[i], &copy);
      parent.DeleteChild(stand_ins[i]);
      root = copy.ToElement();
    }
    // By document order, without recursion.
    for (tinyxml2::XMLElement* e = root; e;) {
      if (std::string_view(e->Name()) == pieces.stand_in)
        stand_ins.at(std::size_t(e->IntAttribute("piece"))) = e;
      tinyxml2::XMLElement* next = e->FirstChildElement();
      for (; !next && e && e != root; e = e->Parent()->ToElement()) next = e->NextSiblingElement();
      e = next;
    }
  }
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  std::size_t at = text.find_first_not_of(spaces);
  while (at != text.npos && words.size() <= most) {
    const std::size_t end = std::min(text.find_first_of(spaces, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(spaces, end);
  }
  return words;
}

std::optional<double> number_of(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string out;
  for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
  return text.size() > most ? out + "..." : out;
}
std::string in_quotes(std::string_view text) { return "'" + shown(text) + "'"; }

std::string_view root_element_of(std::string_view text) {
  for (auto m = next_markup(text, 0); m; m = next_markup(text, m->end)) {
    if (m->attributes >= 0) {
      const std::string_view tag = text.substr(m->start + 1);
      return tag.substr(0, tag.find_first_of(" \t\r\n\f\v/>"));
    }
    if (m->end == text.npos) break;
  }
  return "";
}

void parse_xml(std::string_view text, const std::string& name, tinyxml2::XMLDocument& document,
               std::vector<Finding>& findings) {
  const Repair repaired(text, name, findings);
  document.Parse(repaired.text().data(), repaired.text().size());
  if (document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED)
    join(Pieces(repaired.text(), name), name, document);
  else
    check_parsed(name, document);
}

bool is_identity(const Mat3<double>& R) {
  const Mat3<double> Id = Mat3<double>::identity();
  return std::equal(numbers_of(R), numbers_of(R) + 9, numbers_of(Id));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw ModelError(fmt::format("{}: cannot be opened ({}); check the path", path,
                                 std::generic_category().message(errno)));
  std::ostringstream content;
  content << file.rdbuf();
  // A folder opens like a file, and fails when it is read.
  if (file.bad() || (content.fail() && std::filesystem::is_directory(path)))
    throw ModelError(fmt::format("{}: cannot be read; expected a model's file", path));
  return std::move(content).str();
}

}  // namespace articula
