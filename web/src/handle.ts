// The ball at the chosen frame's origin: dragging it asks the library to bring the frame there.
import * as THREE from "three";
import type { Stage } from "./stage";

const near = 16; // pixels within which a pointer takes hold

export class Handle {
  readonly group = new THREE.Group();
  private readonly ball: THREE.Mesh;
  private readonly target: THREE.Mesh;
  private readonly thread: THREE.Line<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private readonly material = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.85, fog: false });
  /** From the pointer to the ball's centre, while it is held. */
  private hold: THREE.Vector3 | undefined;

  constructor(
    private readonly stage: Stage,
    size: number,
    private readonly dragged: (to: THREE.Vector3, keepTurn: boolean, first: boolean) => void,
  ) {
    const sphere = new THREE.SphereGeometry(0.016 * size, 24, 16);
    this.ball = new THREE.Mesh(sphere, this.material);
    this.target = new THREE.Mesh(sphere, this.material);
    this.target.scale.setScalar(0.5);
    this.thread = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]), new THREE.LineBasicMaterial({ depthTest: false, transparent: true, fog: false }));
    this.thread.frustumCulled = false;
    this.target.visible = this.thread.visible = false;
    this.group.add(this.ball, this.target, this.thread);
    this.group.renderOrder = 3;
    this.listen();
    // For whoever looks at the page from outside: where the ball is on the screen.
    stage.onDrawn(() => {
      const at = stage.toScreen(this.ball.position);
      stage.canvas.parentElement?.setAttribute("data-handle", `${at.x.toFixed(1)} ${at.y.toFixed(1)}`);
    });
  }

  setAccent(color: string): void {
    this.material.color.set(color);
    this.thread.material.color.set(color);
  }

  /** Where the frame has come to. */
  place(position: [number, number, number]): void {
    this.ball.position.set(...position);
    this.stretch();
  }

  private stretch(): void {
    this.thread.geometry.setFromPoints([this.ball.position, this.target.position]);
    this.stage.touch();
  }
  private isNear(event: PointerEvent): boolean {
    const at = this.stage.toScreen(this.ball.position);
    return Math.hypot(event.clientX - at.x, event.clientY - at.y) < (event.pointerType === "touch" ? 2 : 1) * near;
  }

  private listen(): void {
    const { canvas } = this.stage;
    const release = () => {
      this.hold = undefined;
      this.target.visible = this.thread.visible = false;
      this.stage.setTurning(true);
      this.stage.touch();
    };
    // Before the canvas' own listeners, which would turn the view.
    canvas.parentElement?.addEventListener(
      "pointerdown",
      (event) => {
        if (event.target !== canvas || event.button !== 0 || !this.isNear(event)) return;
        const at = this.stage.besides(this.ball.position, event.clientX, event.clientY);
        if (!at) return;
        this.hold = this.ball.position.clone().sub(at);
        this.stage.setTurning(false);
        canvas.setPointerCapture(event.pointerId);
        this.target.position.copy(this.ball.position);
        this.target.visible = this.thread.visible = true;
        this.dragged(this.ball.position.clone(), event.shiftKey, true);
      },
      { capture: true },
    );
    canvas.addEventListener("pointermove", (event) => {
      if (!this.hold) {
        canvas.style.cursor = event.buttons === 0 && this.isNear(event) ? "move" : "";
        return;
      }
      // In the plane of the target, so that a frame that stays behind does not pull it nearer.
      const at = this.stage.besides(this.target.position, event.clientX, event.clientY);
      if (!at) return;
      this.target.position.copy(at.add(this.hold));
      this.stretch();
      this.dragged(this.target.position.clone(), event.shiftKey, false);
    });
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
  }
}
