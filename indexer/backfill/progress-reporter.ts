import type { Display } from './display.ts';
import { type Progress, Standstill } from './progress.ts';

const SHOW_EVERY_MS = 500;

/** Keeps a display up to date, also while a step takes long. */
export class ProgressReporter {
  readonly #display: Display;
  readonly #standstill = new Standstill(performance.now());
  readonly #timer = setInterval(() => this.#show(), SHOW_EVERY_MS);
  #progress: Progress | null = null;

  constructor(display: Display) {
    this.#display = display;
  }

  /** @param needed what a run needs now to continue, in words that follow "waiting for" */
  needs(needed: string): void {
    this.#standstill.needs(needed, performance.now());
  }

  note(progress: Progress): void {
    this.#progress = progress;
    this.#standstill.note(progress, performance.now());
    this.#show();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#display.stop();
  }

  #show(): void {
    this.#display.progress(this.#progress, this.#standstill.wait(performance.now()));
  }
}
