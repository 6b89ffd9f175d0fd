import { type AbiParameter, type Address, encodeAbiParameters, encodeFunctionData, type Hex } from 'viem';
import { MULTICALL3 } from '../config/chains-schema.ts';
import { factoryOwnerAbi, oracleAbi } from './abi.ts';
import { type ContractName, loadArtifact } from './artifacts.ts';
import { connectDevChain, type DevChain, send, type Transaction } from './dev-chain.ts';

/** One protocol on one chain. The first group of addresses is what the config's deployment object names. */
export interface Deployment {
  readonly chainId: number;
  /** First block that can hold an event of this deployment. */
  readonly fromBlock: number;
  readonly poolFactory: Address;
  readonly poolDeployer: Address;
  readonly liquidityAdder: Address;
  readonly dataProvider: Address;
  readonly quoter: Address;
  readonly depositAllowlist: Address;
  readonly stopLoss: Address;
  readonly priceVelocityGuard: Address;
  readonly swapAllowlist: Address;
  readonly anchoredProviderFactories: readonly Address[];
  readonly providerFactories: readonly { readonly address: Address; readonly l2: boolean }[];

  readonly multicall3: Address;
  readonly anchoredProviderFactory: Address;
  readonly regularProviderFactory: Address;
  readonly regularL2ProviderFactory: Address;
  readonly oracle: Address;
  readonly swapRouter: Address;
  /** The custom extension. */
  readonly removalLog: Address;
}

/** Protocol fees of new pools: a fifth of the spread, a hundredth of a basis point of the notional. */
const DEFAULT_FEES = { spreadE6: 200_000, notionalE8: 100 } as const;
/** Contracts that hold other contracts' code are dear. */
const CREATION_GAS = 12_000_000n;

/** Deploys everything, from the owner's account: the same addresses on every fresh chain. */
export async function deployProtocol(rpcUrl: string, chainId: number): Promise<Deployment> {
  const chain = await connectDevChain(rpcUrl);
  if (chain.chainId !== chainId) throw new Error(`${rpcUrl} is chain ${chain.chainId}, not ${chainId}`);
  const fromBlock = Number(await chain.client.getBlockNumber());
  const poolFactory = await deployContract(chain, 'PoolFactory');
  const poolDeployer = await deployContract(chain, 'PoolDeployer', [poolFactory]);
  await asOwner(chain, poolFactory, encodeOwnerCall('setPoolDeployer', [poolDeployer]));
  await asOwner(
    chain,
    poolFactory,
    encodeOwnerCall('setFeeDefaults', [DEFAULT_FEES.spreadE6, DEFAULT_FEES.notionalE8]),
  );
  const extensions = {
    stopLoss: await deployContract(chain, 'StopLoss', [poolFactory]),
    priceVelocityGuard: await deployContract(chain, 'PriceVelocityGuard', [poolFactory]),
    depositAllowlist: await deployContract(chain, 'DepositAllowlist', [poolFactory]),
    swapAllowlist: await deployContract(chain, 'SwapAllowlist', [poolFactory]),
    removalLog: await deployContract(chain, 'RemovalLog', [poolFactory]),
  };
  const providers = await deployProviders(chain, poolFactory);
  const periphery = {
    liquidityAdder: await deployContract(chain, 'LiquidityAdder', [poolFactory]),
    swapRouter: await deployContract(chain, 'SwapRouter', [poolFactory]),
    quoter: await deployContract(chain, 'SwapQuoter'),
    dataProvider: await deployContract(chain, 'DataProvider'),
  };
  await chain.client.setCode({ address: MULTICALL3, bytecode: loadArtifact('Multicall3').deployedBytecode });
  return {
    chainId,
    fromBlock,
    poolFactory,
    poolDeployer,
    multicall3: MULTICALL3,
    ...extensions,
    ...providers,
    ...periphery,
  };
}

async function deployProviders(chain: DevChain, poolFactory: Address) {
  const oracle = await deployContract(chain, 'Oracle', [poolFactory]);
  const anchoredProviderFactory = await deployContract(chain, 'AnchoredProviderFactory');
  const regularProviderFactory = await deployContract(chain, 'RegularProviderFactory');
  const regularL2ProviderFactory = await deployContract(chain, 'RegularL2ProviderFactory');
  for (const registrar of [anchoredProviderFactory, regularProviderFactory, regularL2ProviderFactory]) {
    const data = encodeFunctionData({ abi: oracleAbi, functionName: 'setRegistrar', args: [registrar, true] });
    await asOwner(chain, oracle, data);
  }
  return {
    oracle,
    anchoredProviderFactory,
    regularProviderFactory,
    regularL2ProviderFactory,
    anchoredProviderFactories: [anchoredProviderFactory],
    providerFactories: [
      { address: regularProviderFactory, l2: false },
      { address: regularL2ProviderFactory, l2: true },
    ],
  };
}

/**
 * Creates a contract from the owner's account.
 *
 * @param args constructor arguments, checked against the artifact's ABI
 */
export async function deployContract(
  chain: DevChain,
  name: ContractName,
  args: readonly unknown[] = [],
  from: Address = chain.roles.owner,
): Promise<Address> {
  const { abi, bytecode } = loadArtifact(name);
  const constructorAbi = abi.find((item) => item.type === 'constructor');
  const inputs: readonly AbiParameter[] = constructorAbi?.inputs ?? [];
  const data: Hex = inputs.length === 0 ? bytecode : `${bytecode}${encodeAbiParameters(inputs, args).slice(2)}`;
  const { contractAddress } = await send(chain, { from, data, gas: CREATION_GAS });
  if (!contractAddress) throw new Error(`${name}: the node reports no contract address`);
  return contractAddress.toLowerCase() as Address;
}

function encodeOwnerCall(
  ...[functionName, args]: ['setPoolDeployer', [Address]] | ['setFeeDefaults', [number, number]]
): Hex {
  return functionName === 'setPoolDeployer'
    ? encodeFunctionData({ abi: factoryOwnerAbi, functionName, args })
    : encodeFunctionData({ abi: factoryOwnerAbi, functionName, args });
}

async function asOwner(chain: DevChain, to: Address, data: Transaction['data']): Promise<void> {
  await send(chain, { from: chain.roles.owner, to, data });
}
