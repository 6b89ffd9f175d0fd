import { expect, test } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import { checkPrices, checkSettings } from './chain-settings.ts';

const address = (digit: string) => `0x${digit.repeat(40)}`;
const [FIRST, SECOND] = [address('1'), address('2')];
const RELEASE = { contractVersion: 'v1', layout: 'flat', fromBlock: 0 };
/** It names all that a tier depends on. */
const COMPLETE = {
  ...RELEASE,
  poolFactory: FIRST,
  stopLoss: address('a'),
  priceVelocityGuard: address('b'),
  anchoredProviderFactories: [address('c')],
  providerFactories: [{ address: address('d') }],
};
const BARE = { ...RELEASE, poolFactory: SECOND };

/** Findings of a chain without faults, changed as given. */
function findingsOf(changes: Record<string, unknown>) {
  const rpcUrls = ['http://one.example', 'http://two.example'];
  const chain = { chainId: 7, name: 'seven', rpcUrls, blockTimeMs: 1_000, deployments: [COMPLETE], ...changes };
  const [parsed] = parseChainsFile({ chains: [chain] }, 'test', {}).chains;
  if (!parsed) throw new Error('no chain');
  return checkSettings(parsed).map(({ level, chainId, url, problem }) => {
    expect([chainId, url]).toEqual([7, null]);
    return `${level}: ${problem}`;
  });
}

test('a chain that names everything has no findings', () => {
  expect(findingsOf({})).toEqual([]);
  expect(findingsOf({ deployments: [] })).toEqual([]);
});

test('contracts that no deployment names are found, with the codes and the tier that pools then have', () => {
  expect(findingsOf({ deployments: [BARE] })).toEqual([
    'warning: no stopLoss in any deployment: every pool has stop_loss_missing, so its tier is red',
    'warning: no priceVelocityGuard in any deployment: no reason code, but depth of pools with that guard is best effort',
    'warning: no anchoredProviderFactories: every pool has app_missing, so its tier is red',
    'warning: no providerFactories: feeds of regular providers are unknown; a pool with one has app_missing, so its tier is red',
  ]);
});

test('extensions are those of one deployment, provider factories those of all', () => {
  expect(findingsOf({ deployments: [COMPLETE, BARE] })).toEqual([
    `warning: no stopLoss in the deployment of ${SECOND}: every pool has stop_loss_missing, so its tier is red`,
    `warning: no priceVelocityGuard in the deployment of ${SECOND}: no reason code, but depth of pools with that guard is best effort`,
  ]);
});

test('a disabled deployment is a note alone, and its provider factories do not count', () => {
  const note = (factory: string) =>
    `note: the deployment of ${factory} is disabled: its pools are neither indexed nor served`;
  expect(findingsOf({ deployments: [COMPLETE, { ...BARE, enabled: false }] })).toEqual([note(SECOND ?? '')]);
  const { anchoredProviderFactories: _, ...unanchored } = { ...COMPLETE, poolFactory: SECOND };
  expect(findingsOf({ deployments: [unanchored, { ...COMPLETE, enabled: false }] })).toEqual([
    'warning: no anchoredProviderFactories: every pool has app_missing, so its tier is red',
    note(FIRST ?? ''),
  ]);
});

test('blocks faster than a second need a socket', () => {
  const polled = 'warning: no wsUrls: blocks take 999 ms, but heads are polled';
  expect(findingsOf({ blockTimeMs: 999 })).toEqual([polled]);
  expect(findingsOf({ blockTimeMs: 999, wsUrls: [] })).toEqual([polled]);
  expect(findingsOf({ blockTimeMs: 999, wsUrls: ['ws://one.example'] })).toEqual([]);
});

test('a single node is a note', () => {
  expect(findingsOf({ rpcUrls: ['http://one.example'] })).toEqual([
    'note: one URL in rpcUrls: nothing replaces its node when that fails',
  ]);
});

test('a source whose words are passed on is a note', () => {
  const source = { kind: 'relayer', rpcUrls: ['http://relayer.example'] };
  expect(findingsOf({ live: { sources: [source, { kind: 'own', republish: false }] } })).toEqual([]);
  expect(findingsOf({ live: { sources: [{ ...source, republish: true }] } })).toEqual([
    'note: takers get the words of the live source relayer: make sure that it agrees',
  ]);
});

test('a chain is without values when the file prices none of its tokens, by a source or by itself', () => {
  const chain = { name: 'a', rpcUrls: ['http://one.example'], blockTimeMs: 1_000, deployments: [BARE] };
  const disabled = { ...chain, chainId: 9, deployments: [{ ...BARE, enabled: false }] };
  const chains = [{ ...chain, chainId: 7 }, { ...chain, chainId: 77 }, disabled];
  const found = (fiatPrices?: Record<string, unknown>) =>
    checkPrices(parseChainsFile({ chains, fiatPrices }, 'test', {})).map(({ level, chainId }) => [level, chainId]);
  expect(found()).toEqual([7, 77].map((chainId) => ['warning', chainId]));
  expect(found({ source: 'static', prices: { [`77:${FIRST}`]: 1 } })).toEqual([['warning', 7]]);
  expect(found({ source: 'defillama' })).toEqual([]);
});
