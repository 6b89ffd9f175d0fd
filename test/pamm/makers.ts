import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../devnet/traffic/random.ts';
import { createPoolTradingDataClient } from '../harness/http-client.ts';
import type { PammBody } from './rig.ts';
import { newUuid } from './sample-updates.ts';

/** Makers who send quote updates at random, and the watch over what they hear. */

export const CHAIN = 31338;
/** Makers share the block numbers, which is all that distinguishes them in a bundle. */
export const BLOCKS_PER_MAKER = 100_000;
const PER_SECOND = 60;

type Step = { readonly seq: number; readonly cancel: boolean };

/** One maker: its sequence number grows, but some requests are late ones with an older number. */
export class Maker {
  readonly uuid = newUuid();
  readonly firstBlock: number;
  /** Cancels that were taken: their sequence numbers and when they were answered, Unix milliseconds. */
  readonly cancels: { seq: number; answeredAtMs: number }[] = [];
  seq = 0;
  readonly #tx: string;

  /** @param tx signed transaction of all its quotes */
  constructor(index: number, tx: string) {
    this.#tx = tx;
    this.firstBlock = (index + 1) * BLOCKS_PER_MAKER;
  }

  next(random: Random): Step {
    if (random.chance(15) && this.seq > 2) return { seq: this.seq - 1, cancel: false };
    return this.advance(random.chance(18));
  }

  /** Its next quote, or the cancel of it. */
  advance(cancel = false): Step {
    this.seq += 1;
    return { seq: this.seq, cancel };
  }

  bodyOf({ seq, cancel }: Step): PammBody {
    return {
      tx: cancel ? '0x' : this.#tx,
      blockNumber: this.firstBlock + seq,
      maxTimestamp: Math.floor(Date.now() / 1_000) + 4,
      replacementUuid: this.uuid,
      replacementSeqNumber: seq,
    };
  }
}

/** Sends an update. Returns the status of its answer. */
export async function submit(base: string, maker: Maker, step: Step): Promise<number> {
  const { data, response } = await createPoolTradingDataClient(base, { apiKey: 'any' }).POST(
    '/public/v1/evm/{chain_id}/pamm-quote',
    { params: { path: { chain_id: CHAIN } }, body: maker.bodyOf(step) },
  );
  // When Redis dies in between, a stream may have its cancel and the bundle builder's queue not.
  const cancelled = data?.providers.some(({ error }) => error === 'skipped: the request was a cancel');
  if (cancelled) maker.cancels.push({ seq: step.seq, answeredAtMs: Date.now() });
  return response.status;
}

/** Sends random updates to random processes; a refused connection belongs to a killed process and counts as nothing. */
export async function load(bases: string[], makers: Maker[], random: Random, over: AbortSignal): Promise<number[]> {
  const answers: Promise<number | undefined>[] = [];
  while (!over.aborted) {
    const maker = random.pick(makers);
    answers.push(submit(random.pick(bases), maker, maker.next(random)).catch(() => undefined));
    await sleep(1_000 / PER_SECOND);
  }
  return (await Promise.all(answers)).filter((status) => status !== undefined);
}
