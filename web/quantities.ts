/** Values of `bidAdj` and `askAdj` for a side that does not trade. */
const CLOSED_BID = '0';
const CLOSED_ASK = String(2n ** 128n - 1n);

/** Converts a Q64.64 price to a number, for show; null for a closed side. */
export function priceOfX64(x64: string): number | null {
  return x64 === CLOSED_BID || x64 === CLOSED_ASK ? null : Number(BigInt(x64)) / 2 ** 64;
}

/** Converts raw units to an exact decimal of whole tokens, without trailing zeros. */
export function wholeTokens(raw: bigint, decimals: number): string {
  const sign = raw < 0n ? '-' : '';
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return `${sign}${digits.slice(0, point)}${fraction && `.${fraction}`}`;
}

/** Converts a decimal of whole tokens to raw units; null when it is not a positive amount of the token. */
export function rawUnits(text: string, decimals: number): bigint | null {
  const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (whole + fraction === '' || fraction.length > decimals) return null;
  const raw = BigInt(whole + fraction.padEnd(decimals, '0'));
  return raw > 0n ? raw : null;
}

/** Gives the distance of ask from bid in basis points of their middle; null while a side is closed. */
export function spreadBps(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : ((ask - bid) / ((ask + bid) / 2)) * 10_000;
}

/** Converts a Q64.64 price in raw units to whole output tokens per whole input token. */
export function humanPrice(effectivePriceX64: string, decimalsIn: number, decimalsOut: number): number {
  return (Number(BigInt(effectivePriceX64)) / 2 ** 64) * 10 ** (decimalsIn - decimalsOut);
}

const BPS = 10_000n;

/**
 * Gives the least output of an exact input, or the largest input of an exact output, rounded in the trader's favour.
 *
 * @param slippageBps tolerance in basis points
 */
export function worstCase(tradeType: 'exact_in' | 'exact_out', computed: bigint, slippageBps: number): bigint {
  const bps = BigInt(slippageBps);
  if (tradeType === 'exact_in') return (computed * (BPS - bps) + BPS - 1n) / BPS;
  return (computed * (BPS + bps)) / BPS;
}
