import { RpcFailure } from '../../chain/rpc-failure.ts';

/**
 * Most failures of a run: enough to find one of 50 that fails, and few where all fail,
 * as at a node without past states.
 */
const MAX_FAILURES = 10;

/**
 * Reads items together; where that fails, each half, until what makes it fail is alone.
 *
 * 1. An item has its own result, or undefined where it was not read.
 * 2. One item that fails alone keeps no other one from being read.
 * 3. No more than {@link MAX_FAILURES} requests fail, and none follows where the node takes none.
 *
 * @param read gives a result for each of some items, in their order
 * @throws what `read` throws other than an RpcFailure
 */
export async function readInHalves<T, R>(
  items: readonly T[],
  read: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<readonly (R | undefined)[]> {
  let left = MAX_FAILURES;
  const readSome = async (some: readonly T[]): Promise<readonly (R | undefined)[]> => {
    if (left === 0 || some.length === 0) return some.map(() => undefined);
    try {
      return await read(some);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      left = isOfAll(error) ? 0 : left - 1;
    }
    if (some.length === 1) return [undefined];
    const half = Math.ceil(some.length / 2);
    return [...(await readSome(some.slice(0, half))), ...(await readSome(some.slice(half)))];
  };
  return readSome(items);
}

/** Whether fewer items would fail as well. */
const isOfAll = (failure: RpcFailure): boolean =>
  failure.isLimit || failure.code === 'unreachable' || failure.code === 'paused' || failure.code === 'wrong_chain';
