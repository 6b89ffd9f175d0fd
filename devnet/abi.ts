import { parseAbi } from 'viem';

/** Calls that only the devnet makes: everything a service needs is in protocol/abi. */
export const routerAbi = parseAbi([
  'function swap(address pool, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64) returns (int128 amount0Delta, int128 amount1Delta)',
]);

export const quoterAbi = parseAbi([
  'function quote(address pool, bool zeroForOne, int128 amountSpecified) returns (int256 amount0Delta, int256 amount1Delta)',
]);

export const liquidityAdderAbi = parseAbi([
  'struct LiquidityDelta { int256[] binIdxs; uint256[] shares; }',
  'function addLiquidity(address pool, uint80 salt, LiquidityDelta deltas) returns (uint256 amount0, uint256 amount1)',
]);

export const tokenAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
]);

export const oracleAbi = parseAbi([
  'function setRegistrar(address registrar, bool allowed)',
  'function register(bytes32 feedId, address provider)',
  'function post(bytes32 feedId, uint128 priceX64, uint64 spreadE18)',
  'function stop(bytes32 feedId)',
  'function takeDown(bytes32 feedId)',
  'function feeds(bytes32 feedId) view returns (uint128 priceX64, uint64 spreadE18, uint64 stoppedAt)',
  'error NotRegistered(bytes32 feedId, address provider)',
  'error NotInSwap()',
  'error UnknownFeed(bytes32 feedId)',
]);

export const factoryOwnerAbi = parseAbi([
  'function setPoolDeployer(address deployer)',
  'function setFeeDefaults(uint24 spreadFeeE6, uint24 notionalFeeE8)',
  'function collectTokens(address token, address to, uint256 amount)',
]);

export const anchoredFactoryAbi = parseAbi([
  'struct AnchoredParameters { address base; address quote; bytes32 baseFeedId; bytes32 quoteFeedId; bytes32 classId; uint256 minMargin; uint256 maxRefStaleness; uint16 maxSpreadBps; bool mutableParams; int256 marginStep; address oracle; }',
  'function deploy(AnchoredParameters p) returns (address provider)',
  'function setSource(address provider, address source)',
]);

const REGULAR_PARAMETERS =
  'struct RegularParameters { address base; address quote; bytes32 feedId; int256 marginStep; uint256 maxTimeDelta; address oracle; }';

export const regularFactoryAbi = parseAbi([
  REGULAR_PARAMETERS,
  'function deploy(RegularParameters p) returns (address provider)',
]);

export const regularL2FactoryAbi = parseAbi([
  REGULAR_PARAMETERS,
  'function deploy(RegularParameters p, uint256 futureTolerance) returns (address provider)',
]);

export const manualProviderAbi = parseAbi(['function setQuote(uint128 bid, uint128 ask)']);

/** Of the stop losses of all generations. */
export const stopLossAdminAbi = parseAbi([
  'function proposeDrawdown(address pool, uint32 drawdownE6)',
  'function proposeDecay(address pool, uint64 decayPerSecond)',
  'function proposeTimelock(address pool, uint40 timelock)',
  'function executeDrawdown(address pool)',
  'function executeDecay(address pool)',
  'function executeTimelock(address pool)',
  'function cancelDrawdown(address pool)',
  'function cancelDecay(address pool)',
  'function cancelTimelock(address pool)',
  'error TimelockNotOver(uint256 executeAfter)',
]);

export const velocityAdminAbi = parseAbi(['function setMaxChangePerBlock(address pool, uint64 maxChangePerBlockE18)']);

export const allowlistAdminAbi = parseAbi([
  'function setAllowedToDeposit(address pool, address depositor, bool allowed)',
  'function setAllowAllDepositors(address pool, bool allowed)',
  'function setAllowedToSwap(address pool, address swapper, bool allowed)',
  'function setAllowAllSwappers(address pool, bool allowed)',
]);
