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

export type Answered = { readonly status: number; readonly late: boolean };

/**
 * Whether an answer misses its deadline by more than the process that gives it is slowed down by a busy machine: a
 * trivial request sent beside it shows when it can have been read, and one sent at the deadline must not be answered
 * long before it.
 */
async function missesDeadline(base: string, isAnswered: () => boolean): Promise<boolean> {
  await trivialRequest(base);
  await sleep(500);
  for (const graceMs of [200, 500]) {
    if (isAnswered() || (await trivialRequest(base)) === undefined) return false;
    await sleep(graceMs);
  }
  return !isAnswered();
}

const trivialRequest = (base: string) =>
  fetch(`${base}/nothing`)
    .then((response) => response.text())
    .catch(() => undefined);

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

/** Sends an update and looks whether it is answered in time. */
export async function submit(base: string, maker: Maker, step: Step): Promise<Answered> {
  let answered = false;
  const late = missesDeadline(base, () => answered);
  const { data, response } = await createPoolTradingDataClient(base, { apiKey: 'any' }).POST(
    '/public/v1/evm/{chain_id}/pamm-quote',
    { params: { path: { chain_id: CHAIN } }, body: maker.bodyOf(step) },
  );
  answered = true;
  // When Redis dies in between, a stream may have its cancel and the bundle builder's queue not.
  const cancelled = data?.providers.some(({ error }) => error === 'skipped: the request was a cancel');
  if (cancelled) maker.cancels.push({ seq: step.seq, answeredAtMs: Date.now() });
  return { status: response.status, late: await late };
}

/** Sends random updates to random processes; a refused connection belongs to a killed process and counts as nothing. */
export async function load(bases: string[], makers: Maker[], random: Random, over: AbortSignal): Promise<Answered[]> {
  const answers: Promise<Answered | undefined>[] = [];
  while (!over.aborted) {
    const maker = random.pick(makers);
    answers.push(submit(random.pick(bases), maker, maker.next(random)).catch(() => undefined));
    await sleep(1_000 / PER_SECOND);
  }
  return (await Promise.all(answers)).filter((answer) => answer !== undefined);
}
