import type { buildChainsFile } from '../../devnet/chains-config.ts';
import type { Attacker } from './attacker.ts';

type ChainEntry = ReturnType<typeof buildChainsFile>['chains'][number];

/** A chain's entry of the chains file, with the attacker's factory as a further release. */
export function withAttacker(entry: ChainEntry, attacker: Attacker | undefined): ChainEntry {
  if (attacker === undefined) return entry;
  const { fromBlock, poolFactory, poolDeployer, stopLoss, priceVelocityGuard } = attacker.deployment;
  const release = { contractVersion: 'hostile', layout: 'flat', fromBlock, poolFactory, poolDeployer } as const;
  return { ...entry, deployments: [...entry.deployments, { ...release, stopLoss, priceVelocityGuard }] };
}
