import { RpcFailure } from './rpc/rpc-failure.ts';
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

  /** Waits until the outcome or the signal: then the wait is given up as `timed_out`, and the read goes on for others. */
  async wait(signal: AbortSignal | undefined): Promise<T | SnapshotError> {
    if (this.settled !== undefined || !signal) return this.settled ?? this.promise;
    if (signal.aborted) return waitedInVain();
    return new Promise((resolve) => {
      const giveUp = () => resolve(waitedInVain());
      signal.addEventListener('abort', giveUp, { once: true });
      this.promise.then((outcome) => {
        signal.removeEventListener('abort', giveUp);
        resolve(outcome);
      });
    });
  }

  #settle(outcome: T | SnapshotError): T | SnapshotError {
    this.settled = outcome;
    return outcome;
  }
}

const waitedInVain = () => new SnapshotError('timed_out', 'waited in vain for a read of the pool');

/** Whatever a read threw, as the reason why a pool has no snapshot. */
function asSnapshotError(error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const isLate = error instanceof RpcFailure && (error.code === 'timeout' || error.code === 'aborted');
  return new SnapshotError(isLate ? 'timed_out' : 'read_failed', 'the pool was not read', { cause: error });
}
