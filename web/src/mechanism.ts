// The mechanism in the scene: links at their poses, frames and joint axes on demand, one joint marked.
import * as THREE from "three";
import type { Mechanism } from "./data";
import { linkGroups } from "./shapes";

export class MechanismView {
  readonly group = new THREE.Group();
  readonly links: THREE.Group[];
  private readonly frames: THREE.Object3D[] = [];
  private readonly axes: THREE.Object3D[] = [];
  private readonly a = new THREE.Quaternion();
  private readonly b = new THREE.Quaternion();
  private readonly axisMaterial = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9, fog: false });

  constructor(private readonly mechanism: Mechanism) {
    this.links = linkGroups(mechanism);
    this.group.add(...this.links);
  }

  /** Poses at a sample and a part of the way to the next. The parts between are drawn, not computed. */
  setSample(sample: number, part: number): void {
    this.links.forEach((link, i) => {
      const poses = this.mechanism.links[i].poses;
      const here = poses.length > 7 ? 7 * sample : 0;
      const next = poses.length > here + 7 && part > 0 ? here + 7 : here;
      for (const [k, axis] of (["x", "y", "z"] as const).entries())
        link.position[axis] = poses[here + k] + part * (poses[next + k] - poses[here + k]);
      this.a.fromArray(poses, here + 3);
      this.b.fromArray(poses, next + 3);
      link.quaternion.slerpQuaternions(this.a, this.b, part);
    });
  }

  /** Poses of all links at once. */
  setPoses(poses: Float32Array): void {
    this.links.forEach((link, i) => {
      link.position.fromArray(poses, 7 * i);
      link.quaternion.fromArray(poses, 7 * i + 3);
    });
  }

  /** Frames and axes, in the scale of the mechanism. */
  addMarks(size: number): void {
    for (const [i, link] of this.links.entries()) {
      if (this.mechanism.links[i].twin !== undefined) continue;
      const frame = new THREE.AxesHelper(0.09 * size);
      const lines = frame.material as THREE.LineBasicMaterial;
      lines.depthTest = lines.fog = false;
      frame.setColors("#e5484d", "#30a46c", "#3b82f6"); // x y z
      frame.renderOrder = 2;
      frame.visible = false;
      link.add(frame);
      this.frames.push(frame);
    }
    const rod = new THREE.CylinderGeometry(0.0026 * size, 0.0026 * size, 0.24 * size, 10);
    const up = new THREE.Vector3(0, 1, 0);
    for (const joint of this.mechanism.joints) {
      if (!joint.axis) continue;
      const axis = new THREE.Mesh(rod, this.axisMaterial);
      axis.quaternion.setFromUnitVectors(up, new THREE.Vector3(...joint.axis).normalize());
      axis.renderOrder = 1;
      axis.visible = false;
      this.links[joint.link].add(axis);
      this.axes.push(axis);
    }
  }
  setAccent(color: string): void {
    this.axisMaterial.color.set(color);
  }
  showFrames(shown: boolean): void {
    this.frames.forEach((frame) => (frame.visible = shown));
  }
  showAxes(shown: boolean): void {
    this.axes.forEach((axis) => (axis.visible = shown));
  }

  /** The mechanism of the recording that this one is compared with. */
  showTwins(shown: boolean): void {
    this.links.forEach((link, i) => (link.visible = shown || this.mechanism.links[i].twin === undefined));
  }

  /** Marks the link that a joint moves; -1: none. */
  mark(joint: number, accent: string): void {
    const marked = joint >= 0 ? this.mechanism.joints[joint].link : -1;
    this.links.forEach((link, i) =>
      link.traverse((object) => {
        if (!(object instanceof THREE.Mesh) || !(object.material instanceof THREE.MeshStandardMaterial)) return;
        object.material.emissive.set(i === marked ? accent : 0x000000);
        object.material.emissiveIntensity = i === marked ? 0.45 : 0;
      }),
    );
  }

  bounds(): THREE.Box3 {
    this.group.updateMatrixWorld(true);
    const box = new THREE.Box3();
    for (const link of this.links) {
      box.expandByPoint(link.position);
      for (const child of link.children) {
        if (!(child instanceof THREE.Mesh) || child.userData["link"] === undefined) continue;
        // To the point for what has few of them: floors are laid by this.
        box.expandByObject(child, (child.geometry as THREE.BufferGeometry).getAttribute("position").count < 5000);
      }
    }
    return box;
  }
}
