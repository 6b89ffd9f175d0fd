import { RpcFailure } from '../../chain/rpc-failure.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { failureCode, HeadReplacedError, SnapshotError } from '../snapshot-error.ts';

/** A read that several requests wait for. */
export class CachedRead<T> {
  /** Never rejects. */
  readonly outcome: Promise<T | SnapshotError>;
  /** The outcome, once there is one. */
  settled: T | SnapshotError | undefined;

  constructor(value: Promise<T>) {
    this.outcome = value.catch(asSnapshotError).then((outcome) => {
      this.settled = outcome;
      return outcome;
    });
  }

  /** Whether a retry may give more, because the chain was not read there. A pool's own failure stays for the block. */
  get mayRetry(): boolean {
    const { settled } = this;
    if (settled instanceof SnapshotError)
      return settled instanceof HeadReplacedError || settled.cause instanceof RpcFailure;
    return isProvisional(settled);
  }
}

const isProvisional = (settled: unknown): boolean =>
  typeof settled === 'object' && settled !== null && 'isProvisional' in settled && settled.isProvisional === true;

/** Waits until all reads have outcomes, the signal aborts or the limit passes. The reads continue for others. */
export async function waitFor(
  shared: readonly { readonly read: CachedRead<unknown> }[],
  signal: AbortSignal | undefined,
  limitMs?: number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  void Promise.all(shared.map(({ read }) => read.outcome)).then(end);
  await (limitMs === undefined ? promise : withTimeout(promise, limitMs).catch(end));
  // The listeners of thousands of requests would stay for seconds.
  signal?.removeEventListener('abort', end);
}

export const timedOut = () => {
  const cause = new RpcFailure('timeout', 'nodes did not answer in time');
  return new SnapshotError('timed_out', 'the read took too long', { cause });
};

/** The reason why a pool has no snapshot. */
function asSnapshotError(error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  return new SnapshotError(failureCode(error), 'the pool was not read', { cause: error });
}
