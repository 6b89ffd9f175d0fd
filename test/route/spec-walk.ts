/**
 * The fill estimate of the API's contract, written from its text alone and over the text of a bid/ask answer: what
 * routes, and the client's arithmetic and vectors, are checked against. It shares no code with them.
 */

export interface QuoteLevel {
  readonly cumulativeVolume: string;
  readonly cumulativeInputVolume: string;
  readonly priceImpactE6?: string;
}

export interface QuoteSides {
  readonly bids: readonly QuoteLevel[];
  readonly asks: readonly QuoteLevel[];
}

export interface Estimate {
  readonly input: bigint;
  readonly output: bigint;
  /** Impact of the last level used. */
  readonly impactE6: bigint;
}

/** What `amount` leads to; null when the levels run out first. */
export function estimateFill(
  levels: readonly QuoteLevel[],
  exact: 'input' | 'output',
  amount: bigint,
): Estimate | null {
  let previousInput = 0n;
  let previousOutput = 0n;
  let remaining = amount;
  let result = 0n;
  let impactE6 = 0n;
  for (const level of levels) {
    const cumulativeInput = BigInt(level.cumulativeInputVolume);
    const cumulativeOutput = BigInt(level.cumulativeVolume);
    if (remaining === 0n || cumulativeInput <= previousInput) continue;
    const binInput = cumulativeInput - previousInput;
    const binOutput = cumulativeOutput - previousOutput;
    previousInput = cumulativeInput;
    previousOutput = cumulativeOutput;
    if (binOutput === 0n) continue;
    const bin = exact === 'input' ? binInput : binOutput;
    let used = bin;
    if (remaining < bin) used = remaining;
    result += exact === 'input' ? (binOutput * used) / binInput : (binInput * used + binOutput - 1n) / binOutput;
    remaining -= used;
    impactE6 = BigInt(level.priceImpactE6 ?? 0);
  }
  if (remaining > 0n) return null;
  return exact === 'input' ? { input: amount, output: result, impactE6 } : { input: result, output: amount, impactE6 };
}
