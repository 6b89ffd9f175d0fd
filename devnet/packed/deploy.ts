import { encodeAbiParameters, encodeFunctionData, type Hex } from 'viem';
import { factoryOwnerAbi } from '../abi.ts';
import { loadArtifact } from '../artifacts.ts';
import { type Deployment, deployContract } from '../deploy.ts';
import { type DevChain, send } from '../dev-chain.ts';
import type { ExtensionSpec } from '../pools.ts';
import { FEE_RULES, type PackedVariant } from './variants.ts';

/** A packed factory with what is around it. Addresses have the names that they have in a flat deployment. */
export interface PackedDeployment
  extends Pick<
    Deployment,
    | 'chainId'
    | 'fromBlock'
    | 'poolFactory'
    | 'poolDeployer'
    | 'liquidityAdder'
    | 'swapRouter'
    | 'quoter'
    | 'dataProvider'
    | 'stopLoss'
    | 'priceVelocityGuard'
    | 'depositAllowlist'
    | 'swapAllowlist'
  > {
  readonly variant: PackedVariant;
}

/** Protocol fees of new pools: a fifth of the spread, a hundredth of a basis point of the notional. */
const DEFAULT_FEES = [200_000, 100] as const;

/**
 * Deploys a factory of this variant, its extensions and its helpers, from the owner's account.
 *
 * @param code creation code of the pools, where it is not the variant's own
 */
export async function deployPackedProtocol(
  chain: DevChain,
  variant: PackedVariant,
  code?: Hex,
): Promise<PackedDeployment> {
  const fromBlock = Number(await chain.client.getBlockNumber());
  const poolFactory = await deployContract(chain, 'PackedPoolFactory');
  const pool = variant.simulation === 'sender' ? 'PackedPoolOfSender' : 'PackedPool';
  const choices = {
    rule: FEE_RULES.indexOf(variant.rule),
    feesByToken: variant.fees === 'token',
    platformFeesByToken: variant.platformFees === 'token',
    flagsFirst: variant.details === 'flagsFirst',
    rawDeltas: variant.deltaScale === 'raw',
    zeroReverts: variant.zeroAmounts === 'revert',
  };
  const poolCode = code ?? loadArtifact(pool).bytecode;
  const poolDeployer = await deployContract(chain, 'PackedPoolDeployer', [poolFactory, choices, poolCode]);
  for (const data of [
    encodeFunctionData({ abi: factoryOwnerAbi, functionName: 'setPoolDeployer', args: [poolDeployer] }),
    encodeFunctionData({ abi: factoryOwnerAbi, functionName: 'setFeeDefaults', args: DEFAULT_FEES }),
  ]) {
    await send(chain, { from: chain.roles.owner, to: poolFactory, data });
  }
  return {
    variant,
    chainId: chain.chainId,
    fromBlock,
    poolFactory,
    poolDeployer,
    liquidityAdder: await deployContract(chain, 'LiquidityAdder', [poolFactory]),
    swapRouter: await deployContract(chain, 'SwapRouter', [poolFactory]),
    quoter: await deployContract(chain, 'SwapQuoter'),
    dataProvider: await deployContract(chain, 'PackedDataProvider'),
    stopLoss: await deployContract(chain, 'PackedStopLoss', [poolFactory]),
    priceVelocityGuard: await deployContract(chain, 'PackedVelocityGuard', [poolFactory]),
    depositAllowlist: await deployContract(chain, 'DepositAllowlist', [poolFactory]),
    swapAllowlist: await deployContract(chain, 'SwapAllowlist', [poolFactory]),
  };
}

export function packedStopLossExtension(
  { stopLoss }: PackedDeployment,
  settings: { readonly drawdownE6: number; readonly decayPerSecondE18: bigint; readonly timelockSecs: number },
): ExtensionSpec {
  const types = [{ type: 'uint32' }, { type: 'uint64' }, { type: 'uint40' }] as const;
  const { drawdownE6, decayPerSecondE18, timelockSecs } = settings;
  const initData = encodeAbiParameters(types, [drawdownE6, decayPerSecondE18, timelockSecs]);
  return { address: stopLoss, phases: ['afterSwap'], initData };
}
