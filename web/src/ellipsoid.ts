// The operational-space ellipsoid: velocities that one joule gives a frame, drawn about its origin.
import * as THREE from "three";
import type { Ellipsoid } from "./data";

export class EllipsoidView {
  readonly group = new THREE.Group();
  private readonly skin: THREE.MeshStandardMaterial;
  private readonly wires: THREE.LineBasicMaterial;
  private scale = 0;

  constructor(private readonly size: number) {
    this.skin = new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.22, roughness: 0.4, depthWrite: false, side: THREE.DoubleSide, fog: false });
    this.wires = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.8, fog: false });
    this.group.add(new THREE.Mesh(new THREE.SphereGeometry(1, 40, 28), this.skin));
    for (const [a, b] of [[0, 1], [1, 2], [0, 2]]) {
      const points = Array.from({ length: 65 }, (_, i) => {
        const point = [0, 0, 0];
        point[a] = Math.cos((i * Math.PI) / 32);
        point[b] = Math.sin((i * Math.PI) / 32);
        return new THREE.Vector3(...(point as [number, number, number]));
      });
      this.group.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), this.wires));
    }
    this.group.renderOrder = 1;
  }

  setAccent(color: string): void {
    this.skin.color.set(color);
    this.wires.color.set(color);
  }

  /** The scale stays as the first one makes it, so that growing and shrinking can be seen. */
  set(ellipsoid: Ellipsoid | undefined): void {
    this.group.visible = ellipsoid !== undefined && ellipsoid.inverseMass[0] > 0;
    if (!ellipsoid || !this.group.visible) return;
    const speeds = ellipsoid.inverseMass.map((inverse) => Math.sqrt(2 * inverse)); // m/s at one joule
    if (this.scale === 0) this.scale = (0.15 * this.size) / speeds[0];
    const [x, y, z] = [0, 3, 6].map((i) => new THREE.Vector3().fromArray(ellipsoid.axes, i));
    this.group.position.set(...ellipsoid.centre);
    this.group.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
    const least = 0.0015 * this.size; // a disc, where it cannot move
    this.group.scale.set(...(speeds.map((s) => Math.max(least, s * this.scale)) as [number, number, number]));
  }

  /** After another frame was chosen. */
  rescale(): void {
    this.scale = 0;
  }
}
