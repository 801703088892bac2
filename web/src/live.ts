// The library behind a view: asks the server that the page came from for the numbers at other slider values. One
// question at a time; of those that come meanwhile, the last.
import { unpackState, type ViewState } from "./data";

export class Live {
  private waiting: string | undefined;
  private busy = false;
  private readonly token = new URLSearchParams(location.search).get("token") ?? "";

  constructor(
    private readonly arrived: (state: ViewState) => void,
    private readonly failed: (message: string) => void,
  ) {}

  ask(values: number[], frame: number): void {
    this.waiting = JSON.stringify({ values, frame });
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
        this.arrived(unpackState(await response.json()));
      } catch (error) {
        this.failed(error instanceof TypeError ? "articula view has ended: start it again" : String(error));
      }
    }
    this.busy = false;
  }
}
