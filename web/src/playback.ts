// The clock of a report: where we are in the run, and who wants to know.

export class Playback {
  readonly start: number;
  readonly end: number;
  private now: number;
  private running = false;
  private rate = 1;
  private last = 0;
  private readonly timeListeners: ((time: number) => void)[] = [];
  private readonly stateListeners: (() => void)[] = [];
  looping = true;

  constructor(readonly times: Float64Array) {
    this.start = times.length > 0 ? times[0] : 0;
    this.end = times.length > 0 ? times[times.length - 1] : 0;
    this.now = this.start;
  }

  get time(): number {
    return this.now;
  }
  get playing(): boolean {
    return this.running;
  }
  get speed(): number {
    return this.rate;
  }
  set speed(rate: number) {
    this.rate = rate;
    this.stateListeners.forEach((listener) => listener());
  }
  get duration(): number {
    return this.end - this.start;
  }

  onTime(listener: (time: number) => void): void {
    this.timeListeners.push(listener);
  }
  onState(listener: () => void): void {
    this.stateListeners.push(listener);
  }

  seek(time: number): void {
    this.now = Math.min(this.end, Math.max(this.start, time));
    this.timeListeners.forEach((listener) => listener(this.now));
  }

  /** By samples, and by a good few of them where they are dense. */
  step(direction: number, large: boolean): void {
    this.pause();
    const here = this.sample(this.now);
    const stride = Math.max(1, Math.round(this.times.length / (large ? 40 : 400)));
    const next = Math.min(this.times.length - 1, Math.max(0, here + direction * stride));
    this.seek(this.times[next]);
  }

  play(): void {
    if (this.duration <= 0) return;
    if (this.now >= this.end) this.seek(this.start);
    this.running = true;
    this.last = 0;
    this.stateListeners.forEach((listener) => listener());
  }
  pause(): void {
    this.running = false;
    this.stateListeners.forEach((listener) => listener());
  }
  toggle(): void {
    if (this.running) this.pause();
    else this.play();
  }

  /** Called for every frame that the browser draws. */
  tick(milliseconds: number): void {
    if (!this.running) return;
    const passed = this.last ? Math.min(0.1, (milliseconds - this.last) / 1000) : 0;
    this.last = milliseconds;
    const next = this.now + passed * this.rate;
    if (next < this.end) return this.seek(next);
    this.seek(this.looping ? this.start : this.end);
    if (!this.looping) this.pause();
  }

  /** The last sample at or before a time. */
  sample(time: number): number {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The sample before a time and how far the next one is reached. */
  between(time: number): { sample: number; part: number } {
    const sample = this.sample(time);
    if (sample + 1 >= this.times.length) return { sample, part: 0 };
    const part = (time - this.times[sample]) / (this.times[sample + 1] - this.times[sample]);
    return { sample, part: Math.min(1, Math.max(0, part)) };
  }
}
