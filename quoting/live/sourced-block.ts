import { hash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import type { PendingState, StateOverrides } from '../../chain/pending-state.ts';
import type { Frame } from './frame.ts';
import { addMissing, type MutableSlotMap, pick } from './slot-map.ts';
import { type Part, SourceParts } from './source-parts.ts';

/**
 * The merged overrides of a block that is being built, of which there is at least one. The time is from the newest of the
 * frames that say; null where none does. `receivedAt` is when the oldest frame arrived whose overrides are in it, by the
 * merger's clock.
 */
export type PendingOverrides = Omit<PendingState, 'timestamp'> & { readonly timestamp: bigint | null };

/** Names a source. `republish`: its overrides may be passed on. */
export interface MergedSource {
  readonly republish?: boolean | undefined;
}

const DIGEST_CHARACTERS = 22;

/**
 * The merged overrides of one block. Does no I/O.
 *
 * Invariant: where sources differ at a slot, the word that changed last counts. One that a source merely repeats does not
 * win over a newer one, but over none.
 */
export class SourcedBlock<S extends MergedSource = MergedSource> {
  readonly #blockNumber: bigint;
  readonly #isOld: (receivedAt: number) => boolean;
  readonly #sources: Map<S, SourceParts>;
  #state: PendingOverrides | undefined;
  #isOutdated = false;

  /**
   * @param isOld whether what arrived then is not used any more
   * @param below the overrides of the block below, as far as they are known
   */
  constructor(blockNumber: bigint, isOld: (receivedAt: number) => boolean, below: SourcedBlock<S> | undefined) {
    this.#blockNumber = blockNumber;
    this.#isOld = isOld;
    const known = below ? [...below.#sources] : [];
    this.#sources = new Map(known.map(([source, parts]) => [source, new SourceParts(isOld, parts)]));
  }

  /** Takes a frame, the newest of all. @param below as above, until now */
  take(source: S, frame: Frame, sent: Pick<Part, 'receivedAt' | 'order'>, below: SourcedBlock<S> | undefined): void {
    const parts = this.#sources.get(source) ?? new SourceParts(this.#isOld);
    this.#sources.set(source, parts);
    parts.take(frame, sent, below ? below.#sources.get(source) : undefined);
    this.#isOutdated = true;
  }

  /** What each source sent of this block; left out are those that sent nothing. */
  heard(): readonly { readonly source: S; readonly parts: readonly Part[] }[] {
    return [...this.#sources].flatMap(([source, { isHeard, used }]) => (isHeard ? { source, parts: used } : []));
  }

  /** Takes what another process knows of a source, in place of all that this one sent of the block. */
  replace(source: S, parts: readonly Part[]): void {
    const known = this.#sources.get(source) ?? new SourceParts(this.#isOld);
    this.#sources.set(source, known);
    known.replace(parts);
    this.#isOutdated = true;
  }

  /** The same object as before while nothing changed, the same `overrides` while only `receivedAt` did; undefined without overrides. */
  state(): PendingOverrides | undefined {
    if (this.#isOutdated || (this.#state && this.#isOld(this.#state.receivedAt))) this.#state = this.#merge();
    this.#isOutdated = false;
    return this.#state;
  }

  #merge(): PendingOverrides | undefined {
    const overrides: MutableSlotMap<Hex> = new Map();
    const used = newestOverrides(this.#parts(() => true)).flatMap((each) =>
      addMissing(overrides, each.overrides) ? each.part : [],
    );
    if (used.length === 0) return undefined;
    const receivedAt = Math.min(...used.map((part) => part.receivedAt));
    const timestamp = used.find((part) => part.timestamp !== null)?.timestamp ?? null;
    const republished = new Map<Address, MutableSlotMap<Hex>>();
    for (const { part, overrides: ofPart } of newestOverrides(this.#parts((source) => source.republish === true))) {
      const ofVenue: MutableSlotMap<Hex> = republished.get(part.venue) ?? new Map();
      if (addMissing(ofVenue, ofPart)) republished.set(part.venue, ofVenue);
    }
    const content = {
      blockNumber: this.#blockNumber,
      timestamp,
      overrides,
      republished: republished.size > 0 ? republished : undefined,
    };
    const digest = digestOf(content);
    return this.#state?.digest === digest ? { ...this.#state, receivedAt } : { ...content, digest, receivedAt };
  }

  /** The newest frame's first. */
  #parts(isOf: (source: S) => boolean): readonly Part[] {
    const parts = [...this.#sources].flatMap(([source, { used }]) => (isOf(source) ? used : []));
    return parts.sort((one, other) => other.order - one.order);
  }
}

/** Finds which overrides of each part count: those that are, at their slots, what changed last. Equal overrides count together. */
function newestOverrides(
  parts: readonly Part[],
): readonly { readonly part: Part; readonly overrides: StateOverrides }[] {
  const newest: MutableSlotMap<{ readonly order: number; readonly word: Hex | undefined }> = new Map();
  for (const { sent, changed } of parts) {
    for (const [account, slots] of changed) {
      const [overrides, known] = [sent.get(account), newest.get(account) ?? new Map()];
      newest.set(account, known);
      for (const [slot, order] of slots) {
        if (order > (known.get(slot)?.order ?? 0)) known.set(slot, { order, word: overrides?.get(slot) });
      }
    }
  }
  return parts.map((part) => {
    const counts = (word: Hex, account: Address, slot: Hex) =>
      part.changed.get(account)?.has(slot) === true && newest.get(account)?.get(slot)?.word === word;
    return { part, overrides: pick(part.sent, counts) };
  });
}

function digestOf({
  blockNumber,
  timestamp,
  overrides,
  republished,
}: Omit<PendingOverrides, 'digest' | 'receivedAt'>): string {
  const venues = [...(republished ?? [])].map(([venue, ofVenue]) => `${venue}\n${linesOf(ofVenue)}`).sort();
  const text = [blockNumber, timestamp, linesOf(overrides), ...venues].join('\n\n');
  return hash('sha256', text, 'base64url').slice(0, DIGEST_CHARACTERS);
}

/** The same text for the same overrides, in whatever order they are. */
const linesOf = (overrides: StateOverrides): string =>
  [...overrides]
    .flatMap(([account, slots]) => [...slots].map(([slot, word]) => `${account} ${slot} ${word}`))
    .sort()
    .join('\n');
