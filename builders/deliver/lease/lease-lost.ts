/** The worker that took this job may not serve its endpoint any more: the job goes back to the queue. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  readonly code = 'LEASE_LOST';

  constructor(endpointId: string) {
    super(`another worker holds ${endpointId}`);
  }
}
