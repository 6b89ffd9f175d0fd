import { RpcFailure } from '../chain/rpc-failure.ts';
import { AppError } from '../config/app-error.ts';

/**
 * Why there is no snapshot of a pool: `read_failed` when the chain did not give it, `timed_out` when it did not come in
 * the time allowed, `unavailable` when the pool does not show at this block what its depth needs, or the block is too old.
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

/** Whether a scheduled read had no snapshot because its budget had no calls. */
export const isExhausted = (outcome: unknown): boolean =>
  outcome instanceof SnapshotError && outcome.cause instanceof RpcFailure && outcome.cause.code === 'exhausted';
