// Equalities, tendons and actuators of MJCF.
#include <gtest/gtest.h>

#include "tests/support/mjcf_text.hpp"

namespace articula {
namespace {

using namespace testing::mjcf_text;

TEST(Mjcf, Equalities) {
  const LoadedModel model = read(
      R"(<worldbody><body name="a" pos="1 0 0"><joint name="j" ref="0.5" type="slide"/><geom size="1"/><site name="s" pos="0 0 1"/></body>
    <body name="b" pos="0 2 0"><joint name="k" type="slide" ref="1"/><geom size="1"/><site name="t"/></body></worldbody><equality>
    <connect body1="a" body2="b" anchor="0 1 0"/><weld name="w" body1="a" body2="b"/><connect site1="s" site2="t"/>
    <weld body1="a" relpose="1 2 3 0 0 0 1" anchor="4 5 6"/><joint joint1="j" joint2="k" polycoef="1 2 3"/>
    <joint joint1="j" polycoef="0.25"/><connect body1="a" anchor="0 0 0" active="false"/></equality>)");
  const auto& loops = model.spec.loops;
  ASSERT_EQ(loops.size(), 4u);
  EXPECT_EQ(loops[0].kind, JointKind::spherical);
  EXPECT_EQ(loops[0].first_placement.p.y, 1);
  EXPECT_EQ(loops[0].second_placement.p.x, 1);
  EXPECT_EQ(loops[0].second_placement.p.y, -1);
  EXPECT_EQ(loops[1].kind, JointKind::fixed);
  EXPECT_EQ(loops[1].name, "w");
  EXPECT_EQ(loops[1].first_placement.p.x, -1);
  EXPECT_EQ(loops[1].first_placement.p.y, 2);
  EXPECT_EQ(loops[2].first_placement.p.z, 1);
  EXPECT_EQ(loops[3].second, "world");
  EXPECT_EQ(loops[3].first_placement.R.xx, -1);
  EXPECT_EQ(loops[3].second_placement.p.z, 6);
  // q(j) - 0.5 = 1 + 2 (q - 1) + 3 (q - 1)^2 = 2 - 4 q + 3 q^2
  ASSERT_EQ(model.spec.couplings.size(), 2u);
  EXPECT_EQ(model.spec.couplings[0].coefficients, (std::vector<double>{2.5, -4, 3}));
  EXPECT_EQ(model.spec.couplings[1].source, "j");
  EXPECT_EQ(model.spec.couplings[1].coefficients, std::vector<double>{0.75});
  expect_finding(model, "note: ignored: <connect> that is not active");
}

TEST(Mjcf, FixedTendons) {
  const LoadedModel model = read(
      R"(<worldbody><body name="a"><joint name="j" type="slide"/><geom size="1"/></body><body name="b"><joint name="k" type="slide"/>
    <geom size="1"/></body></worldbody><tendon><fixed name="t"><joint joint="j" coef="2"/><joint joint="k" coef="-4"/></fixed>
    <fixed name="u"><joint joint="k" coef="3"/></fixed></tendon><equality><tendon tendon1="t" polycoef="1 0 0 0 0"/></equality>
    <actuator><motor tendon="u" gear="2"/><motor tendon="t"/></actuator>)");
  ASSERT_EQ(model.spec.couplings.size(), 1u);  // 2 j - 4 k = 1
  EXPECT_EQ(model.spec.couplings[0].joint, "j");
  EXPECT_EQ(model.spec.couplings[0].source, "k");
  EXPECT_EQ(model.spec.couplings[0].coefficients, (std::vector<double>{0.5, 2}));
  ASSERT_EQ(model.spec.actuators.size(), 1u);
  EXPECT_EQ(model.spec.actuators[0].joint, "k");
  EXPECT_EQ(model.spec.actuators[0].gear[0], 6);
  expect_finding(model, "note: ignored: actuators of tendons");
  // (j - 0.5) + 2 k - 4 (l - 1) = 3, and back.
  const LoadedModel three = read(
      R"(<worldbody><body name="a"><joint name="j" type="slide" ref="0.5"/><geom size="1"/></body><body name="b"><joint name="k"/>
    <geom size="1"/></body><body name="c"><joint name="l" type="slide" ref="1"/><geom size="1"/></body></worldbody><tendon>
    <fixed name="t"><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed><fixed name="u"><joint joint="l" coef="4"/></fixed></tendon>
    <equality><tendon name="e" tendon1="t" tendon2="u" polycoef="3 1 0 0 0"/></equality>)");
  for (const ModelSpec& spec : {three.spec, parse_mjcf({write_mjcf(three.spec), "back.xml", ""}).spec}) {
    ASSERT_EQ(spec.couplings.size(), 1u);
    const CouplingSpec& c = spec.couplings[0];
    EXPECT_EQ(c.joint, "j");
    EXPECT_EQ(c.source, "l");
    EXPECT_EQ(c.coefficients, (std::vector<double>{-0.5, 4}));
    ASSERT_EQ(c.further.size(), 1u);
    EXPECT_EQ(c.further[0].joint, "k");
    EXPECT_EQ(c.further[0].coefficient, -2);
  }
}

TEST(Mjcf, ActuatorsAddTheirRotors) {
  const LoadedModel model =
      read(R"(<worldbody><body><joint name="j" armature="1"/><geom size="1"/></body></worldbody>
    <actuator><motor joint="j" gear="10" armature="0.02"/></actuator>)");
  EXPECT_EQ(joint(model, "j").armature[0], 3);
}

}  // namespace
}  // namespace articula
