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
  newPeers: number;
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

test('property: whatever is lost, a process knows what clients request of all others, and forgets those that are gone', () => {
  let known = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let [now, loses, starts, reports] = [0, 0, 3, 0];
      const processes = [0, 1, 2].map(
        (number): Process => ({
          id: `${number}`,
          state: NO_PEERS,
          pools: [],
          isGone: false,
          elsewhere: [],
          newPeers: 0,
        }),
      );
      const take = (of: Process, event: Parameters<typeof nextPeers>[1]): void => {
        const [state, { elsewhere, isNewPeer, report }] = nextPeers(of.state, event, now);
        of.state = state;
        of.elsewhere = elsewhere ?? of.elsewhere;
        of.newPeers += Number(isNewPeer);
        if (report === undefined) return;
        reports += 1;
        for (const other of processes) {
          if (other === of || other.isGone) continue;
          loses -= 1;
          if (loses < 0) take(other, { kind: 'report', id: of.id, pools: report });
        }
      };
      const wait = (ms: number) => {
        for (const end = now + ms; now < end; ) {
          now += TICK_MS;
          for (const each of processes) if (!each.isGone) take(each, { kind: 'own', pools: each.pools });
        }
      };
      for (const each of steps) {
        loses = Math.max(loses, 0);
        if (each.do === 'wait') wait(each.ms);
        if (each.do === 'request') (processes[each.process] as Process).pools = each.pools.map(pool);
        if (each.do === 'lose') loses = each.count;
        if (each.do === 'gone') (processes[each.process] as Process).isGone = true;
        if (each.do === 'missed') {
          const renamed = processes[each.process] as Process;
          renamed.id = `${starts++}`;
          take(renamed, { kind: 'missed' });
        }
      }
      loses = 0;
      wait(WHOLE_REPORT_MS + TICK_MS + FORGET_MS);
      for (const each of processes) {
        if (each.isGone) continue;
        const others = processes.filter((other) => other !== each && !other.isGone);
        const requested = others.flatMap(({ pools }) => pools);
        const addresses = (pools: readonly RequestedPool[]) => [...new Set(pools.map(({ address }) => address))].sort();
        expect(addresses(each.elsewhere)).toEqual(addresses(requested));
        if (requested.length > 0) expect(isAlone(each.state)).toBe(false);
        known += requested.length;
      }
      // What stays the same is reported every few seconds.
      const before = reports;
      wait(REPORT_MS);
      expect(reports - before).toBeLessThanOrEqual(2 * processes.length);
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
