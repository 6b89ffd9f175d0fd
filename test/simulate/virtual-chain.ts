import { type Address, type Hex, toHex } from 'viem';
import { numberedAddress } from '../../quoting/pools/served-pool.fixture.ts';

/** A block, and the price of each pool that its state has. */
export interface VirtualBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parent: Hex;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly prices: readonly bigint[];
  /** When it was mined, by virtual time. */
  readonly minedAt: number;
}

/** The contract that has the price of a pool, and where. */
export const oracleOf = (pool: number): Address => numberedAddress(0x5000 + pool);
export const PRICE_SLOT = toHex(0, { size: 32 });

/** Prices of committed blocks are below, live ones above. Each is used once, so that a price names when it was true. */
export const FIRST_LIVE_PRICE = 1_000_000_000n;

/** A chain whose blocks may be replaced. */
export class VirtualChain {
  readonly pools: number;
  readonly blockTimeMs: number;
  readonly byHash = new Map<Hex, VirtualBlock>();
  /** The branch that counts, the head last. */
  #branch: VirtualBlock[] = [];
  #made = 0;
  #lastPrice = 1n;

  constructor(pools: number, blockTimeMs: number, now: number, wallMs: number) {
    this.pools = pools;
    this.blockTimeMs = blockTimeMs;
    this.#append(
      Array.from({ length: pools }, () => this.#newPrice()),
      now,
      wallMs,
    );
    for (let more = 0; more < 3; more += 1) this.mine([], now, wallMs);
  }

  get head(): VirtualBlock {
    return this.#branch.at(-1) as VirtualBlock;
  }

  /** @param changed pools whose prices move */
  mine(changed: readonly number[], now: number, wallMs: number): void {
    const prices = this.head.prices.map((price, pool) => (changed.includes(pool) ? this.#newPrice() : price));
    this.#append(prices, now, wallMs);
  }

  /** Takes blocks back. Others, at least one, take their place. */
  reorganise(depth: number, others: number, changed: readonly number[], now: number, wallMs: number): void {
    this.#branch = this.#branch.slice(0, Math.max(1, this.#branch.length - depth));
    for (let count = 0; count < others; count += 1) this.mine(changed, now, wallMs);
  }

  /** Whether the branch that counts has a block. */
  has(hash: string): boolean {
    const block = this.byHash.get(hash as Hex);
    return block !== undefined && this.#branch[Number(block.number - this.#first.number)] === block;
  }

  get #first(): VirtualBlock {
    return this.#branch[0] as VirtualBlock;
  }

  #newPrice(): bigint {
    this.#lastPrice += 10n;
    return this.#lastPrice;
  }

  #append(prices: readonly bigint[], minedAt: number, wallMs: number): void {
    this.#made += 1;
    const before = this.#branch.at(-1);
    const block: VirtualBlock = {
      number: (before?.number ?? 999n) + 1n,
      hash: toHex(this.#made, { size: 32 }),
      parent: before?.hash ?? toHex(0, { size: 32 }),
      timestamp: BigInt(Math.floor(wallMs / 1_000)),
      prices,
      minedAt,
    };
    this.#branch.push(block);
    this.byHash.set(block.hash, block);
  }
}
