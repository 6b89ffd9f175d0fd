import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import type { SkippedEntry } from './frame.ts';
import { word } from './frames.fixture.ts';

/** An entry of a JSON object: good ones say what they mean. Few keys, in several spellings, so that they meet. */
interface Entry<T> {
  readonly key: string;
  readonly value: unknown;
  /** Adds what the entry means. */
  readonly addTo: (target: T) => void;
}

type Accounts = Map<Address, Map<Hex, Hex>>;
type Counts = Map<SkippedEntry, number>;
export interface Mixture {
  readonly venues: Map<Address, Accounts>;
  readonly counts: Counts;
}
interface OfVenue {
  readonly accounts: Accounts;
  readonly counts: Counts;
}

const count = (counts: Counts, entry: SkippedEntry) => counts.set(entry, (counts.get(entry) ?? 0) + 1);
const values = (...all: readonly unknown[]): fc.Arbitrary<unknown> => fc.constantFrom(...all);
/** The same hex digits in one of several ways. @param sizes how many digits there may be */
const spelt = (hex: string, ...sizes: readonly number[]): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...sizes), fc.boolean()).map(([size, isUpper]) => {
    const digits = hex.padStart(size, '0');
    return `0x${isUpper ? digits.toUpperCase() : digits}`;
  });
const padded = (hex: string): Hex => `0x${hex.padStart(64, '0')}`;

const BAD_HEX = ['', '0x', 'x', '12', '0xzz', `0x${'1'.repeat(65)}`, `0x${'1'.repeat(66)}`];
const badKey: fc.Arbitrary<string> = fc.constantFrom(...BAD_HEX);
const badWord = values(...BAD_HEX, null, 0, 7, true, [], {});
const badFields = values(null, [], ['0x1'], 'x', '', 7, true);

const goodSlot: fc.Arbitrary<Entry<(slot: Hex, value: Hex) => void>> = fc
  .tuple(fc.constantFrom('1', 'ab', 'c0ffee'), word)
  .chain(([slot, value]) =>
    fc.tuple(spelt(slot, slot.length, 7, 64), fc.boolean()).map(([key, isShort]) => ({
      key,
      value: isShort ? value.replace(/^0x0+(?=.)/, '0x') : value,
      addTo: (add) => add(padded(slot), value),
    })),
  );

/** Words by slot. */
const slots = fc
  .uniqueArray(
    fc.oneof(
      { weight: 3, arbitrary: goodSlot.map((entry) => ({ ...entry, isGood: true })) },
      goodSlot.chain((entry) => badWord.map((value) => ({ ...entry, value, isGood: false }))),
      goodSlot.chain((entry) => badKey.map((key) => ({ ...entry, key, isGood: false }))),
    ),
    { selector: ({ key }) => key, maxLength: 6 },
  )
  .map((entries) => ({ fields: fieldsOf(entries), entries }));

/** The JSON object of entries. */
export const fieldsOf = (entries: readonly { readonly key: string; readonly value: unknown }[]) =>
  Object.fromEntries(entries.map(({ key, value }) => [key, value]));

const address = fc.constantFrom('0a'.repeat(20), 'bc'.repeat(20), `${'0'.repeat(39)}1`);
const goodAddress = address.chain((hex) => spelt(hex, 40).map((key) => ({ key, of: `0x${hex}` as Address })));

/** How a kind of frame writes an account and a venue. */
export interface Writing {
  readonly account: (slots: unknown) => fc.Arbitrary<unknown>;
  /** Accounts without overrides, and what is no account. */
  readonly emptyAccount: fc.Arbitrary<unknown>;
  readonly badAccount: fc.Arbitrary<unknown>;
}

export const BUILDER: Writing = {
  account: (fields) =>
    values({ stateDiff: fields }, { balance: '', state_diff: fields }, { stateDiff: null, state_diff: fields }),
  emptyAccount: values({}, { balance: '0x1', nonce: '' }, { stateDiff: null }, { stateDiff: {} }),
  badAccount: fc.oneof(
    badFields,
    badFields.filter((value) => value !== null).map((stateDiff) => ({ stateDiff })),
  ),
};
export const RELAYER: Writing = {
  account: (fields) => fc.constant(fields),
  emptyAccount: values({}, null),
  badAccount: badFields.filter((value) => value !== null),
};

function accountsOf({ account, emptyAccount, badAccount }: Writing): fc.Arbitrary<Entry<OfVenue>> {
  const good = fc.tuple(goodAddress, slots).chain(([{ key, of }, { fields, entries }]) =>
    account(fields).map((value) => ({
      key,
      value,
      addTo: ({ accounts, counts }: OfVenue) => {
        const overrides = accounts.get(of) ?? new Map<Hex, Hex>();
        for (const { isGood, addTo } of entries) {
          if (isGood) addTo((slot, value) => overrides.set(slot, value));
          else count(counts, 'word');
        }
        if (overrides.size > 0) accounts.set(of, overrides);
      },
    })),
  );
  const skip = ({ counts }: OfVenue) => count(counts, 'account');
  return fc.oneof(
    { weight: 4, arbitrary: good },
    fc.tuple(goodAddress, emptyAccount).map(([{ key }, value]) => ({ key, value, addTo: () => undefined })),
    fc.tuple(goodAddress, badAccount).map(([{ key }, value]) => ({ key, value, addTo: skip })),
    fc.tuple(badKey, emptyAccount).map(([key, value]) => ({ key, value, addTo: skip })),
  );
}

/** A venue's accounts, and what they mean. */
export const overridesOf = (writing: Writing) =>
  fc.uniqueArray(accountsOf(writing), { selector: ({ key }) => key, maxLength: 4 }).map((entries) => ({
    fields: fieldsOf(entries),
    addTo: (venue: Address, { venues, counts }: Mixture) => {
      const accounts: Accounts = venues.get(venue) ?? new Map();
      for (const { addTo } of entries) addTo({ accounts, counts });
      venues.set(venue, accounts);
    },
  }));

const badVenue = fc.oneof(
  badFields,
  values({}, { stateOverride: null }, { stateOverride: [] }, { stateOverride: 'x' }, { state_override: 7 }),
);

/** Fields of a builder's frame by venue, and keys that are no address. */
export const builderVenues: fc.Arbitrary<readonly Entry<Mixture>[]> = fc.uniqueArray(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(goodAddress, overridesOf(BUILDER), fc.boolean()).map(([{ key, of }, accounts, isSnake]) => ({
        key,
        value: isSnake ? { state_override: accounts.fields } : { maker: 12, stateOverride: accounts.fields },
        addTo: (mixture: Mixture) => accounts.addTo(of, mixture),
      })),
    },
    fc.tuple(goodAddress, badVenue).map(([{ key }, value]) => ({
      key,
      value,
      addTo: ({ counts }: Mixture) => count(counts, 'venue'),
    })),
    fc.tuple(badKey, badVenue).map(([key, value]) => ({ key, value, addTo: () => undefined })),
  ),
  { selector: ({ key }) => key, maxLength: 6 },
);

/** Entries of a relayer's `venues`. */
export const relayerVenues: fc.Arbitrary<readonly Omit<Entry<Mixture>, 'key'>[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(goodAddress, overridesOf(RELAYER)).map(([{ key, of }, accounts]) => ({
        value: { router: key, overrides: accounts.fields },
        addTo: (mixture: Mixture) => accounts.addTo(of, mixture),
      })),
    },
    fc
      .oneof(
        badFields,
        goodAddress.chain(({ key }) => values({ router: key, overrides: [] }, { router: key, overrides: 'x' })),
        badKey.map((router) => ({ router, overrides: {} })),
        values({ overrides: {} }, { router: null, overrides: {} }),
      )
      .map((value) => ({ value, addTo: ({ counts }: Mixture) => count(counts, 'venue') })),
  ),
  { maxLength: 6 },
);

/** What entries mean together, in their order. */
export function meaningOf(entries: readonly Pick<Entry<Mixture>, 'addTo'>[]): Mixture {
  const mixture: Mixture = { venues: new Map(), counts: new Map() };
  for (const { addTo } of entries) addTo(mixture);
  return mixture;
}
