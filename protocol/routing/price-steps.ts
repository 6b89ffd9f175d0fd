import type { FillCurve } from './fill-curve.ts';

/** A run of bins that a search treats as one: it ends where the best average price from its start is reached. */
export interface PriceStep {
  /** Given amount at its end, raw units from the cursor. */
  readonly end: bigint;
  /** Output per input, Q128. Never better than the step before. */
  readonly rateX128: bigint;
}

const steps = new WeakMap<FillCurve, readonly PriceStep[]>();

/**
 * The bins of a curve as steps of falling price. Bins may charge fees of their own, so a bin can be dearer than the one
 * behind it; such bins are merged (the concave hull of the sums), or a search by marginal price would stop before them.
 */
export function priceSteps(curve: FillCurve): readonly PriceStep[] {
  const known = steps.get(curve);
  if (known) return known;
  const made = hull(curve);
  steps.set(curve, made);
  return made;
}

interface Run {
  readonly end: bigint;
  readonly input: bigint;
  readonly output: bigint;
}

function hull(curve: FillCurve): readonly PriceStep[] {
  const runs: Run[] = [];
  let previous = { given: 0n, found: 0n };
  for (const [index, given] of curve.given.entries()) {
    const found = curve.found[index] ?? 0n;
    let run = runOf(curve, given, given - previous.given, found - previous.found);
    for (let last = runs.at(-1); last && isBetter(run, last); last = runs.at(-1)) {
      runs.pop();
      run = { end: run.end, input: run.input + last.input, output: run.output + last.output };
    }
    runs.push(run);
    previous = { given, found };
  }
  return runs.map(({ end, input, output }) => ({ end, rateX128: (output << 128n) / input }));
}

function runOf(curve: FillCurve, end: bigint, given: bigint, found: bigint): Run {
  return curve.tradeType === 'exact_in' ? { end, input: given, output: found } : { end, input: found, output: given };
}

const isBetter = (a: Run, b: Run): boolean => a.output * b.input > b.output * a.input;
