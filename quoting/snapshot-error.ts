import { isExhaustedBudget, RpcFailure } from '../chain/rpc-failure.ts';
import { AppError } from '../config/app-error.ts';

/**
 * Why there is no snapshot of a pool. `read_failed`: the chain did not give it. `timed_out`: it did not come in the
 * allowed time. `unavailable`: the pool does not show at this block what its depth needs, or the block is too old.
 */
export class SnapshotError extends AppError {
  readonly code: 'read_failed' | 'timed_out' | 'unavailable';
  readonly retryable: boolean;

  constructor(code: SnapshotError['code'], message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.retryable = code !== 'read_failed';
  }
}

/** The newest block that nodes give is too old to quote at. */
export class BlockTooOldError extends SnapshotError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/** A read at a head that another one replaced meanwhile. */
export class HeadReplacedError extends SnapshotError {
  constructor() {
    super('timed_out', 'the chain advanced');
  }
}

const LATE: readonly string[] = ['timeout', 'aborted', 'exhausted'];

/** The code of a read that failed so. */
export const failureCode = (error: unknown): SnapshotError['code'] =>
  error instanceof RpcFailure && LATE.includes(error.code) ? 'timed_out' : 'read_failed';

/** Whether a scheduled read gave no snapshot because its budget had no calls left. */
export const isExhausted = (outcome: unknown): boolean =>
  outcome instanceof SnapshotError && isExhaustedBudget(outcome.cause);
