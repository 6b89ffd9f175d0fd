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
  #timer: NodeJS.Timeout | undefined;

  constructor(out: Output) {
    this.#out = out;
  }

  /** Whether {@link Progress.show} shows anything. */
  get canDrawOver(): boolean {
    return this.#out.isTTY === true;
  }

  begin(part: string): void {
    this.#starting.set(part, performance.now());
    this.#spin();
  }

  /** Shows on a terminal what goes on, instead of what it showed before; undefined: nothing. */
  show(text: string | undefined): void {
    this.#shown = text;
    if (text === undefined) this.#rest();
    else this.#spin();
  }

  /** @param note where it listens, or what it did */
  done(part: string, note: string): void {
    const seconds = ((performance.now() - (this.#starting.get(part) ?? 0)) / 1000).toFixed(1);
    this.print(`  ready  ${part.padEnd(18)} ${`${seconds} s`.padStart(7)}  ${note}`);
  }

  /** Nothing that is still starting is shown any more. */
  stop(): void {
    for (const part of [...this.#starting.keys()]) this.end(part);
    this.show(undefined);
  }

  /** The part is no longer starting: it is done, or it failed. */
  end(part: string): void {
    this.#starting.delete(part);
    this.#rest();
  }

  #spin(): void {
    if (this.#out.isTTY) this.#timer ??= setInterval(() => this.#drawSpinner(), FRAME_MS);
  }

  #rest(): void {
    if (this.#starting.size > 0 || this.#shown !== undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#eraseSpinner();
  }

  print(text: string): void {
    this.#eraseSpinner();
    this.#out.write(`${text}\n`);
  }

  #drawSpinner(): void {
    this.#frame = (this.#frame + 1) % SPINNER.length;
    this.#eraseSpinner();
    const parts = [...this.#starting.keys()].join(', ');
    const line = `  ${SPINNER[this.#frame]} ${parts ? `starting ${parts}` : this.#shown}`;
    this.#out.write(line.slice(0, (this.#out.columns || 80) - 1));
  }

  #eraseSpinner(): void {
    if (!this.#out.isTTY) return;
    clearLine(this.#out, 0);
    cursorTo(this.#out, 0);
  }
}
