import type { buildChainsFile } from '../../devnet/chains-config.ts';
import type { Attacker } from './attacker.ts';

type ChainEntry = ReturnType<typeof buildChainsFile>['chains'][number];

/** A chain's entry of the chains file, with the attacker's factories as a further release. */
export function withAttacker(entry: ChainEntry, attacker: Attacker | undefined): ChainEntry {
  if (attacker === undefined) return entry;
  const { deployment, packed } = attacker;
  const deployments = [releaseOf('flat', deployment), releaseOf('packed', packed)];
  return { ...entry, deployments: [...entry.deployments, ...deployments] };
}

function releaseOf(layout: 'flat' | 'packed', deployment: Attacker['deployment'] | Attacker['packed']) {
  const { fromBlock, poolFactory, poolDeployer, stopLoss, priceVelocityGuard } = deployment;
  return { contractVersion: 'hostile', layout, fromBlock, poolFactory, poolDeployer, stopLoss, priceVelocityGuard };
}
