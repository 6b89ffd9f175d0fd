import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem';
import { MAX_UINT128 } from '../../protocol/fixed-point.ts';
import { extsload } from '../actions.ts';
import type { Deployment } from '../deploy.ts';
import type { DevChain } from '../dev-chain.ts';
import type { PackedDeployment } from '../packed/deploy.ts';
import type { ScenarioPool } from '../scenario/plan.ts';
import type { Scenario } from '../scenario.ts';
import type { Random } from './random.ts';

/** Shares that the traffic's provider holds in one bin. */
export interface Position {
  readonly pool: Address;
  readonly bin: number;
  shares: bigint;
}

/** What the traffic remembers of its own doing. */
export interface TrafficMemory {
  readonly positions: Position[];
  /** How far each feed is from where it began, millionths. */
  readonly feedOffsetsE6: Map<Hex, number>;
}

export interface TrafficWorld {
  readonly chain: DevChain;
  readonly scenario: Scenario;
  readonly random: Random;
  readonly memory: TrafficMemory;
}

/** What the traffic looks at before it acts on a pool. */
export interface PoolGlance {
  readonly pauseLevel: number;
  readonly bin: number;
  /** Scaled units. */
  readonly total0: bigint;
  readonly total1: bigint;
}

const SHARES_SLOT = 5n;

export function busyPools({ scenario }: TrafficWorld): readonly ScenarioPool[] {
  return scenario.pools.filter(({ busy }) => busy);
}

/** What a pool was made with. */
export function deploymentOf({ scenario }: TrafficWorld, { generation }: ScenarioPool): Deployment | PackedDeployment {
  if (generation === 'flat') return scenario.deployment;
  if (scenario.packed === undefined) throw new Error('the scenario has no packed factory');
  return scenario.packed;
}

export async function glance({ chain }: TrafficWorld, { address, generation }: ScenarioPool): Promise<PoolGlance> {
  const [head, totals] = await readWords(chain, address, [numberToHex(0, { size: 32 }), numberToHex(1, { size: 32 })]);
  return {
    pauseLevel: Number(head & 0xffn),
    bin: Number(BigInt.asIntN(generation === 'flat' ? 8 : 16, head >> 8n)),
    total0: totals & MAX_UINT128,
    total1: totals >> 128n,
  };
}

/** Total shares of a bin. */
export async function sharesOfBin({ chain }: TrafficWorld, pool: Address, bin: number): Promise<bigint> {
  const key = encodeAbiParameters([{ type: 'int256' }, { type: 'uint256' }], [BigInt(bin), SHARES_SLOT]);
  const [shares] = await readWords(chain, pool, [keccak256(key)]);
  return shares;
}

async function readWords(chain: DevChain, pool: Address, slots: readonly Hex[]): Promise<[bigint, bigint]> {
  const [first = '0x0', second = '0x0'] = await extsload(chain, pool, slots);
  return [BigInt(first), BigInt(second)];
}
