import { type Address, type Hex, hexToBigInt, type PublicClient, parseAbi } from 'viem';
import type { Scenario } from '../../devnet/scenario.ts';
import type { Page } from './listing-reader.ts';

type Row = Page['data'][number];

/** What the contract of the listing says of a pool, but for what the scheduled work finds out. */
export type ChainRecord = Omit<
  Row,
  | (
      | 'token0FiatPrice'
      | 'token1FiatPrice'
      | 'aprBps7d'
      | 'tvlFiat'
      | 'executability'
      | 'trend24h'
      | 'persistence24h'
      | 'analytics24h'
    )
  | ('priceProviderStatus' | 'swapGas' | 'classificationSummary')
>;

const factoryAbi = parseAbi([
  'event PoolCreated(address indexed poolAddress, address indexed token0, address indexed token1, uint256 poolIdx, address factory, address admin, address priceProvider, address[] extensions, (uint256 beforeAddLiquidity, uint256 afterAddLiquidity, uint256 beforeRemoveLiquidity, uint256 afterRemoveLiquidity, uint256 beforeSwap, uint256 afterSwap) extensionOrders, uint256 priceProviderTimelock, uint256 initialAmount0PerShareE18, uint256 initialAmount1PerShareE18, uint256 minimalMintableLiquidity, uint24 spreadProtocolFeeE6, uint24 protocolNotionalFeeE8, uint24 adminSpreadFeeE6, uint24 adminNotionalFeeE8, address adminFeeDestination, int24 curBinDistFromProvidedPriceE6, uint256[] nonNegativeBinDataArray, uint256[] negativeBinDataArray)',
  'event PoolPriceProviderChangeProposed(address indexed pool, address indexed currentPriceProvider, address indexed newPriceProvider, uint256 executeAfter)',
  'event PoolPriceProviderUpdated(address indexed pool, address indexed newPriceProvider)',
  'function poolFeeConfig(address pool) view returns (uint24 spreadProtocolFeeE6, uint24 spreadAdminFeeE6, uint24 protocolNotionalFeeE8, uint24 adminNotionalFeeE8)',
  'function poolAdmin(address pool) view returns (address)',
  'function poolAdminFeeDestination(address pool) view returns (address)',
  'function priceProviderTimelock(address pool) view returns (uint256)',
  'function pendingPriceProvider(address pool) view returns (address)',
  'function pendingPriceProviderExecuteAfter(address pool) view returns (uint256)',
]);
const [poolCreated, changeProposed, providerUpdated] = factoryAbi;
const poolAbi = parseAbi(['function extsload(bytes32 slot) view returns (bytes32)']);
const extensionAbi = parseAbi([
  'function oracleStopLossConfig(address pool) view returns (uint32 drawdownE6, uint32 decayPerSecondE8, uint32 timelock, bool initialized)',
  'function priceVelocityState(address pool) view returns (uint128 lastMidPriceX64, uint64 lastUpdateBlock, uint64 maxChangePerBlockE18)',
  'function allowAllDepositors(address pool) view returns (bool)',
  'function allowAllSwappers(address pool) view returns (bool)',
]);
const providerAbi = parseAbi([
  'event ProviderDeployed(address indexed provider, address indexed creator, bytes32 indexed feedId, address oracle, address base, address quote, int256 marginStep, uint256 maxTimeDelta)',
  'function offchainOracle() view returns (address)',
  'function quoteFeedId() view returns (bytes32)',
  'function minMargin() view returns (uint256)',
  'function MAX_REF_STALENESS() view returns (uint256)',
  'function MAX_SPREAD_BPS() view returns (uint16)',
  'function MUTABLE_PARAMS() view returns (bool)',
  'function MAX_TIME_DELTA() view returns (uint256)',
  'function source() view returns (address)',
  'function confidenceParam() view returns (uint256)',
  'function marginStep() view returns (int256)',
]);

const NEVER = 2n ** 256n - 1n;
const MAX_SHOWN = 2n ** 64n - 1n;

/** Where a pool's facts are read. */
type Source = { readonly client: PublicClient; readonly scenario: Scenario; readonly pool: Address };

/** The record that a pool of the scenario must have, read from getters, storage and logs of the chain alone. */
export async function readRecord(source: Source, chainName: string): Promise<ChainRecord> {
  const creation = await readCreation(source);
  const [token0, token1] = [creation.args.token0, creation.args.token1].map(lower) as [Address, Address];
  const block = await source.client.getBlock({ blockNumber: creation.blockNumber });
  const transaction = await source.client.getTransaction({ hash: creation.transactionHash });
  const head = await readSlot(source, 0n);
  return {
    pair: [token0, token1].map((token) => tokenOf(source.scenario, token).symbol || token).join('/'),
    chain: chainName,
    contractVersion: 'v1',
    poolAddress: source.pool,
    createdBlockNumber: Number(creation.blockNumber),
    createdTimestamp: Number(block.timestamp),
    token0,
    token1,
    ...tokenFields(source.scenario, 'token0', token0),
    ...tokenFields(source.scenario, 'token1', token1),
    ...(await readProviderFields(source, creation)),
    creator: lower(transaction.from),
    ...(await readFactoryFields(source)),
    adminUsername: null,
    verifiedAdmin: false,
    pauseLevel: Number(head & 0xffn),
    curBinIdx: Number(BigInt.asIntN(8, head >> 8n)),
    ...(await readExtensionFields(source, creation)),
    ...deploymentFields(source.scenario),
  };
}

async function readCreation({ client, scenario, pool }: Source) {
  const at = { address: scenario.deployment.poolFactory, event: poolCreated, fromBlock: 0n, strict: true } as const;
  const [log] = await client.getLogs({ ...at, args: { poolAddress: pool } });
  if (!log) throw new Error(`${pool} was never created`);
  return log;
}

type Creation = Awaited<ReturnType<typeof readCreation>>;

function tokenOf({ tokens }: Scenario, address: Address) {
  const token = tokens.find((candidate) => candidate.address === address);
  if (!token) throw new Error(`no token ${address}`);
  return token;
}

function tokenFields(scenario: Scenario, prefix: 'token0' | 'token1', address: Address) {
  const { symbol, name, decimals, brandColor } = tokenOf(scenario, address);
  const fields = {
    ...(symbol !== '' && { Symbol: symbol, LogoUrl: `https://cdn.devnet.example/${symbol.toLowerCase()}.svg` }),
    ...(name !== '' && { Name: name }),
    ...(brandColor !== undefined && { BrandColor: brandColor }),
    Decimals: decimals,
  };
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [prefix + field, value]));
}

async function readProviderFields(source: Source, creation: Creation) {
  const { client, scenario, pool } = source;
  const factory = { address: scenario.deployment.poolFactory, abi: factoryAbi, args: [pool] } as const;
  const logs = { address: factory.address, fromBlock: 0n, strict: true, args: { pool } } as const;
  const updates = await client.getLogs({ ...logs, event: providerUpdated });
  const proposals = await client.getLogs({ ...logs, event: changeProposed });
  const pending = await client.readContract({ ...factory, functionName: 'pendingPriceProvider' });
  const executeAfter = await client.readContract({ ...factory, functionName: 'pendingPriceProviderExecuteAfter' });
  const timelock = await client.readContract({ ...factory, functionName: 'priceProviderTimelock' });
  const last = updates.at(-1);
  const provider = lower(last?.args.newPriceProvider ?? creation.args.priceProvider);
  const details = await readProviderDetails(source, provider);
  return {
    priceProviderAddress: provider,
    ...(details && { priceProviderDetails: details }),
    priceProviderSinceBlock: Number((last ?? creation).blockNumber),
    priceProviderCooldownSecs: exact(timelock > MAX_SHOWN ? MAX_SHOWN : timelock),
    lockedPricing: timelock === NEVER,
    ...(hexToBigInt(pending) !== 0n && {
      priceProviderChange: {
        newPriceProvider: lower(pending),
        proposedAtBlock: Number(proposals.at(-1)?.blockNumber),
        executeAfterTs: exact(executeAfter),
      },
    }),
  };
}

/** @returns null for a provider of an unknown factory */
async function readProviderDetails({ client, scenario: { deployment } }: Source, address: Address) {
  const isDeployedBy = async (factories: readonly Address[]) => {
    const logs = await client.getLogs({ address: [...factories], fromBlock: 0n });
    return logs.some(({ topics }) => topics[1] && lower(`0x${topics[1].slice(26)}`) === address);
  };
  const at = { address, abi: providerAbi } as const;
  const isRegular = await isDeployedBy([deployment.regularProviderFactory, deployment.regularL2ProviderFactory]);
  if (!isRegular && !(await isDeployedBy([deployment.anchoredProviderFactory]))) return null;
  const common = {
    oracle: lower(await client.readContract({ ...at, functionName: 'offchainOracle' })),
    marginStep: String(await client.readContract({ ...at, functionName: 'marginStep' })),
    confidenceParam: String(await client.readContract({ ...at, functionName: 'confidenceParam' })),
  };
  if (isRegular) {
    const maxTimeDelta = String(await client.readContract({ ...at, functionName: 'MAX_TIME_DELTA' }));
    return { providerType: 'regular' as const, ...common, maxTimeDelta };
  }
  const customSource = await client.readContract({ ...at, functionName: 'source' });
  const isSynthetic = hexToBigInt(await client.readContract({ ...at, functionName: 'quoteFeedId' })) !== 0n;
  return {
    providerType: 'anchored' as const,
    ...common,
    feedMode: isSynthetic ? ('synthetic' as const) : ('single' as const),
    ...(hexToBigInt(customSource) !== 0n && { source: lower(customSource) }),
    minMargin: String(await client.readContract({ ...at, functionName: 'minMargin' })),
    maxRefStaleness: String(await client.readContract({ ...at, functionName: 'MAX_REF_STALENESS' })),
    maxSpreadBps: String(await client.readContract({ ...at, functionName: 'MAX_SPREAD_BPS' })),
    mutableParams: await client.readContract({ ...at, functionName: 'MUTABLE_PARAMS' }),
    maxSpreadMult: null,
    baseMaxStaleness: null,
    quoteMaxStaleness: null,
    baseSpreadMult: null,
    quoteSpreadMult: null,
  };
}

async function readFactoryFields({ client, scenario, pool }: Source) {
  const at = { address: scenario.deployment.poolFactory, abi: factoryAbi, args: [pool] } as const;
  const fees = await client.readContract({ ...at, functionName: 'poolFeeConfig' });
  return {
    admin: lower(await client.readContract({ ...at, functionName: 'poolAdmin' })),
    adminFeeDestination: lower(await client.readContract({ ...at, functionName: 'poolAdminFeeDestination' })),
    spreadProtocolFeeE6: fees[0],
    spreadAdminFeeE6: fees[1],
    protocolNotionalFeeE8: fees[2],
    adminNotionalFeeE8: fees[3],
  };
}

async function readExtensionFields({ client, scenario: { deployment }, pool }: Source, { args }: Creation) {
  const extensions = args.extensions.map(lower);
  const runsIn = (address: Address, phase: keyof typeof args.extensionOrders) =>
    orderOf(args.extensionOrders[phase]).some((number) => extensions[number - 1] === address);
  const details = (address: Address) => ({
    phases: (['beforeSwap', 'afterSwap'] as const).filter((phase) => runsIn(address, phase)),
  });
  const { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } = deployment;
  const read = { abi: extensionAbi, args: [pool] } as const;
  const config = await client.readContract({ ...read, address: stopLoss, functionName: 'oracleStopLossConfig' });
  const state = await client.readContract({ ...read, address: priceVelocityGuard, functionName: 'priceVelocityState' });
  const isOpen = await client.readContract({ ...read, address: depositAllowlist, functionName: 'allowAllDepositors' });
  const tradesAll = await client.readContract({ ...read, address: swapAllowlist, functionName: 'allowAllSwappers' });
  const [drawdown, decay, timelock, isSet] = config;
  const settings = { drawdownE6: drawdown, decayPerSecondE18: BigInt(decay) * 10n ** 10n, timelockSecs: timelock };
  const texts = Object.entries(settings).map(([field, value]) => [field, isSet ? String(value) : null]);
  const extensionDetails = {
    ...(extensions.includes(stopLoss) && { stopLoss: { ...Object.fromEntries(texts), ...details(stopLoss) } }),
    ...(extensions.includes(priceVelocityGuard) && {
      priceVelocity: { maxChangePerBlockE18: String(state[2]), ...details(priceVelocityGuard) },
    }),
  };
  const isRestricted = runsIn(depositAllowlist, 'beforeAddLiquidity') && !isOpen;
  return {
    extensions,
    depositWhitelistingEnabled: isRestricted,
    ...(isRestricted && { depositAllowlistProvider: depositAllowlist }),
    swapWhitelistingEnabled: runsIn(swapAllowlist, 'beforeSwap') && !tradesAll,
    ...(Object.keys(extensionDetails).length > 0 && { extensionDetails }),
  };
}

/** Numbers of the extensions that an order calls: three bits each, the first lowest. */
function orderOf(order: bigint): number[] {
  return order === 0n ? [] : [Number(order & 7n), ...orderOf(order >> 3n)];
}

function deploymentFields({ deployment }: Scenario) {
  return {
    poolFactoryAddress: deployment.poolFactory,
    poolDeployerAddress: deployment.poolDeployer,
    liquidityAdderAddress: deployment.liquidityAdder,
    dataProviderAddress: deployment.dataProvider,
    quoterAddress: deployment.quoter,
    depositAllowlistAddress: deployment.depositAllowlist,
    oracleValueStopLossAddress: deployment.stopLoss,
    priceVelocityGuardAddress: deployment.priceVelocityGuard,
  };
}

async function readSlot({ client, pool }: Source, slot: bigint): Promise<bigint> {
  const args = [`0x${slot.toString(16).padStart(64, '0')}`] as const;
  return hexToBigInt(await client.readContract({ address: pool, abi: poolAbi, functionName: 'extsload', args }));
}

/** As the reader of the listing gives integers: a bigint beyond 2^53 - 1. */
const exact = (value: bigint) => (value > BigInt(Number.MAX_SAFE_INTEGER) ? value : Number(value));
const lower = (address: Hex) => address.toLowerCase() as Address;
