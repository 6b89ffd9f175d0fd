import type { Address } from 'viem';
import { OtherPart } from '../../chain/part-view.ts';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import { pause } from '../../runtime/pause.ts';
import type { SharedKind, SharedPools, SharedReads } from '../reads/shared-reads.ts';
import type { RequestedPools } from '../requested/requested-pools.ts';
import { BlockClaims, type BlockClaimsDeps } from './block-claims.ts';
import { BlockReads } from './block-reads.ts';
import { parseReads, parseReport, type ReadsMessage, writeReport } from './messages.ts';
import { isAlone, isUnused, NO_PEERS, nextPeers, type PeersEvent } from './peer-requests.ts';

export interface ChainReadsDeps extends BlockClaimsDeps {
  readonly requested: RequestedPools;
  /** Sends a text to all other processes. Handles its failures itself. */
  readonly publish: (channel: 'reads' | 'requests', text: string) => void;
  /** Takes a head at which another process has read pools. */
  readonly onHead: (block: BlockHeader) => void;
}

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
  readonly #claims: BlockClaims;
  /** The last state that all requested pools are read at: single requests claim others. */
  #run: string | undefined;
  #flush: NodeJS.Immediate | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(deps: ChainReadsDeps) {
    this.#deps = deps;
    this.#claims = new BlockClaims(deps, this.#reads);
  }

  async claim(block: BlockHeader): Promise<boolean> {
    this.#run = stateOf(block);
    await this.#claims.decide(block, isAlone(this.#peers));
    return this.#claims.of(block)?.reader === 'own';
  }

  async find(kind: SharedKind, block: BlockRef | BlockHeader, pool: Address): Promise<unknown> {
    const name = nameOf(kind, pool);
    if (!this.#isKnown(pool)) return undefined;
    await ('parents' in block ? this.#claims.decide(block, isAlone(this.#peers)) : this.#claims.decided(block));
    for (let leftMs = this.#claims.awaitableMs(block); leftMs > 0; leftMs = this.#claims.awaitableMs(block)) {
      const found = this.#reads.find(name, stateOf(block));
      if (found === 'absent') return undefined;
      if (found !== 'unknown') return found.value;
      await this.#woken(leftMs);
    }
    return undefined;
  }

  async share<T>(of: SharedPools, values: Promise<readonly T[]>, write: (value: T) => string): Promise<readonly T[]> {
    try {
      const read = await values;
      const isAt = of.isAt?.() ?? true;
      this.#note(of, (index) => (isAt ? write(read[index] as T) : null));
      return read;
    } catch (error) {
      // The nodes work that came to another part of the block.
      if (!(error instanceof OtherPart)) void this.#claims.take({ kind: 'nodesFailed' });
      this.#note(of, () => null);
      throw error;
    }
  }

  /** Publishes reads of a block that this process reads for all, and remembers those that it made for itself. */
  #note({ kind, block, pools }: SharedPools, jsonOf: (index: number) => string | null): void {
    const claim = this.#claims.of(block);
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
    const claim = this.#claims.of(block);
    if (claim?.reader !== 'own') return;
    this.#reads.end(claim.block);
    this.#flushNow();
    await this.#claims.take({ kind: 'ended', state: stateOf(block) });
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(channel: 'reads' | 'requests', text: string): void {
    if (channel === 'requests') this.#nextPeers({ kind: 'report', ...parseReport(text) });
    else this.#takeReads(parseReads(text));
  }

  #takeReads(message: ReadsMessage): void {
    this.#reads.take(message);
    void this.#claims.take({ kind: 'heard', ...message });
    this.#wake();
    this.#deps.onHead(message.block);
  }

  /** To be called when messages may have been missed. */
  missed(): void {
    this.#nextPeers({ kind: 'missed' });
  }

  /** Whether ticks have nothing to do until a client requests a pool, or a message comes. */
  get isIdle(): boolean {
    return (
      isUnused(this.#peers) &&
      this.#waiting.size === 0 &&
      this.#claims.isIdle &&
      this.#deps.requested.own().length === 0
    );
  }

  /**
   * Publishes what clients request, renews this process's claim, and ends waits for a process that is gone,
   * or that has a newer block.
   */
  async tick(): Promise<void> {
    this.#nextPeers({ kind: 'own', pools: this.#deps.requested.own() });
    await this.#claims.take({ kind: 'tick', isAwaited: this.#waiting.size > 0 });
    // What single requests read there came, and nothing else will.
    for (const block of this.#claims.heldBefore) if (stateOf(block) !== this.#run) await this.end(block);
    this.#wake();
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
    const { requested, publish, now } = this.#deps;
    const [state, { elsewhere, isNewPeer, report }] = nextPeers(this.#peers, event, now());
    this.#peers = state;
    if (elsewhere) requested.setElsewhere(elsewhere);
    // It may have missed what was sent: it needs every value whole.
    if (isNewPeer) this.#reads.forget();
    if (report !== undefined) publish('requests', writeReport(report));
  }

  /** Resolves when another process published something, at a tick, or after the wait. */
  async #woken(ms: number): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    this.#waiting.add(end);
    await pause(ms, ended.signal);
    this.#waiting.delete(end);
  }

  #wake(): void {
    for (const end of this.#waiting) end();
    this.#waiting.clear();
  }
}
