import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { BuilderConfig } from '../../config/pamm-schema.ts';
import { type MockBuilder, startMockBuilder } from '../../devnet/mock-builders/mock-builder.ts';
import type { Random } from '../../devnet/traffic/random.ts';
import { newUuid, signedTx } from '../pamm/sample-updates.ts';
import type { ChainPlan } from './chaos-chain.ts';
import type { HttpClient } from './http-load.ts';

export interface ChaosBuilder {
  readonly id: string;
  readonly kind: ChainPlan['kind'];
  readonly transport: BuilderConfig['transport'];
  readonly mock: MockBuilder;
}

/** An acknowledgement that a client was given. */
export interface Acknowledgement {
  readonly builder: string;
  readonly uuid: string;
  readonly seq: number;
  readonly block: number;
  /** Unix milliseconds. */
  readonly answeredAtMs: number;
}

const BUILDERS = [
  { id: 'stream-a', kind: 'ethereum', transport: 'quote-stream' },
  { id: 'stream-b', kind: 'ethereum', transport: 'quote-stream' },
  { id: 'stream-c', kind: 'bsc', transport: 'quote-stream' },
  { id: 'bundle-d', kind: 'bsc', transport: 'bundle' },
  { id: 'relayer-e', kind: 'bsc', transport: 'relayer' },
] as const;

const MAKERS_PER_CHAIN = 4;
/** Makers of a chain share its blocks, which is all that distinguishes them in a bundle. */
const BLOCKS_PER_MAKER = 1_000_000;
const repeatedByte = (digit: string, bytes: number) => `0x${digit.repeat(2 * bytes)}`;

const Response = z.object({
  providers: z.array(z.object({ provider: z.string(), accepted: z.boolean() })),
});

/** Starts them; the relayer's blocks are so fast that the bar of a cancelled uuid ends after a second. */
export async function startChaosBuilders(): Promise<ChaosBuilder[]> {
  const builders = await Promise.all(BUILDERS.map(async (builder) => ({ ...builder, mock: await startMockBuilder() })));
  for (const { mock } of builders) mock.state.relayer.head = () => BigInt(Math.floor(performance.now() / 10));
  return builders;
}

/** One sender of quote updates: its sequence number only grows, and it records the responses. */
class Maker {
  readonly uuid = newUuid();
  readonly plan: ChainPlan;
  readonly #firstBlock: number;
  readonly #tx: string;
  seq = 0;

  constructor(plan: ChainPlan, index: number, tx: string) {
    this.plan = plan;
    this.#firstBlock = (index + 1) * BLOCKS_PER_MAKER;
    this.#tx = tx;
  }

  blockOf(seq: number): number {
    return this.#firstBlock + seq;
  }

  /** Body of its next update. */
  next(cancel: boolean) {
    this.seq += 1;
    const common = {
      tx: cancel ? '0x' : this.#tx,
      blockNumber: this.blockOf(this.seq),
      replacementUuid: this.uuid,
      replacementSeqNumber: this.seq,
    };
    if (this.plan.kind === 'bsc') return { ...common, maxTimestamp: Math.floor(Date.now() / 1_000) + 4 };
    return {
      ...common,
      quoteAddress: repeatedByte('a', 20),
      poolAddresses: [repeatedByte('b', 20)],
      assetPairs: [repeatedByte('c', 40)],
    };
  }
}

/** Makers that update and cancel quotes, and the responses to each. */
export class QuoteUpdates {
  readonly makers: readonly Maker[];
  readonly acknowledgements: Acknowledgement[] = [];
  readonly #http: HttpClient;
  readonly #key: string;

  private constructor(makers: readonly Maker[], http: HttpClient, key: string) {
    this.makers = makers;
    this.#http = http;
    this.#key = key;
  }

  static async create(plans: readonly ChainPlan[], http: HttpClient, key: string): Promise<QuoteUpdates> {
    const makers = plans.map(async (plan) => {
      const tx = await signedTx(plan.chainId);
      return Array.from({ length: MAKERS_PER_CHAIN }, (_, index) => new Maker(plan, index, tx));
    });
    return new QuoteUpdates((await Promise.all(makers)).flat(), http, key);
  }

  /** Updates random quotes at a rate until it is stopped, and waits for the last answer. */
  async send(random: Random, perSecond: number, signal: AbortSignal): Promise<void> {
    const open = new Set<Promise<unknown>>();
    while (!signal.aborted) {
      const answer = this.update(random.pick(this.makers), random.chance(15)).finally(() => open.delete(answer));
      open.add(answer);
      await sleep(1_000 / perSecond);
    }
    await Promise.all(open);
  }

  async update(maker: Maker, cancel: boolean): Promise<void> {
    const body = maker.next(cancel);
    const path = `/public/v1/evm/${maker.plan.chainId}/pamm-quote`;
    const text = await this.#http.send({ endpoint: 'pamm', path, body, key: this.#key });
    if (text === undefined) return;
    const { uuid } = maker;
    for (const { provider, accepted } of Response.parse(JSON.parse(text)).providers) {
      if (!accepted) continue;
      const builder = provider.slice(0, provider.indexOf(':'));
      const [seq, block] = [body.replacementSeqNumber, body.blockNumber];
      this.acknowledgements.push({ builder, uuid, seq, block, answeredAtMs: Date.now() });
    }
  }
}
