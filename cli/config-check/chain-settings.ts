import type { ChainConfig, ChainsFile, DeploymentConfig } from '../../config/chains-schema.ts';
import { type FoundContract, missingRoles } from '../../db/complete-chain.ts';
import type { Classification } from '../../protocol/classification.ts';
import type { Finding } from './finding.ts';
import { withoutProvider, withoutStopLoss } from './missing-contracts.ts';

/** Blocks faster than this are found late without a socket, as a poll finds one block of several. */
const POLLED_BLOCK_MS = 1_000;

/** Finds settings of a chain with which it serves less than it could. It calls nothing. */
export function checkSettings(chain: ChainConfig): Finding[] {
  const { chainId, rpcUrls, wsUrls = [], blockTimeMs, deployments, live } = chain;
  const base = { chainId, url: null };
  const warnings = missingContracts(chain);
  if (wsUrls.length === 0 && blockTimeMs < POLLED_BLOCK_MS)
    warnings.push(`no wsUrls: blocks take ${blockTimeMs} ms, but heads are polled`);
  const notes = deployments
    .filter((deployment) => !deployment.enabled)
    .map(({ poolFactory }) => `the deployment of ${poolFactory} is disabled: its pools are neither indexed nor served`);
  if (rpcUrls.length === 1) notes.push('one URL in rpcUrls: nothing replaces its node when that fails');
  for (const source of live?.sources ?? [])
    if ('republish' in source && source.republish)
      notes.push(`takers get the words of the live source ${source.kind}: make sure that it agrees`);
  return [
    ...warnings.map((problem): Finding => ({ ...base, level: 'warning', problem })),
    ...notes.map((problem): Finding => ({ ...base, level: 'note', problem })),
  ];
}

/** Finds chains whose pools have no value by the chains file. It calls nothing. */
export function checkPrices({ chains, fiatPrices }: Pick<ChainsFile, 'chains' | 'fiatPrices'>): Finding[] {
  if (fiatPrices.source !== 'static') return [];
  const priced = new Set(Object.keys(fiatPrices.prices).map((key) => Number.parseInt(key, 10)));
  const problem =
    'fiatPrices has no price of its tokens: no pool has a TVL, and listings without minTvlFiat=0 are empty';
  return chains
    .filter(({ chainId, deployments }) => !priced.has(chainId) && deployments.some(({ enabled }) => enabled))
    .map(({ chainId }) => ({ level: 'warning', chainId, url: null, problem }));
}

/** What pools lack because the file does not name contracts. Provider factories hold for all deployments of a chain. */
function missingContracts(chain: ChainConfig): string[] {
  const deployments = chain.deployments.filter((deployment) => deployment.enabled);
  const hope = (role: FoundContract['role']) =>
    deployments.some((deployment) => missingRoles(chain, deployment).includes(role))
      ? ', unless the indexer finds it: "npm run status -- --contracts" lists what it found'
      : '';
  if (deployments.length === 0) return [];
  const problems: string[] = [];
  const check = (key: 'stopLoss' | 'priceVelocityGuard', effect: string) => {
    const without = deployments.filter((deployment) => deployment[key] === undefined);
    const place = without.length === deployments.length ? 'any deployment' : factoriesOf(without);
    if (without.length > 0) problems.push(`no ${key} in ${place}: ${effect}${hope(key)}`);
  };
  const checkFactories = (key: 'anchoredProviderFactories' | 'providerFactories', effect: string) => {
    if (deployments.some((deployment) => deployment[key].length > 0)) return;
    problems.push(`no ${key}: ${effect}${hope(key === 'providerFactories' ? 'regular' : 'anchored')}`);
  };
  check('stopLoss', `every pool has ${reasons(withoutStopLoss())}`);
  check('priceVelocityGuard', 'no reason code, but depth of pools with that guard is best effort');
  checkFactories('anchoredProviderFactories', `every pool has ${reasons(withoutProvider())}`);
  checkFactories(
    'providerFactories',
    `feeds of regular providers are unknown; a pool with one has ${reasons(withoutProvider())}`,
  );
  return problems;
}

const factoriesOf = (deployments: readonly DeploymentConfig[]) =>
  `the deployment of ${deployments.map(({ poolFactory }) => poolFactory).join(', ')}`;

const reasons = ({ reasonCodes, tier }: Classification) => `${reasonCodes.join(', ')}, so its tier is ${tier}`;
