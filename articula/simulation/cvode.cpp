#include "articula/simulation/cvode.hpp"

#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <vector>

#include "articula/simulation/check_state.hpp"

namespace articula {

struct Cvode::Solver {
  Solver(const Manifold& manifold, const Tolerances& tolerances)
      : nq(manifold.nq()), nv(manifold.nv()), y(nq + nv), q(nq), v(nv) {
    if (!(tolerances.relative > 0) || !(tolerances.absolute > 0) || !std::isfinite(tolerances.relative) ||
        !std::isfinite(tolerances.absolute))
      throw ArgumentError(
          fmt::format("Cvode: tolerances {} (relative) and {} (absolute); expected positive "
                      "numbers",
                      tolerances.relative, tolerances.absolute));
    if (y.empty()) return;
    check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
    vector = N_VMake_Serial(static_cast<sunindextype>(y.size()), y.data(), context);
    const auto n = static_cast<sunindextype>(y.size());
    matrix = SUNDenseMatrix(n, n, context);
    // CVODE copies it when it begins, and crashes where there is no memory for that: better to see it here.
    const SUNMatrix copy = matrix ? SUNDenseMatrix(n, n, context) : nullptr;
    memory = CVodeCreate(CV_BDF, context);
    if (vector && copy) linear = SUNLinSol_Dense(vector, matrix, context);
    if (copy) SUNMatDestroy(copy);
    if (!vector || !matrix || !memory || !linear) {
      free();
      throw std::bad_alloc();
    }
    try {
      check(CVodeSetErrHandlerFn(memory, keep_message, this), "CVodeSetErrHandlerFn");
      check(CVodeInit(memory, rate, 0, vector), "CVodeInit");
      check(CVodeSStolerances(memory, tolerances.relative, tolerances.absolute), "CVodeSStolerances");
      check(CVodeSetLinearSolver(memory, linear, matrix), "CVodeSetLinearSolver");
      check(CVodeSetUserData(memory, this), "CVodeSetUserData");
      check(CVodeSetMaxNumSteps(memory, 10'000'000), "CVodeSetMaxNumSteps");
    } catch (...) {
      free();
      throw;
    }
  }
  ~Solver() { free(); }
  Solver(const Solver&) = delete;

  void free() {
    if (memory) CVodeFree(&memory);
    if (linear) SUNLinSolFree(linear);
    if (matrix) SUNMatDestroy(matrix);
    if (vector) N_VDestroy(vector);
    if (context) SUNContext_Free(&context);
    linear = nullptr, matrix = nullptr, vector = nullptr;
  }
  void check(int flag, const char* function) const {
    if (flag >= 0) return;
    if (message.find("memory request failed") != message.npos) throw std::bad_alloc();
    throw IntegrationError(
        fmt::format("{} failed ({}){}{}", function, flag, message.empty() ? "" : ": ", message));
  }

  static void keep_message(int, const char*, const char*, char* text, void* self) {
    auto& to = static_cast<Solver*>(self)->message;
    to.assign(text);
    std::replace(to.begin(), to.end(), '\n', ' ');
  }
  /// Exceptions do not cross CVODE's C code: they wait in `thrown`.
  static int rate(double t, N_Vector y, N_Vector y_dot, void* self) {
    auto& s = *static_cast<Solver*>(self);
    const double* const x = N_VGetArrayPointer(y);
    double* const x_dot = N_VGetArrayPointer(y_dot);
    try {
      std::copy_n(x, s.nq, s.q.begin());
      s.system->manifold.normalise(s.q.data());
      const In<double> rates(x + s.nq, s.nv);
      s.system->acceleration(t, s.q, rates, {x_dot + s.nq, s.nv});
      s.system->velocities(t, s.q, rates, s.v);
      s.system->manifold.coordinate_rates(x, s.v.data(), x_dot);
      ++s.evaluations;
      for (std::size_t i = 0; i < s.nq + s.nv; ++i)
        if (!std::isfinite(x_dot[i])) return 1;  // try a shorter step
      return 0;
    } catch (...) {
      s.thrown = std::current_exception();
      return -1;
    }
  }

  const std::size_t nq, nv;
  std::vector<double> y, q, v;
  SUNContext context = nullptr;
  N_Vector vector = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear = nullptr;
  void* memory = nullptr;
  const System<double>* system = nullptr;
  std::exception_ptr thrown;
  std::string message;
  long steps = 0, evaluations = 0;
};

Cvode::Cvode(const Manifold& manifold, const Tolerances& tolerances)
    : solver_(std::make_unique<Solver>(manifold, tolerances)) {}
Cvode::~Cvode() = default;
Cvode::Cvode(Cvode&&) noexcept = default;
Cvode& Cvode::operator=(Cvode&&) noexcept = default;

void Cvode::advance(const System<double>& system, double t, double end, Out<double> q, Out<double> v) {
  Solver& s = *solver_;
  check_state("Cvode::advance", system.manifold, s.nv, q.size(), v.size());
  if (!(end > t) || s.y.empty()) return;
  std::copy(q.begin(), q.end(), s.y.begin());
  std::copy(v.begin(), v.end(), s.y.begin() + static_cast<long>(s.nq));
  s.system = &system;
  s.thrown = nullptr;
  s.message.clear();
  s.check(CVodeReInit(s.memory, t, s.vector), "CVodeReInit");
  s.check(CVodeSetStopTime(s.memory, end), "CVodeSetStopTime");
  double reached = t;
  const int flag = CVode(s.memory, end, s.vector, &reached, CV_NORMAL);
  long steps = 0;
  CVodeGetNumSteps(s.memory, &steps);
  s.steps += steps;
  if (s.thrown) std::rethrow_exception(std::exchange(s.thrown, nullptr));
  if (flag == CV_LINIT_FAIL || flag == CV_MEM_FAIL) throw std::bad_alloc();
  if (flag < 0)
    throw IntegrationError(fmt::format("CVODE stopped at t = {} ({}){}{}", reached, flag,
                                       s.message.empty() ? "" : ": ", s.message));
  std::copy_n(s.y.begin(), s.nq, q.begin());
  std::copy_n(s.y.begin() + static_cast<long>(s.nq), s.nv, v.begin());
  system.manifold.normalise(q.data());
  if (system.project) system.project(end, q, v);
}

long Cvode::steps() const { return solver_->steps; }
long Cvode::evaluations() const { return solver_->evaluations; }

}  // namespace articula
