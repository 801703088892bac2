// articula count: exact operation counts of each algorithm, beside the papers'.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "articula/diagonal/operation_counts.hpp"
#include "cli/count_tables.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"

namespace articula::cli {

namespace {

struct CountOptions {
  ModelOptions model;
  std::string out = "-", plot;
  bool json = false, markdown = false, limits = false;
};

constexpr int usual_n = 6;        // where ratios are taken if no N is given
constexpr int largest_nv = 1000;  // of a robot: three nv x nv matrices of counting numbers and more

struct Setting {
  ChainKind kind;
  ChainAxes axes;
  Counting how;
  const char *kind_name, *axes_name, *how_name;
};
const Setting settings[] = {
    {ChainKind::revolute, ChainAxes::general, Counting::executed, "revolute", "general", "executed"},
    {ChainKind::revolute, ChainAxes::general, Counting::customized, "revolute", "general", "customized"},
    {ChainKind::revolute, ChainAxes::perpendicular, Counting::customized, "revolute", "perpendicular",
     "customized"},
    {ChainKind::prismatic, ChainAxes::general, Counting::executed, "prismatic", "general", "executed"},
    {ChainKind::mixed, ChainAxes::general, Counting::executed, "mixed", "general", "executed"},
};

// --- tables ------------------------------------------------------------------------------------------
/// The first that is listed: for forward dynamics, the least at n = 6.
const PublishedCount* published_for(const std::string& algorithm, ChainAxes axes) {
  for (const auto& p : published_counts())
    if (p.algorithm == algorithm && p.axes == axes) return &p;
  return nullptr;
}
std::vector<CountFormula> formulas_of(const Setting& s) {
  std::vector<CountFormula> all;
  for (const auto& a : counted_algorithms()) all.push_back(count_formula(a.name, s.kind, s.axes, s.how));
  return all;
}

CountTable formula_table(const Setting& s, int n) {
  CountTable t;
  t.title = fmt::format("{} chain, {} axes, {}", s.kind_name, s.axes_name, s.how_name);
  const bool compared = s.kind == ChainKind::revolute;
  t.head = {"algorithm", "multiplications", "additions", "other", fmt::format("total at {}", n)};
  if (compared) t.head.insert(t.head.end(), {"paper, multiplications", "paper, additions", "ratio"});
  for (const auto& f : formulas_of(s)) {
    std::string other;
    const auto add = [&](const Polynomial& p, const char* name) {
      if (p.text() != "0") other += fmt::format("{}{} {}", other.empty() ? "" : ", ", p.text(), name);
    };
    add(f.divisions, "div");
    add(f.square_roots, "sqrt");
    add(f.sines_cosines, "sincos");
    t.rows.push_back({f.algorithm, f.multiplications.text(), f.additions.text(), other.empty() ? "-" : other,
                      fmt::format("{}", std::lround(total(f, n)))});
    if (!compared) continue;
    const PublishedCount* p = published_for(f.algorithm, s.axes);
    auto& row = t.rows.back();
    if (p)
      row.insert(row.end(), {short_formula(p->multiplications) + (p->total_only ? " in all" : ""),
                             p->total_only ? "-" : short_formula(p->additions),
                             fmt::format("{:.2f}", total(f, n) / p->total(n))});
    else
      row.insert(row.end(), {"-", "-", "-"});
  }
  return t;
}

CountTable model_table(const Model& model) {
  CountTable t;
  t.title =
      fmt::format("{}: {} freedoms, {} bodies", printable(model.name()), model.nv(), model.body_count());
  t.head = {"algorithm",    "multiplications", "additions", "divisions",
            "square roots", "sine-cosines",    "total",     "total customized"};
  for (const auto& a : counted_algorithms()) {
    const Tally e = count_operations(model, a.name),
                c = count_operations(model, a.name, Counting::customized);
    const auto sum = [](const Tally& x) { return x.multiplications + x.additions + x.divisions; };
    std::vector<std::string> row{a.name};
    for (const long x :
         {e.multiplications, e.additions, e.divisions, e.square_roots, e.sines_cosines, sum(e), sum(c)})
      row.push_back(fmt::format("{}", x));
    t.rows.push_back(std::move(row));
  }
  return t;
}

// --- JSON --------------------------------------------------------------------------------------------
Json to_json(const Tally& t) {
  return Json{
      {"multiplications", t.multiplications}, {"additions", t.additions},         {"divisions", t.divisions},
      {"square_roots", t.square_roots},       {"sines_cosines", t.sines_cosines}, {"branches", t.branches}};
}
Json to_json(const Polynomial& p, int n) {
  Json coefficients = Json::array();
  for (const auto& c : p.c) coefficients.push_back(double(c.numerator) / double(c.denominator));
  return Json{{"formula", p.text()}, {"coefficients", coefficients}, {"value", std::lround(p(n))}};
}
Json chains_as_json(int n) {
  Json chains = Json::array();
  for (const auto& s : settings) {
    Json list = Json::array();
    for (const auto& f : formulas_of(s)) {
      Json entry{{"algorithm", f.algorithm},
                 {"multiplications", to_json(f.multiplications, n)},
                 {"additions", to_json(f.additions, n)},
                 {"divisions", to_json(f.divisions, n)},
                 {"square_roots", to_json(f.square_roots, n)},
                 {"sines_cosines", to_json(f.sines_cosines, n)},
                 {"total", std::lround(total(f, n))}};
      if (const PublishedCount* p = published_for(f.algorithm, s.axes); p && s.kind == ChainKind::revolute)
        entry["paper"] = {{"source", p->source},
                          {p->total_only ? "operations" : "multiplications", p->multiplications},
                          {"additions", p->total_only ? Json() : Json(p->additions)},
                          {"total", p->total(n)},
                          {"ratio", total(f, n) / p->total(n)}};
      list.push_back(std::move(entry));
    }
    chains.push_back({{"joints", s.kind_name},
                      {"axes", s.axes_name},
                      {"counting", s.how_name},
                      {"n", n},
                      {"algorithms", std::move(list)}});
  }
  Json published = Json::array();
  for (const auto& p : published_counts())
    if (p.total_only)
      published.push_back({{"method", p.source}, {"coefficients", p.multiplications}, {"total", p.total(n)}});
  return {{"chains", std::move(chains)}, {"published_totals", std::move(published)}};
}
Json model_as_json(const Model& model) {
  Json list = Json::array();
  for (const auto& a : counted_algorithms())
    list.push_back({{"algorithm", a.name},
                    {"what", a.what},
                    {"executed", to_json(count_operations(model, a.name))},
                    {"customized", to_json(count_operations(model, a.name, Counting::customized))}});
  return {{"model", describe_model(model)}, {"algorithms", std::move(list)}};
}

/// articula/diagonal/count_limits.txt, which a test holds the kernels to.
std::string limits() {
  std::string text =
      "# Operations that a kernel may take (operation_counts_test.cpp; written by articula count --limits): "
      "algorithm,\n"
      "# joints, axes, counting, n, multiplications with divisions, additions. Raise them only for a "
      "reason.\n";
  for (const int setting : {0, 2, 4})
    for (const auto& a : counted_algorithms())
      for (const int n : {6, 12}) {
        const Setting& s = settings[setting];
        const Tally t = count_operations(Model(counting_chain(n, s.kind, s.axes)), a.name, s.how);
        text += fmt::format("{} {} {} {} {} {} {}\n", a.name, s.kind_name, s.axes_name, s.how_name, n,
                            t.multiplications + t.divisions, t.additions);
      }
  return text;
}

// --- the plot ----------------------------------------------------------------------------------------
/// Total operations against n on logarithmic axes; a model's own counts as dots.
std::string plot(const Model* model) {
  constexpr double left = 70, top = 20, width = 560, height = 440, n0 = 4, n1 = 200, y0 = 300, y1 = 3e7;
  const auto x = [&](double n) { return left + width * std::log(n / n0) / std::log(n1 / n0); };
  const auto y = [&](double c) { return top + height * (1 - std::log(c / y0) / std::log(y1 / y0)); };
  const char* colours[] = {"#1b6ca8", "#c0392b", "#27ae60", "#8e44ad",
                           "#d68910", "#16a085", "#7f8c8d", "#2c3e50"};
  std::string s = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 520' font-family='sans-serif' "
      "font-size='12'>\n"
      "<rect width='900' height='520' fill='white'/>\n<rect x='{}' y='{}' width='{}' height='{}' fill='none' "
      "stroke='#888'/>\n",
      left, top, width, height);
  for (const int n : {5, 10, 20, 50, 100, 200})
    s += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#ddd'/><text x='{0:.1f}' y='{3}' "
        "text-anchor='middle'>{4}</text>\n",
        x(n), top, top + height, top + height + 18, n);
  for (int power = 3; power <= 7; ++power)
    s += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' stroke='#ddd'/><text x='{3}' y='{1:.1f}' "
        "text-anchor='end'>1e{4}</text>\n",
        left, y(std::pow(10, power)), left + width, left - 6, power);
  s += fmt::format("<text x='{}' y='{}' text-anchor='middle'>joints n (general revolute chain)</text>\n",
                   left + width / 2, top + height + 40);
  int entry = 0;
  const auto curve = [&](const std::string& name, bool dashed, auto&& value, const double* dot) {
    const char* colour = colours[entry % 8];
    s += fmt::format("<polyline fill='none' stroke='{}' stroke-width='1.6'{} points='", colour,
                     dashed ? " stroke-dasharray='5 4'" : "");
    for (int i = 0; i <= 60; ++i) {
      const double n = n0 * std::pow(n1 / n0, i / 60.0);
      s += fmt::format("{:.1f},{:.1f} ", x(n), y(std::clamp(value(n), y0, y1)));
    }
    s += "'/>\n";
    const double at = top + 12 + 18 * entry;
    s += fmt::format(
        "<line x1='645' y1='{0}' x2='670' y2='{0}' stroke='{1}' stroke-width='1.6'{2}/><text x='676' "
        "y='{3}'>{4}</text>\n",
        at, colour, dashed ? " stroke-dasharray='5 4'" : "", at + 4, name);
    if (dot && model->nv() >= n0 && model->nv() <= n1)
      s +=
          fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='{}'/>\n", x(model->nv()), y(*dot), colour);
    ++entry;
  };
  for (const char* name : {"inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_mass_matrix",
                           "normalized", "unnormalized", "linearized_2", "linearized_4", "linearized_6"}) {
    const auto f = count_formula(name, ChainKind::revolute, ChainAxes::general, Counting::executed);
    double own = 0;
    if (model) {
      const Tally t = count_operations(*model, name);
      own = double(t.multiplications + t.additions + t.divisions);
    }
    curve(
        name, false, [&](double n) { return total(f, n); }, model ? &own : nullptr);
  }
  for (const auto& p : published_counts())
    if (p.total_only)
      curve(
          p.source, true, [&](double n) { return p.total(n); }, nullptr);
  return s + "</svg>\n";
}

// --- the command -------------------------------------------------------------------------------------
/// N of chain:N without a seed: then formulas say all.
std::optional<int> plain_chain(const std::string& source) {
  int n = 0;
  if (!source.starts_with("chain:")) return {};
  const auto [end, error] = std::from_chars(source.data() + 6, source.data() + source.size(), n);
  if (error != std::errc{} || end != source.data() + source.size() || n < 4) return {};
  return n;
}

ExitCode run(const CountOptions& options) {
  if (options.json + options.markdown + options.limits > 1)
    throw InputError("give one of --json, --markdown and --limits");
  const bool any_chain = options.model.source.empty();
  const std::optional<int> chain = any_chain ? usual_n : plain_chain(options.model.source);
  const bool formulas = chain && options.model.base == "fixed";
  const int n = chain.value_or(usual_n);
  std::optional<Model> model;
  if (!formulas) {
    if (any_chain) throw InputError("--base needs a MODEL");
    model.emplace(load_model(options.model));
    if (model->nv() > largest_nv)
      throw InputError(
          fmt::format("the model has {} freedoms; counts are made for up to {}", model->nv(), largest_nv));
  }
  Output out(options.out);
  std::string text;
  if (options.limits) {
    text = limits();
  } else if (options.json) {
    append(model ? model_as_json(*model) : chains_as_json(n), 0, text);
    text += "\n";
  } else {
    const auto put = [&](const CountTable& t) { text += options.markdown ? as_markdown(t) : as_text(t); };
    if (model) {
      put(model_table(*model));
    } else {
      for (const auto& s : settings) put(formula_table(s, n));
      put(classical_table());
      for (const char* form : {"nu", "xi"}) put(diagonal_parts_table(form));
    }
  }
  if (!options.plot.empty()) {
    Output picture(options.plot, "--plot");
    picture.write(plot(model ? &*model : nullptr));
    picture.finish();
  }
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_count(CLI::App& program) {
  auto options = std::make_shared<CountOptions>();
  CLI::App& app =
      *program.add_subcommand("count", "Exact operation counts of each algorithm, beside the papers'");
  options->model.add_to(app);
  app.get_option("MODEL")->required(false);
  app.add_flag("--json", options->json, "Print JSON");
  app.add_flag("--markdown", options->markdown, "Print tables for a Markdown page");
  app.add_flag("--limits", options->limits, "Print the table that the guard test holds the kernels to");
  app.add_option("--plot", options->plot, "Also draw the counts against n, as SVG, to this file")
      ->type_name("FILE");
  add_out_option(app, options->out);
  app.footer(
      "The kernels' own texts run with a number that counts. Without MODEL, or for chain:N, prints formulas "
      "in the\n"
      "number of joints n, fitted exactly (n = 4 to 16), for revolute, prismatic and mixed chains, and the "
      "papers' own.\n"
      "For any other MODEL, prints its counts. \"executed\" counts every operation of the text; "
      "\"customized\" leaves\n"
      "out what zeros, ones and other constants of the model make needless, as the papers do. Totals and "
      "ratios count\n"
      "multiplications, divisions and additions. linearized_4 to _6 start after forward dynamics at the "
      "state,\n"
      "those ending in _numerical and _printed with the kinematics, as the paper's do.\n"
      "Mimic joints are counted as hinges of their own.\n\n"
      "Examples:\n  articula count chain:7\n  articula count puma560 --json\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
