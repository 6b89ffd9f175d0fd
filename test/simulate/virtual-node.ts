import { type Hex, numberToHex, toHex } from 'viem';
import type { OpenHeadSocket } from '../../chain/head-feed/head-feed.ts';
import type { HeadSocketOptions } from '../../chain/head-feed/head-socket.ts';
import { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import { oracleOf, PRICE_SLOT, type VirtualBlock, type VirtualChain } from './virtual-chain.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What a node does besides answering: `hangs` never answers, `blind` gives heads and reads no pools. */
export type NodeState = 'well' | 'down' | 'slow' | 'hangs' | 'blind';

const TIMEOUT_MS = 3_000;

/** What `sim_prices` takes: a block and pools. It gives their prices there. */
export interface PricesCall {
  readonly hash: Hex;
  readonly pools: readonly number[];
}

/** A node of the chain, which sees each block a while after it is mined. */
export class VirtualNode {
  readonly name: string;
  readonly #chain: VirtualChain;
  readonly #time: VirtualTime;
  readonly #random: Random;
  state: NodeState = 'well';
  lagMs = 0;
  /** When a process last got a block from it that was replaced meanwhile. */
  replacedPushAt = Number.NEGATIVE_INFINITY;
  #head: VirtualBlock;
  readonly #listeners = new Map<Machine, (block: VirtualBlock) => void>();

  constructor(name: string, chain: VirtualChain, time: VirtualTime, random: Random) {
    this.name = name;
    this.#chain = chain;
    this.#time = time;
    this.#random = random;
    this.#head = chain.head;
  }

  /** Pushes heads to a process from now on. */
  openSocket(machine: Machine, onHead: HeadSocketOptions['onHead']): ReturnType<OpenHeadSocket> {
    this.#listeners.set(machine, ({ number, hash, parent, timestamp }) =>
      onHead({ block: { number, hash, timestamp, parents: [parent] }, header: {} }),
    );
    return { reconnect: () => undefined, close: () => this.#listeners.delete(machine) };
  }

  /** Takes the chain's head as its own, once it has it. */
  see(block: VirtualBlock): void {
    this.#time.after(this.lagMs + this.#random.int(1, 60), () => {
      // Of two that cross, the later one.
      if (BigInt(block.hash) <= BigInt(this.#head.hash)) return;
      this.#head = block;
      if (this.state === 'down' || this.state === 'hangs') return;
      for (const [machine, listener] of this.#listeners) {
        if (machine.isDead) this.#listeners.delete(machine);
        else this.#time.after(machine.pushMs, () => this.#push(block, listener), machine);
      }
    });
  }

  #push(block: VirtualBlock, listener: (block: VirtualBlock) => void): void {
    if (!this.#chain.has(block.hash)) this.replacedPushAt = this.#time.now;
    listener(block);
  }

  /** The node as a process calls it. */
  endpoint(): RpcEndpoint {
    const endpoint = new RpcEndpoint(`http://${this.name}`, { timeoutMs: TIMEOUT_MS, count: () => undefined });
    endpoint.request = (method, params, signal) => this.#request(method, params, signal);
    return endpoint;
  }

  #request(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const [time, random, state] = [this.#time, this.#random, this.state];
    return new Promise((resolve, reject) => {
      const settle = (ms: number, how: () => void) => {
        const cancel = time.after(ms, how);
        signal?.addEventListener('abort', () => {
          cancel();
          reject(new RpcFailure('aborted', `${method} was aborted`));
        });
      };
      const fail = (code: 'timeout' | 'unreachable') => () => reject(new RpcFailure(code, `${this.name}: ${code}`));
      if (signal?.aborted) reject(new RpcFailure('aborted', `${method} was aborted`));
      else if (state === 'hangs') settle(TIMEOUT_MS, fail('timeout'));
      else if (state === 'down' || (state === 'blind' && method === 'sim_prices'))
        settle(random.int(1, 5), fail('unreachable'));
      else {
        const ms = state === 'slow' ? random.int(300, 4_000) : random.int(4, 40);
        if (ms >= TIMEOUT_MS) settle(TIMEOUT_MS, fail('timeout'));
        else
          settle(ms, () => {
            try {
              resolve(this.#answer(method, params));
            } catch (error) {
              reject(error);
            }
          });
      }
    });
  }

  #answer(method: string, params: readonly unknown[]): unknown {
    if (method === 'eth_getBlockByNumber') return answerOf(this.#head);
    if (method === 'eth_getBlockByHash') return answerOf(this.#blockOf(params[0] as Hex));
    if (method === 'eth_createAccessList') return this.#accessList(params);
    if (method === 'sim_prices') {
      const { hash, pools } = params[0] as PricesCall;
      const { prices } = this.#blockOf(hash);
      return pools.map((pool) => prices[pool]);
    }
    throw new RpcFailure('refused', `${method} is unknown`, { code: -32_601, message: 'unknown method' });
  }

  /** A block that the node has: one that is above its head, or not on the branch that counts, it does not. */
  #blockOf(hash: Hex): VirtualBlock {
    const block = this.#chain.byHash.get(hash);
    if (block && block.number <= this.#head.number && this.#chain.has(hash)) return block;
    throw new RpcFailure('refused', 'the node refuses', { code: -32_000, message: 'header not found' });
  }

  /** The price of a pool is read from the pool's account and from its oracle. */
  #accessList([call]: readonly unknown[]): unknown {
    const { data } = call as { readonly data: Hex };
    const pool = Array.from({ length: this.#chain.pools }, (_, index) => index).find((index) =>
      data.includes(poolAddress(index).slice(2)),
    );
    if (pool === undefined) return { accessList: [] };
    return {
      accessList: [
        { address: poolAddress(pool), storageKeys: [PRICE_SLOT] },
        { address: oracleOf(pool), storageKeys: [PRICE_SLOT] },
      ],
    };
  }
}

export const poolAddress = (pool: number): Hex => toHex(0xa000 + pool, { size: 20 });

const answerOf = ({ number, hash, parent, timestamp }: VirtualBlock) => ({
  number: numberToHex(number),
  hash,
  parentHash: parent,
  timestamp: numberToHex(timestamp),
});
