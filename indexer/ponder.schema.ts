// biome-ignore-all lint/performance/noBarrelFile: Ponder takes all tables from one module.
// When its cache is full, Ponder evicts tables in this order. Tables that every swap reads come after the event tables.
export { poolActivity } from './schema/activity.ts';
export { allowlist, allowlistEntry, priceVelocity, stopLoss, stopLossWatermark } from './schema/extensions.ts';
export { factory, factoryCollection } from './schema/factories.ts';
export { feeCollection, liquidityChange, liquidityChangeBin, swap } from './schema/pool-events.ts';
export { pool, poolExtension, poolState, token } from './schema/pools.ts';
export { priceProvider, priceProviderSetting } from './schema/providers.ts';
export { v0Pool, v0Swap } from './schema/v0.ts';
