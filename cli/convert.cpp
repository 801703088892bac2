// articula convert: a model in another format, and edited.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>

#include "articula/files/write_model.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/edit.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"

namespace articula::cli {

namespace {

using Words = std::vector<std::string>;

struct ConvertOptions {
  ModelOptions model;
  std::string out, format;
  bool no_shapes = false;
  Words scale, remove, lock, frame, attach, payload, rotor, root, rename;
};

[[noreturn]] void refuse(const std::string& option, const std::string& word, std::string_view expected) {
  throw InputError(fmt::format("{} {}: expected {}", option, word, expected));
}

/// "NAME=REST", at the last '=' that NAME may hold.
std::pair<std::string, std::string> parts_of(const std::string& word, const std::string& option,
                                             std::string_view expected) {
  const std::size_t equals = word.rfind('=');
  if (equals == word.npos || equals == 0 || equals + 1 == word.size()) refuse(option, word, expected);
  return {word.substr(0, equals), word.substr(equals + 1)};
}

/// "1,2,3": from `least` to `most` numbers.
std::vector<double> numbers_of(std::string_view text, std::size_t least, std::size_t most,
                               const std::string& option, const std::string& word,
                               std::string_view expected) {
  std::vector<double> out;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = number_of(text.substr(0, comma));
    if (!number || out.size() == most) refuse(option, word, expected);
    out.push_back(*number);
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  if (out.size() < least) refuse(option, word, expected);
  return out;
}

/// What links look like: edits go over them too.
class Looks {
 public:
  /// `wanted`: false leaves all of them out.
  explicit Looks(bool wanted) : wanted_(wanted) {}
  void add(const LoadedModel& read, const std::string& prefix = "") {
    if (!wanted_) return;
    for (LinkShapes& link : read_visuals(read).links) {
      link.link = prefix + link.link;
      all_.push_back(std::move(link));
    }
  }
  void scale(double by) {
    for (LinkShapes& link : all_)
      for (Shape& shape : link.shapes) {
        shape.placement.p = shape.placement.p * by;
        shape.size = shape.size * by;
        shape.radius *= by, shape.length *= by;
      }
  }
  void rename(const std::string& from, const std::string& to) {
    for (LinkShapes& link : all_)
      if (link.link == from) link.link = to;
  }
  /// Of the links that are there.
  std::span<const LinkShapes> of(const ModelSpec& spec) {
    std::set<std::string_view> links{world};
    for (const LinkSpec& link : spec.links) links.insert(link.name);
    std::erase_if(all_, [&](const LinkShapes& link) { return !links.contains(link.link); });
    return all_;
  }

 private:
  bool wanted_;
  std::vector<LinkShapes> all_;
};

void apply_scale(const ConvertOptions& options, ModelSpec& spec, Looks& looks) {
  for (const std::string& word : options.scale) {
    const auto x = numbers_of(word, 1, 2, "--scale", word, "LENGTH or LENGTH,MASS");
    x.size() == 1 ? scale(spec, x[0]) : scale(spec, x[0], x[1]);
    looks.scale(x[0]);
  }
}

void apply_lock(const ConvertOptions& options, ModelSpec& spec) {
  constexpr std::string_view expected = "JOINT=VALUE, with a value for each coordinate, separated by commas";
  for (const std::string& word : options.lock) {
    const auto [joint, values] = parts_of(word, "--lock", expected);
    lock_joint(spec, joint, numbers_of(values, 1, 7, "--lock", word, expected));
  }
}

void apply_frame(const ConvertOptions& options, ModelSpec& spec) {
  constexpr std::string_view expected = "NAME=LINK,X,Y,Z or NAME=LINK,X,Y,Z,ROLL,PITCH,YAW";
  for (const std::string& word : options.frame) {
    const auto [name, rest] = parts_of(word, "--frame", expected);
    const std::size_t comma = rest.find(',');
    if (comma == rest.npos) refuse("--frame", word, expected);
    std::vector<double> x =
        numbers_of(std::string_view(rest).substr(comma + 1), 3, 6, "--frame", word, expected);
    if (x.size() != 3 && x.size() != 6) refuse("--frame", word, expected);
    x.resize(6);
    add_frame(spec, name, rest.substr(0, comma), {rotation_from_rpy(x[3], x[4], x[5]), {x[0], x[1], x[2]}});
  }
}

void apply_attach(const ConvertOptions& options, ModelSpec& spec, Looks& looks) {
  constexpr std::string_view expected = "MODEL@FRAME or PREFIX=MODEL@FRAME";
  for (const std::string& word : options.attach) {
    const std::size_t at = word.rfind('@'), equals = std::min(word.find('='), at);
    if (at == word.npos || at + 1 == word.size() || at == 0) refuse("--attach", word, expected);
    const bool named = equals < at;
    const std::string source = named ? word.substr(equals + 1, at - equals - 1) : word.substr(0, at);
    if (source.empty() || source == "-") refuse("--attach", word, expected);
    const LoadedModel other = read_source(source, options.model.read_options());
    throw_first_error(find_problems(other));
    const std::string prefix = named ? word.substr(0, equals) : "";
    attach(spec, other.spec, word.substr(at + 1), prefix);
    looks.add(other, prefix);
  }
}

void apply_payload(const ConvertOptions& options, ModelSpec& spec) {
  constexpr std::string_view expected =
      "FRAME=MASS, FRAME=MASS,X,Y,Z (of the mass centre) or these and IXX,IYY,IZZ,IXY,IXZ,IYZ";
  for (const std::string& word : options.payload) {
    const auto [frame, rest] = parts_of(word, "--payload", expected);
    std::vector<double> x = numbers_of(rest, 1, 10, "--payload", word, expected);
    if (x.size() != 1 && x.size() != 4 && x.size() != 10) refuse("--payload", word, expected);
    x.resize(10);
    add_payload(spec, frame, {x[0], {x[1], x[2], x[3]}, {x[4], x[5], x[6], x[7], x[8], x[9]}});
  }
}

void apply_rotor(const ConvertOptions& options, ModelSpec& spec) {
  constexpr std::string_view expected = "JOINT=INERTIA or JOINT=INERTIA,GEAR_RATIO";
  for (const std::string& word : options.rotor) {
    const auto [joint, rest] = parts_of(word, "--rotor", expected);
    const auto x = numbers_of(rest, 1, 2, "--rotor", word, expected);
    add_rotor(spec, joint, x[0], x.size() > 1 ? x[1] : 1);
  }
}

/// "OLD=NEW", or "link:OLD=NEW" where a link and a joint have the same name.
void apply_rename(const ConvertOptions& options, ModelSpec& spec, Looks& looks) {
  constexpr std::string_view expected = "OLD=NEW, or link:OLD=NEW, joint:OLD=NEW, frame:OLD=NEW";
  constexpr std::pair<std::string_view, SpecPart> parts[] = {
      {"link:", SpecPart::link}, {"joint:", SpecPart::joint}, {"frame:", SpecPart::frame}};
  for (const std::string& word : options.rename) {
    const auto [from, to] = parts_of(word, "--rename", expected);
    const auto is_named = [&name = from](const auto& thing) { return thing.name == name; };
    const bool is[] = {std::any_of(spec.links.begin(), spec.links.end(), is_named),
                       std::any_of(spec.joints.begin(), spec.joints.end(), is_named),
                       std::any_of(spec.frames.begin(), spec.frames.end(), is_named)};
    const int meanings = is[0] + is[1] + is[2];
    if (meanings > 1) refuse("--rename", word, "link: or joint: before the name, since both have it");
    bool renamed = false;
    for (std::size_t i = 0; i < std::size(parts) && !renamed; ++i) {
      const auto& [prefix, part] = parts[i];
      const bool says = meanings == 0 && from.starts_with(prefix);
      if (!is[i] && !says) continue;
      const std::string old = says ? from.substr(prefix.size()) : from;
      rename(spec, part, old, to), renamed = true;
      if (part == SpecPart::link) looks.rename(old, to);
    }
    if (!renamed)
      throw InputError(fmt::format("--rename {}: no link, joint or frame is called '{}'", word, from));
  }
}

/// In this order, whatever the order of the options.
void apply_edits(const ConvertOptions& options, ModelSpec& spec, Looks& looks) {
  apply_scale(options, spec, looks);
  for (const std::string& link : options.remove) remove_link(spec, link);
  apply_lock(options, spec);
  apply_frame(options, spec);
  apply_attach(options, spec, looks);
  apply_payload(options, spec);
  apply_rotor(options, spec);
  for (const std::string& link : options.root) set_root(spec, link);
  apply_rename(options, spec, looks);
}

const ModelWriter& writer_for(const ConvertOptions& options) {
  std::string known;
  for (const ModelWriter& writer : model_writers()) known += fmt::format(", .{}", writer.name);
  const std::string wanted = options.format.empty() ? options.out : "x." + options.format;
  if (const ModelWriter* const writer = find_writer(wanted)) return *writer;
  if (!options.format.empty())
    throw InputError(fmt::format("--format {}: expected one of {}", options.format, known.substr(2)));
  throw InputError(
      fmt::format("'{}': the ending says which format to write; expected one of {} (or --format)",
                  options.out, known.substr(2)));
}

ExitCode run(const ConvertOptions& options) {
  const ModelWriter& writer = writer_for(options);
  LoadedModel read = read_source(options.model.source, options.model.read_options());
  throw_first_error(find_problems(read, options.model.build_options().base));
  Looks looks(!options.no_shapes);
  looks.add(read);
  apply_edits(options, read.spec, looks);
  const Model model = build_and_warn(read, options.model);  // nothing unsound is written
  ModelExtras extras{
      .shapes = looks.of(model.spec()),
      .folder = options.out == "-" ? "" : std::filesystem::path(options.out).parent_path().string()};
  const Vec3<double> g = model.gravity(), usual = BuildOptions{}.gravity;
  if (g.x != usual.x || g.y != usual.y || g.z != usual.z) {
    extras.gravity = g;
    if (!writer.gravity) say("note: {} does not say gravity, {} {} {} here", writer.name, g.x, g.y, g.z);
  }
  Output out(options.out, "OUT");
  out.write(writer.write(model.spec(), extras));
  out.finish();
  return done;
}

}  // namespace

Subcommand add_convert(CLI::App& program) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App& app = *program.add_subcommand("convert", "A model in another format, and edited");
  options->model.add_to(app);
  app.add_option("OUT", options->out,
                 "File to write, by its ending .urdf, .sdf, .mjcf or .xml (MJCF); - for stdout")
      ->required();
  app.add_option("--format", options->format, "What to write, whatever the ending of OUT")
      ->type_name("urdf|sdf|mjcf");
  app.add_flag("--no-shapes", options->no_shapes, "Leave out what the links look like");
  const auto add = [&](const char* name, Words& words, const char* type, const char* what) {
    app.add_option(name, words, what)->type_name(type)->allow_extra_args(false);
  };
  add("--scale", options->scale, "LENGTH[,MASS]", "Multiply lengths, and masses (default: LENGTH^3)");
  add("--remove", options->remove, "LINK", "Take a link away, with all that hangs from it");
  add("--lock", options->lock, "JOINT=VALUE", "Hold a joint where it is then (several coordinates: V,V,..)");
  add("--frame", options->frame, "NAME=LINK,X,Y,Z[,R,P,Y]", "Add a frame on a link or frame");
  add("--attach", options->attach, "[PREFIX=]MODEL@FRAME", "Put another model on a link or frame");
  add("--payload", options->payload, "FRAME=MASS[,X,Y,Z[,IXX,..]]", "Weld a mass to a link or frame");
  add("--rotor", options->rotor, "JOINT=INERTIA[,GEAR]",
      "Add a rotor's inertia times GEAR^2 to the armature");
  add("--root", options->root, "LINK", "Make this link the root");
  add("--rename", options->rename, "OLD=NEW", "Rename a link, joint or frame");
  app.footer(
      "Edits may be given several times, and are made in the order of this list. Each option takes one "
      "word.\n"
      "What the format cannot say is an error, and nothing is written then. Meshes stay "
      "in their files.\n\n"
      "Example:\n  articula convert hand hand.sdf --lock index_abduction=0.3 --payload palm=0.2,0,0,0.05\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
