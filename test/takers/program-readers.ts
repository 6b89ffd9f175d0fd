import type { Hex } from 'viem';

/* What public programs read of frames, as they do: none shares code with the service. */

export interface Rung {
  readonly amountIn: string;
  readonly amountOut: string;
}
export type Book = readonly (readonly [pamm: string, tokenIn: string, rungs: readonly Rung[]])[];
export type Accounts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * As a client of Rust: a frame needs its fields, hex is prefixed, and the time may not go back, nor be old or ahead.
 *
 * @returns reads a frame; null when it is not of the target, the block being built
 */
export function strictReader() {
  let [newest, highest] = [0n, 0n];
  return (text: string, target: bigint): Book | null => {
    const block = BigInt(/"blockNumber":(\d+)/.exec(text)?.[1] ?? -1);
    const timestamp = BigInt(/"timestamp":(\d{19})[,}]/.exec(text)?.[1] ?? -1);
    const ageMs = Date.now() - Number(timestamp / 1_000_000n);
    if (timestamp < newest || block < highest || ageMs > 24_000 || ageMs < -12_000) throw new Error(`refused: ${text}`);
    [newest, highest] = [timestamp, block];
    const { pamms } = JSON.parse(text);
    const hex = (amount: unknown) => (/^0x[0-9a-f]+$/.test(String(amount)) ? String(amount) : `not hex: ${amount}`);
    if (block !== target) return null;
    return pamms.flatMap(({ pamm, pairs }: { pamm: string; pairs: { tokenIn: string; orderBook: Rung[] }[] }) =>
      pairs.map(({ tokenIn, orderBook }) => [
        pamm,
        tokenIn,
        orderBook.map(({ amountIn, amountOut }) => ({ amountIn: hex(amountIn), amountOut: hex(amountOut) })),
      ]),
    );
  };
}

/** As the SDK: what is not as expected is left out. Null when the frame is not of the target. */
export function lenientReader(
  frame: { readonly pamms?: unknown; readonly blockNumber?: number },
  target: bigint,
): Book | null {
  if (frame.blockNumber === undefined || BigInt(frame.blockNumber) !== target) return null;
  const pamms = frame.pamms as {
    pamm: string;
    pairs: { tokenIn: string; orderBook: (Rung & { variant: string })[] }[];
  }[];
  return pamms.flatMap(({ pamm, pairs }) =>
    pairs.map(({ tokenIn, orderBook }) => {
      const rungs = orderBook.filter(({ variant }) => ['Simulated', 'Interpolated'].includes(variant));
      return [pamm, tokenIn, rungs] as const;
    }),
  );
}

/** As a relayer's client: null when the frame is not of the target. */
export function relayerBook(
  { blockNumber, pamms }: { readonly blockNumber?: unknown; readonly pamms?: unknown },
  target: bigint,
): Book | null {
  if (integerBlock(blockNumber) !== target) return null;
  return (pamms as { pamm: string; pairs: { tokenIn: string; levels: Rung[] }[] }[]).flatMap(({ pamm, pairs }) =>
    pairs.map(({ tokenIn, levels }) => [pamm, tokenIn, levels] as const),
  );
}

/** The block of a frame: an integer, which any other value is not. */
export const integerBlock = (value: unknown): bigint | null =>
  Number.isSafeInteger(value) ? BigInt(value as number) : null;

/** As a client of Go reads the block of an answer: a text of hex digits. */
export const hexBlock = (value: unknown): bigint | null =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;

/** The words of all venues of a builder's frame, by account; keys that are no address are skipped. */
export function wordsOfVenues(frame: Readonly<Record<string, unknown>>): Accounts {
  const merged: Record<string, Record<string, string>> = {};
  for (const [key, venue] of Object.entries(frame)) {
    if (!/^0x[0-9a-f]{40}$/i.test(key)) continue;
    const { stateOverride } = venue as { stateOverride: Record<Hex, { stateDiff: Record<string, string> }> };
    for (const [account, { stateDiff }] of Object.entries(stateOverride))
      merged[account] = { ...merged[account], ...stateDiff };
  }
  return merged;
}

export const slotsOf = (accounts: Accounts) =>
  Object.values(accounts).reduce((sum, slots) => sum + Object.keys(slots).length, 0);
