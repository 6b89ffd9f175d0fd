import type { Address, Hex } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import type { Frame } from './frame.ts';
import type { PendingOverrides } from './sourced-block.ts';

export const MAX_AGE_MS = 1_000;

export interface Taken {
  readonly source: object;
  readonly frame: Frame;
  readonly at: number;
}

/** What a venue of a source said of a block, by account and slot. */
interface Claim extends Omit<Taken, 'frame'> {
  readonly venue: Address;
  readonly said: ReadonlyMap<string, Hex>;
  /** Number of the frame that changed each word that counts in its source. */
  readonly counts: Map<string, number>;
  readonly timestamp: bigint | null;
  readonly index: number;
}

interface Block {
  claims: readonly Claim[];
  /** Of lower blocks, when this one began. */
  readonly earlier: readonly Claim[];
  /** When frames of it arrived, and those of lower blocks. */
  readonly sentAt: number[];
  readonly lowerAt: number[];
}

const flat = (overrides: StateOverrides) =>
  new Map(
    [...overrides].flatMap(([account, slots]) =>
      [...slots].map(([slot, word]) => [`${account} ${slot}`, word] as const),
    ),
  );

/** The rules again, word by word. */
export class MergeModel {
  readonly #blocks = new Map<bigint, Block>();
  #count = 0;

  take({ source, frame, at }: Taken, top: bigint | undefined): string {
    const number = frame.blockNumber;
    if (top !== undefined && number <= top) return 'late';
    if (top !== undefined && number > top + 2n) return 'ahead';
    const [lower = -1n] = [...this.#blocks.keys()].filter((other) => other < number).sort((a, b) => Number(b - a));
    const below = this.#blocks.get(lower) ?? { claims: [], earlier: [] };
    const remembered = () =>
      [...below.claims, ...below.earlier].map((each) => ({ ...each, counts: new Map(each.counts) }));
    const block: Block = this.#blocks.get(number) ?? { claims: [], earlier: remembered(), sentAt: [], lowerAt: [at] };
    const isSame = (claim: Claim, venue: Address) => claim.source === source && claim.venue === venue;
    const before = (venue: Address) =>
      [...block.claims, ...below.claims, ...block.earlier].find((claim) => isSame(claim, venue));
    const kept = block.claims.filter(
      (claim) => claim.source !== source || !(frame.isComplete || frame.venues.has(claim.venue)),
    );
    const added: Claim[] = [];
    this.#count += 1;
    for (const [venue, overrides] of [...frame.venues].reverse()) {
      const claim = {
        source,
        venue,
        at,
        said: flat(overrides),
        counts: new Map(),
        timestamp: frame.timestamp,
        index: this.#count,
      };
      const last = before(venue);
      const others = [...added, ...kept.filter((other) => other.source === source)];
      for (const [key, word] of claim.said) {
        const rival = others.find((other) => at - other.at <= MAX_AGE_MS && other.counts.has(key));
        const rivalIndex = rival?.counts.get(key) ?? 0;
        const isSameWord = rival?.said.get(key) === word;
        const isRepeated = last?.said.get(key) === word;
        const index = isRepeated ? (last.counts.get(key) ?? (isSameWord ? rivalIndex : 0)) : this.#count;
        if (index > 0 && (isSameWord || index >= rivalIndex)) claim.counts.set(key, index);
      }
      added.unshift(claim);
    }
    // The venue that a frame names first comes last: in place of other overrides, its own count.
    const mine = [...added, ...kept.filter((claim) => claim.source === source)];
    const counted = new Map<string, Hex | undefined>();
    for (const { said, counts } of added.toReversed()) for (const key of counts.keys()) counted.set(key, said.get(key));
    for (const { said, counts } of mine)
      for (const key of counts.keys()) if (said.get(key) !== (counted.get(key) ?? said.get(key))) counts.delete(key);
    block.claims = [...kept, ...added];
    block.sentAt.push(at);
    for (const [other, { lowerAt }] of this.#blocks) if (other > number) lowerAt.push(at);
    this.#blocks.delete(number);
    this.#blocks.set(number, block);
    for (const other of [...this.#blocks.keys()].slice(0, -3)) this.#blocks.delete(other);
    return 'used';
  }

  state(now: number, top: bigint | undefined): Omit<PendingOverrides, 'digest'> | undefined {
    const numbers = [...this.#blocks.keys()].sort((a, b) => Number(a - b));
    const isBuilt = (number: bigint) => {
      const { sentAt = [], lowerAt = [] } = this.#blocks.get(number) ?? {};
      const isAlone = (sentAt.at(-1) ?? 0) - (lowerAt.at(-1) ?? 0) >= MAX_AGE_MS;
      return top === undefined || number === top + 1n || (number === top + 2n && isAlone);
    };
    const candidates = top === undefined ? numbers.reverse() : numbers;
    for (const number of candidates.filter(isBuilt)) {
      const state = this.#stateOf(number, now);
      if (state) return state;
    }
    return undefined;
  }

  #stateOf(number: bigint, now: number): Omit<PendingOverrides, 'digest'> | undefined {
    const young = (this.#blocks.get(number)?.claims ?? []).filter(({ at }) => now - at <= MAX_AGE_MS);
    const newest = young.toSorted((one, other) => other.index - one.index);
    const found = new Map<string, { readonly word: Hex; readonly claim: Claim }>();
    for (const key of new Set(young.flatMap(({ counts }) => [...counts.keys()]))) {
      const claims = newest.filter(({ counts }) => counts.has(key));
      const last = Math.max(...claims.map(({ counts }) => counts.get(key) ?? 0));
      const word = claims.find(({ counts }) => counts.get(key) === last)?.said.get(key);
      const claim = claims.find(({ said }) => said.get(key) === word);
      if (word && claim) found.set(key, { word, claim });
    }
    if (found.size === 0) return undefined;
    const used = newest.filter((claim) => found.values().some((each) => each.claim === claim));
    const overrides = new Map<Address, Map<Hex, Hex>>();
    for (const [key, { word }] of found) {
      const [account, slot] = key.split(' ') as [Address, Hex];
      overrides.set(account, (overrides.get(account) ?? new Map()).set(slot, word));
    }
    const timestamp = used.find((claim) => claim.timestamp !== null)?.timestamp ?? null;
    return { blockNumber: number, timestamp, overrides, receivedAt: Math.min(...used.map(({ at }) => at)) };
  }
}
