#include "articula/cuda/program.hpp"

#include <fmt/format.h>

#include "articula/batch/mimics.hpp"
#include "articula/cuda/folding.hpp"
#include "articula/cuda/texts.hpp"
#include "articula/linearization/workspace.hpp"
#include "articula/model/manifold.hpp"
#include "articula/simulation/forces.hpp"
#include "articula/task_space/layout.hpp"

namespace articula::cuda {

namespace {

/// What device compilers call by other names than those of processors.
std::string adapted(std::string text, Style style) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("[[gnu::always_inline]] inline", "ARTICULA_ALWAYS_INLINE");
  // Whole: with a number, loops within unrolled ones would stay loops, and what they index in memory.
  for (const char* const often : {"16", "2", "3", "4", "6", "7", "8"})
    replace(fmt::format("#pragma GCC unroll {}\n", often), "#pragma unroll\n");
  // One reduction for both.
  replace("{ return {__builtin_sin(x), __builtin_cos(x)}; }",
          "{ SinCos<double> t; device::sine_cosine(x, &t.sin, &t.cos); return t; }");
  replace("{ return {__builtin_sinf(x), __builtin_cosf(x)}; }",
          "{ SinCos<float> t; device::sine_cosine(x, &t.sin, &t.cos); return t; }");
  replace("reciprocal(double x) { return 1.0 / x; }",
          "reciprocal(double x) { return device::inverse_of(x); }");
  // Lanes are never bodies: a thread has one state.
  replace("struct WideOf<double>", "struct WideOf<NotOnDevices<double>>");
  replace("struct WideOf<float>", "struct WideOf<NotOnDevices<float>>");
  replace("inline constexpr bool fits_one_register = ",
          "inline constexpr bool fits_one_register = false && ");
  // Joint kinds that the model has not are left out.
  replace("    return f(type{});",
          "    if constexpr (ARTICULA_KINDS >> int(HingeKind::name) & 1) return f(type{}); else break;");
  replace("b.kind == HingeKind::revolute", "ARTICULA_IS_REVOLUTE(b.kind)");
  replace("b.kind != HingeKind::revolute", "!ARTICULA_IS_REVOLUTE(b.kind)");
  replace("(kind == HingeKind::revolute)", "(ARTICULA_IS_REVOLUTE(kind))");
  // Sizes of arrays are known when a program is compiled.
  replace("  void plan(Give&& give", "  constexpr void plan(Give&& give");
  replace("  int slots() const {", "  constexpr int slots() const {");
  if (style == Style::rolled) {
    replace("ARTICULA_EACH_BODY", "");
    return text;
  }
  // Loops over bodies are unrolled.
  const auto unroll = [&](std::string_view loop, const std::string& by) {
    replace(loop, "\n#pragma unroll\n" + by);
  };
  for (const char* const loop :
       {"for (int k = tree.bodies; k >= 1; --k)", "for (int k = 1; k < tree.slots(); ++k)",
        "for (int k = 0; k < tree.slots(); k += wide_bodies<S>)", "for (int k = 1; k <= last; ++k) {",
        "for (int k = begin; k < end; ++k) {", "for (int k = first; k <= last; ++k)",
        "for (int k = at.first; k <= at.last; ++k)", "for (int k = at.first + 1; k <= at.last; ++k)"})
    unroll(loop, loop);
  replace("ARTICULA_EACH_BODY", "\n#pragma unroll\n");
  // Those along the way to the world too, as loops over all bodies that leave the others out: how often they run is
  // then known.
  for (const char* const first : {"first", "at.first"}) {
    const std::string on_way = fmt::format(
        "(tree.index[k].v <= tree.index[{0}].v && tree.index[{0}].v < tree.index[k].v_end)", first);
    unroll(fmt::format("for (int k = tree.index[{}].inboard; k != 0; k = tree.index[k].inboard) clear(k);",
                       first),
           fmt::format("for (int k = {} - 1; k >= 1; --k) if {} clear(k);", first, on_way));
    unroll(first == std::string_view("first") ? "for (int k = last, next = 0; k != 0; k = next) {"
                                              : "for (int k = at.last, next = 0; k != stop; k = next) {",
           fmt::format("for (int k = {}, next = 0; k > {}; --k) {{\n    if (k < {} && !{}) continue;",
                       first == std::string_view("first") ? "last" : "at.last",
                       first == std::string_view("first") ? "0" : "stop", first, on_way));
  }
  return text;
}

/// Writes the tables.
template <class S>
class Tables {
 public:
  Tables(const Model& model, const Task& task, const Folding& folding, bool loops)
      : model_(model), task_(task), loops_(loops) {
    for (int side = 0; folding.sides > 1 && side < folding.sides; ++side)
      folded_.emplace_back(model, folding, side);
    tree_ = folded_.empty() ? model.tree<S>() : folded_[0].tree();
    for (std::size_t k = 0; k < folding.slot.size(); ++k) sided_.push_back(folding.sided(k));
  }

  std::string text() {
    out_ =
        "#pragma once\n#include \"articula/cuda/arguments.hpp\"\n#include "
        "\"articula/kernels/integrator.hpp\"\n"
        "#include \"articula/kernels/linearization_memory.hpp\"\n#include \"articula/kernels/listed.hpp\"\n"
        "#include \"articula/kernels/task_memory.hpp\"\n#include \"articula/model/manifold.hpp\"\n"
        "namespace articula::device {\n"
        "enum class Layout { rows, columns, tiles };\nusing cuda::most_parts;\n"
        "struct Follow { int source; Number multiplier, offset; };\n"
        "enum class Kept { as_it_is, columns, rows, matrix };\nstruct PartOfResult { int size; Kept kind; "
        "};\n";
    choices();
    tree();
    sides();
    if (loops_) loops();
    linearization();
    frames();
    motion();
    out_ += "}\n";
    return out_;
  }

 private:
  static std::string number(double x) {
    std::string text = fmt::format("{:.{}g}", x, std::numeric_limits<S>::max_digits10);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  template <class F>
  void table(const char* type, const char* name, std::size_t n, F&& f, const char* where = "ARTICULA_TABLE") {
    out_ += fmt::format("{} {} {}[] = {{", where, type, name);
    for (std::size_t i = 0; i < n; ++i) out_ += f(i) + ",";
    out_ += n == 0 ? "{}};\n" : "};\n";
  }
  void numbers(const char* name, const S* x, std::size_t n) {
    table("Number", name, n, [&](std::size_t i) { return number(static_cast<double>(x[i])); });
  }
  template <class T>
  void integers(const char* type, const char* name, const T* x, std::size_t n) {
    table(type, name, n, [&](std::size_t i) { return fmt::format("{}", static_cast<int>(x[i])); });
  }
  void constant(const char* type, const char* name, const auto& value) {
    out_ += fmt::format("inline constexpr {} {}{{{}}};\n", type, name, value);
  }

  void choices() {
    constant("Layout", "layout", fmt::format("Layout({})", static_cast<int>(task_.layout)));
    constant("Axes", "axes", fmt::format("Axes({})", static_cast<int>(task_.axes)));
    constant("Integrator", "integrator", fmt::format("Integrator({})", static_cast<int>(task_.integrator)));
    constant("bool", "varied", task_.varied);
    constant("bool", "has_speeds", task_.speeds);
    constant("bool", "has_wrenches", task_.wrenches);
    constant("bool", "has_mimics", model_.has_mimics());
    constant("bool", "massless", !(model_.mass() > 0));
    for (const auto& [name, value] : {std::pair{"bodies", tree_.bodies},
                                      {"nq", tree_.nq},
                                      {"nv", tree_.nv},
                                      {"own_nq", model_.nq()},
                                      {"own_nv", model_.nv()}})
      constant("int", name, value);
    std::array<bool, argument_count> uses{};
    for (const Argument argument : task_.uses) uses[static_cast<int>(argument)] = true;
    out_ += "inline constexpr bool uses[argument_count] = {";
    for (const bool x : uses) out_ += x ? "1," : "0,";
    out_ += "};\n";
    constant("int", "part_count", task_.results.size());
    out_ += "inline constexpr PartOfResult parts[] = {";
    for (const Task::Result& r : task_.results) {
      using batching::Numbers;
      const Numbers kind = batching::numbers_of_part(r.part);
      out_ += fmt::format("{{{},Kept::{}}},", r.size,
                          kind == Numbers::other    ? "as_it_is"
                          : kind == Numbers::matrix ? "matrix"
                          : kind == Numbers::rows   ? "rows"
                                                    : "columns");
    }
    out_ += task_.results.empty() ? "{}};\n" : "};\n";
  }

  void tree() {
    const std::size_t slots = tree_.slots(), padded_slots = (slots + block - 1) / block * block;
    table("BodyIndex", "tree_index", slots, [&](std::size_t k) {
      const BodyIndex& b = tree_.index[k];
      return fmt::format("{{{},{},{},HingeKind({}),Handover({}),Alignment({}),Alignment({}),{},{},{},{}}}",
                         b.inboard, b.q, b.v, static_cast<int>(b.kind), static_cast<int>(b.handover),
                         static_cast<int>(b.alignment), static_cast<int>(b.twist), b.has_l, b.has_carry,
                         b.has_sides, b.v_end);
    });
    numbers("tree_constants", tree_.constants, padded_slots * articula::constant::count);
    numbers("tree_pitch", tree_.pitch, slots);
    numbers("tree_armature", tree_.armature, tree_.nv);
    numbers("tree_link_axes", tree_.link_axes, 9 * slots);
    const std::size_t mimics = tree_.source ? tree_.nv : 0;
    integers("int", "tree_source", tree_.source, mimics);
    numbers("tree_multiplier", tree_.multiplier, mimics);
    integers("int", "tree_v_end", tree_.v_end, tree_.nv);
    integers("int", "tree_angle", tree_.angle, padded_slots);
    numbers("tree_offset", tree_.offset, padded_slots);
    out_ += fmt::format(
        "inline constexpr Tree<Number> sizes_tree{{.bodies = bodies, .nq = nq, .nv = nv}};\n"
        "ARTICULA_INLINE Tree<Number> model_tree() {{\n  Tree<Number> t;\n  t.bodies = bodies, t.nq = nq, "
        "t.nv = nv;\n"
        "  t.index = tree_index, t.constants = tree_constants, t.pitch = tree_pitch, t.armature = "
        "tree_armature;\n  t.link_axes = tree_link_axes, t.own_nv = own_nv;\n"
        "  if constexpr (has_mimics) t.source = tree_source, t.multiplier = tree_multiplier;\n"
        "  t.has_armature = {}, t.suits_body_axes = {}, t.steps_inboard = {}, t.v_end = tree_v_end, t.angle "
        "= tree_angle, t.offset = tree_offset;\n"
        "  t.gravity = {{Number({}), Number({}), Number({})}};\n  return t;\n}}\n",
        tree_.has_armature, tree_.suits_body_axes, tree_.steps_inboard, number(tree_.gravity.x),
        number(tree_.gravity.y), number(tree_.gravity.z));
    const auto follow = [&](const char* name, std::span<const Model::FullVelocity> map) {
      table("Follow", name, map.size(), [&](std::size_t i) {
        return fmt::format("{{{},{},{}}}", map[i].source, number(map[i].multiplier), number(map[i].offset));
      });
    };
    follow("full_coordinates", model_.full_coordinates());
    follow("full_velocities", model_.full_velocities());
  }

  /// What differs from side to side of a folded model, side after side.
  void sides() {
    constant("int", "sides", std::max<std::size_t>(1, folded_.size()));
    if (folded_.empty()) return;
    const std::size_t slots = tree_.slots();
    const auto all = [&](const char* type, const char* name, auto&& of, std::size_t n) {
      table(type, name, folded_.size() * n, [&](std::size_t i) {
        const auto x = of(folded_[i / n])[i % n];
        if constexpr (std::is_same_v<decltype(x), const int>)
          return fmt::format("{}", x);
        else
          return number(x);
      });
    };
    using T = FoldedTree<S>;
    const std::size_t constants = (slots + block - 1) / block * block * articula::constant::count;
    all(
        "Number", "side_constants", [](const T& t) { return t.tree().constants; }, constants);
    all(
        "Number", "side_pitch", [](const T& t) { return t.tree().pitch; }, slots);
    all(
        "Number", "side_offset", [](const T& t) { return t.tree().offset; }, slots);
    all(
        "Number", "side_armature", [](const T& t) { return t.tree().armature; }, tree_.nv);
    all(
        "int", "side_q", [](const T& t) { return t.own_q.data(); }, tree_.nq);
    all(
        "int", "side_v", [](const T& t) { return t.own_v.data(); }, tree_.nv);
    table("bool", "sided", slots, [&](std::size_t k) { return std::string(sided_[k] ? "true" : "false"); });
  }

  /// Limbs that loops go through, and what of the model those read while they run.
  void loops() {
    const std::vector<LimbLoop> limbs = limb_loops(model_);
    std::vector<int> hub(tree_.slots(), -1);  // by slot: number among the bodies that have such limbs
    std::vector<bool> looped(tree_.slots());
    int hubs = 0, longest = 0;
    for (const LimbLoop& limb : limbs) {
      if (hub[limb.on] < 0) hub[limb.on] = hubs++;
      longest = std::max(longest, limb.end - limb.first);
      std::fill(looped.begin() + limb.first, looped.begin() + limb.end, true);
    }
    constant("int", "loop_hubs", std::max(1, hubs));
    constant("int", "longest_loop", longest);
    constant("int", "loop_count", limbs.size());
    const std::size_t slots = tree_.slots();
    table("bool", "looped", slots, [&](std::size_t k) { return std::string(looped[k] ? "true" : "false"); });
    table("int", "hub", slots, [&](std::size_t k) { return fmt::format("{}", hub[k]); });
    const char* const memory = "ARTICULA_TABLE_MEMORY";
    out_ +=
        "struct LimbLoop { int first, end, hub; };\nstruct LoopedBody { int q, v; bool l_is_zero; Number "
        "offset, armature; };\n";
    table(
        "LimbLoop", "limb_loops", limbs.size(),
        [&](std::size_t i) {
          return fmt::format("{{{},{},{}}}", limbs[i].first, limbs[i].end, hub[limbs[i].on]);
        },
        memory);
    table(
        "LoopedBody", "looped_bodies", slots,
        [&](std::size_t k) {
          if (!looped[k]) return std::string("{}");
          const BodyIndex& b = tree_.index[k];
          const S* const l = tree_.constants_of(static_cast<int>(k)) + block * articula::constant::l;
          return fmt::format("{{{},{},{},{},{}}}", b.q, b.v, l[0] == 0 && l[block] == 0 && l[2 * block] == 0,
                             number(tree_.offset[k]), number(tree_.armature[b.v]));
        },
        memory);
    // A body's side by side: fewer lines of the cache for constants.
    constexpr std::size_t count = articula::constant::count;
    table(
        "Number", "looped_constants", slots * count,
        [&](std::size_t i) {
          return number(tree_.constants_of(static_cast<int>(i / count))[i % count * block]);
        },
        memory);
  }

  void linearization() {
    struct Columns : LinearizationWorkspace<S> {
      explicit Columns(const Model& model) : LinearizationWorkspace<S>(model, {}, {}) {}
      using LinearizationWorkspace<S>::lin_;
    };
    const Columns columns(model_);
    const LinearizationTables& t = columns.lin_;
    table("ColumnIndex", "column_index", tree_.slots(),
          [&](std::size_t k) { return fmt::format("{{{},nullptr,nullptr}}", k ? t.index[k].end : 0); });
    integers("int", "carrier", t.carrier, tree_.slots());
    constant("int", "carriers", t.carriers);
    const std::size_t limbs = t.limbs_end - t.limbs;
    table("Limb", "limbs", limbs, [&](std::size_t i) {
      return fmt::format("{{{},{},{},{}}}", t.limbs[i].first, t.limbs[i].end, t.limbs[i].v, t.limbs[i].v_end);
    });
    constant("int", "limb_count", limbs);
    integers("int", "limb_begin", t.limb_begin, tree_.nv);
    numbers("mass_of_model", columns.lin_.mass, tree_.nv);
  }

  void frames() {
    std::vector<FrameOnBody<double>> places;
    for (const int frame : task_.frames) places.push_back(frame_on_body(model_, frame));
    constant("int", "frame_count", places.size());
    table("FrameOnBody<Number>", "frames", places.size(), [&](std::size_t i) {
      const FrameOnBody<double>& f = places[i];
      return fmt::format("{{{},{{{},{},{},{},{},{},{},{},{}}},{{{},{},{}}}}}", f.slot, number(f.R.xx),
                         number(f.R.xy), number(f.R.xz), number(f.R.yx), number(f.R.yy), number(f.R.yz),
                         number(f.R.zx), number(f.R.zy), number(f.R.zz), number(f.p.x), number(f.p.y),
                         number(f.p.z));
    });
    const TaskLayout layout = lay_tasks(model_.tree<double>(), places);
    constant("int", "segment_count", std::max<std::size_t>(1, layout.segments.size()));
    constant("int", "task_rows", std::max(1, layout.e_rows));
    table("TaskSegment", "task_segments", layout.segments.size(), [&](std::size_t i) {
      const TaskSegment& s = layout.segments[i];
      return fmt::format("{{{},{},{},{},{}}}", s.start, s.path, s.bodies, s.e, s.inboard);
    });
    integers("int", "task_path", layout.path.data(), layout.path.size());
    integers("int", "task_meeting", layout.meeting.data(), layout.meeting.size());
  }

  void motion() {
    const Manifold manifold(model_);
    const Manifold::Pieces pieces = manifold.pieces();
    bool flat = true;
    for (const Manifold::Piece& p : pieces) flat = flat && p.kind == Manifold::Kind::flat;
    constant("bool", "flat_manifold", flat);
    const std::size_t count = pieces.end() - pieces.begin();
    table("Manifold::Piece", "manifold_piece", count, [&](std::size_t i) {
      const Manifold::Piece& p = pieces.begin()[i];
      return fmt::format("{{Manifold::Kind({}),{},{},{}}}", static_cast<int>(p.kind), p.q, p.v, p.count);
    });
    out_ += fmt::format(
        "ARTICULA_INLINE Manifold::Pieces manifold_pieces() {{ return {{manifold_piece, manifold_piece + "
        "{}}}; }}\n",
        count);
    const std::vector<double> unit(model_.nv(), 1);
    std::vector<double> force(model_.nv());
    JointDampers(model_).add_forces(0, {}, unit, force);
    table("Number", "damping_of_steps", force.size(), [&](std::size_t i) { return number(-force[i]); });
  }

  const Model& model_;
  const Task& task_;
  std::vector<FoldedTree<S>> folded_;  // by side; none: the model is as it is
  std::vector<bool> sided_;
  bool loops_;
  Tree<S> tree_;
  std::string out_;
};

}  // namespace

template <class S>
Program program_of(const Model& model, const Task& task, Style style, const Tuning& tuning) {
  Program program;
  program.algorithm = task.algorithm;
  program.threads = tuning.threads;
  const bool foldable = style == Style::specialised && task.algorithm == "forward_dynamics" &&
                        !task.wrenches && !task.varied && !model.has_mimics();
  const Folding folding = fold(model, foldable ? tuning.sides : 1);
  program.sides = folding.sides;
  const bool loops = foldable && tuning.loops && can_loop(model);
  // Measured (docs/gpu.md): elsewhere the branches of the compiler's own sine keep it from mixing all bodies' work.
  const bool own_sine = style == Style::specialised && task.algorithm == "forward_dynamics" && !loops;
  // Of floats, within two units in the last place: what follows after a division has more rounding than that.
  if (sizeof(S) == sizeof(float)) program.options = {"--prec-div=false", "--prec-sqrt=false", "--ftz=true"};
  unsigned kinds = 0;
  for (int k = 1; k <= model.tree<S>().bodies; ++k)
    kinds |= 1u << static_cast<int>(model.tree<S>().index[k].kind);
  const bool revolute = kinds == 1u << static_cast<int>(HingeKind::revolute);
  program.text = fmt::format(
      "{}#define ARTICULA_BOUNDS {}{}\n#define ARTICULA_SIDES {}\n#define ARTICULA_LOOPS {:d}\n#define "
      "ARTICULA_OWN_SINE {:d}\n#define {}\n#define ARTICULA_KINDS {}u\n"
      "#define ARTICULA_IS_REVOLUTE(kind) {}\n#include \"articula/cuda/device_prelude.hpp\"\n"
      "namespace articula::device {{ using Number = {}; }}\n#include \"articula/cuda/device_kernel.hpp\"\n",
      style == Style::specialised ? "#define ARTICULA_SPECIALISED\n" : "", tuning.threads,
      tuning.blocks > 0 ? fmt::format(", {}", tuning.blocks) : std::string(), folding.sides, loops, own_sine,
      task.algorithm == "rollout" ? std::string("ARTICULA_ROLLOUT")
      : task.listed >= 0          ? fmt::format("ARTICULA_ALGORITHM listed<{}>", task.listed)
                                  : fmt::format("ARTICULA_ALGORITHM {}", task.algorithm),
      kinds, revolute ? "true" : "((kind) == HingeKind::revolute)",
      sizeof(S) == sizeof(double) ? "double" : "float");
  for (const Text& text : texts()) program.files.emplace_back(text.name, adapted(text.text, style));
  program.files.emplace_back("articula/cuda/device_tables.hpp",
                             Tables<S>(model, task, folding, loops).text());
  for (const char* const nothing :
       {"articula/spatial/aligned.hpp", "articula/model/model.hpp", "array", "bit", "cmath", "cstddef",
        "cstdint", "span", "string", "string_view", "type_traits", "vector"})
    program.files.emplace_back(nothing, "");
  return program;
}
template Program program_of<double>(const Model&, const Task&, Style, const Tuning&);
template Program program_of<float>(const Model&, const Task&, Style, const Tuning&);

}  // namespace articula::cuda
