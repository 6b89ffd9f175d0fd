import fc from 'fast-check';
import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import type { RequestedPool } from '../requested/requested-pools.ts';
import {
  FORGET_MS,
  isAlone,
  NO_PEERS,
  nextPeers,
  type PeersState,
  REPORT_MS,
  WHOLE_REPORT_MS,
} from './peer-requests.ts';

const TICK_MS = 250;
const pool = (number: number): RequestedPool => ({
  address: numberToHex(number, { size: 20 }),
  kind: 'prices',
  byKey: false,
});

interface Process {
  id: string;
  state: PeersState;
  pools: readonly RequestedPool[];
  isGone: boolean;
  elsewhere: readonly RequestedPool[];
}

/** Three processes that report to each other. Time passes by `wait` alone. */
class Peers {
  readonly processes = ['0', '1', '2'].map(
    (id): Process => ({ id, state: NO_PEERS, pools: [], isGone: false, elsewhere: [] }),
  );
  reports = 0;
  /** How many reports are lost from now on. */
  loses = 0;
  #now = 0;
  #starts = this.processes.length;

  get alive(): readonly Process[] {
    return this.processes.filter(({ isGone }) => !isGone);
  }

  of(number: number): Process {
    return this.processes[number] as Process;
  }

  /** Lets a process miss what others reported, as one that starts again. */
  restart(number: number): void {
    const restarted = this.of(number);
    restarted.id = `${this.#starts++}`;
    this.#take(restarted, { kind: 'missed' });
  }

  wait(ms: number): void {
    for (const end = this.#now + ms; this.#now < end; ) {
      this.#now += TICK_MS;
      for (const each of this.alive) this.#take(each, { kind: 'own', pools: each.pools });
    }
  }

  #take(of: Process, event: Parameters<typeof nextPeers>[1]): void {
    const [state, { elsewhere, report }] = nextPeers(of.state, event, this.#now);
    of.state = state;
    of.elsewhere = elsewhere ?? of.elsewhere;
    if (report === undefined) return;
    this.reports += 1;
    for (const other of this.alive) {
      if (other === of) continue;
      this.loses -= 1;
      if (this.loses < 0) this.#take(other, { kind: 'report', id: of.id, pools: report });
    }
  }
}

const process = fc.nat({ max: 2 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(250, 1_000, 5_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('request' as const), process, pools: fc.uniqueArray(fc.nat({ max: 3 })) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose' as const), count: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('missed' as const, 'gone' as const), process }) },
);

const addresses = (pools: readonly RequestedPool[]) => [...new Set(pools.map(({ address }) => address))].sort();

test('property: whatever is lost, a process knows what clients request of all others, and forgets those that are gone', () => {
  let known = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const peers = new Peers();
      for (const each of steps) {
        peers.loses = Math.max(peers.loses, 0);
        if (each.do === 'wait') peers.wait(each.ms);
        if (each.do === 'request') peers.of(each.process).pools = each.pools.map(pool);
        if (each.do === 'lose') peers.loses = each.count;
        if (each.do === 'gone') peers.of(each.process).isGone = true;
        if (each.do === 'missed') peers.restart(each.process);
      }
      peers.loses = 0;
      peers.wait(WHOLE_REPORT_MS + TICK_MS + FORGET_MS);
      for (const each of peers.alive) {
        const requested = peers.alive.flatMap((other) => (other === each ? [] : other.pools));
        expect(addresses(each.elsewhere)).toEqual(addresses(requested));
        if (requested.length > 0) expect(isAlone(each.state)).toBe(false);
        known += requested.length;
      }
      // What stays the same is reported every few seconds.
      const before = peers.reports;
      peers.wait(REPORT_MS);
      expect(peers.reports - before).toBeLessThanOrEqual(2 * peers.processes.length);
    }),
  );
  expect(known).toBeGreaterThan(50);
});

test('a process without requests is silent; a new one makes all others list theirs', () => {
  expect(nextPeers(NO_PEERS, { kind: 'own', pools: [] }, 0)[1].report).toBeUndefined();
  const [one] = nextPeers(NO_PEERS, { kind: 'own', pools: [pool(1)] }, 0);
  const [still, { report }] = nextPeers(one, { kind: 'own', pools: [pool(1)] }, 250);
  expect(report).toBeUndefined();
  const [met, { isNewPeer, elsewhere }] = nextPeers(still, { kind: 'report', id: 'new', pools: [pool(2)] }, 300);
  expect([isNewPeer, elsewhere]).toEqual([true, [pool(2)]]);
  expect(nextPeers(met, { kind: 'own', pools: [pool(1)] }, 500)[1].report).toEqual([pool(1)]);
  expect(nextPeers(met, { kind: 'report', id: 'new', pools: null }, 600)[1].isNewPeer).toBe(false);
});
