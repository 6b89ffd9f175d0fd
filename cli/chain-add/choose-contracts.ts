import type { Address } from 'viem';
import { EXTENSION_ROLES } from '../../protocol/layouts/contract-roles.ts';
import type { DeploymentEntry } from './complete-file.ts';
import type { FoundDeployment } from './find-deployment.ts';

type Contract = FoundDeployment['contracts'][number];

/** A contract that pools use and that is not written, and why. */
export interface UnwrittenContract extends Contract {
  readonly poolFactory: Address;
  /** `unproven`: nothing shows that it is what it looks like. `other`: more pools use another one of its role. */
  readonly reason: 'unproven' | 'other';
}

/**
 * Chooses what is written of a factory: contracts that are proven or that the operator trusts, of each role of
 * extensions the one that most pools use.
 */
export function chooseContracts(
  { poolFactory, layout, fromBlock, contracts }: FoundDeployment,
  contractVersion: string,
  trusted: ReadonlySet<Address>,
): { readonly entry: DeploymentEntry; readonly unwritten: readonly UnwrittenContract[] } {
  const taken = contracts.filter(({ address, isProven }) => isProven || trusted.has(address));
  const extensions = EXTENSION_ROLES.map((name) => [name, taken.find(({ role }) => role === name)?.address] as const);
  const factories = (kind: Contract['role']) => taken.filter(({ role }) => role === kind).map(({ address }) => address);
  const anchored = factories('anchored');
  const regular = [
    ...factories('regular').map((address) => ({ address })),
    ...factories('regular_l2').map((address) => ({ address, l2: true })),
  ];
  const entry = {
    contractVersion,
    layout,
    fromBlock,
    poolFactory,
    ...Object.fromEntries(extensions.filter(([, address]) => address !== undefined)),
    ...(anchored.length > 0 && { anchoredProviderFactories: anchored }),
    ...(regular.length > 0 && { providerFactories: regular }),
  };
  const written = JSON.stringify(entry);
  const unwritten = contracts
    .filter(({ address }) => !written.includes(address))
    .map((each): UnwrittenContract => ({ ...each, poolFactory, reason: taken.includes(each) ? 'other' : 'unproven' }));
  return { entry, unwritten };
}
