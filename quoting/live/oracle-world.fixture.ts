import { type Address, type Hex, numberToHex } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { asProbeError } from '../guards/unknown-guard-prober.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import type { DepthSnapshot, PriceSnapshot, Snapshot } from '../types.ts';
import { AccessLists } from './access-lists.ts';
import { LiveReader } from './live-reader.ts';

export const POOL = flatPool(1);
const REGISTRY = numberToHex(0xfeed, { size: 20 });
const OTHER = numberToHex(0xbeef, { size: 20 });
export const REUSE_MS = 4_000;
export const CHECK_MS = 30_000;
/** Slot 0 of the registry names the slot that holds the price. */
export const POINTER = 0;
const slotOf = (slot: number): Hex => numberToHex(slot, { size: 32 });

type Storage = ReadonlyMap<number, number>;

export const NO_LOGGER = { info: () => undefined, warn: () => undefined };

/** A node whose pool has the price that the registry's pointer names; time is a number. */
export class OracleWorld {
  now = 1_000;
  block = 1;
  base: Storage = new Map([[POINTER, 1]]);
  overrides: Storage = new Map();
  /** Words of an account that no pool reads. */
  foreign = 0;
  /** Of the pool: reads in the block being built, depths there, access lists. */
  readonly counts = { prices: 0, depths: 0, lists: 0 };
  failure: 'exhausted' | 'refused' | 'unreachable' | null = null;
  /** Whether depth takes probes of guards. */
  isProbing = false;
  readonly suspensions: string[] = [];
  hasLists = true;
  readonly reader: LiveReader;

  constructor() {
    const now = () => this.now;
    const rpc = fakeNodes([this.#answer], now);
    this.reader = new LiveReader({
      reader: { prices: (head) => this.#read(head), depth: async (_, prices) => this.#depth(prices) },
      committed: {
        read: async (kind) =>
          new Map([[POOL.address, kind === 'depths' ? withDepth(this.#committed) : this.#committed]]) as never,
        isRead: () => true,
        cached: () => this.#committed,
      },
      heads: {
        suspend: () => {
          this.suspensions.push('suspended');
          return false;
        },
        sourceAge: ({ pending }) => (pending ? { sourceAgeMs: this.now } : {}),
      },
      feed: { holders: () => null },
      accessLists: new AccessLists({ rpc, reserve: () => true, readTimeoutMs: 1_000, logger: NO_LOGGER, now }),
      reuseMs: REUSE_MS,
      now,
    });
  }

  /** The block being built, or the committed one while nothing is overridden. */
  get head(): ReportedHead {
    const pending = this.#pending;
    const block = { hash: slotOf(this.block), number: BigInt(this.block), timestamp: BigInt(this.block), parents: [] };
    return { block: pending ? { ...block, pending } : block, endpoint: null };
  }

  /** The price where the pool has a live one, derived without the reader; else null. */
  get livePrice(): number | null {
    const live = priceIn(new Map([...this.base, ...this.overrides]));
    return live === priceIn(this.base) ? null : live;
  }

  /** Lets the list that a read made arrive. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    await new Promise(setImmediate);
  }

  get #pending() {
    if (this.overrides.size === 0 && this.foreign === 0) return undefined;
    const registry = new Map([...this.overrides].map(([slot, value]) => [slotOf(slot), slotOf(value)]));
    const overrides: StateOverrides = new Map<Address, ReadonlyMap<Hex, Hex>>([
      [REGISTRY, registry],
      [OTHER, new Map([[slotOf(1), slotOf(this.foreign)]])],
    ]);
    const digest = JSON.stringify([...this.overrides, this.foreign]);
    const blockNumber = BigInt(this.block + 1);
    return { blockNumber, timestamp: blockNumber, overrides, digest, receivedAt: performance.now() };
  }

  get #committed(): PriceSnapshot {
    const { pending: _, ...block } = this.head.block;
    return snapshotOf(block, priceIn(this.base), false);
  }

  async #read({ block }: ReportedHead): Promise<PriceSnapshot> {
    this.counts.prices += 1;
    if (this.failure) throw new RpcFailure(this.failure, 'the read failed');
    const price = priceIn(new Map([...this.base, ...this.overrides]));
    return snapshotOf(block, price, price !== priceIn(this.base));
  }

  #depth(prices: PriceSnapshot): DepthSnapshot {
    this.counts.depths += 1;
    const failure = this.failure && new RpcFailure(this.failure, 'the read failed');
    if (failure) throw this.isProbing ? asProbeError(failure) : failure;
    return withDepth(prices);
  }

  readonly #answer = async () => {
    this.counts.lists += 1;
    if (!this.hasLists) throw new RpcFailure('refused', 'no such method');
    const slots = [POINTER, this.base.get(POINTER) ?? 0].map(slotOf);
    return {
      accessList: [
        { address: POOL.address, storageKeys: [slotOf(9)] },
        { address: REGISTRY, storageKeys: slots },
      ],
    };
  };
}

export const priceIn = (storage: Storage): number => storage.get(storage.get(POINTER) ?? 0) ?? 0;

const snapshotOf = (block: Snapshot['block'], price: number, hasLivePrice: boolean): PriceSnapshot => ({
  pool: POOL,
  block,
  readAt: 0,
  status: 'healthy',
  bidX64: BigInt(price),
  askX64: BigInt(price) + 1n,
  balance0Raw: 0n,
  balance1Raw: 0n,
  depth: null,
  curve: null,
  limits: {} as PriceSnapshot['limits'],
  hasLivePrice,
  fingerprint: `${price}`,
});

const withDepth = ({ fingerprint: _, curve: __, ...snapshot }: PriceSnapshot): DepthSnapshot => ({
  ...snapshot,
  depth: { bids: [], asks: [] },
});
