// A peer from a shared object (peer.hpp).
#include <dlfcn.h>

#include <optional>
#include <stdexcept>

#include "bench/contest.hpp"
#include "bench/peer.hpp"
#include "bench/urdf_text.hpp"

namespace articula::bench {

namespace {

class Plugin : public Peer {
 public:
  explicit Plugin(const std::string& file) : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error("cannot load peer: " + std::string(dlerror()));
    find("peer_name", name_, true);
    find("peer_load", load_, true);
    find("peer_find", find_, true);
    find("peer_run", run_, true);
    find("peer_result", result_, false);
    find("peer_keep", keep_, false);
    find("peer_free", free_, false);
  }
  std::string name() const override { return name_(); }

  std::vector<Entry> entries(const PeerModel& model) const override {
    const auto loaded = std::make_shared<Loaded>(model, *this);
    std::vector<Entry> all;
    for (const char* algorithm : {"inverse_dynamics",
                                  "forward_dynamics",
                                  "bias_forces",
                                  "gravity_forces",
                                  "mass_matrix",
                                  "solve_mass_matrix",
                                  "inverse_mass_matrix",
                                  "coriolis_matrix",
                                  "poses",
                                  "velocities",
                                  "kinematics",
                                  "jacobian",
                                  "energies",
                                  "linearized_inverse",
                                  "linearized_forward",
                                  "operational_omega",
                                  "operational_lambda",
                                  "constrained_dynamics",
                                  "impulse",
                                  "linearized_constrained",
                                  "linearized_impulse"})
      for (int which = 0;; ++which) {
        const int way = find_(loaded->model, algorithm, which);
        if (way < 0) break;
        Entry e{algorithm, [this, loaded, way](long calls) { run_(loaded->model, way, calls); }, {}};
        if (result_)
          e.result = [this, loaded, way, room = 3 * model.nv * model.nv + 36](int state) {
            std::vector<double> out(room);
            out.resize(result_(loaded->model, way, state, out.data()));
            return out;
          };
        double* const none[3] = {};
        if (keep_ && keep_(loaded->model, way, 0, none) != 0)
          e.keep = [this, loaded, way](long calls, double* const* to) {
            keep_(loaded->model, way, calls, to);
          };
        all.push_back(std::move(e));
      }
    return all;
  }
  std::vector<Simulation> simulations(const PeerModel&, double) const override { return {}; }

 private:
  /// What peer_load is told, for as long as the plug-in may read it.
  struct Loaded {
    PeerModel kept;
    std::vector<const char*> joints, contacts;
    std::vector<int> at_q, at_v;
    std::vector<const double*> q, v, a, tau;
    articula_peer_model told;
    void* model;
    void (*free)(void*);
    Loaded(const PeerModel& given, const Plugin& plugin) : kept(given), free(plugin.free_) {
      for (std::size_t k = 0; k < kept.bodies.size(); ++k) {
        joints.push_back(kept.joints[k].c_str());
        at_q.push_back(kept.bodies[k].q);
        at_v.push_back(kept.bodies[k].v);
      }
      for (const auto& c : kept.contacts) contacts.push_back(c.name.c_str());
      for (const PeerState& s : kept.states)
        q.push_back(s.q.data()), v.push_back(s.v.data()), a.push_back(s.a.data()),
            tau.push_back(s.tau.data());
      std::optional<TemporaryFile> file;
      if (kept.is_chain() && !kept.free_base) kept.urdf = file.emplace(urdf_text(kept), "urdf").name;
      told = {kept.urdf.c_str(),
              kept.free_base,
              kept.nq,
              kept.nv,
              int(joints.size()),
              joints.data(),
              at_q.data(),
              at_v.data(),
              kept.frame.name.c_str(),
              int(contacts.size()),
              contacts.data(),
              int(kept.states.size()),
              q.data(),
              v.data(),
              a.data(),
              tau.data(),
              {kept.gravity[0], kept.gravity[1], kept.gravity[2]}};
      model = plugin.load_(&told);
      if (!model) throw std::runtime_error("it cannot load " + kept.urdf);
    }
    ~Loaded() {
      if (free) free(model);
    }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
  };

  template <class F>
  void find(const char* symbol, F& function, bool needed) {
    function = reinterpret_cast<F>(dlsym(library_, symbol));
    if (!function && needed) throw std::runtime_error(std::string("peer has no function ") + symbol);
  }
  void* library_;
  decltype(&peer_name) name_{};
  decltype(&peer_load) load_{};
  decltype(&peer_find) find_{};
  decltype(&peer_run) run_{};
  decltype(&peer_result) result_{};
  decltype(&peer_keep) keep_{};
  decltype(&peer_free) free_{};
};

}  // namespace

std::unique_ptr<Peer> plugin_peer(const std::string& file) { return std::make_unique<Plugin>(file); }

}  // namespace articula::bench
