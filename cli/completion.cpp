// articula completion: the command line's own description as completion for shells, and as a manual page.
#include <fmt/format.h>

#include <memory>

#include "cli/output.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

using options::Description;
using options::OptionDescription;

bool is_positional(const OptionDescription& option) { return option.names[0][0] != '-'; }

/// In single quotes of bash and zsh; fish wants a backslash before its own.
std::string quoted(const std::string& text, const char* quote = "'\\''") {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? quote : std::string(1, c);
  return out + "'";
}
std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// --- bash -----------------------------------------------------------------------------------------------------------
std::string for_bash(const Description& program) {
  std::string subcommands, values, names, places;
  for (const Description& sub : program.subcommands) {
    subcommands += (subcommands.empty() ? "" : " ") + sub.name;
    std::vector<std::string> hyphened{"--help"}, words;
    for (const OptionDescription& option : sub.options) {
      if (is_positional(option)) {
        words.insert(words.end(), option.words.begin(), option.words.end());
        continue;
      }
      hyphened.insert(hyphened.end(), option.names.begin(), option.names.end());
      for (const auto& name : option.names)
        if (!option.words.empty())
          values += fmt::format("    {}) words={} files= ;;\n", quoted(sub.name + " " + name),
                                quoted(joined(option.words)));
    }
    names += fmt::format("      {}) words={} ;;\n", sub.name, quoted(joined(hyphened)));
    if (!words.empty()) places += fmt::format("      {}) words={} ;;\n", sub.name, quoted(joined(words)));
  }
  return fmt::format(R"(# bash completion for articula; articula completion bash prints it.
_articula() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words= files=yes
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}    *) case "$current" in
    -*) files=
      case "${{COMP_WORDS[1]}}" in
{}      esac ;;
    *) case "${{COMP_WORDS[1]}}" in
{}      esac ;;
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _articula articula
)",
                     quoted(subcommands + " --help --version"), values, names, places);
}

// --- zsh ------------------------------------------------------------------------------------------------------------
std::string without(std::string text, std::string_view characters) {
  std::erase_if(text, [&](char c) { return characters.find(c) != characters.npos; });
  return text;
}
std::string for_zsh(const Description& program) {
  constexpr const char* next_line = " \\\n        ";
  std::string subcommands, cases;
  for (const Description& sub : program.subcommands) {
    subcommands += "    " + quoted(sub.name + ":" + without(sub.description, ":")) + "\n";
    std::string all;
    std::vector<std::string> words;  // of what has no name: one rule is all that _arguments takes
    for (const OptionDescription& option : sub.options) {
      if (is_positional(option)) {
        words.insert(words.end(), option.words.begin(), option.words.end());
        continue;
      }
      const std::string action = option.words.empty() ? "_files" : "(" + joined(option.words) + ")";
      for (const auto& name : option.names)
        all += next_line + quoted(fmt::format(
                               "{}[{}]{}", name, without(option.description, "[]"),
                               option.value.empty() ? "" : ":" + without(option.value, ":") + ":" + action));
    }
    all += next_line + quoted("*:argument:{ compadd " + joined(words) + "; _files }");
    cases += fmt::format("    {})\n      _arguments '--help[Print help]'{} ;;\n", sub.name, all);
  }
  return fmt::format(R"(#compdef articula
# zsh completion for articula; articula completion zsh prints it.
_articula() {{
  local -a subcommands
  subcommands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe subcommand subcommands
    return
  fi
  local sub=$words[2]
  shift words
  (( CURRENT-- ))
  case $sub in
{}  esac
}}
_articula "$@"
)",
                     subcommands, cases);
}

// --- fish -----------------------------------------------------------------------------------------------------------
std::string for_fish(const Description& program) {
  std::string out = "# fish completion for articula; articula completion fish prints it.\n";
  for (const Description& sub : program.subcommands) {
    out += fmt::format("complete -c articula -n __fish_use_subcommand -f -a {} -d {}\n", sub.name,
                       quoted(sub.description, "\\'"));
    const std::string here =
        fmt::format("complete -c articula -n '__fish_seen_subcommand_from {}'", sub.name);
    for (const OptionDescription& option : sub.options) {
      std::string line = here;
      if (is_positional(option)) {
        if (option.words.empty()) continue;
        line += " -a " + quoted(joined(option.words), "\\'");
      } else {
        for (const auto& name : option.names)
          line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (!option.value.empty())
          line += option.words.empty() ? " -r" : " -x -a " + quoted(joined(option.words), "\\'");
      }
      out += line + " -d " + quoted(option.description, "\\'") + "\n";
    }
  }
  return out;
}

// --- the manual -----------------------------------------------------------------------------------------------------
/// Text for troff: hyphens that are hyphens of the keyboard, and no line that begins a request.
std::string roff(const std::string& text) {
  std::string out;
  bool begin = true;
  for (const char c : text) {
    if (begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begin = c == '\n';
  }
  return out;
}
std::string entries(const Description& app) {
  std::string out;
  for (const OptionDescription& option : app.options)
    out += fmt::format(".TP\n.B {}{}\n{}\n", roff(fmt::format("{}", fmt::join(option.names, ", "))),
                       option.value.empty() || is_positional(option) ? "" : roff(" " + option.value),
                       roff(option.description.empty() ? "See below." : option.description));
  return out;
}
std::string manual(const Description& program) {
  std::string out = fmt::format(
      ".TH ARTICULA 1 \"\" \"articula {}\" \"User Commands\"\n.SH NAME\narticula \\- {}\n.SH SYNOPSIS\n"
      ".B articula\n.I SUBCOMMAND\n[options]\n.SH DESCRIPTION\n{}\n",
      ARTICULA_VERSION, roff(without(program.description.substr(program.description.find(':') + 2), ".")),
      roff(program.description));
  out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(program.footer));
  for (const Description& sub : program.subcommands) {
    out += fmt::format(".SH \"ARTICULA {}\"\n{}.\n", roff(sub.name), roff(sub.description));
    out += entries(sub);
    if (!sub.footer.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(sub.footer));
  }
  return out;
}

struct CompletionOptions {
  std::string what;
};

}  // namespace

Subcommand add_completion(CLI::App& program) {
  auto options = std::make_shared<CompletionOptions>();
  CLI::App& app =
      *program.add_subcommand("completion", "Completion for a shell, or the manual page, to be installed");
  app.add_option("WHAT", options->what, "The shell; or man")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  app.footer(
      "Example:\n  articula completion bash > ~/.local/share/bash-completion/completions/articula\n"
      "  articula completion zsh > ~/.zfunc/_articula; fpath+=~/.zfunc\n"
      "  articula completion fish > ~/.config/fish/completions/articula.fish\n"
      "  articula completion man > articula.1; man ./articula.1\n");
  return {&app, [options, &program] {
            const Description all = program.describe();
            Output out("-");
            out.write(options->what == "bash"   ? for_bash(all)
                      : options->what == "zsh"  ? for_zsh(all)
                      : options->what == "fish" ? for_fish(all)
                                                : manual(all));
            out.finish();
            return done;
          }};
}

}  // namespace articula::cli
