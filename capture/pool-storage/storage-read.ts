import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { storedLayout } from '../../protocol/layouts/adapters.ts';
import type { TokenScale } from '../../protocol/scaling.ts';
import type { StoredHead, StoredLayout } from '../../protocol/stored-layout.ts';

/** A pool whose storage is read. */
export type StoredPool = {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly scale: TokenScale;
  readonly layout: StoredLayout;
};

/** What one read gives of a pool; null for what was not read. */
export type StorageRead = {
  readonly head: StoredHead | null;
  readonly balance0Raw: bigint | null;
  readonly balance1Raw: bigint | null;
  /** Why the read is not used; null when it is. */
  readonly refusal: string | null;
};

/** Whether a chain has a factory whose pools' state is read from their storage. */
export const hasStoredPools = ({ deployments }: ChainConfig): boolean =>
  deployments.some(({ enabled, layout }) => enabled && storedLayout(layout) !== undefined);

/** The calls whose results {@link readStorage} takes: the pool's storage, and its balances of both tokens. */
export function storageCalls({ address, token0, token1, layout }: StoredPool): BoundedCall[] {
  return [{ target: address, ...layout.headCall }, balanceCall(token0, address), balanceCall(token1, address)];
}

/** Reads a pool's storage, and compares it with its token balances. */
export function readStorage(
  { layout, scale }: Pick<StoredPool, 'layout' | 'scale'>,
  [head, balance0, balance1]: readonly CallResult[],
): StorageRead {
  const read = {
    head: head ? layout.decodeHead(head) : null,
    balance0Raw: readBalance(balance0),
    balance1Raw: readBalance(balance1),
  };
  return { ...read, refusal: refusalOf(read, scale) };
}

/** Gives why a read is not used. A pool pays from its own balances, so totals above these were read wrongly. */
function refusalOf(
  { head, balance0Raw, balance1Raw }: Omit<StorageRead, 'refusal'>,
  { multiplier0, multiplier1 }: TokenScale,
): string | null {
  if (head === null) return 'the storage was not read';
  if (balance0Raw === null || balance1Raw === null) return 'a token did not report the balance of the pool';
  const balances = [balance0Raw * multiplier0, balance1Raw * multiplier1] as const;
  const short = ([0, 1] as const).find(
    (token) => head.totalsScaled[token] + head.notionalFeesScaled[token] > balances[token],
  );
  return short === undefined ? null : `totals and fees of token${short} exceed the balance`;
}
