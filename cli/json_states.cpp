// States as JSON, read as a stream.
//
// nlohmann-json's parser goes over the text and says what is wrong with it; each state becomes a small document, which
// StateReader reads. After each state the ones that follow and have nothing but known vectors of numbers, which are
// most, are read straight from the text, ten times as fast; the parser goes on behind them.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "articula/error.hpp"
#include "articula/files/json_check.hpp"
#include "cli/state_reader.hpp"

namespace articula::cli {

namespace {

using nlohmann::json;

constexpr const char* shape =
    "expected {\"states\": [{\"q\": [..], \"v\": [..], ..}, ..]} or one such state; see articula eval --help";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Place {
  std::size_t lines = 0, column = 0;  // line ends before it; characters since the last one
};

/// The text, with the place in it: nlohmann-json's parser counts only what it has seen itself.
class Text {
 public:
  explicit Text(Bytes& bytes) : bytes(bytes) {}
  void step() {
    const char c = *bytes.at++;
    blank = blank && is_space(c);
    ++parser_.column;
    if (c == '\n') parser_ = {parser_.lines + 1, 0};
  }
  /// To here, unseen by the parser.
  void skip_to(const char* to) {
    Place now = place(parser_);
    const auto left = [&] { return static_cast<std::size_t>(to - bytes.at); };
    while (const void* line = std::memchr(bytes.at, '\n', left())) {
      now = {now.lines + 1, 0};
      bytes.at = static_cast<const char*>(line) + 1;
    }
    now.column += left();
    bytes.at = to;
    correct(now);
  }
  /// What the parser that goes on from here has counted; that of the last one.
  Place parser(Place counted) {
    const Place now = place(parser_), last = parser_;
    parser_ = counted;
    correct(now);
    return last;
  }
  /// Where the parser is, by its own count. (It takes a line end back as if that were the line's first character.)
  Place place(Place counted) const {
    const bool same_line = counted.lines == then_.lines && counted.column >= then_.column;
    return {counted.lines - then_.lines + truly_.lines,
            same_line ? counted.column - then_.column + truly_.column : counted.column};
  }
  /// Past white space; true: to another line.
  bool skip_space() {
    bool line = false;
    do {
      const char* p = bytes.at;
      for (; p != bytes.end && is_space(*p); ++p) line = line || *p == '\n';
      skip_to(p);
    } while (bytes.at == bytes.end && bytes.more());
    return line;
  }

  Bytes& bytes;
  bool blank = true;

 private:
  void correct(Place now) {
    then_ = parser_;
    truly_ = now;
  }
  Place parser_, then_,
      truly_;  // what the parser counts; what it had counted when it was last wrong, and what was right
};

/// As nlohmann-json wants it.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;
  Text* text;
  char operator*() const { return *text->bytes.at; }
  Cursor& operator++() { return text->step(), *this; }
  bool operator==(const Cursor&) const { return text->bytes.at == text->bytes.end && !text->bytes.more(); }
  bool operator!=(const Cursor& other) const { return !(*this == other); }
};

enum class Plain { taken, cut_off, unusual };

/// A state that has nothing but known vectors of numbers, all that are needed and no other; `p` is where it begins, and
/// then where it ends. Whatever is wrong with it is for others to say: it is unusual.
class PlainState {
 public:
  PlainState(const char*& p, const char* end, StateReader& reader) : p_(p), end_(end), reader_(reader) {}

  Plain read() {
    State& state = reader_.next();
    if (!mark('{')) return fault();
    unsigned seen = 0;
    do {
      const int input = key();
      if (input < 0 || (seen >> input & 1) || !mark(':')) return fault();
      seen |= 1u << input;
      auto& vector = state.vectors[input];
      vector.resize(reader_.size_of(static_cast<Input>(input)));
      if (!mark('[')) return fault();
      for (std::size_t i = 0; i < vector.size(); ++i)
        if ((i && !mark(',')) || !number(vector[i])) return fault();
      if (!mark(']')) return fault();
    } while (mark(','));
    if (!mark('}')) return fault();
    for (int i = 0; i < input_count; ++i)
      if (reader_.needed(i) && !(seen >> i & 1)) return Plain::unusual;
    return Plain::taken;
  }

 private:
  Plain fault() const { return p_ == end_ ? Plain::cut_off : Plain::unusual; }
  bool mark(char c) {
    while (p_ != end_ && is_space(*p_)) ++p_;
    if (p_ == end_ || *p_ != c) return false;
    ++p_;
    return true;
  }
  int key() {
    if (!mark('"')) return -1;
    const char* const begin = p_;
    while (p_ != end_ && *p_ >= 'a' && *p_ <= 'z') ++p_;
    const std::string_view word(begin, static_cast<std::size_t>(p_ - begin));
    if (p_ == end_ || *p_++ != '"') return -1;
    int input = input_count - 1;
    while (input >= 0 && word != name_of(static_cast<Input>(input))) --input;
    return input;
  }
  /// from_chars takes a few more forms than JSON has: 01, .5, 1., inf.
  bool number(double& x) {
    while (p_ != end_ && is_space(*p_)) ++p_;
    const auto [next, error] = std::from_chars(p_, end_, x);
    const char *const first = p_ + (p_ != end_ && *p_ == '-'), *after = first;
    p_ = next;
    if (error != std::errc{} || next == end_) return false;
    while (is_digit(*after)) ++after;
    if (after == first || (*first == '0' && after - first > 1)) return false;
    if (after == next) x += 0.0;  // -0 is an integer, and they have no sign of zero
    return *after != '.' || is_digit(after[1]);
  }

  const char*& p_;
  const char* const end_;
  StateReader& reader_;
};

class JsonStates : public JsonCheck {
 public:
  JsonStates(Bytes& bytes, StateReader& reader) : text_(bytes), reader_(reader) {}

  void read() {
    builder_.emplace(value_);
    parse(true);
    if (listed_) return;
    if (!value_.is_object())
      throw InputError(fmt::format("{}: found {}, {}", reader_.file(), kind_of(value_), shape));
    if (value_.contains("states"))
      throw InputError(fmt::format("{}: \"states\" is {}, expected a list of states", reader_.file(),
                                   kind_of(value_["states"])));
  }

  bool null() override { return element(builder_->null()); }
  bool boolean(bool x) override { return element(builder_->boolean(x)); }
  bool number_integer(number_integer_t x) override { return element(builder_->number_integer(x)); }
  bool number_unsigned(number_unsigned_t x) override { return element(builder_->number_unsigned(x)); }
  bool number_float(number_float_t x, const string_t& s) override {
    return element(builder_->number_float(x, s));
  }
  bool string(string_t& x) override { return element(builder_->string(x)); }
  bool key(string_t& name) override {
    last_key_ = depth == 1 ? name : "";
    return JsonCheck::key(name) && builder_->key(name);
  }
  bool start_object(std::size_t n) override {
    return JsonCheck::start_object(n) && builder_->start_object(n);
  }
  bool start_array(std::size_t n) override {
    if (!JsonCheck::start_array(n)) return false;
    if (depth != 2 || last_key_ != "states" || lines_) return builder_->start_array(n);
    listed_ = in_list_ = true;
    document_ = std::move(value_);
    fresh();
    return true;
  }
  bool end_array() override {
    JsonCheck::end_array();
    if (!in_list_ || depth != 1) return element(builder_->end_array());
    // What else the document has goes nowhere but into warnings.
    in_list_ = false;
    value_ = json::object();
    builder_.emplace(value_);
    return builder_->start_object(static_cast<std::size_t>(-1));
  }
  bool end_object() override {
    JsonCheck::end_object();
    if (depth > 0) return element(builder_->end_object());
    builder_->end_object();
    if (lines_) {
      reader_.read(value_);
    } else if (listed_) {
      for (const auto* part : {&document_, &value_})
        for (const auto& [key, value] : part->items())
          if (key != "states") reader_.note_unread(key, "beside \"states\"");
    } else if (!value_.contains("states")) {
      reader_.read(value_);
      read_lines();
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    if (text_.blank) throw ModelError(fmt::format("{}: is empty; {}", reader_.file(), shape));
    throw ModelError(fmt::format("{}: not JSON: {}", reader_.file(), corrected(reason(error))));
  }

 private:
  static std::string kind_of(const json& value) { return fmt::format("a JSON {}", value.type_name()); }

  void parse(bool to_the_end) {
    json::sax_parse(Cursor{&text_}, Cursor{&text_}, this, json::input_format_t::json, to_the_end);
    if (!problem.empty()) throw ModelError(fmt::format("{}: {}", reader_.file(), problem));
  }
  void fresh() {
    value_ = nullptr;
    builder_.emplace(value_);
  }
  /// A value is complete: if it is one of the list, it is a state.
  bool element(bool good) {
    if (!in_list_ || depth != 2) return good;
    reader_.read(value_);
    fresh();
    while (text_.skip_space(), text_.bytes.at != text_.bytes.end && *text_.bytes.at == ',' && plain(1)) {
    }
    return good;
  }
  /// Takes a plain state that begins so many characters from here, but for white space. False: it is for the parser.
  bool plain(std::size_t ahead) {
    for (;;) {
      const char* p = text_.bytes.at + ahead;
      const Plain found = PlainState(p, text_.bytes.end, reader_).read();
      if (found == Plain::taken) return reader_.take(), text_.skip_to(p), true;
      if (found == Plain::unusual || !text_.bytes.more()) return false;
    }
  }
  /// One state per line, after the first.
  void read_lines() {
    lines_ = true;
    const Place before = text_.parser({});
    while (text_.skip_space() && text_.bytes.at != text_.bytes.end && *text_.bytes.at == '{') {
      if (plain(0)) continue;
      fresh();
      text_.parser({});
      parse(false);
    }
    text_.parser(before);
  }
  /// "parse error at line 1, column 3: .." with the place in the whole text.
  std::string corrected(std::string_view what) const {
    constexpr std::string_view line = " at line ", column = ", column ";
    const std::size_t a = what.find(line), b = what.find(column);
    if (a == what.npos || b == what.npos || b < a) return std::string(what);
    Place place;
    const char* const last = what.data() + what.size();
    std::from_chars(what.data() + a + line.size(), last, place.lines);
    const char* const rest = std::from_chars(what.data() + b + column.size(), last, place.column).ptr;
    --place.lines;
    place = text_.place(place);
    return fmt::format("{}{}{}{}{}{}", what.substr(0, a), line, place.lines + 1, column, place.column,
                       std::string_view(rest, static_cast<std::size_t>(last - rest)));
  }

  Text text_;
  StateReader& reader_;
  json value_, document_;  // what is being read: the whole, or a state of the list; the whole up to the list
  std::optional<nlohmann::detail::json_sax_dom_parser<json>> builder_;  // of value_
  std::string last_key_;
  bool listed_ = false, in_list_ = false, lines_ = false;
};

}  // namespace

void read_json_states(Bytes& bytes, StateReader& reader) { JsonStates(bytes, reader).read(); }

}  // namespace articula::cli
