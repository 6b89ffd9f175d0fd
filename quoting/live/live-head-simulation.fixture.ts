import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { ChainTail } from '../heads/chain-tail.ts';
import { type LiveInputs, noLiveHead } from './live-head-state.ts';
import { type LiveEvent, nextLiveHead } from './next-live-head.ts';
import type { PendingOverrides } from './sourced-block.ts';

export const PACE = { blockTimeMs: 2_000, maxAgeMs: 1_300 };
export const ACCOUNT: Address = `0x${'0a'.repeat(20)}`;
const TOKEN: Address = `0x${'0b'.repeat(20)}`;
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const hashOf = (number: number, fork: number): Hex => word(1_000 * fork + number);
const committedHead = (number: number, fork: number): ReportedHead => ({
  block: {
    number: BigInt(number),
    hash: hashOf(number, fork),
    parents: [hashOf(number - 1, fork)],
    timestamp: BigInt(2 * number),
  },
  endpoint: null,
});

/** A shell whose time is a number: it does at each time what is due. */
export class Simulation {
  now = 0;
  state = noLiveHead;
  committed = committedHead(10, 0);
  top = 10n;
  overrides: PendingOverrides | undefined;
  isProtectedKnown = true;
  readonly announced: { readonly head: ReportedHead; readonly at: number }[] = [];
  /** What was taken, where that changed. */
  readonly taken: { readonly head: ReportedHead; readonly committed: ReportedHead; readonly at: number }[] = [];

  get inputs(): LiveInputs {
    const protectedAccounts = this.isProtectedKnown ? new Set([TOKEN]) : undefined;
    const { committed, top, overrides } = this;
    return { committed, top, overrides, protectedAccounts };
  }

  take(event: LiveEvent): void {
    const [state, { announce }] = nextLiveHead(this.state, event, this.now, PACE);
    this.state = state;
    if (announce) this.announced.push({ head: announce.head, at: this.now });
    const { taken } = state;
    if (taken && taken.head !== this.taken.at(-1)?.head)
      this.taken.push({ head: taken.head, committed: taken.committed, at: this.now });
    this.#wakeUpBefore(this.now);
  }

  ask(): ReportedHead['block'] | undefined {
    this.take({ kind: 'asked', inputs: this.inputs });
    return this.state.taken?.head.block;
  }

  frame(blockNumber: bigint, value: number): void {
    const slots = new Map([[word(1), word(value)]]);
    const overrides = new Map([ACCOUNT, TOKEN].map((account) => [account, slots]));
    const digest = `${blockNumber} ${value}`;
    this.overrides = { blockNumber, timestamp: null, overrides, digest, receivedAt: this.now };
    this.take({ kind: 'merged', overrides: this.overrides });
    this.take({ kind: 'frame' });
  }

  commit(number: number, fork: number): void {
    this.committed = committedHead(number, fork);
    this.top = BigInt(number);
    this.take({ kind: 'committed', branch: ChainTail.EMPTY.endingWith(this.committed.block), inputs: this.inputs });
  }

  wait(ms: number): void {
    const until = this.now + ms;
    this.#wakeUpBefore(until);
    this.now = until;
  }

  #wakeUpBefore(until: number): void {
    for (let { wakeAt } = this.state; wakeAt !== null && wakeAt <= until; { wakeAt } = this.state) {
      this.now = Math.max(this.now, wakeAt);
      this.take({ kind: 'time', inputs: this.inputs });
    }
  }
}

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'block'; readonly by: number }
  | { readonly do: 'frame'; readonly ahead: bigint; readonly value: number }
  | { readonly do: 'top' | 'refused' | 'ignored' | 'unknown' | 'cancel' | 'watch' | 'unwatch' };

export const waits = fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 900 }) });
export const blocks = fc.record({ do: fc.constant('block' as const), by: fc.integer({ min: -1, max: 2 }) });
export const frames = fc.record({
  do: fc.constant('frame' as const),
  ahead: fc.bigInt(-1n, 3n),
  value: fc.integer({ min: 1, max: 3 }),
});
export const others = fc.record({
  do: fc.constantFrom(...(['top', 'refused', 'ignored', 'unknown', 'cancel', 'watch', 'unwatch'] as const)),
});

/** @param forks counts the branches so far */
export function happen(world: Simulation, step: Step, forks: { count: number }): void {
  const { number } = world.committed.block;
  switch (step.do) {
    case 'wait':
      world.wait(step.ms);
      break;
    case 'frame':
      world.frame(number + step.ahead, step.value);
      break;
    case 'block':
      if (step.by <= 0) forks.count += 1;
      world.commit(Number(number) + step.by, forks.count);
      break;
    case 'top':
      world.top += 1n;
      break;
    case 'refused':
    case 'ignored':
      world.take({ kind: 'rejected', by: step.do });
      break;
    case 'unknown':
      world.isProtectedKnown = !world.isProtectedKnown;
      break;
    case 'cancel':
      world.overrides = undefined;
      break;
    case 'watch':
      world.take({ kind: 'watched' });
      break;
    case 'unwatch':
      if (world.state.watchers > 0) world.take({ kind: 'unwatched' });
  }
}
