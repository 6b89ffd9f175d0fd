import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { stringifyJson } from '../../runtime/json.ts';
import type { Frame } from './frame.ts';

const hexOf = (bytes: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((data): Hex => `0x${Buffer.from(data).toString('hex')}`);

/** 32 bytes, often with leading zeros, which messages may leave out. */
export const word: fc.Arbitrary<Hex> = fc.oneof(
  hexOf(32),
  fc.nat().map((value): Hex => `0x${value.toString(16).padStart(64, '0')}`),
);

/** Overrides of up to three accounts, each with one slot or more. */
export const stateOverridesOf = (
  address: fc.Arbitrary<Address>,
  slot: fc.Arbitrary<Hex>,
): fc.Arbitrary<StateOverrides> => {
  const slots = fc.array(fc.tuple(slot, word), { minLength: 1, maxLength: 4 }).map((entries) => new Map(entries));
  return fc.array(fc.tuple(address, slots), { maxLength: 3 }).map((entries) => new Map(entries));
};

export const venuesOf = (address: fc.Arbitrary<Address>, slot: fc.Arbitrary<Hex>): fc.Arbitrary<Frame['venues']> =>
  fc.array(fc.tuple(address, stateOverridesOf(address, slot)), { maxLength: 3 }).map((entries) => new Map(entries));

export const anyVenues: fc.Arbitrary<Frame['venues']> = venuesOf(hexOf(20), word);

/** Block numbers up to the largest of 64 bits, as nodes write them. */
export const blockNumber: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.bigInt(20_000_000n, 30_000_000n),
  fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 2n),
);

/** How a message spells what may be spelt in several ways. */
export interface Spelling {
  readonly hasUnderscores: boolean;
  readonly hasHexNumbers: boolean;
  readonly isUppercase: boolean;
  /** Leaves out leading zeros of slots and overrides. */
  readonly isShort: boolean;
}

export const spelling: fc.Arbitrary<Spelling> = fc.record({
  hasUnderscores: fc.boolean(),
  hasHexNumbers: fc.boolean(),
  isUppercase: fc.boolean(),
  isShort: fc.boolean(),
});

export const PLAIN: Spelling = { hasUnderscores: false, hasHexNumbers: false, isUppercase: false, isShort: false };

/** Overrides of a message by account. */
export function spellOverrides(
  overrides: StateOverrides,
  { isUppercase, isShort }: Spelling,
): Record<string, Record<string, string>> {
  const cased = (hex: string) => (isUppercase ? `0x${hex.slice(2).toUpperCase()}` : hex);
  const short = (hex: string) => cased(isShort ? `0x${hex.slice(2).replace(/^0+(?=.)/, '')}` : hex);
  const slotsOf = (slots: ReadonlyMap<Hex, Hex>) =>
    Object.fromEntries([...slots].map(([slot, value]) => [short(slot), short(value)]));
  return Object.fromEntries([...overrides].map(([account, slots]) => [cased(account), slotsOf(slots)]));
}

/** A number of a message: hex, or an integer where all readers of JSON give the same one. */
export const spellNumber = (value: bigint, { hasHexNumbers }: Spelling): string | bigint =>
  hasHexNumbers || value > BigInt(Number.MAX_SAFE_INTEGER) ? `0x${value.toString(16)}` : value;

/** A block builder's frame, with parts that are never used. @param slot of its block; left out when undefined */
export function builderText(number: bigint, venues: Frame['venues'], how: Spelling = PLAIN, slot?: bigint): string {
  const name = (camel: string) => (how.hasUnderscores ? camel.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`) : camel);
  const cased = (hex: Hex) => (how.isUppercase ? `0x${hex.slice(2).toUpperCase()}` : hex);
  const accountsOf = (overrides: StateOverrides) =>
    Object.entries(spellOverrides(overrides, how)).map(([account, slots]) => [
      account,
      { [name('stateDiff')]: slots, balance: '0x1', nonce: 7, code: 'none', state: { '0x1': 'unused' } },
    ]);
  return stringifyJson({
    ...(slot !== undefined && { slot: spellNumber(slot, how) }),
    [name('blockNumber')]: spellNumber(number, how),
    timestamp: 1_781_801_564_588_230_787n,
    later: { '0x1': [null] },
    ...Object.fromEntries(
      [...venues].map(([venue, overrides]) => [
        cased(venue),
        { maker: 12, [name('stateOverride')]: Object.fromEntries(accountsOf(overrides)) },
      ]),
    ),
  });
}

/** The `result` of a relayer, a complete snapshot. */
export function relayerResult(number: bigint, venues: Frame['venues'], how: Spelling = PLAIN): Record<string, unknown> {
  const all = Object.assign({}, ...venues.values().map((overrides) => spellOverrides(overrides, how)));
  return {
    blockNumber: spellNumber(number, how),
    millisTimestamp: 1_781_801_564_588,
    overrides: all,
    venues: [...venues].map(([router, overrides]) => ({ router, overrides: spellOverrides(overrides, how), maker: 3 })),
  };
}

/** A `pamm_subscription` notification. */
export const relayerPush = (result: unknown): string =>
  stringifyJson({ jsonrpc: '2.0', method: 'pamm_subscription', params: { subscription: '0x1', result } });
