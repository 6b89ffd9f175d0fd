import { type Address, parseAbi } from 'viem';

/** The factory of the oldest generation of pools, on each chain that has one. */
export const V0_POOL_FACTORY: Address = '0xe22f9fc0f04486de25ed6cf1800a4a47afd82e0c';

/** Event by which it announces pools. */
export const v0FactoryEvents = parseAbi([
  'event PoolCreated(address indexed token0, address indexed token1, address indexed priceProvider, address pool, bytes32 salt)',
]);

/** Event of trades of its pools. Deltas are raw units, positive into the pool. */
export const v0PoolEvents = parseAbi([
  'event Swap(address sender, address recipient, bool exactInput, int128 amount0Delta, int128 amount1Delta, int16 newTick, uint104 newPositionInBin)',
]);
