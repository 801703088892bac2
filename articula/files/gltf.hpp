// glTF meshes (.gltf, .glb).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "articula/files/shapes.hpp"

namespace articula {

/// The bytes of a file beside the mesh's, by its name alone; nothing if there is none.
using ReadBeside = std::function<std::optional<std::string>(const std::string& file)>;

/// All triangles that the file's scene shows, where its nodes put them. glTF's y is up; here it is z, as Drake has it.
/// Throws ModelError (file, what) if it is not glTF 2, refers to what is not there, or needs an extension.
TriangleMesh parse_gltf(std::string_view bytes, const std::string& name, const ReadBeside& beside = {});

}  // namespace articula
