import type { Hex } from 'viem';
import type { DevChain } from '../dev-chain.ts';
import { request } from '../json-rpc.ts';
import type { Part } from './part.ts';

export interface BlockPace {
  readonly partsPerBlock: number;
  readonly blockSecs: number;
  /** Whether a block that begins late has the time of the clock. Default: blocks have the same time between them. */
  readonly followsClock?: boolean;
}

/** The last sealed block. */
interface Head {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly hash: Hex;
}

/** Builds the blocks of a local node in parts. Calls at the node's tag `pending` see the newest part. */
export class Sequencer {
  readonly #chain: DevChain;
  readonly #pace: BlockPace;
  readonly #queue: Hex[] = [];
  #head: Head;
  #timeSecs = 0n;
  #part: Part;

  private constructor(chain: DevChain, pace: BlockPace, head: Head) {
    this.#chain = chain;
    this.#pace = pace;
    this.#head = head;
    this.#part = this.#partOf(0, []);
  }

  /** From now on the node mines nothing else. */
  static async open(chain: DevChain, pace: BlockPace): Promise<Sequencer> {
    await chain.client.setAutomine(false);
    const sequencer = new Sequencer(chain, pace, await chain.client.getBlock());
    await sequencer.#begin();
    return sequencer;
  }

  /** The newest part. */
  get part(): Part {
    return this.#part;
  }

  /** Time of the head, Unix seconds. */
  get headSecs(): bigint {
    return this.#head.timestamp;
  }

  submit(transaction: Hex): void {
    this.#queue.push(transaction);
  }

  /**
   * Makes the next part, with what was submitted; after the last one of a block, seals this before.
   * On another head, the first one.
   */
  async next(): Promise<Part> {
    const head = await this.#chain.client.getBlock();
    if (head.hash !== this.#head.hash) {
      // Somebody else mined, or took blocks back.
      this.#head = head;
      return this.#begin();
    }
    const index = this.#part.index + 1;
    if (index >= this.#pace.partsPerBlock) {
      await this.#seal();
      return this.#begin();
    }
    return this.#show(index);
  }

  async #seal(): Promise<void> {
    const { number, timeSecs } = this.#part;
    await request(this.#chain.rpcUrl, 'evm_mine', []);
    this.#head = await this.#chain.client.getBlock();
    const { number: mined, timestamp } = this.#head;
    if (mined !== number || timestamp !== timeSecs)
      throw new Error(`the node mined ${mined} at ${timestamp} instead of ${number} at ${timeSecs}`);
  }

  async #begin(): Promise<Part> {
    const { blockSecs, followsClock = false } = this.#pace;
    const earliest = Number(this.#head.timestamp) + blockSecs;
    const timeSecs = followsClock ? Math.max(earliest, Math.floor(Date.now() / 1_000)) : earliest;
    await request(this.#chain.rpcUrl, 'evm_setNextBlockTimestamp', [timeSecs]);
    this.#timeSecs = BigInt(timeSecs);
    return this.#show(0);
  }

  async #show(index: number): Promise<Part> {
    const transactions = this.#queue.splice(0);
    for (const each of transactions) await request(this.#chain.rpcUrl, 'eth_sendRawTransaction', [each]);
    this.#part = this.#partOf(index, transactions);
    return this.#part;
  }

  #partOf(index: number, transactions: readonly Hex[]): Part {
    const { number, hash } = this.#head;
    return { number: number + 1n, timeSecs: this.#timeSecs, parentHash: hash, index, transactions };
  }
}
