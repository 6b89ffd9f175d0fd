import { type Address, decodeAbiParameters, encodeFunctionData, type Hex, zeroAddress } from 'viem';
import { stopLossAdminAbi } from '../abi.ts';
import { staticCall, type Transaction } from '../dev-chain.ts';
import { factoryAbi } from '../protocol-abi.ts';
import type { ScenarioPool } from '../scenario/plan.ts';
import { busyPools, glance, type TrafficWorld } from './world.ts';

/** Pays out fees of a busy pool, or changes a setting of one that may change. */
export async function planAdministration(
  world: TrafficWorld,
  kind: 'collect' | 'administer',
): Promise<readonly Transaction[]> {
  if (kind === 'collect') {
    const pool = world.random.pick(busyPools(world)).address;
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'collectPoolFees', args: [pool] });
    return [toFactory(world, world.chain.roles.stranger, data)];
  }
  const unpausing = await planUnpausing(world);
  if (unpausing !== undefined) return [unpausing];
  const pool = world.random.pick(busyPools(world).filter(({ settled }) => !settled));
  const admin = await readAddress(world, 'poolAdmin', pool.address);
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
  for (const { address } of busyPools(world)) {
    const { pauseLevel } = await glance(world, address);
    if (pauseLevel === 0) continue;
    const functionName = pauseLevel === 2 ? 'protocolUnpausePool' : 'unpausePool';
    const admin = await readAddress(world, 'poolAdmin', address);
    const from = pauseLevel === 2 ? world.chain.roles.owner : admin;
    return toFactory(world, from, encodeFunctionData({ abi: factoryAbi, functionName, args: [address] }));
  }
  return undefined;
}

function changeBinFees(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const { random } = world;
  const bin = random.integer(pool.lowestBin, pool.highestBin);
  const args = [pool.address, bin, random.integer(0, 600), random.integer(0, 600)] as const;
  return toFactory(
    world,
    admin,
    encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolBinAdditionalFees', args }),
  );
}

function changeAdminFees(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const args = [pool.address, 1_000 * world.random.integer(0, 300), 10 * world.random.integer(0, 400)] as const;
  return toFactory(world, admin, encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolAdminFees', args }));
}

function changeProtocolFees(world: TrafficWorld, pool: ScenarioPool): Transaction {
  const args = [pool.address, 1_000 * world.random.integer(100, 300), 10 * world.random.integer(0, 50)] as const;
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolProtocolFee', args });
  return toFactory(world, world.chain.roles.owner, data);
}

function changeFeeDestination(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const { feeDestination, stranger } = world.chain.roles;
  const args = [pool.address, world.random.pick([feeDestination, stranger])] as const;
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'setPoolAdminFeeDestination', args });
  return toFactory(world, admin, data);
}

function pausePool(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const byProtocol = world.random.chance(30);
  const functionName = byProtocol ? 'protocolPausePool' : 'pausePool';
  const from = byProtocol ? world.chain.roles.owner : admin;
  return toFactory(world, from, encodeFunctionData({ abi: factoryAbi, functionName, args: [pool.address] }));
}

/** Proposes the other curator; when somebody is proposed already, ends that one way or the other. */
async function transferAdmin(world: TrafficWorld, pool: ScenarioPool, admin: Address): Promise<Transaction> {
  const { curator, otherCurator } = world.chain.roles;
  const pending = await readAddress(world, 'pendingPoolAdmin', pool.address);
  if (pending === zeroAddress) {
    const args = [pool.address, admin === curator.toLowerCase() ? otherCurator : curator] as const;
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'proposePoolAdminTransfer', args });
    return toFactory(world, admin, data);
  }
  const accepted = world.random.chance(60);
  const functionName = accepted ? 'acceptPoolAdmin' : 'cancelPoolAdminTransfer';
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args: [pool.address] });
  return toFactory(world, accepted ? pending : admin, data);
}

/** Refused by pools without an initialised stop loss. */
function proposeDrawdown(world: TrafficWorld, pool: ScenarioPool, admin: Address): Transaction {
  const { random, scenario } = world;
  const data = random.chance(50)
    ? encodeFunctionData({
        abi: stopLossAdminAbi,
        functionName: 'proposeDrawdown',
        args: [pool.address, 1_000 * random.integer(100, 150)],
      })
    : encodeFunctionData({ abi: stopLossAdminAbi, functionName: 'cancelDrawdown', args: [pool.address] });
  return { from: admin, to: scenario.deployment.stopLoss, data };
}

function toFactory({ scenario }: TrafficWorld, from: Address, data: Hex): Transaction {
  return { from, to: scenario.deployment.poolFactory, data };
}

async function readAddress(
  { chain, scenario }: TrafficWorld,
  functionName: 'poolAdmin' | 'pendingPoolAdmin',
  pool: Address,
): Promise<Address> {
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args: [pool] });
  const answer = await staticCall(chain, { to: scenario.deployment.poolFactory, data });
  return decodeAbiParameters([{ type: 'address' }], answer.data)[0].toLowerCase() as Address;
}
