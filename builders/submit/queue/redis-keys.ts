import type { FencedLeaseKeys } from '../../../runtime/lease/lease.ts';

/** Names of everything that quote updates keep in Redis, under one prefix. */
export class RedisKeys {
  readonly prefix: string;

  /** @param prefix also of the BullMQ queues */
  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Keys of an endpoint's lease, which exists while a worker holds the endpoint. */
  leaseKeys = (endpointId: string): FencedLeaseKeys => ({
    lease: `${this.prefix}:lease:${endpointId}`,
    fence: `${this.prefix}:fence:${endpointId}`,
    epoch: `${this.prefix}:epoch`,
  });
  lease = (endpointId: string) => this.leaseKeys(endpointId).lease;
  epoch = () => this.leaseKeys('').epoch;
  newestUpdate = (chainId: number, uuid: string) => `${this.prefix}:newest:${chainId}:${uuid}`;
  owner = (chainId: number, uuid: string) => `${this.prefix}:owner:${chainId}:${uuid}`;
  answers = (instanceId: string) => `${this.prefix}:answers:${instanceId}`;
  audit = () => `${this.prefix}:audit`;
  /** Entries of the audit stream that were not written to the database. */
  rejectedAudit = () => `${this.prefix}:audit-rejected`;

  bundle(endpointId: string) {
    const root = `${this.prefix}:bundle:${endpointId}`;
    return {
      lease: this.lease(endpointId),
      state: `${root}:sending`,
      waiting: `${root}:waiting`,
      settled: `${root}:settled`,
      /** Submissions by uuid that API processes of release 0.2 queued; their jobs carry nothing. */
      submissions: `${root}:submissions`,
      newest: (uuid: string) => `${root}:newest:${uuid}`,
      cancels: (uuid: string) => `${root}:cancels:${uuid}`,
      accepted: (digest: string) => `${root}:accepted:${digest}`,
    };
  }
}
