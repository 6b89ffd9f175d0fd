import { type BenchName, TARGETS, type Target, targetText } from './targets.ts';

export type FigureOf<Name extends BenchName> = keyof (typeof TARGETS)[Name] & string;

/** Compares the figures of one bench with its targets, and remembers which it missed. */
export class Verdicts<Name extends BenchName> {
  readonly #targets: Readonly<Record<string, Target>>;
  readonly #missed: string[] = [];
  readonly #measured = new Set<string>();

  constructor(name: Name) {
    this.#targets = TARGETS[name];
  }

  /** @param value in the unit of the target; one that is not a number misses it */
  verdict(figure: FigureOf<Name>, value: number): 'pass' | 'MISS' {
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = this.#target(figure);
    this.#measured.add(figure);
    if (value >= min && value <= max) return 'pass';
    this.#missed.push(`${figure}: ${Number(value.toFixed(3))} (${this.text(figure)})`);
    return 'MISS';
  }

  /** The target, as `≤150`. */
  text(figure: FigureOf<Name>): string {
    return targetText(this.#target(figure));
  }

  /** As `target ≤150  pass`. */
  line(figure: FigureOf<Name>, value: number): string {
    return `target ${this.text(figure)}  ${this.verdict(figure, value)}`;
  }

  /** What was missed, a line each. */
  get missed(): readonly string[] {
    return this.#missed;
  }

  /** Targets of which this run measured nothing, as with options that leave parts out. */
  get unmeasured(): readonly string[] {
    return Object.keys(this.#targets).filter((figure) => !this.#measured.has(figure));
  }

  #target(figure: string): Target {
    const target = this.#targets[figure];
    if (!target) throw new RangeError(`no target of ${figure}`);
    return target;
  }
}
