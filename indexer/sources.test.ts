import { expect, test } from 'vitest';
import { parseChainsFile } from '../config/load-chains.ts';
import { providerEvents } from '../protocol/abi/providers.ts';
import { V0_POOL_FACTORY } from '../protocol/abi/v0.ts';
import { contractSources, indexedChains, layoutOfFactory, v0Sources } from './deployments.ts';
import { lanesOf, nodesInOrder } from './gateway/lanes.ts';
import { pollingIntervalMs } from './gateway/polling-interval.ts';
import { childSources, ponderChains } from './sources.ts';

const address = (digit: string) => `0x${digit.repeat(40)}` as const;

const deployment = (changes: object) => ({
  contractVersion: 'v1',
  layout: 'flat',
  fromBlock: 10,
  poolFactory: address('1'),
  ...changes,
});

const { chains } = parseChainsFile(
  {
    chains: [
      {
        chainId: 1,
        name: 'one',
        rpcUrls: ['http://a/', 'http://b/'],
        blockTimeMs: 12_000,
        v0FromBlock: 3,
        deployments: [
          deployment({ stopLoss: address('a') }),
          deployment({ fromBlock: 5, poolFactory: address('2') }),
          deployment({ enabled: false, layout: 'packed', fromBlock: 1, poolFactory: address('3') }),
        ],
      },
      { chainId: 2, name: 'two', rpcUrls: ['http://c/'], blockTimeMs: 250, deployments: [deployment({})] },
      {
        chainId: 3,
        name: 'three',
        rpcUrls: ['http://d/'],
        blockTimeMs: 1_000,
        deployments: [deployment({ enabled: false })],
      },
    ],
  },
  'test',
);

test('chains without an enabled deployment are left out', () => {
  expect(ponderChains(indexedChains(chains), 'ws://gateway')).toEqual({
    chain_1: {
      id: 1,
      rpc: ['ws://gateway/1/0', 'ws://gateway/1/1'],
      ws: 'ws://gateway/1/0',
      pollingInterval: 1_000,
    },
    chain_2: { id: 2, rpc: ['ws://gateway/2/0'], ws: 'ws://gateway/2/0', pollingInterval: 100 },
  });
});

test('a node on this machine is reached by many lanes, each with its own request limit', () => {
  expect(lanesOf(['http://127.0.0.1:8545/', 'http://a/'])).toEqual([...Array(16).fill(0), 1]);
});

test('a lane asks its own node first and faulty ones last; at a turn, all lanes begin with the same sound one', () => {
  const orders = (last: readonly number[], turn?: number) =>
    [0, 1, 2].map((first) => nodesInOrder(first, 3, { last: new Set(last), turn }).join(''));
  expect(orders([])).toEqual(['012', '120', '201']);
  expect(orders([1])).toEqual(['021', '201', '201']);
  expect([0, 1, 2, 3].map((turn) => orders([], turn)[0])).toEqual(['012', '102', '201', '012']);
  expect([0, 1, 2].map((turn) => orders([0], turn))).toEqual([
    ['120', '120', '120'],
    ['210', '210', '210'],
    ['120', '120', '120'],
  ]);
  expect([0, 1, 2].map((turn) => orders([0, 1, 2], turn)[2])).toEqual(['021', '120', '201']);
});

test('deployments of a chain are followed together, from the earliest block that names the contract', () => {
  expect(contractSources(indexedChains(chains), ({ poolFactory }) => [poolFactory])).toEqual({
    chain_1: { address: [address('1'), address('2')], startBlock: 5 },
    chain_2: { address: [address('1')], startBlock: 10 },
  });
});

test('a contract is followed only where a deployment names it', () => {
  expect(contractSources(indexedChains(chains), ({ stopLoss }) => [stopLoss])).toEqual({
    chain_1: { address: [address('a')], startBlock: 10 },
  });
});

test('the oldest generation is followed where the file says from which block', () => {
  expect(v0Sources(indexedChains(chains))).toEqual({ chain_1: { address: [V0_POOL_FACTORY], startBlock: 3 } });
});

test('children are the contracts that the factories of their chain announce', () => {
  const [event] = providerEvents;
  const factories = { chain_2: { address: [address('1')], startBlock: 10 } };
  expect(childSources(factories, event, 'newValue')).toEqual({
    chain_2: { address: { address: [address('1')], event, parameter: 'newValue' }, startBlock: 10 },
  });
});

test.each([
  [12_000, 1_000],
  [2_000, 500],
  [1_000, 250],
  [100, 100],
])('blocks of %i ms are looked for every %i ms', (blockTimeMs, expected) => {
  expect(pollingIntervalMs(blockTimeMs)).toBe(expected);
});

test('a pool has the layout of the deployment that names its factory, if that is enabled', () => {
  expect(layoutOfFactory(chains, 1, address('2'))).toBe('flat');
  expect(() => layoutOfFactory(chains, 1, address('3'))).toThrow(address('3'));
  expect(() => layoutOfFactory(chains, 2, address('2'))).toThrow('chain 2');
});
