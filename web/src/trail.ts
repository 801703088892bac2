// The path of one link's origin up to now.
import * as THREE from "three";
import type { Link } from "./data";

export class Trail {
  readonly line: THREE.Line<THREE.BufferGeometry, THREE.LineBasicMaterial>;

  constructor() {
    this.line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ transparent: true, opacity: 0.9, fog: false }));
    this.line.frustumCulled = false;
    this.line.visible = false;
  }

  setLink(link: Link): void {
    const samples = link.poses.length / 7;
    const points = new Float32Array(3 * samples);
    for (let i = 0; i < samples; ++i) points.set(link.poses.subarray(7 * i, 7 * i + 3), 3 * i);
    this.line.geometry.dispose();
    this.line.geometry = new THREE.BufferGeometry();
    this.line.geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
  }
  setSample(sample: number): void {
    this.line.geometry.setDrawRange(0, sample + 1);
  }
  setAccent(color: string): void {
    this.line.material.color.set(color);
  }
}
