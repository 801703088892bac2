// libFuzzer target for the shapes of links and their meshes: URDF, or STL, OBJ, Collada or glTF behind one letter.
#include "articula/files/urdf_visuals.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  if (text.starts_with('s') || text.starts_with('o') || text.starts_with('d') || text.starts_with('g'))
    parse_mesh(text.substr(1), text[0] == 's'   ? "m.stl"
                               : text[0] == 'o' ? "m.obj"
                               : text[0] == 'd' ? "m.dae"
                                                : "m.gltf");
  else
    parse_urdf_visuals({std::string(text), "fuzz", "/nowhere"});
}
