#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <sstream>

namespace articula::cli::options {

Option* Option::required(bool yes) { return real_->required(yes), this; }
Option* Option::type_name(const std::string& name) { return real_->type_name(name), this; }
Option* Option::capture_default_str() { return real_->capture_default_str(), this; }
Option* Option::check(const Check& accepted) {
  if (accepted.words.empty())
    real_->check(::CLI::Range(accepted.least, accepted.most));
  else
    real_->check(::CLI::IsMember(accepted.words));
  return suggest([words = accepted.words] { return words; });
}
Option* Option::suggest(std::function<std::vector<std::string>()> words) {
  words_ = std::move(words);
  return this;
}
OptionDescription Option::describe() const {
  OptionDescription out;
  for (const auto& name : real_->get_lnames()) out.names.push_back("--" + name);
  for (const auto& name : real_->get_snames()) out.names.push_back("-" + name);
  if (out.names.empty()) out.names.push_back(real_->get_name());
  out.description = real_->get_description();
  if (real_->get_items_expected_max() > 0) {
    out.value = real_->get_type_name().substr(0, real_->get_type_name().find(':'));
    if (out.value.empty()) out.value = real_->get_positional() ? real_->get_name() : "VALUE";
  }
  if (words_) out.words = words_();
  return out;
}
Option* Option::expected(int count) { return real_->expected(count), this; }
Option* Option::expected(int least, int most) { return real_->expected(least, most), this; }
Option* Option::allow_extra_args(bool yes) { return real_->allow_extra_args(yes), this; }

App::App(const std::string& description, const std::string& name)
    : own_(std::make_unique<::CLI::App>(description, name)), real_(own_.get()) {}
App::App(::CLI::App* real) : real_(real) {}
App::~App() = default;

Option* App::kept(::CLI::Option* real) { return &options_.emplace_back(real); }
App* App::add_subcommand(const std::string& name, const std::string& description) {
  subcommands_.emplace_back(new App(real_->add_subcommand(name, description)));
  return subcommands_.back().get();
}
Option* App::add_flag(const std::string& name, bool& value, const std::string& description) {
  return kept(real_->add_flag(name, value, description));
}
Option* App::get_option(const std::string& name) { return kept(real_->get_option(name)); }
void App::set_version_flag(const std::string& name, const std::string& version,
                           const std::string& description) {
  real_->set_version_flag(name, version, description);
}
void App::set_help_flag(const std::string& name, const std::string& description) {
  real_->set_help_flag(name, description);
}
void App::require_subcommand(int count) { real_->require_subcommand(count); }
void App::footer(const std::string& text) { real_->footer(text); }

void App::parse(std::vector<std::string> arguments) {
  try {
    real_->parse(std::move(arguments));
  } catch (const ::CLI::Success& asked) {
    std::ostringstream text;
    real_->exit(asked, text, text);
    throw Success{text.str()};
  } catch (const ::CLI::ParseError& error) {
    throw ParseError(error.what());
  }
}
void App::exit(const Success& asked) const { std::fputs(asked.text.c_str(), stdout); }
bool App::parsed() const { return real_->parsed(); }
std::string App::get_name() const { return real_->get_name(); }
Description App::describe() const {
  Description out{real_->get_name(), real_->get_description(), real_->get_footer(), {}, {}};
  for (const Option& option : options_) {
    const OptionDescription description = option.describe();
    const auto same = [&](const OptionDescription& other) { return other.names == description.names; };
    if (std::none_of(out.options.begin(), out.options.end(), same)) out.options.push_back(description);
  }
  for (const auto& subcommand : subcommands_) out.subcommands.push_back(subcommand->describe());
  return out;
}

template <class T>
Option* App::add_option(const std::string& name, T& value, const std::string& description) {
  return kept(real_->add_option(name, value, description));
}
template Option* App::add_option(const std::string&, std::string&, const std::string&);
template Option* App::add_option(const std::string&, int&, const std::string&);
template Option* App::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* App::add_option(const std::string&, double&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<double>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<std::string>&, const std::string&);

}  // namespace articula::cli::options
