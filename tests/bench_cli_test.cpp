// articula bench, by running the program: shape and names, not times.
#include <gtest/gtest.h>

#ifdef ARTICULA_PROGRAM

#include "tests/support/command_line.hpp"

namespace articula::testing {
namespace {

class BenchCommand : public CommandLine {};

TEST_F(BenchCommand, OneStateAndMany) {
  const Json one = json({"bench", "chain:5", "--only", "forward_dynamics,mass_matrix", "--json"});
  ASSERT_EQ(one["results"].size(), 2u);
  const Json& row = one["results"][0];
  EXPECT_EQ(row["algorithm"], "forward_dynamics");
  EXPECT_EQ(row["nv"], 5);
  EXPECT_EQ(row["batch"], 1);
  EXPECT_EQ(row["threads"], 1);
  EXPECT_GT(row["ns"].get<double>(), 10);
  EXPECT_LT(row["ns"].get<double>(), 1e6);
  EXPECT_GT(row["multiplications"].get<int>(), 500);
  EXPECT_TRUE(one["machine"].contains("instruction_set"));
  const Json forward = json({"bench", "chain:5", "--only", "linearized_forward,perturbed_forward", "--json"});
  for (const Json& linear : forward["results"])  // forward dynamics comes first
    EXPECT_GT(linear["additions"].get<int>(), row["additions"].get<int>()) << linear;
  const Json listed = json({"bench", "chain:5", "--only", "jacobian_dot,center_of_mass_jacobian", "--json"});
  EXPECT_EQ(listed["results"].size(), 2u);  // kernels of the list, which have no functions of their own
  const Json many =
      json({"bench", "chain:5", "--only", "inverse_dynamics", "--batch", "64", "--threads", "2", "--json"});
  EXPECT_EQ(many["results"][0]["batch"], 64);
  EXPECT_EQ(many["results"][0]["threads"], 2);
  EXPECT_LT(many["results"][0]["ns"].get<double>(), 1e6);
}

TEST_F(BenchCommand, OtherMethods) {
  const Json found = json({"bench", "chain:5", "--method", "numerical", "--json"});
  ASSERT_EQ(found["results"].size(), 2u);  // those that have it
  EXPECT_EQ(found["results"][0]["algorithm"], "linearized_forward");
  EXPECT_EQ(found["results"][0]["method"], "numerical");
  EXPECT_TRUE(found["results"][0]["multiplications"].is_null());
  expect_failure(2, {"bench", "chain:5", "--method", "printed", "--only", "mass_matrix"}, "",
                 {"mass_matrix"});
}

TEST_F(BenchCommand, WrongWords) {
  expect_failure(2, {"bench", "chain:5", "--only", "nonsense"}, "", {"nonsense", "forward_dynamics"});
  expect_failure(2, {"bench", "chain:5", "--batch", "0"}, "", {"--batch"});
  expect_failure(2, {"bench", "chain:5", "--threads", "2"}, "", {"--threads", "--batch"});
  expect_failure(2, {"bench", "chain:5", "--batch", "8", "--threads", "99999999"}, "", {"--threads"});
  expect_failure(2, {"bench", "--gravity", "0", "0", "1", "nowhere.urdf"}, "", {"nowhere.urdf"});
}

}  // namespace
}  // namespace articula::testing

#endif
