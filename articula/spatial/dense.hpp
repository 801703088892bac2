// Dense matrices, for set-up code and for the algorithms that papers write with whole operators. Eigen does the work,
// in dense.cpp alone: a compiler needs longer to read it than all the rest. Row by row; vectors are single columns.
//
// What returns a Matrix allocates. What takes the Part to write to does not.
#pragma once

#include <complex>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "articula/spatial/spatial.hpp"

namespace articula::dense {

/// Numbers that lie somewhere, seen as a matrix, to be read.
struct View {
  const double* data = nullptr;
  int rows = 0, columns = 0;
  std::ptrdiff_t down = 0, across = 1;  // from one row, or column, to the next

  double operator()(int i, int j) const { return data[i * down + j * across]; }
  View block(int i, int j, int height, int width) const {
    return {data + i * down + j * across, height, width, down, across};
  }
};
inline View view(std::span<const double> x, int rows, int columns) {
  return {x.data(), rows, columns, columns, 1};
}
inline View view(std::span<const double> x) { return view(x, static_cast<int>(x.size()), 1); }
/// The transpose, of the same numbers.
inline View star(const View& a) { return {a.data, a.columns, a.rows, a.across, a.down}; }

/// The same, to be written: assignment copies numbers. Neither operand may overlap what is assigned, unless it is
/// the same part.
class Part {
 public:
  Part(double* data, int rows, int columns, std::ptrdiff_t down)
      : data_(data), rows_(rows), columns_(columns), down_(down) {}
  Part(std::span<double> x, int rows, int columns) : Part(x.data(), rows, columns, columns) {}
  Part(const Part&) = default;
  Part& operator=(const Part& x) { return *this = View(x); }
  Part& operator=(const View& x);
  Part& operator+=(const View& x);
  Part& operator-=(const View& x);
  Part& operator*=(double x);
  operator View() const { return {data_, rows_, columns_, down_, 1}; }
  double& operator()(int i, int j) const { return data_[i * down_ + j]; }
  Part block(int i, int j, int height, int width) const {
    return {data_ + i * down_ + j, height, width, down_};
  }
  /// += a b, += -a b
  Part& add_product(const View& a, const View& b);
  Part& subtract_product(const View& a, const View& b);

 private:
  double* data_;
  int rows_, columns_;
  std::ptrdiff_t down_;
};

class Matrix {
 public:
  Matrix() = default;
  Matrix(int rows, int columns)
      : rows_(rows), columns_(columns), numbers_(static_cast<std::size_t>(rows) * columns) {}
  Matrix(const View& x);
  Matrix(const Part& x) : Matrix(View(x)) {}
  static Matrix identity(int n);
  static Matrix column(std::span<const double> x) { return view(x); }
  static Matrix column(std::initializer_list<double> x) { return view({x.begin(), x.size()}); }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  std::span<const double> numbers() const { return numbers_; }
  std::span<double> numbers() { return numbers_; }
  double operator()(int i, int j) const { return numbers_[static_cast<std::size_t>(i) * columns_ + j]; }
  double& operator()(int i, int j) { return numbers_[static_cast<std::size_t>(i) * columns_ + j]; }
  /// Of a vector.
  double operator[](int i) const { return numbers_[i]; }
  double& operator[](int i) { return numbers_[i]; }
  View part(int first, int count) const { return block(first, 0, count, 1); }
  Part part(int first, int count) { return block(first, 0, count, 1); }

  View block(int i, int j, int height, int width) const { return View(*this).block(i, j, height, width); }
  Part block(int i, int j, int height, int width) { return Part(*this).block(i, j, height, width); }
  operator View() const { return {numbers_.data(), rows_, columns_, columns_, 1}; }
  explicit operator Part() { return {numbers_.data(), rows_, columns_, columns_}; }
  Matrix& operator+=(const View& x) { return Part(*this) += x, *this; }
  Matrix& operator-=(const View& x) { return Part(*this) -= x, *this; }
  Matrix& operator*=(double x) { return Part(*this) *= x, *this; }

 private:
  int rows_ = 0, columns_ = 0;
  std::vector<double> numbers_;
};

Matrix operator*(const View& a, const View& b);
Matrix operator*(double x, const View& a);
Matrix operator+(const View& a, const View& b);
Matrix operator-(const View& a, const View& b);
Matrix operator-(const View& a);
/// (a + a*) / 2
Matrix symmetric_part(const View& a);
/// Rows or columns by their numbers.
Matrix rows_of(const View& a, std::span<const int> rows);
Matrix columns_of(const View& a, std::span<const int> columns);

Matrix matrix(const Mat3<double>& m);
Matrix column(const Vec3<double>& x);
Matrix column(const Spatial<double>& x);
Vec3<double> vec3(const View& x);
Spatial<double> spatial(const View& x);

double norm(const View& a);     // of Frobenius
double largest(const View& a);  // absolute value; 0 of nothing, not a number if any is not
bool finite(const View& a);

/// L L* of a symmetric matrix, of which the lower triangle is read.
class Cholesky {
 public:
  explicit Cholesky(const View& a);
  bool positive() const { return positive_; }
  Matrix solve(const View& b) const;
  const Matrix& L() const { return L_; }

 private:
  bool positive_;
  Matrix L_;
};
/// L^-1, L lower triangular.
Matrix inverse_of_lower(const View& L);

/// P A = L U.
class LU {
 public:
  explicit LU(const View& a);
  Matrix solve(const View& b) const;
  Matrix inverse() const;

 private:
  Matrix numbers_;
  std::vector<int> order_;
};

/// A Pi = Q R with the columns taken by what is left of them, largest first: Q whole, and the absolute values of R's
/// diagonal. The first columns of Q, as many as there are pivots that count, span the range of A.
struct PivotedQR {
  explicit PivotedQR(const View& a);
  Matrix Q;
  std::vector<double> pivots;
  int rank(double above) const;
  /// With what counts measured against the first pivot and a rounding.
  int rank() const;
};
/// Orthonormal columns that span what A takes to zero: pivots up to `tolerance` times the first count as zero.
Matrix kernel(const View& a, double tolerance);
/// x of least norm among those with the least |A x - b|.
Matrix least_norm_solution(const View& a, const View& b);

std::vector<std::complex<double>> eigenvalues(const View& a);

/// Eigenvalues, ascending, and unit eigenvectors, the columns of `vectors`, of a symmetric matrix.
struct SymmetricEigen {
  explicit SymmetricEigen(const View& a);
  std::vector<double> values;
  Matrix vectors;
};
/// The same of a small one, without allocation.
struct PrincipalAxes {
  explicit PrincipalAxes(const Sym3<double>& a);
  double values[3];
  Vec3<double> axes[3];
  /// The axes as columns, the last one turned round if that makes them right-handed.
  Mat3<double> rotation() const;
};
/// The same in any order, with the vectors as rows. A is n x n, row by row, and destroyed. By cyclic Jacobi rotations,
/// which find small eigenvalues beside large ones better than the usual methods do. No allocation.
void symmetric_eigen(int n, double* A, double* vectors, double* values);

}  // namespace articula::dense
