import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import type { SharedKind, SharedReads } from '../reads/shared-reads.ts';
import type { RequestedPools } from '../requested/requested-pools.ts';
import { BlockReads } from './block-reads.ts';
import { parseReads, parseReport, type ReadsMessage, writeReport } from './messages.ts';
import { isAlone, NO_PEERS, nextPeers, type PeersEvent } from './peer-requests.ts';

/** Claims of blocks by their state, which Redis keeps. */
export interface Claims {
  /** Takes a block that no process holds, for `CLAIM_MS`. Rejects while Redis does not answer. */
  take(state: string): Promise<'taken' | 'held' | 'over'>;
  /** Extends the claim of a block that this process took. */
  renew(state: string): Promise<void>;
  /** Notes, for processes that come later, that the block is read. */
  end(state: string): Promise<void>;
}

export interface ChainReadsDeps {
  readonly requested: RequestedPools;
  readonly claims: Claims;
  /** Sends a text to all other processes. Handles its failures itself. */
  readonly publish: (channel: 'reads' | 'requests', text: string) => void;
  /** Takes a head at which another process has read pools. */
  readonly onHead: (block: BlockHeader) => void;
  /** Takes a failure of Redis. Meanwhile this process reads the chain by itself. */
  readonly onFailure: (error: unknown) => void;
}

/** Who reads a block for all processes: this one, another, or each for itself. */
type Reader = 'own' | 'other' | 'each';

interface BlockClaim {
  readonly block: BlockHeader;
  readonly state: string;
  reader: Reader;
  /** When the claim began, by `performance.now()`. */
  readonly since: number;
  /** When this process last knew that it holds the block. */
  heldAt: number;
  /** Resolves when it is decided who reads; until then each reads for itself. */
  decided: Promise<void>;
}

/** A block stays taken this long, unless the process that took it renews the claim. */
export const CLAIM_MS = 1_000;
/** How often {@link ChainReads.tick} is to be called. */
export const TICK_MS = 250;
/** A process that did not read the last block waits before it claims one, so that readers change rarely. */
const AFTER_OTHERS_MS = 30;
/** It waits longer for a while after its nodes failed. */
const AFTER_FAILURE_MS = 200;
const ASIDE_MS = 10_000;
/** Longest wait for what another process reads. */
const MAX_WAIT_MS = 2_000;
const MAX_BLOCKS = 8;

const nameOf = (kind: SharedKind, pool: Address): string => `${kind}:${pool}`;

/**
 * Reads a chain once for all processes. For each block one process claims the block's state, reads what clients of all
 * processes request, and publishes it. Other processes wait for it, and read what does not come. A read at a hash is
 * right whichever process made it: claims only save calls.
 */
export class ChainReads implements SharedReads {
  readonly #deps: ChainReadsDeps;
  #peers = NO_PEERS;
  readonly #reads = new BlockReads();
  readonly #claims = new LRUCache<string, BlockClaim>({ max: MAX_BLOCKS });
  #current: BlockClaim | undefined;
  #lastReader: Exclude<Reader, 'each'> | undefined;
  #asideUntil = Number.NEGATIVE_INFINITY;
  #flush: NodeJS.Immediate | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(deps: ChainReadsDeps) {
    this.#deps = deps;
  }

  async claim(block: BlockHeader): Promise<boolean> {
    const claim = this.#claimOf(block);
    await claim.decided;
    return claim.reader === 'own';
  }

  async find(kind: SharedKind, block: BlockRef | BlockHeader, pool: Address): Promise<unknown> {
    const name = nameOf(kind, pool);
    if (!this.#isKnown(pool)) return undefined;
    const claim = 'parents' in block ? this.#claimOf(block) : this.#claims.get(stateOf(block));
    await claim?.decided;
    while (claim?.reader === 'other' && performance.now() - claim.since < MAX_WAIT_MS) {
      const found = this.#reads.find(name, stateOf(block));
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
    try {
      const read = await values;
      this.#note(kind, block, pools, (index) => write(read[index] as T));
      return read;
    } catch (error) {
      this.#asideUntil = performance.now() + ASIDE_MS;
      this.#note(kind, block, pools, () => null);
      throw error;
    }
  }

  /** Publishes reads of a block that this process reads for all, and remembers those that it made for itself. */
  #note(kind: SharedKind, block: BlockRef, pools: readonly Address[], jsonOf: (index: number) => string | null): void {
    const claim = this.#claims.get(stateOf(block));
    if (!claim || claim.reader === 'each') return;
    for (const [index, pool] of pools.entries()) {
      if (!this.#deps.requested.has(pool)) continue;
      const json = jsonOf(index);
      if (claim.reader === 'own') this.#reads.add(claim.block, nameOf(kind, pool), json);
      else if (json !== null) this.#reads.remember(nameOf(kind, pool), json);
    }
    // All answers come at once, and other processes can decode them while this one does. Sides come one by one.
    if (kind === 'answers') this.#flushNow();
    else this.#flushSoon();
  }

  async end(block: BlockRef): Promise<void> {
    const claim = this.#claims.get(stateOf(block));
    if (claim?.reader !== 'own') return;
    this.#reads.end(claim.block);
    this.#flushNow();
    claim.reader = 'each';
    await this.#deps.claims.end(claim.state).catch(this.#deps.onFailure);
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(channel: 'reads' | 'requests', text: string): void {
    if (channel === 'requests') this.#nextPeers({ kind: 'report', ...parseReport(text) });
    else this.#takeReads(parseReads(text));
  }

  #takeReads(message: ReadsMessage): void {
    this.#reads.take(message);
    this.#lastReader = 'other';
    const { block, state } = message;
    // A process that published a block before this one asked about it holds the block.
    if (!this.#claims.has(state)) {
      this.#current = newClaim(block, state, 'other');
      this.#claims.set(state, this.#current);
    }
    this.#wake();
    this.#deps.onHead(block);
  }

  /** To be called when messages may have been missed. */
  missed(): void {
    this.#nextPeers({ kind: 'missed' });
  }

  /** Publishes what clients request, renews this process's claim, and ends waits for a process that is gone. */
  async tick(): Promise<void> {
    this.#nextPeers({ kind: 'own', pools: this.#deps.requested.own() });
    const claim = this.#current;
    if (claim && performance.now() - claim.since < MAX_WAIT_MS) {
      if (this.#isHeld(claim)) await this.#renew(claim);
      else if (claim.reader === 'other' && this.#waiting.size > 0) await this.#take(claim);
    }
    this.#wake();
  }

  #claimOf(block: BlockHeader): BlockClaim {
    const state = stateOf(block);
    const known = this.#claims.get(state);
    if (known) return known;
    const claim = newClaim(block, state, 'each');
    this.#claims.set(state, claim);
    claim.decided = this.#decide(claim);
    return claim;
  }

  async #decide(claim: BlockClaim): Promise<void> {
    if (isAlone(this.#peers)) return;
    this.#current = claim;
    if (this.#lastReader !== 'own') {
      const hasFailed = performance.now() < this.#asideUntil;
      await sleep(hasFailed ? AFTER_FAILURE_MS : AFTER_OTHERS_MS);
    }
    if (this.#reads.has(claim.state)) claim.reader = 'other';
    else await this.#take(claim);
  }

  /** Takes a block for this process, unless another process holds it. */
  async #take(claim: BlockClaim): Promise<void> {
    const askedAt = performance.now();
    const answer = await this.#deps.claims.take(claim.state).catch(this.#deps.onFailure);
    claim.reader = answer === undefined ? 'each' : answer === 'taken' ? 'own' : 'other';
    claim.heldAt = askedAt;
    if (answer === 'taken') this.#lastReader = 'own';
    if (answer === 'over') this.#reads.close(claim.state);
  }

  async #renew(claim: BlockClaim): Promise<void> {
    const askedAt = performance.now();
    await this.#deps.claims.renew(claim.state).then(() => {
      claim.heldAt = askedAt;
    }, this.#deps.onFailure);
  }

  /** Whether this process surely still holds a block that it took: it was not paused for as long as a claim lasts. */
  #isHeld({ reader, heldAt }: BlockClaim): boolean {
    return reader === 'own' && performance.now() - heldAt < CLAIM_MS;
  }

  /** Sends what is read in one turn of the event loop as one message. */
  #flushSoon(): void {
    this.#flush ??= setImmediate(() => this.#flushNow());
  }

  #flushNow(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    for (const text of this.#reads.drain()) this.#deps.publish('reads', text);
  }

  /** Whether the other processes know that a client of any process requests this pool. */
  #isKnown(pool: Address): boolean {
    return !isAlone(this.#peers) && (this.#peers.reported.has(pool) || this.#deps.requested.hasElsewhere(pool));
  }

  #nextPeers(event: PeersEvent): void {
    const { requested, publish } = this.#deps;
    const [state, { elsewhere, isNewPeer, report }] = nextPeers(this.#peers, event, performance.now());
    this.#peers = state;
    if (elsewhere) requested.setElsewhere(elsewhere);
    // It may have missed what was sent: it needs every value whole.
    if (isNewPeer) this.#reads.forget();
    if (report !== undefined) publish('requests', writeReport(report));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

const newClaim = (block: BlockHeader, state: string, reader: Reader): BlockClaim => ({
  block,
  state,
  reader,
  since: performance.now(),
  heldAt: Number.NEGATIVE_INFINITY,
  decided: Promise.resolve(),
});
