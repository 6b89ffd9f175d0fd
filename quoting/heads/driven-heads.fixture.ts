import { expect } from 'vitest';
import type { ChainTail } from './chain-tail.ts';
import { announcedHead, type HeadState, noHeads } from './head-state.ts';
import { type HeadEvent, nextHeads } from './next-heads.ts';
import { blockOf, type Head, head, namesOfHeads } from './test-chain.fixture.ts';

type TakenListener = (head: Head, branch: ChainTail, before: HeadState<Head>) => void;

/**
 * A chain whose nodes report `heads`, `delayMs` after a poll, and what is known of its heads. One node is polled by
 * default, the first one. Time passes by `advanceTo` alone, `wallMs` by the test.
 */
export function chainOf(blockTimeMs: number) {
  const { chain, take, advanceTo, known, onTaken } = drivenHeads({ blockTimeMs, minRefreshMs: 500 });
  const tracked = {
    get current() {
      return known.state.current;
    },
    get announced() {
      return announcedHead(known.state, chain.ms);
    },
    get takenAt() {
      return known.state.takenAt;
    },
    get isWoken() {
      return known.wakeAt !== null;
    },
    ask: () => take({ kind: 'asked', waits: true, wallMs: chain.wallMs }),
    push: (pushed: Head) => {
      chain.reportedAt = chain.ms;
      take({ kind: 'pushed', head: pushed, wallMs: chain.wallMs });
    },
    hear: (number: number) => take({ kind: 'heard', from: 'another process', number: BigInt(number) }),
    read: ({ block }: Head) => take({ kind: 'read', block }),
    reject: ({ block }: Head) => take({ kind: 'rejected', block }),
    watch: () => {
      take({ kind: 'watched' });
      return () => take({ kind: 'unwatched' });
    },
    onTaken,
  };
  const names: string[] = [];
  const nameOf = namesOfHeads();
  onTaken((taken, branch) => names.push(nameOf(taken, branch)));
  /** Number of the head that a request gets at a time. */
  const numberAt = (ms: number) => {
    advanceTo(ms);
    tracked.ask();
    return Number(tracked.current?.block.number);
  };
  return { chain, tracked, advanceTo, numberAt, names };
}

/** Does what `nextHeads` says: polls and looks up at nodes, wakes the state at its time. */
function drivenHeads(pace: { readonly blockTimeMs: number; readonly minRefreshMs: number }) {
  const chain = {
    ms: 0,
    wallMs: 0,
    heads: [head(1)],
    polls: 0,
    hasFailed: false,
    reportedAt: 0,
    isDown: false,
    delayMs: 0,
  };
  const known = { state: noHeads<Head>(), wakeAt: null as number | null };
  let answers: { readonly at: number; readonly event: HeadEvent<Head> }[] = [];
  const listeners: TakenListener[] = [];
  const answer = (event: HeadEvent<Head>) => {
    answers = [...answers, { at: chain.ms + chain.delayMs, event }].sort((a, b) => a.at - b.at);
  };
  const happen = (event: HeadEvent<Head>) => {
    const before = known.state;
    const [next, { taken, poll, lookUp, wakeAt }] = nextHeads(before, event, chain.ms, pace);
    Object.assign(known, { state: next, wakeAt });
    for (const each of taken) for (const listener of listeners) listener(each.head, each.branch, before);
    if (poll === 'one') chain.polls += 1;
    if (poll) {
      const heads = poll === 'one' ? chain.heads.slice(0, 1) : chain.heads.slice(1);
      if (!chain.isDown) chain.reportedAt = chain.ms;
      answer(chain.isDown ? { kind: 'failed' } : { kind: 'polled', heads });
    }
    if (lookUp) {
      chain.hasFailed ||= chain.isDown;
      answer({ kind: 'header', header: chain.isDown ? undefined : blockOf(lookUp.hash, lookUp.number) });
    }
  };
  /** Lets time pass: answers come, and the state is woken. */
  const advanceTo = (ms: number) => {
    for (;;) {
      const answerAt = answers[0]?.at ?? Number.POSITIVE_INFINITY;
      const at = Math.min(answerAt, known.wakeAt ?? Number.POSITIVE_INFINITY);
      if (at > ms) break;
      chain.ms = Math.max(chain.ms, at);
      if (answerAt > at) happen({ kind: 'time' });
      else happen((answers.shift() as (typeof answers)[0]).event);
      // It is not woken again at once.
      const wakeAt = known.wakeAt ?? Number.POSITIVE_INFINITY;
      expect(wakeAt).toBeGreaterThan(answerAt > at ? chain.ms : Number.NEGATIVE_INFINITY);
    }
    chain.ms = ms;
  };
  const take = (event: HeadEvent<Head>) => {
    happen(event);
    advanceTo(chain.ms);
  };
  return { chain, known, take, advanceTo, onTaken: (listener: TakenListener) => listeners.push(listener) };
}
