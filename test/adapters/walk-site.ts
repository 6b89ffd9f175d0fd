import { expect } from 'vitest';

/** An event as a site keeps it. Amounts are raw, signed, positive into the pool. */
export interface KeptEvent {
  readonly block: number;
  readonly timestamp: number;
  readonly type: 'swap' | 'join' | 'exit';
  readonly transaction: string;
  readonly transactionIndex: number;
  readonly index: number;
  readonly maker: string;
  readonly amounts: readonly [bigint, bigint];
  readonly reserves: readonly [bigint, bigint];
}

/** What a site has of a chain after a walk: the events of each pair, in order. */
export interface KeptChain {
  readonly until: { readonly blockNumber: number; readonly blockTimestamp: number };
  readonly pairs: ReadonlyMap<string, readonly KeptEvent[]>;
}

/** Sends a GET for a path below the base path of a chain's adapter. */
export type AskSite = (path: string) => Promise<{ readonly status: number; readonly json: unknown }>;

type Fields = Record<string, unknown>;

const DECIMAL = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;
const HEX = (bytes: number) => new RegExp(`^0x[0-9a-f]{${bytes * 2}}$`);

/**
 * Reads a chain as a listing site does: polls the newest block, asks for the events of all blocks up to it in ranges of
 * several lengths, and for each pair and token that it meets. It halts at whatever makes such a site halt.
 *
 * @param decimalsOf of a token, which a site reads from the chain
 */
export async function walkSite(ask: AskSite, decimalsOf: (token: string) => Promise<number>): Promise<KeptChain> {
  const answer = async (path: string): Promise<Fields> => {
    const { status, json } = await ask(path);
    expect([status, path]).toEqual([200, path]);
    return json as Fields;
  };
  const { block } = (await answer('latest-block')) as { block: KeptChain['until'] };
  const pairs = new Map<string, KeptEvent[]>();
  const decimals = new Map<string, readonly [number, number]>();
  let last: readonly number[] = [-1, 0, 0];
  for (let [from, blocks] = [0, 1]; from <= block.blockNumber; from += blocks, blocks = (blocks * 7) % 1_001) {
    const to = Math.min(from + blocks - 1, block.blockNumber);
    const { events } = (await answer(`events?fromBlock=${from}&toBlock=${to}`)) as { events: Fields[] };
    for (const event of events) {
      const pair = String(event.pairId);
      if (!decimals.has(pair)) decimals.set(pair, await meetPair(answer, decimalsOf, pair));
      const kept = keep(event, decimals.get(pair) ?? [0, 0]);
      const place = [kept.block, kept.transactionIndex, kept.index];
      expect(kept.block >= from && kept.block <= to).toBe(true);
      expect(compare(place, last)).toBe(1);
      last = place;
      pairs.set(pair, [...(pairs.get(pair) ?? []), kept]);
    }
  }
  return { until: block, pairs };
}

/** Asks for a pair and its tokens. @returns decimals of both */
async function meetPair(
  answer: (path: string) => Promise<Fields>,
  decimalsOf: (token: string) => Promise<number>,
  id: string,
): Promise<readonly [number, number]> {
  const { pair } = (await answer(`pair?id=${id}`)) as { pair: Fields };
  expect(pair).toMatchObject({ id, dexKey: expect.stringMatching(/./) });
  const decimals: number[] = [];
  for (const token of [String(pair.asset0Id), String(pair.asset1Id)]) {
    const { asset } = (await answer(`asset?id=${token}`)) as { asset: Fields };
    const text = expect.stringMatching(/\S/);
    expect(asset).toMatchObject({ id: token, name: text, symbol: text });
    decimals.push(await decimalsOf(token));
  }
  return [decimals[0] ?? 0, decimals[1] ?? 0];
}

function keep(event: Fields, [decimals0, decimals1]: readonly [number, number]): KeptEvent {
  const { block, reserves } = event as Record<string, Record<string, never>>;
  expect(event.txnId).toMatch(HEX(32));
  expect(event.maker).toMatch(HEX(20));
  const token0 = (text: unknown) => toRaw(text, decimals0);
  const token1 = (text: unknown) => toRaw(text, decimals1);
  return {
    block: block?.blockNumber ?? -1,
    timestamp: block?.blockTimestamp ?? -1,
    type: event.eventType as KeptEvent['type'],
    transaction: String(event.txnId),
    transactionIndex: event.txnIndex as number,
    index: event.eventIndex as number,
    maker: String(event.maker),
    amounts: amountsOf(event, token0, token1),
    reserves: [token0(reserves?.asset0), token1(reserves?.asset1)],
  };
}

type Read = (text: unknown) => bigint;

function amountsOf(event: Fields, token0: Read, token1: Read): readonly [bigint, bigint] {
  if (event.eventType !== 'swap') {
    const sign = { join: 1n, exit: -1n }[event.eventType as 'join' | 'exit'];
    return [sign * token0(event.amount0), sign * token1(event.amount1)];
  }
  const isSale = event.asset0In !== undefined;
  const [amount0, amount1] = isSale
    ? [token0(event.asset0In), -token1(event.asset1Out)]
    : [-token0(event.asset0Out), token1(event.asset1In)];
  expect([amount0, amount1]).not.toContain(0n);
  expect(event.priceNative).toMatch(DECIMAL);
  const [paid, price] = [Number(event[isSale ? 'asset0In' : 'asset0Out']), Number(event.priceNative)];
  const other = Number(event[isSale ? 'asset1Out' : 'asset1In']);
  expect(price).toBeGreaterThan(0);
  expect(Math.abs(price / (other / paid) - 1)).toBeLessThan(1e-12);
  return [amount0, amount1];
}

/** A decimal without exponent as raw units. @throws when it has more digits than the token */
function toRaw(text: unknown, decimals: number): bigint {
  expect(text).toMatch(DECIMAL);
  const [whole = '', fraction = ''] = String(text).split('.');
  expect(fraction.length).toBeLessThanOrEqual(decimals);
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

function compare(place: readonly number[], other: readonly number[]): number {
  const at = place.findIndex((part, index) => part !== other[index]);
  return at < 0 ? 0 : Math.sign((place[at] ?? 0) - (other[at] ?? 0));
}
