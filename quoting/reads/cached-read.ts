import { RpcFailure } from '../../chain/rpc-failure.ts';
import { pause } from '../../runtime/pause.ts';
import { HeadReplacedError, SnapshotError } from '../snapshot-error.ts';

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
  // Ends timer and listener with the wait: those of thousands of requests would stay for seconds.
  const done = new AbortController();
  const limits: Promise<unknown>[] = [];
  if (signal) limits.push(aborted(signal, done.signal));
  if (limitMs !== undefined) limits.push(pause(limitMs, done.signal));
  await Promise.race([Promise.all(shared.map(({ read }) => read.outcome)), ...limits]);
  // Without a reason it would make an error, with its stack.
  done.abort('settled');
}

const aborted = (signal: AbortSignal, done: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done });
  });

export const timedOut = () => {
  const cause = new RpcFailure('timeout', 'nodes did not answer in time');
  return new SnapshotError('timed_out', 'the read took too long', { cause });
};

/** The reason why a pool has no snapshot. */
function asSnapshotError(error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const isLate = error instanceof RpcFailure && ['timeout', 'aborted', 'exhausted'].includes(error.code);
  return new SnapshotError(isLate ? 'timed_out' : 'read_failed', 'the pool was not read', { cause: error });
}
