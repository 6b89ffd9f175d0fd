import { AppError } from '../../../config/app-error.ts';

/** The worker that took this job may not serve its endpoint any more: the job goes back to the queue. */
export class LeaseLostError extends AppError {
  readonly code = 'LEASE_LOST';
  readonly retryable = true;

  constructor(endpointId: string) {
    super(`another worker holds ${endpointId}`);
  }
}
