import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Address, Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/chain-rpc.ts';
import type { SharedKind, SharedReads } from '../reads/shared-reads.ts';
import type { RequestedPools } from '../requested/requested-pools.ts';
import { BlockReads } from './block-reads.ts';
import { isReadsOf, parseReads, type ReadsMessage } from './messages.ts';
import { PeerRequests } from './peer-requests.ts';

/** Where a block is claimed: Redis. */
export interface Claims {
  /** Takes a block that nobody holds, for some time. Rejects while Redis does not answer. */
  take(hash: Hex): Promise<'taken' | 'held' | 'over'>;
  /** Holds a block that this process took for longer. */
  renew(hash: Hex): Promise<void>;
  /** Says to those who come later that the block is read. */
  end(hash: Hex): Promise<void>;
}

export interface ChainReadsDeps {
  readonly requested: RequestedPools;
  readonly claims: Claims;
  /** Sends to all other processes; a failure is its own. */
  readonly publish: (channel: 'reads' | 'requests', text: string) => void;
  /** Takes a head of which another process has read pools. */
  readonly onHead: (block: BlockHeader) => void;
  /** Takes a failure of Redis: the chain is read without the others meanwhile. */
  readonly onFailure: (error: unknown) => void;
}

/** Who reads a block for all processes: this one, another, or each for itself. */
type Reader = 'own' | 'other' | 'each';

interface BlockClaim {
  readonly block: BlockHeader;
  reader: Reader;
  /** When it was decided who reads; by `performance.now()`. */
  readonly since: number;
  /** When this process last knew that the block is its own. */
  heldAt: number;
}

/** A block stays taken this long unless who took it renews the claim. */
export const CLAIM_MS = 1_000;
/** How often {@link ChainReads.tick} is to be called. */
export const TICK_MS = 250;
/** Who did not read the block before waits this long, so that one process goes on; longer after nodes failed it. */
const AFTER_OTHERS_MS = 30;
const AFTER_FAILURE_MS = 200;
const ASIDE_MS = 10_000;
/** Longest wait for what another process reads. */
const MAX_WAIT_MS = 2_000;
const MAX_BLOCKS = 8;

const nameOf = (kind: SharedKind, pool: Address): string => `${kind}:${pool}`;

/**
 * Reads a chain once for all processes. For each block one of them takes the claim of its hash, reads what clients of all
 * request, and publishes it; the others wait for it, and read what does not come. What they read at a hash is right
 * whoever reads it: claims save calls, and decide nothing.
 */
export class ChainReads implements SharedReads {
  readonly #deps: ChainReadsDeps;
  readonly #peers: PeerRequests;
  readonly #reads = new BlockReads();
  readonly #claims = new LRUCache<Hex, Promise<BlockClaim>>({ max: MAX_BLOCKS });
  #current: BlockClaim | undefined;
  #lastReader: Exclude<Reader, 'each'> | undefined;
  #asideUntil = Number.NEGATIVE_INFINITY;
  #flush: NodeJS.Immediate | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(deps: ChainReadsDeps) {
    this.#deps = deps;
    this.#peers = new PeerRequests(deps.requested, () => this.#reads.forget());
  }

  async claim(block: BlockHeader): Promise<boolean> {
    return (await this.#claimOf(block)).reader === 'own';
  }

  async find(kind: SharedKind, block: BlockRef | BlockHeader, pool: Address): Promise<unknown> {
    const name = nameOf(kind, pool);
    if (!this.#peers.has(pool)) return undefined;
    const claim = await ('parents' in block ? this.#claimOf(block) : this.#claims.get(block.hash));
    while (claim?.reader === 'other' && performance.now() - claim.since < MAX_WAIT_MS) {
      const found = this.#reads.find(name, block.hash);
      if (found === 'absent') return undefined;
      if (found !== 'unknown') return found.value;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    return undefined;
  }

  async share<T>(
    kind: SharedKind,
    block: BlockRef,
    pools: readonly Address[],
    values: Promise<readonly T[]>,
    write: (value: T) => string,
  ): Promise<readonly T[]> {
    const claim = await this.#claims.get(block.hash);
    const isRequested = pools.map((pool) => this.#deps.requested.has(pool));
    if (!claim || claim.reader === 'each' || !isRequested.includes(true)) return values;
    const note = (jsonOf: (index: number) => string | null) => {
      for (const [index, pool] of pools.entries()) {
        if (isRequested[index]) this.#note(claim, nameOf(kind, pool), jsonOf(index));
      }
      // All answers come at once: the others decode them while this process does. Sides come one by one.
      if (kind === 'answers') this.#flushNow();
      else this.#flushSoon();
    };
    try {
      const read = await values;
      note((index) => write(read[index] as T));
      return read;
    } catch (error) {
      this.#asideUntil = performance.now() + ASIDE_MS;
      note(() => null);
      throw error;
    }
  }

  #note({ reader, block }: BlockClaim, name: string, json: string | null): void {
    if (reader === 'own') this.#reads.add(block, name, json);
    else if (json !== null) this.#reads.remember(name, json);
  }

  async end({ hash }: BlockRef): Promise<void> {
    const claim = await this.#claims.get(hash);
    if (claim?.reader !== 'own') return;
    this.#reads.end(claim.block);
    this.#flushNow();
    claim.reader = 'each';
    await this.#deps.claims.end(hash).catch(this.#deps.onFailure);
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is nothing that processes say */
  take(channel: 'reads' | 'requests', text: string): void {
    if (channel === 'requests') this.#peers.take(text);
    // Its own come back to it.
    else if (!isReadsOf(this.#peers.id, text)) this.#takeReads(parseReads(text));
  }

  #takeReads(message: ReadsMessage): void {
    this.#reads.take(message);
    this.#lastReader = 'other';
    const { block } = message;
    // Who published a block before it was asked about here holds it.
    if (!this.#claims.has(block.hash)) {
      const claim: BlockClaim = { block, reader: 'other', since: performance.now(), heldAt: 0 };
      this.#claims.set(block.hash, Promise.resolve(claim));
      this.#current = claim;
    }
    this.#wake();
    this.#deps.onHead(block);
  }

  /** Messages may have been missed. */
  rejoin(): void {
    this.#peers.rejoin();
  }

  /** Says what clients request, holds the block that this process reads, and ends waits for one that is gone. */
  async tick(): Promise<void> {
    const report = this.#peers.report();
    if (report !== null) this.#deps.publish('requests', report);
    const claim = this.#current;
    if (claim && performance.now() - claim.since < MAX_WAIT_MS) {
      if (this.#isHeld(claim)) await this.#renew(claim);
      else if (claim.reader === 'other' && this.#waiting.size > 0) await this.#take(claim);
    }
    this.#wake();
  }

  #claimOf(block: BlockHeader): Promise<BlockClaim> {
    const known = this.#claims.get(block.hash);
    if (known) return known;
    const claim = this.#decide({ block, reader: 'each', since: performance.now(), heldAt: 0 });
    this.#claims.set(block.hash, claim);
    return claim;
  }

  async #decide(claim: BlockClaim): Promise<BlockClaim> {
    if (this.#peers.isAlone) return claim;
    this.#current = claim;
    if (this.#lastReader !== 'own') {
      const hasFailed = performance.now() < this.#asideUntil;
      await sleep(hasFailed ? AFTER_FAILURE_MS : AFTER_OTHERS_MS);
    }
    if (this.#reads.has(claim.block.hash)) claim.reader = 'other';
    else await this.#take(claim);
    return claim;
  }

  /** Takes a block for this process, unless another one has it. */
  async #take(claim: BlockClaim): Promise<void> {
    const { hash } = claim.block;
    const askedAt = performance.now();
    const answer = await this.#deps.claims.take(hash).catch(this.#deps.onFailure);
    claim.reader = answer === undefined ? 'each' : answer === 'taken' ? 'own' : 'other';
    claim.heldAt = askedAt;
    if (answer === 'taken') this.#lastReader = 'own';
    if (answer === 'over') this.#reads.close(hash);
  }

  async #renew(claim: BlockClaim): Promise<void> {
    const askedAt = performance.now();
    await this.#deps.claims.renew(claim.block.hash).then(() => {
      claim.heldAt = askedAt;
    }, this.#deps.onFailure);
  }

  /** Whether no other process may have taken a block that this one took: it was not paused meanwhile. */
  #isHeld({ reader, heldAt }: BlockClaim): boolean {
    return reader === 'own' && performance.now() - heldAt < CLAIM_MS;
  }

  /** What is read in one turn goes into one message. */
  #flushSoon(): void {
    this.#flush ??= setImmediate(() => this.#flushNow());
  }

  #flushNow(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    const text = this.#reads.drain(this.#peers.id);
    if (text !== null) this.#deps.publish('reads', text);
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
