import { Registry } from 'prom-client';
import type { BoundRoute } from '../../api/declaration/api-route.ts';
import type { ServedChains } from '../../api/request.ts';
import { bindResources } from '../../api/resources.ts';
import type { StreamDeps } from '../../api/stream/stream.ts';
import type { Chain } from '../../quoting/open-chain.ts';

/** Every endpoint, for tests of what stands before the handlers: of these only the list of chains can answer. */
export const everyRoute = (chains: ServedChains = new Map()): BoundRoute[] =>
  bindResources({
    // What quoting adds to a chain, no handler of these tests uses.
    chains: chains as ReadonlyMap<number, Chain>,
    directory: unused(),
    database: unused(),
    ...unusedStreams(),
    takers: unused(),
    logger: unused(),
    metrics: new Registry(),
    statusMaxAgeSecs: 0,
    now: () => 0,
    wallClock: () => 0,
    lags: () => [],
    ages: unused,
    endpoints: new Map(),
    submit: () => Promise.reject(new Error('not for this test')),
  });

/** What streams need, for tests that open none. */
export const unusedStreams = (): StreamDeps => ({
  streams: unused(),
  sockets: unused(),
  trustedProxies: 0,
});

/** Stands for what only an answer would use. */
function unused<T extends object>(): T {
  return new Proxy({} as T, {
    get() {
      throw new Error('not for this test');
    },
  });
}
