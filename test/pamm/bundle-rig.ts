import type { Hex } from '../../builders/submit/quote-update.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { eventually } from './eventually.ts';
import { holdAcks } from './hold-acks.ts';
import { queueSubmission } from './queue-submission.ts';
import { BSC, type Mocks, type PammAnswer, type PammBody, type Rig, startMocks, startRig } from './rig.ts';
import { newUuid, signedTx, submissionOf } from './sample-updates.ts';

/** Mock builders and a Redis database for tests of the bundle builder; each test takes a rig of its own from it. */
export async function startBundleBuilder() {
  const [redis, mocks] = await Promise.all([createRedisDatabase(), startMocks()]);
  return {
    mocks,
    /** A new rig, so that no pause and no waiting push of one test reaches into the next. */
    async nextRig() {
      mocks.bundle.state.behaviour = { kind: 'ack' };
      mocks.bundle.state.received.length = 0;
      return new BundleRig(await startRig(redis.url, mocks), mocks);
    },
    stop: () => Promise.all([mocks.stop(), redis.drop()]),
  };
}

/** Unix seconds, so far ahead. */
export const inSeconds = (secs: number): number => Math.floor(Date.now() / 1000) + secs;

/** What the bundle builder's entry says of an update that was not submitted. */
export const skip = (reason: string) => ({ accepted: false, error: `skipped: ${reason}` });

type Said = Omit<PammAnswer['providers'][number], 'provider'>;

/** A rig seen from the bundle builder. */
export class BundleRig {
  readonly rig: Rig;
  readonly #mocks: Mocks;
  /** That of nonce 0 is in the bodies of `createBodies`. */
  #nonce = 1;

  constructor(rig: Rig, mocks: Mocks) {
    this.rig = rig;
    this.#mocks = mocks;
  }

  /** A live push with a transaction of its own. */
  async push(changes: Partial<PammBody> = {}): Promise<PammBody> {
    return {
      tx: await signedTx(BSC, this.#nonce++),
      blockNumber: 100,
      replacementUuid: newUuid(),
      replacementSeqNumber: 1,
      maxTimestamp: inSeconds(4),
      ...changes,
    };
  }

  /** Posts a body and gives what the bundle builder's entry says. */
  async answer(body: PammBody): Promise<Said> {
    const answer = await this.rig.submit(BSC, body);
    const [, entry] = answer.providers;
    if (entry?.provider !== `bundle:${this.#mocks.bundle.bundleUrl}`)
      throw new Error(`no bundle entry: ${JSON.stringify(answer)}`);
    const { provider: _, ...said } = entry;
    return said;
  }

  /** Transactions that the builder has received, oldest first. */
  sentTxs(): string[] {
    return this.#mocks.bundle.state.received.map(({ tx }) => tx);
  }

  /**
   * Holds the builder with one push, so that later ones wait until `release`. The push has half a minute.
   */
  async occupy(): Promise<{ readonly flying: PammBody; readonly release: () => void }> {
    const release = holdAcks(this.#mocks.bundle);
    const flying = await this.push();
    const { replacementUuid, maxTimestamp } = flying;
    const update = { chainId: BSC, tx: flying.tx as Hex, replacementUuid: replacementUuid as Hex };
    const submission = submissionOf({ ...update, maxTimestamp: BigInt(maxTimestamp ?? 0) }, Date.now() + 30_000);
    await queueSubmission(this.rig, this.#mocks, 'bundle', submission);
    await eventually(() => this.sentTxs().includes(flying.tx));
    return { flying, release };
  }

  /** How a push ended at the bundle builder, once it has. */
  async outcome({ replacementUuid }: PammBody) {
    const outcomes = await this.rig.outcomes(replacementUuid);
    return outcomes.find(({ provider }) => provider.startsWith('bundle:'));
  }

  /** Resolves once a push waits for the builder. */
  async waits({ replacementUuid }: PammBody): Promise<void> {
    await eventually(async () => Boolean(await this.rig.redis.hexists(this.waitingKey, replacementUuid)));
  }

  /** Where waiting pushes are in Redis. */
  get waitingKey(): string {
    return this.rig.keys.bundle(this.#mocks.endpointId('bundle')).waiting;
  }
}
