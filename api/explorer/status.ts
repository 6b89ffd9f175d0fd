import type { DataAges } from '../../quoting/pools/chain-catalog.ts';
import type { Clocks } from '../../runtime/clock.ts';
import { RUNNING_VERSION } from '../../runtime/running-version.ts';
import { defineResource } from '../declaration/api-route.ts';
import type { ChainLag } from '../observability/chain-lag.ts';
import { getStatus, type ServiceStatus } from './status-declaration.ts';

export type StatusDeps = Pick<Clocks, 'wallClock'> & {
  /** How far the index of each chain is behind the chain. */
  readonly lags: () => readonly ChainLag[];
  readonly chains: ReadonlyMap<number, { readonly nodes: { readonly isFailing: boolean } }>;
  /** How old the other data of a chain are. */
  readonly ages: (chainId: number) => DataAges;
};

/** `GET /public/v1/status`: the part of `/ready` that clients may see. */
export const statusResource = defineResource([getStatus], ({ lags, chains: served, ages, wallClock }: StatusDeps) => ({
  getStatus(c) {
    const chains = lags().map(({ stalled, ...lag }) => {
      const nodesRespond = served.get(lag.chainId)?.nodes.isFailing !== true;
      return { ...lag, following: !stalled, nodesRespond, ...ages(lag.chainId) };
    });
    const status = { serverTs: Math.floor(wallClock() / 1000), ...RUNNING_VERSION, chains };
    return c.json(status satisfies ServiceStatus);
  },
}));
