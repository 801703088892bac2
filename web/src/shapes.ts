// Geometry of links for three.js.
import * as THREE from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import type { Link, Mechanism, Shape, TriangleMesh } from "./data";

const neutral = [0xd8d4cb, 0x9aa1ab];

function meshGeometry(mesh: TriangleMesh): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(mesh.points, 3));
  geometry.setIndex(new THREE.BufferAttribute(mesh.corners, 1));
  return toCreasedNormals(geometry, Math.PI / 6); // edges stay edges
}

function solidGeometry(shape: Shape): THREE.BufferGeometry {
  // three.js lays cylinders and capsules along y, we along z.
  const upright = (geometry: THREE.BufferGeometry) => geometry.rotateX(Math.PI / 2);
  switch (shape.kind) {
    case "box":
      return new THREE.BoxGeometry(...shape.size);
    case "sphere":
      return new THREE.SphereGeometry(shape.radius, 32, 20);
    case "capsule":
      return upright(new THREE.CapsuleGeometry(shape.radius, shape.length, 8, 24));
    default:
      return upright(new THREE.CylinderGeometry(shape.radius, shape.radius, shape.length, 36));
  }
}

/** What a recording is compared with: seen through, of one colour, and behind what is at the same place. */
function ghost(): THREE.MeshStandardMaterial {
  return new THREE.MeshStandardMaterial({
    color: 0x3b82f6,
    transparent: true,
    opacity: 0.38,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: 4,
    polygonOffsetUnits: 4,
    roughness: 0.6,
    fog: false,
  });
}

function materialFor(shape: Shape, index: number): THREE.MeshStandardMaterial {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.08, fog: false });
  if (shape.color) {
    material.color.setRGB(shape.color[0], shape.color[1], shape.color[2], THREE.SRGBColorSpace);
    if (shape.color[3] < 1) {
      material.transparent = true;
      material.opacity = shape.color[3];
    }
  } else {
    material.color.set(neutral[index % neutral.length]);
  }
  // Links that touch often share a face: the later one is drawn behind.
  material.polygonOffset = true;
  material.polygonOffsetFactor = material.polygonOffsetUnits = 0.7 * (index % 3);
  if (shape.kind === "mesh") material.side = THREE.DoubleSide; // not every file winds its triangles the same way
  return material;
}

/** One group a link, shapes inside; meshes shared between links are made once. */
export function linkGroups(mechanism: Mechanism): THREE.Group[] {
  const geometries = new Map<number, THREE.BufferGeometry>();
  const geometryOf = (shape: Shape): THREE.BufferGeometry => {
    if (shape.kind !== "mesh" || shape.mesh === undefined) return solidGeometry(shape);
    let geometry = geometries.get(shape.mesh);
    if (!geometry) geometries.set(shape.mesh, (geometry = meshGeometry(mechanism.meshes[shape.mesh])));
    return geometry;
  };
  return mechanism.links.map((link: Link, index: number) => {
    const group = new THREE.Group();
    group.name = link.name;
    if (link.twin !== undefined && link.poses.length === 7) return group; // it stands where the other one stands
    for (const shape of link.shapes) {
      const solid = new THREE.Mesh(geometryOf(shape), link.twin === undefined ? materialFor(shape, index) : ghost());
      solid.position.set(...shape.position);
      solid.quaternion.set(...shape.quaternion);
      if (shape.kind === "mesh") solid.scale.set(...shape.size);
      solid.castShadow = solid.receiveShadow = link.twin === undefined;
      solid.userData["link"] = link.twin ?? index;
      group.add(solid);
    }
    return group;
  });
}
