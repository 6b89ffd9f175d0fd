import type { Address } from 'viem';
import { ApiError, badRequest, internalError, unavailable } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import type { SnapshotError } from '../snapshots/types.ts';

/** The answer to a pool that is unknown, delisted, on another chain or on a disabled release. */
export const poolNotServed = (pool: Address): ApiError =>
  new ApiError(404, { error: `Pair metadata not found for ${pool}` });

/** The answer to a pool without a snapshot: 500 when the chain did not give it, 503 when it did not come in time. */
export function snapshotFailure(error: SnapshotError): ApiError {
  return error.code === 'timed_out' ? unavailable(error) : internalError(error);
}

/** @throws ApiError 400 with the text for what is wrong with the address of the path */
export function poolAddressParam(text: string): Address {
  const address = parseAddress(text);
  if (address) return address;
  const hasPrefix = /^0x/i.test(text);
  throw badRequest(hasPrefix ? 'Invalid pool address format' : 'pool_address is not a valid EVM address');
}
