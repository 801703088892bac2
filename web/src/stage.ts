// The stage: renderer, camera, light, floor. It draws only when something has changed.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { color, isDark, onTheme } from "./theme";

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly controls: OrbitControls;
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.1);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x777777, 1.5);
  private readonly floor: THREE.Mesh;
  private grid: THREE.GridHelper | undefined;
  /** Only the grid fades into the distance: everything else is drawn without. */
  private readonly fog = new THREE.Fog(0);
  private size = 1;
  private floorHeight = 0;
  private home = new THREE.Box3();
  private changed = true;
  /** Frames in a row that came late while something moved: a machine without a graphics card. */
  private late = 0;
  private lastDrawn = 0;
  private readonly frameListeners: ((milliseconds: number) => void)[] = [];
  private readonly drawnListeners: (() => void)[] = [];

  constructor(private readonly host: HTMLElement) {
    // The tests read pixels back; keeping the buffer costs little here.
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "The mechanism in three dimensions: drag to turn, wheel to zoom");
    host.prepend(this.canvas);

    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => this.touch());

    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0002;
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.scene.fog = this.fog;
    this.sky.position.set(0, 0, 1);
    this.floor = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ depthWrite: false, fog: false }));
    this.floor.receiveShadow = true;
    this.scene.add(this.floor);

    new ResizeObserver(() => this.resize()).observe(host);
    onTheme(() => this.paint());
    this.resize();
    this.renderer.setAnimationLoop((milliseconds) => this.frame(milliseconds));
  }

  /** Something has changed: draw again. */
  touch(): void {
    this.changed = true;
  }
  onFrame(listener: (milliseconds: number) => void): void {
    this.frameListeners.push(listener);
  }
  onDrawn(listener: () => void): void {
    this.drawnListeners.push(listener);
  }

  /** Puts camera, floor and light to a box in which things happen. */
  fit(box: THREE.Box3, floorHeight: number): void {
    this.home.copy(box);
    const extent = box.getSize(new THREE.Vector3());
    this.size = Math.max(extent.length(), 1e-3);
    this.floorHeight = floorHeight;
    const centre = box.getCenter(new THREE.Vector3());
    this.sun.position.copy(centre).add(new THREE.Vector3(0.5, -0.7, 1.6).multiplyScalar(this.size));
    this.sun.target.position.copy(centre);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -this.size;
    shadow.right = shadow.top = this.size;
    shadow.near = 0.05 * this.size;
    shadow.far = 5 * this.size;
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.0018 * this.size;
    this.floor.position.set(centre.x, centre.y, floorHeight - 0.001 * this.size);
    this.floor.scale.setScalar(12 * this.size);
    this.camera.near = 0.005 * this.size;
    this.camera.far = 60 * this.size;
    this.paint();
    this.lookHome();
  }

  lookHome(): void {
    const centre = this.home.getCenter(new THREE.Vector3());
    // Far enough for the height, and on narrow screens for the width.
    const half = (this.camera.fov * Math.PI) / 360;
    const reach = 0.5 * this.size;
    const distance = reach / Math.sin(Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect)));
    this.camera.position.copy(centre).add(new THREE.Vector3(0.62, -0.72, 0.34).normalize().multiplyScalar(distance));
    this.controls.target.copy(centre);
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.touch();
  }

  /** Moves camera, target, light and floor along with something that leaves. */
  follow(by: THREE.Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.sun.position.add(by);
    this.sun.target.position.add(by);
  }

  /** Whether the mouse turns the view. */
  setTurning(on: boolean): void {
    this.controls.enabled = on;
  }
  /** Where a point of the world is on the screen. */
  toScreen(point: THREE.Vector3): { x: number; y: number } {
    const area = this.canvas.getBoundingClientRect();
    const at = point.clone().project(this.camera);
    return { x: area.left + (0.5 + 0.5 * at.x) * area.width, y: area.top + (0.5 - 0.5 * at.y) * area.height };
  }
  private rayAt(x: number, y: number): THREE.Raycaster {
    const area = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (x - area.left)) / area.width - 1, 1 - (2 * (y - area.top)) / area.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }
  /** The point under the mouse that is as deep in the picture as another one. */
  besides(point: THREE.Vector3, x: number, y: number): THREE.Vector3 | null {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), point);
    return this.rayAt(x, y).ray.intersectPlane(plane, new THREE.Vector3());
  }

  /** What of `objects` is under a point of the canvas. */
  pick(x: number, y: number, objects: THREE.Object3D[]): THREE.Intersection | undefined {
    return this.rayAt(x, y).intersectObjects(objects, true).find((hit) => hit.object.userData["link"] !== undefined);
  }

  private paint(): void {
    const dark = isDark();
    this.fog.color.set(color("stage"));
    this.sky.color.set(dark ? 0xb9c6d8 : 0xffffff);
    this.sky.groundColor.set(dark ? 0x2a2d33 : 0xb8b2a6);
    this.sky.intensity = dark ? 1.5 : 1.7;
    this.sun.intensity = dark ? 2.2 : 2.1;
    (this.floor.material as THREE.ShadowMaterial).opacity = dark ? 0.45 : 0.16;
    if (this.grid) {
      this.scene.remove(this.grid);
      this.grid.dispose();
    }
    // Cells of a round size: one metre, or ten times more or less.
    const cell = 10 ** Math.round(Math.log10(this.size / 5));
    const cells = 2 * Math.ceil((4 * this.size) / cell);
    this.grid = new THREE.GridHelper(cells * cell, cells, color("grid-strong"), color("grid"));
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.set(0, 0, this.floorHeight - 0.0005 * this.size);
    this.scene.add(this.grid);
    this.touch();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  /** Shadows first, then pixels, where drawing cannot keep up. */
  private spare(milliseconds: number): void {
    const passed = milliseconds - this.lastDrawn;
    this.lastDrawn = milliseconds;
    this.late = passed > 70 && passed < 1000 ? this.late + 1 : 0;
    if (this.late === 10) this.sun.castShadow = false;
    if (this.late === 20) this.renderer.setPixelRatio(0.75);
  }

  private frame(milliseconds: number): void {
    this.frameListeners.forEach((listener) => listener(milliseconds));
    this.controls.update();
    if (!this.changed) return;
    this.changed = false;
    this.spare(milliseconds);
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.fog.near = 0.9 * distance;
    this.fog.far = 2.3 * distance;
    this.renderer.render(this.scene, this.camera);
    this.drawnListeners.forEach((listener) => listener());
  }
}
