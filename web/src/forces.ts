// Contact forces as arrows: in proportion, the usual ones a good part of the mechanism long; impacts, which would
// dwarf the rest, are cut off at half its size.
import * as THREE from "three";
import type { Force } from "./data";

class Arrow {
  readonly group = new THREE.Group();
  private readonly shaft: THREE.Mesh;
  private readonly head: THREE.Mesh;
  private static readonly up = new THREE.Vector3(0, 1, 0);

  constructor(
    material: THREE.Material,
    private readonly thickness: number,
  ) {
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(thickness, thickness, 1, 14).translate(0, 0.5, 0), material);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(2.6 * thickness, 6 * thickness, 18).translate(0, 3 * thickness, 0), material);
    this.group.add(this.shaft, this.head);
  }

  set(at: THREE.Vector3, along: THREE.Vector3): void {
    const length = along.length();
    this.group.visible = Number.isFinite(length) && length > 0.5 * this.thickness;
    if (!this.group.visible) return;
    const head = Math.min(1, length / (9 * this.thickness));
    this.head.scale.setScalar(head);
    const shaft = Math.max(1e-6, length - 6 * this.thickness * head);
    this.shaft.scale.set(head, shaft, head);
    this.head.position.y = shaft;
    this.group.position.copy(at);
    this.group.quaternion.setFromUnitVectors(Arrow.up, along.clone().normalize());
  }
}

export class ForceArrows {
  readonly group = new THREE.Group();
  private readonly arrows: Arrow[];
  private readonly material = new THREE.MeshStandardMaterial({ roughness: 0.5, fog: false });
  private readonly scale: number;
  private readonly longest: number;

  constructor(
    private readonly forces: Force[],
    size: number,
  ) {
    const lengths: number[] = [];
    for (const force of forces)
      for (let i = 0; i + 2 < force.forces.length; i += 3) {
        const length = Math.hypot(force.forces[i], force.forces[i + 1], force.forces[i + 2]);
        if (length > 0) lengths.push(length); // NaN compares false
      }
    lengths.sort((a, b) => a - b);
    const usual = lengths[Math.floor(0.75 * lengths.length)] ?? 0;
    this.scale = usual > 0 ? (0.16 * size) / usual : 0;
    this.longest = 0.5 * size;
    this.arrows = forces.map(() => new Arrow(this.material, 0.006 * size));
    for (const arrow of this.arrows) this.group.add(arrow.group);
  }

  setAccent(color: string): void {
    this.material.color.set(color);
    this.material.emissive.set(color);
    this.material.emissiveIntensity = 0.25;
  }

  setSample(sample: number): void {
    this.forces.forEach((force, i) => {
      const at = new THREE.Vector3().fromArray(force.points, 3 * sample);
      const along = new THREE.Vector3().fromArray(force.forces, 3 * sample).multiplyScalar(this.scale);
      along.clampLength(0, this.longest);
      this.arrows[i].set(at, along);
    });
  }
}
