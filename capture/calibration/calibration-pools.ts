import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { CalibrationPool } from '../../protocol/calibration.ts';
import type { FactoryKey } from './calibration-rows.ts';

type PoolRow = Omit<CalibrationPool, 'scale'> & { readonly multiplier0: string; readonly multiplier1: string };

const tradedRows = loadStatement<PoolRow & { readonly swaps: number }>('./traded-pools.sql', import.meta.url);
const fundedRows = loadStatement<PoolRow>('./funded-pools.sql', import.meta.url);
const rowsWithStopLoss = loadStatement<PoolRow>('./pools-with-stop-loss.sql', import.meta.url);

/** Reads the pools of a factory with most of its chain's newest swaps, and their numbers of these, most first. */
export async function tradedPools(
  database: Queryable,
  { chainId, factory }: FactoryKey,
): Promise<readonly (CalibrationPool & { readonly swaps: number })[]> {
  return (await tradedRows(database, [chainId, factory])).map(withScale);
}

/** Reads some pools of a factory whose storage says that they hold something. */
export async function fundedPools(
  database: Queryable,
  { chainId, factory }: FactoryKey,
): Promise<readonly CalibrationPool[]> {
  return (await fundedRows(database, [chainId, factory])).map(withScale);
}

/**
 * Reads pools of a factory that run its stop loss, highest TVL first: anyone can create one with a provider of theirs.
 */
export async function poolsWithStopLoss(
  database: Queryable,
  { chainId, factory }: FactoryKey,
  stopLoss: Address,
): Promise<readonly CalibrationPool[]> {
  return (await rowsWithStopLoss(database, [chainId, factory, stopLoss])).map(withScale);
}

const withScale = <R extends PoolRow>({ multiplier0, multiplier1, ...pool }: R) => ({
  ...pool,
  scale: { multiplier0: BigInt(multiplier0), multiplier1: BigInt(multiplier1) },
});
