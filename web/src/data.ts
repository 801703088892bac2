// What the library writes into the page (articula/report/), and how its packed numbers are read.

export interface Shape {
  kind: "box" | "cylinder" | "sphere" | "capsule" | "mesh";
  position: [number, number, number];
  quaternion: [number, number, number, number];
  size: [number, number, number];
  radius: number;
  length: number;
  mesh?: number;
  color?: [number, number, number, number];
}

export interface Link {
  name: string;
  shapes: Shape[];
  /** x y z qx qy qz qw for each sample, or once if it does not move. */
  poses: Float32Array;
  /** Of a recording that another one is compared with: which link of the other this is. */
  twin?: number;
}

export interface Joint {
  name: string;
  kind: string;
  link: number;
  axis?: [number, number, number]; // of kinds that have one
}

export interface TriangleMesh {
  name: string;
  points: Float32Array;
  corners: Uint32Array;
}

export interface Mechanism {
  title: string;
  subtitle: string;
  notes: string[];
  links: Link[];
  joints: Joint[];
  meshes: TriangleMesh[];
}

export interface Series {
  group: string;
  name: string;
  unit: string;
  joint: number;
  values: Float64Array;
  /** Of the recording that the first one is compared with. */
  compared?: boolean;
}

export interface Force {
  name: string;
  points: Float32Array;
  forces: Float32Array;
}

export interface Report extends Mechanism {
  kind: "report";
  times: Float64Array;
  series: Series[];
  forces: Force[];
}

export interface Slider {
  joint: number;
  label: string;
  unit: string;
  lower: number;
  upper: number;
  value: number;
}

export interface Ellipsoid {
  centre: [number, number, number];
  /** Column after column, the longest first. */
  axes: number[];
  /** 1/kg along each axis: one over the mass that a push there feels. */
  inverseMass: [number, number, number];
  rank: number;
}

/** Everything that depends on where the sliders are. */
export interface ViewState {
  /** Where the sliders are by now. */
  values: number[];
  /** Of the chosen frame. */
  position: [number, number, number];
  quaternion: [number, number, number, number];
  poses: Float32Array;
  massMatrix: Float64Array | null;
  D?: (number | null)[][];
  weakest?: { joint: number; pivot: number; largest: number };
  logDeterminant?: number | null;
  ellipsoid?: Ellipsoid;
  frame: number;
  error?: string;
}

export interface View extends Mechanism {
  kind: "view";
  live: boolean;
  /** Loops are kept closed: one slider moves others. */
  closed: boolean;
  sliders: Slider[];
  velocities: string[];
  frames: string[];
  state: ViewState;
}

/** Before its packed numbers are read, a field holds base 64. */
type Packed = string;

function bytes(packed: Packed): ArrayBuffer {
  const text = atob(packed);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
  return out.buffer;
}
const floats = (packed: Packed) => new Float32Array(bytes(packed));
const doubles = (packed: Packed) => new Float64Array(bytes(packed));

/* eslint-disable @typescript-eslint/no-explicit-any */
function unpackMechanism(raw: any): void {
  for (const link of raw.links) link.poses = floats(link.poses);
  for (const mesh of raw.meshes) {
    mesh.points = floats(mesh.points);
    mesh.corners = new Uint32Array(bytes(mesh.corners));
  }
}

export function unpackState(raw: any): ViewState {
  raw.poses = floats(raw.poses);
  if (raw.massMatrix !== null) raw.massMatrix = doubles(raw.massMatrix);
  return raw;
}

export function readData(text: string): Report | View {
  const raw = JSON.parse(text);
  unpackMechanism(raw);
  if (raw.kind === "view") {
    raw.state = unpackState(raw.state);
    return raw;
  }
  raw.times = doubles(raw.times);
  for (const series of raw.series) series.values = doubles(series.values);
  for (const force of raw.forces) {
    force.points = floats(force.points);
    force.forces = floats(force.forces);
  }
  return raw;
}
