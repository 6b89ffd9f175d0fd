import { type Address, encodeFunctionData, getAbiItem } from 'viem';
import type { DevChain } from '../dev-chain.ts';
import { type PoolSpec, poolParameters, sendCreation } from '../pools.ts';
import { factoryAbi } from '../protocol-abi.ts';
import type { PackedDeployment } from './deploy.ts';

const { inputs, ...createPool } = getAbiItem({ abi: factoryAbi, name: 'createPool' });
const creationAbi = [
  {
    ...createPool,
    name: 'createPoolWithAsymmetry',
    inputs: [...inputs, { name: 'bidAskRefAsymmetryX8', type: 'uint16' }],
  },
] as const;

/** Creates a pool with an asymmetry that only its storage reports. Initial amounts are scaled units. */
export async function createPoolWithAsymmetry(
  chain: DevChain,
  deployment: PackedDeployment,
  spec: PoolSpec,
  asymmetryX8: number,
): Promise<Address> {
  const from = spec.creator ?? chain.roles.curator;
  const args = [poolParameters(spec, from, chain.roles.feeDestination), asymmetryX8] as const;
  return sendCreation(chain, deployment, { from, data: encodeFunctionData({ abi: creationAbi, args }) });
}
