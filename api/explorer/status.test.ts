import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { NO_AUDIT } from '../../quoting/pools/chain-catalog.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import type { ChainLag } from '../observability/chain-lag.ts';
import { statusResource } from './status.ts';
import { ServiceStatus } from './status-declaration.ts';

const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const CHAIN_A = 31337;
const CHAIN_B = 31338;

const lag: ChainLag = {
  chainId: CHAIN_A,
  name: 'devnet-a',
  indexedBlock: 1_000,
  indexedTimestamp: 5_000,
  headBlock: 1_002,
  lagBlocks: 2,
  lagSecs: 3,
  stalled: false,
  finalityBlocks: 65,
  finalitySecs: 780,
  firstSync: null,
};
const unknown: ChainLag = {
  chainId: CHAIN_B,
  name: 'Devnet-B',
  indexedBlock: null,
  indexedTimestamp: null,
  headBlock: null,
  lagBlocks: null,
  lagSecs: null,
  stalled: true,
  finalityBlocks: 30,
  finalitySecs: 14,
  firstSync: { fromBlock: 5, blockNumber: 7, logs: 9 },
};

const NO_AGES = {
  newestPriceAgeSecs: null,
  oldestPriceAgeSecs: null,
  listingAgeSecs: null,
  fiatPriceAgeSecs: null,
  fiatPricesLost: false,
  audit: NO_AUDIT,
  faultyNodes: [],
};
const AGES = {
  newestPriceAgeSecs: 5,
  oldestPriceAgeSecs: 40,
  listingAgeSecs: 0,
  fiatPriceAgeSecs: 6000,
  fiatPricesLost: true,
  audit: {
    auditedToBlock: 970,
    unreadPools: 3,
    differingPools: [{ poolAddress: `0x${'1'.repeat(40)}`, agreedBlock: 900 }],
    differingFactories: [{ factory: `0x${'2'.repeat(40)}`, agreedBlock: null }],
    lastDifferenceAt: 4_990,
  },
  faultyNodes: [{ node: 'rpcUrls[1]', leftOut: 3, invented: 0, lastAt: 4_980 }],
} as const;

test('reports what runs, and head, index, lag, nodes that fail and the ages of prices and listing by chain; what is not known is null', async () => {
  const app = new Hono();
  const nodes = new Map([
    [CHAIN_A, { nodes: { isFailing: false } }],
    [CHAIN_B, { nodes: { isFailing: true } }],
  ]);
  const ages = (chainId: number) => (chainId === CHAIN_A ? AGES : NO_AGES);
  mountHandlers(
    app,
    bindRoutes(statusResource, { lags: () => [lag, unknown], chains: nodes, ages, wallClock: Date.now }),
  );
  const response = await app.request('/public/v1/status');
  expect(response.status).toBe(200);
  const { chains, serverTs, release, node } = ServiceStatus.parse(await response.json());
  expect([release, `v${node}`]).toEqual([version, process.version]);
  expect(Math.abs(serverTs - Date.now() / 1000)).toBeLessThan(30);
  const { stalled: _, ...shown } = lag;
  expect(chains[0]).toEqual({ ...shown, following: true, nodesRespond: true, ...AGES });
  expect(chains[1]).toMatchObject({
    following: false,
    nodesRespond: false,
    headBlock: null,
    lagBlocks: null,
    ...NO_AGES,
  });
});
