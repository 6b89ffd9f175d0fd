import { type Address, decodeAbiParameters, encodeFunctionData, type Hex, zeroAddress } from 'viem';
import { stopLossAdminAbi } from '../abi.ts';
import { staticCall, type Transaction } from '../dev-chain.ts';
import { packedFactoryFunctions } from '../packed/abi.ts';
import { factoryAbi } from '../protocol-abi.ts';
import type { ScenarioPool } from '../scenario/plan.ts';
import { busyPools, deploymentOf, glance, type TrafficWorld } from './world.ts';

/** Pays out fees of a busy pool, or changes a setting of one that may change. */
export async function planAdministration(
  world: TrafficWorld,
  kind: 'collect' | 'administer',
): Promise<readonly Transaction[]> {
  if (kind === 'collect') {
    const pool = world.random.pick(busyPools(world));
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'collectPoolFees', args: [pool.address] });
    return [toFactory(world, pool, world.chain.roles.untrusted, data)];
  }
  const unpausing = await planUnpausing(world);
  if (unpausing !== undefined) return [unpausing];
  const pool = world.random.pick(busyPools(world).filter(({ settled }) => !settled));
  const admin = await readAddress(world, 'poolAdmin', pool);
  const change = world.random.pick(CHANGES);
  return [await change(world, pool, admin)];
}

type Change = (world: TrafficWorld, pool: ScenarioPool, admin: Address) => Transaction | Promise<Transaction>;

const CHANGES: readonly Change[] = [
  changeBinFees,
  changeBinFees,
  changeAdminFees,
  changeProtocolFees,
  changeFeeDestination,
  pausePool,
  transferAdmin,
  transferAdmin,
  proposeDrawdown,
];

/** A busy pool does not stay paused: the next change ends its pause. */
async function planUnpausing(world: TrafficWorld): Promise<Transaction | undefined> {
  for (const pool of busyPools(world)) {
    const { pauseLevel } = await glance(world, pool);
    if (pauseLevel === 0) continue;
    const functionName = pauseLevel === 2 ? 'protocolUnpausePool' : 'unpausePool';
    const admin = await readAddress(world, 'poolAdmin', pool);
    const from = pauseLevel === 2 ? world.chain.roles.owner : admin;
    return toFactory(world, pool, from, encodeFunctionData({ abi: factoryAbi, functionName, args: [pool.address] }));
  }
  return undefined;
}

function changeBinFees(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const { random } = world;
  const bin = random.integer(pool.lowestBin, pool.highestBin);
  const args = [pool.address, bin, random.integer(0, 600), random.integer(0, 600)] as const;
  const functionName = 'setPoolBinAdditionalFees';
  const data =
    pool.generation === 'flat'
      ? encodeFunctionData({ abi: factoryAbi, functionName, args })
      : encodeFunctionData({ abi: packedFactoryFunctions, functionName, args });
  return toFactory(world, pool, admin, data);
}

function changeAdminFees(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const args = [pool.address, 1_000 * world.random.integer(0, 300), 10 * world.random.integer(0, 400)] as const;
  return toFactory(world, pool, admin, encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolAdminFees', args }));
}

function changeProtocolFees(world: TrafficWorld, pool: ScenarioPool): Transaction {
  const args = [pool.address, 1_000 * world.random.integer(100, 300), 10 * world.random.integer(0, 50)] as const;
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolProtocolFee', args });
  return toFactory(world, pool, world.chain.roles.owner, data);
}

function changeFeeDestination(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const { feeDestination, untrusted } = world.chain.roles;
  const args = [pool.address, world.random.pick([feeDestination, untrusted])] as const;
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolAdminFeeDestination', args });
  return toFactory(world, pool, admin, data);
}

function pausePool(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const byProtocol = world.random.chance(30);
  const functionName = byProtocol ? 'protocolPausePool' : 'pausePool';
  const from = byProtocol ? world.chain.roles.owner : admin;
  return toFactory(world, pool, from, encodeFunctionData({ abi: factoryAbi, functionName, args: [pool.address] }));
}

/** Proposes the other curator; when somebody is proposed already, ends that one way or the other. */
async function transferAdmin(world: TrafficWorld, pool: ScenarioPool, admin: Address): Promise<Transaction> {
  const { curator, otherCurator } = world.chain.roles;
  const pending = await readAddress(world, 'pendingPoolAdmin', pool);
  if (pending === zeroAddress) {
    const args = [pool.address, admin === curator.toLowerCase() ? otherCurator : curator] as const;
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'proposePoolAdminTransfer', args });
    return toFactory(world, pool, admin, data);
  }
  const accepted = world.random.chance(60);
  const functionName = accepted ? 'acceptPoolAdmin' : 'cancelPoolAdminTransfer';
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args: [pool.address] });
  return toFactory(world, pool, accepted ? pending : admin, data);
}

/** Refused by pools without an initialised stop loss. */
function proposeDrawdown(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const { random } = world;
  const data = random.chance(50)
    ? encodeFunctionData({
        abi: stopLossAdminAbi,
        functionName: 'proposeDrawdown',
        args: [pool.address, 1_000 * random.integer(100, 150)],
      })
    : encodeFunctionData({ abi: stopLossAdminAbi, functionName: 'cancelDrawdown', args: [pool.address] });
  return { from: admin, to: deploymentOf(world, pool).stopLoss, data };
}

function toFactory(world: TrafficWorld, pool: ScenarioPool, from: Address, data: Hex): Transaction {
  return { from, to: deploymentOf(world, pool).poolFactory, data };
}

async function readAddress(
  world: TrafficWorld,
  functionName: 'poolAdmin' | 'pendingPoolAdmin',
  pool: ScenarioPool,
): Promise<Address> {
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args: [pool.address] });
  const answer = await staticCall(world.chain, { to: deploymentOf(world, pool).poolFactory, data });
  return decodeAbiParameters([{ type: 'address' }], answer.data)[0].toLowerCase() as Address;
}
