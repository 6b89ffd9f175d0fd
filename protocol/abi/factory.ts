import { parseAbi } from 'viem';

const STRUCTS = [
  'struct ExtensionOrders { uint256 beforeAddLiquidity; uint256 afterAddLiquidity; uint256 beforeRemoveLiquidity; uint256 afterRemoveLiquidity; uint256 beforeSwap; uint256 afterSwap; }',
  'struct PoolParameters { address token0; address token1; address priceProvider; address[] extensions; ExtensionOrders extensionOrders; bytes[] extensionInitData; uint256 priceProviderTimelock; address admin; uint256 initialAmount0PerShareE18; uint256 initialAmount1PerShareE18; uint256 minimalMintableLiquidity; uint24 adminSpreadFeeE6; uint24 adminNotionalFeeE8; address adminFeeDestination; int24 curBinDistFromProvidedPriceE6; uint256[] nonNegativeBinDataArray; uint256[] negativeBinDataArray; bytes32 salt; }',
] as const;

/** PoolFactory: what it emits. */
export const factoryEvents = parseAbi([
  ...STRUCTS,
  'event PoolCreated(address indexed poolAddress, address indexed token0, address indexed token1, uint256 poolIdx, address factory, address admin, address priceProvider, address[] extensions, ExtensionOrders extensionOrders, uint256 priceProviderTimelock, uint256 initialAmount0PerShareE18, uint256 initialAmount1PerShareE18, uint256 minimalMintableLiquidity, uint24 spreadProtocolFeeE6, uint24 protocolNotionalFeeE8, uint24 adminSpreadFeeE6, uint24 adminNotionalFeeE8, address adminFeeDestination, int24 curBinDistFromProvidedPriceE6, uint256[] nonNegativeBinDataArray, uint256[] negativeBinDataArray)',
  'event PoolAdminSpreadFeeUpdated(address indexed pool, uint24 newAdminSpreadFeeE6)',
  'event PoolAdminNotionalFeeUpdated(address indexed pool, uint24 newAdminNotionalFeeE8)',
  'event PoolProtocolSpreadFeeUpdated(address indexed pool, uint24 newProtocolSpreadFeeE6)',
  'event PoolProtocolNotionalFeeUpdated(address indexed pool, uint24 newProtocolNotionalFeeE8)',
  'event PoolAdminFeeDestinationUpdated(address indexed pool, address newAdminFeeDestination)',
  'event PoolAdminTransferProposed(address indexed pool, address indexed currentAdmin, address indexed newAdmin)',
  'event PoolAdminTransferCancelled(address indexed pool, address indexed cancelledPendingAdmin)',
  'event PoolAdminTransferred(address indexed pool, address indexed previousAdmin, address indexed newAdmin)',
  'event PoolPriceProviderChangeProposed(address indexed pool, address indexed currentPriceProvider, address indexed newPriceProvider, uint256 executeAfter)',
  'event PoolPriceProviderUpdated(address indexed pool, address indexed newPriceProvider)',
  'event SpreadProtocolFeeDefaultUpdated(uint24 oldFeeE6, uint24 newFeeE6)',
  'event ProtocolNotionalFeeDefaultUpdated(uint24 oldFeeE8, uint24 newFeeE8)',
  'event FeeCapsUpdated(uint24 maxProtocolSpreadFeeE6, uint24 maxAdminSpreadFeeE6, uint24 maxProtocolNotionalFeeE8, uint24 maxAdminNotionalFeeE8)',
  'event PoolDeployerSet(address indexed poolDeployer)',
  'event TokensCollected(address indexed token, address indexed to, uint256 amount)',
]);

/** PoolFactory: reads and administration. */
export const factoryFunctions = parseAbi([
  ...STRUCTS,
  'function createPool(PoolParameters params) returns (address pool)',
  'function poolFeeConfig(address pool) view returns (uint24 protocolSpreadFeeE6, uint24 adminSpreadFeeE6, uint24 protocolNotionalFeeE8, uint24 adminNotionalFeeE8)',
  'function poolAdmin(address pool) view returns (address)',
  'function pendingPoolAdmin(address pool) view returns (address)',
  'function pendingPriceProvider(address pool) view returns (address)',
  'function poolAdminFeeDestination(address pool) view returns (address)',
  'function priceProviderTimelock(address pool) view returns (uint256)',
  'function pendingPriceProviderExecuteAfter(address pool) view returns (uint256)',
  'function isPool(address pool) view returns (bool)',
  'function poolToIdx(address pool) view returns (uint256)',
  'function idxToPool(uint256 poolIdx) view returns (address)',
  'function nextPoolIdx() view returns (uint256)',
  'function poolDeployer() view returns (address)',
  'function setPoolAdminFees(address pool, uint24 spreadFeeE6, uint24 notionalFeeE8)',
  'function setPoolProtocolFee(address pool, uint24 spreadFeeE6, uint24 notionalFeeE8)',
  'function setPoolAdminFeeDestination(address pool, address destination)',
  'function setPoolBinAdditionalFees(address pool, int8 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
  'function pausePool(address pool)',
  'function unpausePool(address pool)',
  'function protocolPausePool(address pool)',
  'function protocolUnpausePool(address pool)',
  'function proposePoolPriceProvider(address pool, address newPriceProvider)',
  'function executePoolPriceProviderUpdate(address pool)',
  'function proposePoolAdminTransfer(address pool, address newAdmin)',
  'function acceptPoolAdmin(address pool)',
  'function cancelPoolAdminTransfer(address pool)',
  'function collectPoolFees(address pool)',
]);
