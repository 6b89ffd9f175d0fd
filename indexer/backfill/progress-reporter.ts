import type { Display } from './display.ts';
import { type Progress, ProgressMeter } from './progress.ts';

const SHOW_EVERY_MS = 500;

/** Keeps a display up to date, also while a step takes long. */
export class ProgressReporter {
  readonly #display: Display;
  readonly #meter = new ProgressMeter(performance.now());
  readonly #timer = setInterval(() => this.#show(), SHOW_EVERY_MS);
  #progress: Progress | null = null;

  constructor(display: Display) {
    this.#display = display;
  }

  /** @param needed what a run needs now to continue, in words that follow "waiting for" */
  needs(needed: string): void {
    this.#meter.needs(needed, performance.now());
  }

  /** Takes the counters, shows and returns what they say. */
  note(blocks: { readonly total: number; readonly done: number }, events: number): Progress {
    this.#progress = this.#meter.measure(performance.now(), blocks, events);
    this.#show();
    return this.#progress;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#display.stop();
  }

  #show(): void {
    this.#display.progress(this.#progress, this.#meter.wait(performance.now()));
  }
}
