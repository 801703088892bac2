// The library behind a view: asks the server that the page came from for the numbers at other slider values. One
// question at a time; of those that come meanwhile, the last.
import { unpackState, type ViewState } from "./data";

/** Where the sliders are, and what is to be moved from there. */
export interface Question {
  values: number[];
  frame: number;
  move?: { slider: number; to: number };
  drag?: { position: number[]; quaternion?: number[] };
}

export class Live {
  private waiting: string | undefined;
  private busy = false;
  private readonly token = new URLSearchParams(location.search).get("token") ?? "";

  constructor(
    /** `last`: nothing else has been asked meanwhile. */
    private readonly arrived: (state: ViewState, last: boolean) => void,
    private readonly failed: (message: string) => void,
  ) {}

  ask(question: Question): void {
    this.waiting = JSON.stringify(question);
    if (!this.busy) void this.run();
  }

  private async run(): Promise<void> {
    this.busy = true;
    while (this.waiting !== undefined) {
      const body = this.waiting;
      this.waiting = undefined;
      try {
        const response = await fetch("/state", { method: "POST", body, headers: { "X-Articula-Token": this.token } });
        if (!response.ok) throw new Error(await response.text());
        const state = unpackState(await response.json());
        this.arrived(state, this.waiting === undefined);
      } catch (error) {
        this.failed(error instanceof TypeError ? "articula view has ended: start it again" : error instanceof Error ? error.message.trim() : String(error));
      }
    }
    this.busy = false;
  }
}
