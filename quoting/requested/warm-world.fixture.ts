import { type Address, toHex } from 'viem';
import { expect } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { ChainTail } from '../heads/chain-tail.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { Snapshot } from '../types.ts';
import { nextWarm } from './next-warm.ts';
import type { WarmResult } from './warm-result.ts';
import type { WarmRead } from './warm-schedule.ts';
import { ASLEEP, type WarmEvent, type WarmStep } from './warm-state.ts';

export const KEEP_MS = 2_000;
export const BRANCH = ChainTail.EMPTY;

/** @param digest of what is pending on the block; undefined: nothing is */
export const headAt = (number: number, digest?: string): ReportedHead => {
  const [hash, parent] = [number, number - 1].map((each) => toHex(each, { size: 32 }));
  const pending = digest === undefined ? {} : { pending: { digest } };
  const block = { number: BigInt(number), hash, parents: [parent], timestamp: BigInt(number), ...pending };
  return { block: block as ReportedHead['block'], endpoint: null as never };
};
export const READS = (['prices', 'depths'] as const).flatMap((kind) =>
  [1, 2, 3].map((index): WarmRead => {
    const address = toHex(index, { size: 20 });
    return { address, kind, byKey: true, pool: { address } as ServedPool };
  }),
);
export const FAILURE = new SnapshotError('timed_out', 'no node gives the head');

/** How a step ends. By their indexes: reads that give no snapshot, or a provisional one. */
interface End {
  readonly failing?: readonly number[];
  readonly provisional?: readonly number[];
  readonly isDown?: boolean;
}

/** A chain whose steps end when the test says so. */
export function startWarming() {
  const world = {
    now: 0,
    state: ASLEEP,
    step: null as WarmStep | null,
    head: headAt(1),
    requested: [] as readonly WarmRead[],
    isWatching: false,
    results: [] as (WarmResult | null)[],
  };
  const take = (event: WarmEvent) => {
    const [state, effects] = nextWarm(world.state, event, world.now, KEEP_MS);
    world.state = state;
    if (effects.watch !== null) world.isWatching = effects.watch;
    world.results.push(...effects.results);
    if (!effects.step) return;
    expect(world.step).toBe(null);
    world.step = effects.step;
  };
  /** Ends the step in progress. */
  const endStep = ({ failing = [], provisional = [], isDown = false }: End = {}) => {
    const { step } = world;
    world.step = null;
    if (step?.kind === 'begin') take({ kind: 'begun', isRequested: world.requested.length > 0 });
    if (step?.kind === 'locate') take({ kind: 'located', newest: isDown ? FAILURE : world.head });
    if (step?.kind === 'list') take({ kind: 'listed', reads: world.requested, isShared: false });
    if (step?.kind === 'end') take({ kind: 'ended', ahead: step.reads });
    if (step?.kind !== 'read') return;
    const isProvisional = (pool: Address, of: string) =>
      provisional.some((index) => READS[index]?.address === pool && READS[index]?.kind === of);
    for (const kind of ['prices', 'depths'] as const) {
      const made = step.pending.filter((read) => read.kind === kind && !failing.includes(READS.indexOf(read)));
      const outcomes = made.map(({ address }): [Address, Snapshot] => [
        address,
        { block: step.head.block, ...(isProvisional(address, kind) && { isProvisional: true }) } as unknown as Snapshot,
      ]);
      take({ kind: 'outcomes', of: kind, outcomes: new Map(outcomes) });
    }
    take({ kind: 'read' });
  };
  const settle = () => {
    while (world.step) endStep();
  };
  return { world, take, endStep, settle };
}
