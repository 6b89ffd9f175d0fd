/*
 * Decoders of what takers read, written from the published facts of the forms alone. They share no code with the
 * service, and are strict: what a form does not name fails.
 */

export interface DecodedLevel {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly isSimulated: boolean;
}
export interface DecodedPair {
  readonly pamm: string;
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly levels: readonly DecodedLevel[];
  /** What the forms do not name and their readers skip, as it was sent. */
  readonly skipped: Readonly<Record<string, unknown>>;
}
export interface DecodedFrame {
  readonly slot: bigint | null;
  readonly blockNumber: bigint;
  /** Unix milliseconds. */
  readonly madeAt: number;
  readonly pairs: readonly DecodedPair[];
  /** Null: the frame does not say. */
  readonly omitted: bigint | null;
  readonly parent: { readonly number: bigint; readonly hash: string } | null;
}

type Fields = Readonly<Record<string, unknown>>;

class FormError extends Error {}
const fail = (what: string): never => {
  throw new FormError(what);
};

const SHARES = ['committedShare', 'liveShare'];

/** JSON with every integer as a bigint: a form has no other number, but for shares that its readers skip. */
function exactJson(text: string): unknown {
  return JSON.parse(text, (key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !SHARES.includes(key)
      ? /^\d+$/.test(context?.source ?? '')
        ? BigInt(context?.source ?? '')
        : fail('number')
      : value,
  );
}

function fieldsOf(value: unknown, required: readonly string[], optional: readonly string[] = []): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('an object is expected');
  for (const name of required) if (!(name in value)) fail(`${name} is missing`);
  for (const name of Object.keys(value)) if (![...required, ...optional].includes(name)) fail(`${name} is unknown`);
  return value as Fields;
}

const integer = (value: unknown): bigint => (typeof value === 'bigint' ? value : fail('an integer is expected'));
const address = (value: unknown): string =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value) ? value : fail('an address is expected');
const quantity = (value: unknown): bigint =>
  typeof value === 'string' && /^0x[0-9a-f]{1,64}$/.test(value) ? BigInt(value) : fail('hex is expected');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : fail('a list is expected'));

function levelsOf(value: unknown, kind: string, kinds: readonly [string, string]): DecodedLevel[] {
  let [lastIn, lastOut] = [0n, 0n];
  const levels = list(value).map((each) => {
    const level = fieldsOf(each, ['amountIn', 'amountOut', kind]);
    const [amountIn, amountOut] = [quantity(level.amountIn), quantity(level.amountOut)];
    if (amountIn <= lastIn || amountOut < lastOut) fail('levels descend');
    if (!kinds.includes(level[kind] as string)) fail(`${kind} is unknown`);
    [lastIn, lastOut] = [amountIn, amountOut];
    return { amountIn, amountOut, isSimulated: level[kind] === kinds[0] };
  });
  return levels.length > 0 ? levels : fail('a pair has no levels');
}

const SKIPPED_OF_PAIR = ['minAmountIn', 'gas', 'committedShare', 'liveShare'];

function pairsOf(pamms: unknown, levels: string, kind: string, kinds: readonly [string, string]): DecodedPair[] {
  return list(pamms).flatMap((venue) => {
    const { pamm, pairs } = fieldsOf(venue, ['pamm', 'pairs'], ['maker']);
    return list(pairs).map((each) => {
      const {
        tokenIn,
        tokenOut,
        [levels]: book,
        ...skipped
      } = fieldsOf(each, ['tokenIn', 'tokenOut', levels], SKIPPED_OF_PAIR);
      const tokens = { tokenIn: address(tokenIn), tokenOut: address(tokenOut) };
      if (tokens.tokenIn === tokens.tokenOut) fail('a pair of one token');
      return { pamm: address(pamm), ...tokens, levels: levelsOf(book, kind, kinds), skipped };
    });
  });
}

/** What the forms do not name and their readers skip. */
const SKIPPED = ['omitted', 'parent'];

function skippedOf({ omitted, parent }: Fields): Pick<DecodedFrame, 'omitted' | 'parent'> {
  const { number, hash } = parent === undefined ? {} : fieldsOf(parent, ['number', 'hash']);
  return {
    omitted: omitted === undefined ? null : integer(omitted),
    parent: parent === undefined ? null : { number: integer(number), hash: word(hash) },
  };
}

/** Unix milliseconds of a time in nanoseconds of this century: milliseconds or seconds are another form. */
function madeAtNanos(value: unknown): number {
  const timestamp = integer(value);
  if (timestamp < 10n ** 18n || timestamp > 5n * 10n ** 18n) fail('timestamp is not in nanoseconds');
  return Number(timestamp / 1_000_000n);
}

function madeAtMillis(value: unknown): number {
  const madeAt = Number(integer(value));
  return madeAt >= 10 ** 12 && madeAt <= 5 * 10 ** 12 ? madeAt : fail('millisTimestamp is not in milliseconds');
}

/** Reads a frame of price levels in a block builder's form. @throws Error */
export function decodeBuilderFrame(text: string): DecodedFrame {
  const frame = fieldsOf(exactJson(text), ['blockNumber', 'timestamp', 'pamms'], ['slot', ...SKIPPED]);
  return {
    slot: frame.slot === undefined ? null : integer(frame.slot),
    blockNumber: integer(frame.blockNumber),
    madeAt: madeAtNanos(frame.timestamp),
    pairs: pairsOf(frame.pamms, 'orderBook', 'variant', ['Simulated', 'Interpolated']),
    ...skippedOf(frame),
  };
}

/** Reads a frame of price levels in the form of BAP-710. @throws Error */
export function decodeBap710Frame(text: string): DecodedFrame {
  const frame = fieldsOf(exactJson(text), ['blockNumber', 'millisTimestamp', 'pamms'], SKIPPED);
  const madeAt = madeAtMillis(frame.millisTimestamp);
  const pairs = pairsOf(frame.pamms, 'levels', 'source', ['simulated', 'interpolated']);
  return { slot: null, blockNumber: integer(frame.blockNumber), madeAt, pairs, ...skippedOf(frame) };
}

/** Its pairs without what readers skip, which does not change with the state that levels are of. */
export const pricedPairs = ({ pairs }: Pick<DecodedFrame, 'pairs'>) => pairs.map(({ skipped: _, ...pair }) => pair);

export const DECODERS = { builder: decodeBuilderFrame, bap710: decodeBap710Frame } as const;

/** Storage words by account and slot. */
export type DecodedWords = Readonly<Record<string, Readonly<Record<string, string>>>>;
export interface DecodedOverrides {
  readonly slot: bigint | null;
  readonly blockNumber: bigint;
  /** Unix milliseconds. */
  readonly madeAt: number;
  readonly venues: ReadonlyMap<string, DecodedWords>;
}

const word = (value: unknown): string =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value) ? value : fail('a word is expected');

function wordsOf(value: unknown, slotsOf: (account: unknown) => unknown = (account) => account): DecodedWords {
  const accounts = Object.entries(value as Fields).map(([account, inside]) => {
    const slots = Object.entries(slotsOf(inside) as Fields).map(([slot, each]) => [word(slot), word(each)]);
    return [address(account), Object.fromEntries(slots)];
  });
  return Object.fromEntries(accounts);
}

/** The block of a builder's answer to a call: frames have an integer, answers hex. */
const blockInHex = (value: unknown): bigint =>
  typeof value === 'string' && /^0x[1-9a-f][0-9a-f]*$/.test(value) ? BigInt(value) : fail('a block in hex is expected');

/** Reads what a block builder sends of state overrides. Any further field is a venue. @throws Error */
export const decodeBuilderOverrides = (text: string): DecodedOverrides => builderOverrides(text, integer);

/** Reads what a block builder answers to a call for state overrides. @throws Error */
export const decodeBuilderAnswer = (text: string): DecodedOverrides => builderOverrides(text, blockInHex);

function builderOverrides(text: string, blockOf: (value: unknown) => bigint): DecodedOverrides {
  const frame = exactJson(text) as Fields;
  const { slot, blockNumber, timestamp, ...venues } = fieldsOf(
    frame,
    ['blockNumber', 'timestamp'],
    Object.keys(frame ?? {}),
  );
  const read = Object.entries(venues).map(([venue, inside]) => {
    const { stateOverride } = fieldsOf(inside, ['stateOverride']);
    return [address(venue), wordsOf(stateOverride, (account) => fieldsOf(account, ['stateDiff']).stateDiff)] as const;
  });
  return {
    slot: slot === undefined ? null : integer(slot),
    blockNumber: blockOf(blockNumber),
    madeAt: madeAtNanos(timestamp),
    venues: new Map(read),
  };
}

/** Reads state overrides in the form of BAP-710. @throws Error */
export function decodeBap710Overrides(text: string): DecodedOverrides & { readonly merged: DecodedWords } {
  const frame = fieldsOf(exactJson(text), ['blockNumber', 'millisTimestamp', 'overrides', 'venues'], ['parent']);
  const read = list(frame.venues).map((venue) => {
    const { router, overrides } = fieldsOf(venue, ['router', 'overrides']);
    return [address(router), wordsOf(overrides)] as const;
  });
  return {
    slot: null,
    blockNumber: integer(frame.blockNumber),
    madeAt: madeAtMillis(frame.millisTimestamp),
    venues: new Map(read),
    merged: wordsOf(frame.overrides),
  };
}
