/** Blocks that an update holds at most, and those of one whose `maxBlockNumber` is 0. */
const MAX_BLOCKS = 100n;

/** An update in the relayer's words. */
export interface RelayerUpdate {
  readonly uuid: string;
  readonly seq: bigint;
  /** `0x` is a cancel. */
  readonly tx: string;
  readonly maxBlockNumber: bigint;
}

/** What a relayer knows of the updates under one uuid. */
interface QuoteStream {
  readonly maker: string | undefined;
  readonly seq: bigint;
  /** After a cancel, no update is taken before this block. */
  readonly barredUntil: bigint;
}

/** The state of a relayer (BAP-710), as far as it decides on updates. */
export class MockRelayer {
  /** Keys and whose they are; undefined: no key is needed. */
  keys: Readonly<Record<string, 'maker' | 'taker'>> | undefined;
  /** Number of the newest block. */
  head: () => bigint = () => 0n;
  readonly #streams = new Map<string, QuoteStream>();

  /** Takes an update. Returns why it does not, or an empty text. */
  take({ uuid, seq, tx, maxBlockNumber }: RelayerUpdate, key: string | undefined): string {
    if (this.keys) {
      if (key === undefined) return 'missing maker API key (x-api-key header)';
      const owner = this.keys[key];
      if (owner !== 'maker') return owner ? 'API key is not a maker key' : 'invalid API key';
    }
    const head = this.head();
    const known = this.#streams.get(uuid);
    if (known && known.maker !== key) return 'uuid belongs to another maker';
    if (known && known.barredUntil > head) return 'uuid has been canceled';
    if (known && known.seq >= seq) return 'stale seq';
    if (maxBlockNumber !== 0n && maxBlockNumber <= head) return 'quote expired on arrival';
    const limit = head + MAX_BLOCKS;
    const untilBlock = maxBlockNumber === 0n || maxBlockNumber > limit ? limit : maxBlockNumber;
    this.#streams.set(uuid, { maker: key, seq, barredUntil: tx === '0x' ? untilBlock : 0n });
    return '';
  }
}
