#include "articula/spatial/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "articula/spatial/numbers.hpp"

namespace articula::dense {

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Read = Eigen::Map<const Rows, 0, Eigen::OuterStride<>>;
using Write = Eigen::Map<Rows, 0, Eigen::OuterStride<>>;
using Ref = Eigen::Ref<Rows>;

Write write(Part x) {
  const View v = x;
  return {const_cast<double*>(v.data), v.rows, v.columns, Eigen::OuterStride<>(v.down)};
}
Rows copy(const View& a) {
  Rows out(a.rows, a.columns);
  Part(out.data(), a.rows, a.columns, a.columns) = a;
  return out;
}
/// f(entry of to, entry of from)
template <class F>
void for_each(Part to, const View& from, F&& f) {
  for (int i = 0; i < from.rows; ++i)
    for (int j = 0; j < from.columns; ++j) f(to(i, j), from(i, j));
}
/// x = T^-1 x by substitution, T triangular.
enum class Triangle { lower, unit_lower, upper };
void substitute(Triangle triangle, const View& T, Part x, int columns) {
  if (columns == 0) return;  // nor is there a row to point at
  const int n = T.rows;
  const bool upper = triangle == Triangle::upper;
  for (int step = 0; step < n; ++step) {
    const int i = upper ? n - 1 - step : step;
    double* const row = &x(i, 0);
    for (int k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
      for (int c = 0; c < columns; ++c) row[c] -= T(i, k) * x(k, c);
    if (triangle != Triangle::unit_lower)
      for (int c = 0; c < columns; ++c) row[c] /= T(i, i);
  }
}
/// Rows one after the other are what products read: a transpose is copied first.
void add_product(const View& a, const View& b, double scale, Part to) {
  if (a.columns == 0) return;
  if (a.across != 1) return add_product(Matrix(a), b, scale, to);
  if (b.across != 1) return add_product(a, Matrix(b), scale, to);
  write(to).noalias() += scale * Read(a.data, a.rows, a.columns, Eigen::OuterStride<>(a.down)) *
                         Read(b.data, b.rows, b.columns, Eigen::OuterStride<>(b.down));
}

}  // namespace

Part& Part::operator=(const View& x) {
  for_each(*this, x, [](double& to, double from) { to = from; });
  return *this;
}
Part& Part::operator+=(const View& x) {
  for_each(*this, x, [](double& to, double from) { to += from; });
  return *this;
}
Part& Part::operator-=(const View& x) {
  for_each(*this, x, [](double& to, double from) { to -= from; });
  return *this;
}
Part& Part::operator*=(double x) {
  for_each(*this, *this, [x](double& to, double) { to *= x; });
  return *this;
}
Part& Part::add_product(const View& a, const View& b) {
  dense::add_product(a, b, 1, *this);
  return *this;
}
Part& Part::subtract_product(const View& a, const View& b) {
  dense::add_product(a, b, -1, *this);
  return *this;
}

Matrix::Matrix(const View& x) : Matrix(x.rows, x.columns) { Part(*this) = x; }
Matrix Matrix::identity(int n) {
  Matrix out(n, n);
  for (int i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

Matrix operator*(const View& a, const View& b) {
  Matrix out(a.rows, b.columns);
  add_product(a, b, 1, Part(out));
  return out;
}
Matrix operator*(double x, const View& a) {
  Matrix out(a);
  return out *= x;
}
Matrix operator+(const View& a, const View& b) {
  Matrix out(a);
  return out += b;
}
Matrix operator-(const View& a, const View& b) {
  Matrix out(a);
  return out -= b;
}
Matrix operator-(const View& a) { return -1 * a; }
Matrix symmetric_part(const View& a) { return 0.5 * (a + star(a)); }
Matrix rows_of(const View& a, std::span<const int> rows) {
  Matrix out(static_cast<int>(rows.size()), a.columns);
  for (int i = 0; i < out.rows(); ++i) out.block(i, 0, 1, a.columns) = a.block(rows[i], 0, 1, a.columns);
  return out;
}
Matrix columns_of(const View& a, std::span<const int> columns) { return star(rows_of(star(a), columns)); }

Matrix matrix(const Mat3<double>& m) { return view({numbers_of(m), 9}, 3, 3); }
Matrix column(const Vec3<double>& x) { return view({numbers_of(x), 3}); }
Matrix column(const Spatial<double>& x) { return view({numbers_of(x), 6}); }
Vec3<double> vec3(const View& x) { return {x(0, 0), x(1, 0), x(2, 0)}; }
Spatial<double> spatial(const View& x) { return {vec3(x), vec3(x.block(3, 0, 3, 1))}; }

double norm(const View& a) {
  double sum = 0;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) sum += a(i, j) * a(i, j);
  return std::sqrt(sum);
}
double largest(const View& a) {
  double most = 0;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) {
      if (std::isnan(a(i, j))) return a(i, j);
      most = std::max(most, std::abs(a(i, j)));
    }
  return most;
}
bool finite(const View& a) {
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j)
      if (!std::isfinite(a(i, j))) return false;
  return true;
}

Cholesky::Cholesky(const View& a) : L_(a) {
  Write L = write(Part(L_));
  Ref in_place(L);
  positive_ = Eigen::LLT<Ref>(in_place).info() == Eigen::Success;
  for (int i = 0; i < a.rows; ++i) std::fill_n(&L_(i, i) + 1, a.rows - 1 - i, 0.0);
}
Matrix Cholesky::solve(const View& b) const {
  Matrix x(b);
  substitute(Triangle::lower, L_, Part(x), b.columns);
  substitute(Triangle::upper, star(L_), Part(x), b.columns);
  return x;
}
Matrix inverse_of_lower(const View& L) {
  Matrix x = Matrix::identity(L.rows);
  substitute(Triangle::lower, L, Part(x), L.rows);
  return x;
}

LU::LU(const View& a) : numbers_(a), order_(a.rows) {
  Write A = write(Part(numbers_));
  Ref in_place(A);
  const Eigen::PartialPivLU<Ref> lu(in_place);
  std::copy_n(lu.permutationP().indices().data(), a.rows, order_.begin());
}
Matrix LU::solve(const View& b) const {
  Matrix x(b.rows, b.columns);
  for (int i = 0; i < b.rows; ++i) x.block(order_[i], 0, 1, b.columns) = b.block(i, 0, 1, b.columns);
  substitute(Triangle::unit_lower, numbers_, Part(x), b.columns);
  substitute(Triangle::upper, numbers_, Part(x), b.columns);
  return x;
}
Matrix LU::inverse() const { return solve(Matrix::identity(numbers_.rows())); }

PivotedQR::PivotedQR(const View& a) : Q(Matrix::identity(a.rows)) {
  const int n = a.rows, reflections = std::min(a.rows, a.columns);
  if (reflections == 0) return;  // Eigen takes the largest of no columns
  const Eigen::ColPivHouseholderQR<Rows> qr(copy(a));
  for (int i = 0; i < reflections; ++i) pivots.push_back(std::abs(qr.matrixQR()(i, i)));
  // Q = H_0 H_1 .., H_i = Id - tau u u*, u from row i on, 1 at first.
  for (int i = reflections - 1; i >= 0; --i) {
    Matrix u(n - i, 1);
    for (int r = i; r < n; ++r) u[r - i] = r == i ? 1 : qr.matrixQR()(r, i);
    const dense::Part rest = Q.block(i, i, n - i, n - i);
    Matrix uQ = star(u) * rest;
    Part(rest).subtract_product(u, uQ *= qr.hCoeffs()[i]);
  }
}
int PivotedQR::rank(double above) const {
  return static_cast<int>(
      std::count_if(pivots.begin(), pivots.end(), [above](double p) { return p > above; }));
}
int PivotedQR::rank() const {
  return pivots.empty()
             ? 0
             : rank(std::numeric_limits<double>::epsilon() * static_cast<double>(pivots.size()) * pivots[0]);
}
Matrix kernel(const View& a, double tolerance) {
  const PivotedQR rows(star(a));
  const int rank = rows.pivots.empty() ? 0 : rows.rank(tolerance * rows.pivots[0]);
  return rows.Q.block(0, rank, a.columns, a.columns - rank);
}
Matrix least_norm_solution(const View& a, const View& b) {
  // With bases Q of the range and R of the rows, x = R y and (Q* A R) y = Q* b, which is not singular.
  const PivotedQR range(a), rows(star(a));
  const int rank = range.rank();
  const View Q = range.Q.block(0, 0, a.rows, rank), R = rows.Q.block(0, 0, a.columns, rank);
  return R * LU(star(Q) * (a * R)).solve(star(Q) * b);
}

/// Those on the diagonal of the real Schur form, and pairs in its 2 x 2 blocks. Eigen::EigenSolver does the same and takes
/// four times as long to compile, for the eigenvectors that it could find as well.
std::vector<std::complex<double>> eigenvalues(const View& a) {
  std::vector<std::complex<double>> out;
  const double scale = largest(a);
  if (!(scale > 0)) return std::vector<std::complex<double>>(a.rows, scale);
  Eigen::RealSchur<Rows> schur(a.rows);
  schur.computeFromHessenberg(Rows(Eigen::HessenbergDecomposition<Rows>(copy(a) / scale).matrixH()), Rows(),
                              false);
  const Rows& T = schur.matrixT();
  for (int i = 0; i < a.rows; ++i) {
    if (i + 1 == a.rows || T(i + 1, i) == 0) {
      out.push_back(T(i, i) * scale);
      continue;
    }
    const double p = 0.5 * (T(i, i) - T(i + 1, i + 1)), middle = T(i + 1, i + 1) + p;
    const double imaginary = std::sqrt(std::abs(p * p + T(i + 1, i) * T(i, i + 1)));
    out.emplace_back(middle * scale, imaginary * scale);
    out.emplace_back(middle * scale, -imaginary * scale);
    ++i;
  }
  return out;
}

SymmetricEigen::SymmetricEigen(const View& a) : values(a.rows), vectors(a.rows, a.rows) {
  const int n = a.rows;
  Matrix work(a), rows(n, n);
  std::vector<double> unsorted(n);
  symmetric_eigen(n, work.numbers().data(), rows.numbers().data(), unsorted.data());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return unsorted[i] < unsorted[j]; });
  for (int i = 0; i < n; ++i) {
    values[i] = unsorted[order[i]];
    vectors.block(0, i, n, 1) = star(rows.block(order[i], 0, 1, n));
  }
}

PrincipalAxes::PrincipalAxes(const Sym3<double>& a) {
  Eigen::Matrix3d m;
  m << a.xx, a.xy, a.xz, a.xy, a.yy, a.yz, a.xz, a.yz, a.zz;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(m);
  for (int i = 0; i < 3; ++i) {
    const auto& axis = solver.eigenvectors().col(i);
    values[i] = solver.eigenvalues()[i];
    axes[i] = {axis[0], axis[1], axis[2]};
  }
}
Mat3<double> PrincipalAxes::rotation() const {
  return from_columns(axes[0], axes[1], dot(cross(axes[0], axes[1]), axes[2]) < 0 ? -axes[2] : axes[2]);
}

void symmetric_eigen(int n, double* A, double* V, double* values) {
  const auto a = [&](int i, int j) -> double& { return A[static_cast<std::size_t>(i) * n + j]; };
  std::fill(V, V + static_cast<std::size_t>(n) * n, 0.0);
  for (int i = 0; i < n; ++i) V[static_cast<std::size_t>(i) * n + i] = 1;
  for (int sweep = 0; sweep < 40; ++sweep) {
    bool done = true;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double x = a(p, q);
        // Small against both diagonal entries: tiny eigenvalues of a graded matrix come out right as well.
        if (!(std::abs(x) > 1e-17 * std::sqrt(std::abs(a(p, p) * a(q, q)))) || x == 0) continue;
        done = false;
        const double theta = (a(q, q) - a(p, p)) / (2 * x);
        const double t = std::abs(theta) > 1e150
                             ? 0.5 / theta
                             : (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        a(p, p) -= t * x;
        a(q, q) += t * x;
        a(p, q) = a(q, p) = 0;
        double* const row_p = A + static_cast<std::size_t>(p) * n;
        double* const row_q = A + static_cast<std::size_t>(q) * n;
        for (int i = 0; i < n; ++i) {
          if (i == p || i == q) continue;
          const double ip = row_p[i], iq = row_q[i];
          a(i, p) = row_p[i] = c * ip - s * iq;
          a(i, q) = row_q[i] = s * ip + c * iq;
        }
        double* const v_p = V + static_cast<std::size_t>(p) * n;
        double* const v_q = V + static_cast<std::size_t>(q) * n;
        for (int i = 0; i < n; ++i) {
          const double ip = v_p[i], iq = v_q[i];
          v_p[i] = c * ip - s * iq;
          v_q[i] = s * ip + c * iq;
        }
      }
    if (done) break;
  }
  for (int i = 0; i < n; ++i) values[i] = a(i, i);
}

}  // namespace articula::dense
