import fc from 'fast-check';
import { TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';

export const CHAIN = 5;
export const POOL = seedAddress(1);
export const DAY = 86_400;
/** A whole number of days. */
export const START = 1_800_057_600;
export const DAYS = 4;
export const [DECIMALS0, DECIMALS1] = [18, 6];
export const MULTIPLIER1 = 10n ** 12n;

/** Dollar prices by the hour; for some hours nobody knew them. */
const HOURS = Array.from({ length: DAYS * 24 }, (_, n) => n).filter((n) => n < 30 || n > 34);
export const PRICES = new Map(
  HOURS.map((n) => [START + n * 3_600, [2_000 + ((n * 37) % 100), 1 + (n % 7) / 100] as const]),
);

/** What a pool did; parts in millionths of what it has. */
interface Act {
  readonly gapSecs: number;
  readonly kind: 'sale' | 'purchase' | 'add' | 'remove' | 'removeAll';
  readonly part: number;
}

export const acts = fc.array(
  fc.record({
    gapSecs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1_000, max: 40_000 })),
    kind: fc.constantFrom('sale', 'purchase', 'sale', 'purchase', 'add', 'remove', 'removeAll'),
    part: fc.integer({ min: 1, max: 200_000 }),
  }),
  { minLength: 1, maxLength: 40 },
);

/** An act as it was logged, raw amounts into the pool, and what liquidity providers own after it. */
export interface Logged {
  readonly ts: number;
  readonly isSwap: boolean;
  readonly amounts: readonly [bigint, bigint];
  /** Of the input token, scaled. */
  readonly lpFee: bigint;
  readonly owned: readonly [bigint, bigint];
  readonly totals: ReadonlyMap<TotalName, bigint>;
}

const positive = (value: bigint) => (value > 0n ? value : 0n);
const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** Plays acts one after another. A pool is empty at first, and between some. */
export function play(list: readonly Act[]): Logged[] {
  const totals = new Map<TotalName, bigint>(TOTAL_NAMES.map((name) => [name, 0n]));
  const count = (name: TotalName, value: bigint) => totals.set(name, (totals.get(name) ?? 0n) + value);
  let [gross0, gross1, fees0, fees1, ts] = [0n, 0n, 0n, 0n, START + 40];
  return list.flatMap(({ gapSecs, kind, part }): Logged[] => {
    ts += gapSecs;
    const own = [gross0 - fees0, gross1 - ceil(fees1, MULTIPLIER1)] as const;
    const of = (value: bigint) => (value * BigInt(part)) / 1_000_000n;
    const isSwap = kind === 'sale' || kind === 'purchase';
    if (ts >= START + DAYS * DAY || (kind !== 'add' && (of(own[0]) < 10n || of(own[1]) < 10n))) return [];
    // A trade gives a little less than what comes in is worth, so that providers gain.
    const amounts = {
      sale: [of(own[0]) + 3n, -of(own[1])],
      purchase: [-of(own[0]), of(own[1]) + 3n],
      add: [BigInt(part) * 10n ** 15n, BigInt(part) * 2n * 10n ** 6n],
      remove: [-of(own[0]), -of(own[1])],
      removeAll: [-own[0], -own[1]],
    }[kind] as [bigint, bigint];
    const [amount0, amount1] = amounts;
    gross0 += amount0;
    gross1 += amount1;
    let lpFee = 0n;
    if (isSwap) {
      const input = kind === 'sale' ? amount0 : amount1 * MULTIPLIER1;
      lpFee = input / 1_000n;
      const [protocol, notional] = [input / 7_001n, input / 90_001n];
      if (kind === 'sale') fees0 += protocol + notional;
      else fees1 += protocol + notional;
      count('swapCount', 1n);
      count('swapTxCount', 1n);
      count('swapIn0Raw', positive(amount0));
      count('swapIn1Raw', positive(amount1));
      count('swapOut0Raw', positive(-amount0));
      count('swapOut1Raw', positive(-amount1));
      count(kind === 'sale' ? 'lpFee0Scaled' : 'lpFee1Scaled', lpFee);
      count(kind === 'sale' ? 'protocolFee0Scaled' : 'protocolFee1Scaled', protocol);
      count(kind === 'sale' ? 'notionalFee0Scaled' : 'notionalFee1Scaled', notional);
    } else {
      count('liquidityIn0Raw', positive(amount0));
      count('liquidityIn1Raw', positive(amount1));
      count('liquidityOut0Raw', positive(-amount0));
      count('liquidityOut1Raw', positive(-amount1));
    }
    const owned = [gross0 - fees0, gross1 - ceil(fees1, MULTIPLIER1)] as const;
    return [{ ts, isSwap, amounts, lpFee, owned, totals: new Map(totals) }];
  });
}

/** The prices of both tokens in force at a time. */
function pricesAt(ts: number): readonly [number, number] | null {
  for (let hour = ts - (ts % 3_600); hour > ts - 7_200; hour -= 3_600) {
    const prices = PRICES.get(hour);
    if (prices) return prices;
  }
  return null;
}

function worth([amount0, amount1]: readonly [bigint, bigint], ts: number): number | null {
  if (amount0 === 0n && amount1 === 0n) return 0;
  const prices = pricesAt(ts);
  if (!prices) return null;
  return (Number(amount0) / 10 ** DECIMALS0) * prices[0] + (Number(amount1) / 10 ** DECIMALS1) * prices[1];
}

/** What liquidity gains in a day, second by second: changes of liquidity are taken out at the end of theirs. */
function gainOf(own: readonly Logged[], start: readonly [bigint, bigint], endTs: number): number | null {
  let [held, gain, known, ever] = [start, 1, true, false];
  const step = (owned: readonly [bigint, bigint], ts: number) => {
    if (held[0] <= 0n && held[1] <= 0n) return;
    ever = true;
    const [now, then] = [worth(owned, ts), worth(held, ts)];
    if (now === null || then === null || now === 0 || then === 0) known = false;
    else gain *= now / then;
  };
  for (const ts of new Set(own.map((act) => act.ts))) {
    const second = own.filter((act) => act.ts === ts);
    const changes = second.filter(({ isSwap }) => !isSwap);
    const last = second.at(-1)?.owned ?? held;
    if (changes.length === 0) continue;
    const added = (n: 0 | 1) => changes.reduce((sum, { amounts }) => sum + amounts[n], 0n);
    step([last[0] - added(0), last[1] - added(1)], ts);
    held = last;
  }
  step(own.at(-1)?.owned ?? held, endTs);
  return known && ever ? gain - 1 : null;
}

/** Days by the acts of each, one after another. */
export function expectedDays(logged: readonly Logged[], headTs: number) {
  const starts = [...new Set(logged.map(({ ts }) => ts - (ts % DAY)))].reverse();
  return starts.map((dayTs) => {
    const own = logged.filter(({ ts }) => ts >= dayTs && ts < dayTs + DAY);
    const start = logged.findLast(({ ts }) => ts < dayTs)?.owned ?? [0n, 0n];
    const owned = own.at(-1)?.owned ?? start;
    const endTs = Math.min(dayTs + DAY - 1, headTs);
    // What is final is counted a minute later.
    const isFinal = dayTs + DAY + 60 <= headTs - (headTs % 60);
    const fees = (isSale: boolean) =>
      own
        .filter(({ isSwap, amounts }) => isSwap && amounts[0] > 0n === isSale)
        .reduce((sum, { lpFee }) => sum + lpFee, 0n);
    const feeUsd = own.map(({ ts, isSwap, amounts, lpFee }) => {
      const paid = amounts[0] > 0n ? Number(lpFee) / 10 ** DECIMALS0 : Number(lpFee) / 10 ** (DECIMALS1 + 12);
      const price = pricesAt(ts - (ts % 60))?.[amounts[0] > 0n ? 0 : 1];
      if (!isSwap || lpFee === 0n) return 0;
      return price === undefined ? null : paid * price;
    });
    return {
      day_ts: dayTs,
      is_final: isFinal,
      lp_fee0_raw: String(fees(true)),
      lp_fee1_raw: String(fees(false) / MULTIPLIER1),
      lp_fee_usd: !isFinal || feeUsd.includes(null) ? null : feeUsd.reduce((sum: number, each) => sum + (each ?? 0), 0),
      tvl0_raw: String(owned[0]),
      tvl1_raw: String(owned[1]),
      tvl_usd: worth(owned, endTs),
      lp_return: gainOf(own, start, endTs),
    };
  });
}
