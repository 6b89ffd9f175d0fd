import { encodeFunctionData } from 'viem';
import { liquidityAdderAbi } from '../abi.ts';
import type { Transaction } from '../dev-chain.ts';
import { flatPoolAbi } from '../protocol-abi.ts';
import { busyPools, deploymentOf, sharesOfBin, type TrafficWorld } from './world.ts';

const SALT = 1n;
/** For a bin without shares. */
const FRESH_SHARES = 10n ** 18n;
/** A bin keeps no shares or at least the pool's minimum. */
const MINIMUM_SHARES = 1_000n;

/** Adds up to a tenth to one to four bins of a busy pool. */
export async function planAddition(world: TrafficWorld): Promise<readonly Transaction[]> {
  const { chain, random, memory } = world;
  const pool = random.pick(busyPools(world));
  const first = random.integer(pool.lowestBin, pool.highestBin);
  const last = Math.min(pool.highestBin, first + random.integer(0, 3));
  const added = [];
  for (let bin = first; bin <= last; bin++) {
    const present = await sharesOfBin(world, pool.address, bin);
    const part = BigInt(random.integer(1, 100));
    const shares = present === 0n ? FRESH_SHARES : (present * part) / 1_000n + MINIMUM_SHARES;
    added.push({ pool: pool.address, bin, shares });
  }
  memory.positions.push(...added);
  const deltas = { binIdxs: added.map(({ bin }) => BigInt(bin)), shares: added.map(({ shares }) => shares) };
  const args = [pool.address, SALT, deltas] as const;
  const data = encodeFunctionData({ abi: liquidityAdderAbi, functionName: 'addLiquidity', args });
  return [{ from: chain.roles.trafficProvider, to: deploymentOf(world, pool).liquidityAdder, data }];
}

/** Takes back all or half of something that was added. */
export async function planRemoval({ chain, random, memory }: TrafficWorld): Promise<readonly Transaction[]> {
  if (memory.positions.length === 0) return [];
  const index = random.integer(0, memory.positions.length - 1);
  const position = memory.positions[index];
  if (position === undefined) return [];
  const partly = random.chance(30) && position.shares > 2n * MINIMUM_SHARES;
  const shares = partly ? position.shares / 2n : position.shares;
  if (partly) position.shares -= shares;
  else memory.positions.splice(index, 1);
  const owner = chain.roles.trafficProvider;
  const deltas = { binIdxs: [BigInt(position.bin)], shares: [shares] };
  const args = [owner, SALT, deltas, '0x'] as const;
  const data = encodeFunctionData({ abi: flatPoolAbi, functionName: 'removeLiquidity', args });
  return [{ from: owner, to: position.pool, data }];
}
