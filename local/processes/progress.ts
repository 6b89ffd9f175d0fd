import { clearLine, cursorTo } from 'node:readline';

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;

/** Standard output, or any stream: only a terminal has the two properties. */
type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * One line per part as it becomes ready, with the time it took. On a terminal a spinner names what is still starting;
 * elsewhere nothing but finished lines is written.
 */
export class Progress {
  readonly #out: Output;
  readonly #starting = new Map<string, number>();
  /** What goes on when nothing is starting. */
  #shown: string | undefined;
  #frame = 0;
  #isDrawn = false;

  constructor(out: Output) {
    this.#out = out;
    if (this.canDrawOver) setInterval(() => this.#drawSpinner(), FRAME_MS).unref();
  }

  /** Whether {@link Progress.show} shows anything. */
  get canDrawOver(): boolean {
    return this.#out.isTTY === true;
  }

  begin(part: string): void {
    this.#starting.set(part, performance.now());
  }

  /** Shows on a terminal what goes on, instead of what it showed before; undefined: nothing. */
  show(text: string | undefined): void {
    this.#shown = text;
  }

  /** @param note where it listens, or what it did */
  done(part: string, note: string): void {
    const seconds = ((performance.now() - (this.#starting.get(part) ?? 0)) / 1000).toFixed(1);
    this.print(`  ready  ${part.padEnd(18)} ${`${seconds} s`.padStart(7)}  ${note}`);
  }

  /** The part is no longer starting: it is done, or it failed. */
  end(part: string): void {
    this.#starting.delete(part);
  }

  /** Nothing that is still starting is shown any more. */
  stop(): void {
    this.#starting.clear();
    this.#shown = undefined;
    this.#eraseSpinner();
  }

  print(text: string): void {
    this.#eraseSpinner();
    this.#out.write(`${text}\n`);
  }

  #drawSpinner(): void {
    this.#eraseSpinner();
    const parts = [...this.#starting.keys()].join(', ');
    const shown = parts ? `starting ${parts}` : this.#shown;
    if (shown === undefined) return;
    this.#frame = (this.#frame + 1) % SPINNER.length;
    this.#out.write(`  ${SPINNER[this.#frame]} ${shown}`.slice(0, (this.#out.columns || 80) - 1));
    this.#isDrawn = true;
  }

  #eraseSpinner(): void {
    if (!this.#isDrawn) return;
    clearLine(this.#out, 0);
    cursorTo(this.#out, 0);
    this.#isDrawn = false;
  }
}
