import { RpcFailure } from '../../chain/rpc-failure.ts';
import { SnapshotError } from './types.ts';

/** A read that several requests wait for. It never rejects: a failure is a value. */
export class SharedRead<T> {
  readonly promise: Promise<T | SnapshotError>;
  /** The outcome, once there is one. */
  settled: T | SnapshotError | undefined;

  constructor(read: Promise<T>) {
    this.promise = read.then(
      (value) => this.#settle(value),
      (error: unknown) => this.#settle(asSnapshotError(error)),
    );
  }

  /** Whether it failed for the chain's sake: the same read may succeed at once. A pool's own failure stays for the block. */
  get mayRetry(): boolean {
    return this.settled instanceof SnapshotError && this.settled.cause instanceof RpcFailure;
  }

  #settle(outcome: T | SnapshotError): T | SnapshotError {
    this.settled = outcome;
    return outcome;
  }
}

/** Waits until all reads have their outcomes, at most until the signal; the reads go on for others. */
export async function waitForAll(
  reads: readonly SharedRead<unknown>[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const all = Promise.all(reads.map(({ promise }) => promise));
  if (!signal) {
    await all;
    return;
  }
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    const giveUp = () => resolve();
    signal.addEventListener('abort', giveUp, { once: true });
    all.then(() => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    });
  });
}

/** Whatever a read threw, as the reason why a pool has no snapshot. */
function asSnapshotError(error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const isLate = error instanceof RpcFailure && (error.code === 'timeout' || error.code === 'aborted');
  return new SnapshotError(isLate ? 'timed_out' : 'read_failed', 'the pool was not read', { cause: error });
}
