import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Quote } from './api.ts';
import { bridgeBlocks } from './bridge-blocks.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const POOL = '0xaa';
type Kind = 'live' | 'committed' | 'failed';

/** What is shown, when, with the number of the event that brought it. */
function startBridge() {
  const shown: { at: number; kind: Kind; event: number }[] = [];
  const stop = new AbortController();
  const show = bridgeBlocks((_, { quote }) => {
    const kind = quote === null ? 'failed' : (quote.basis?.kind as Kind);
    shown.push({ at: Date.now(), kind, event: quote?.serverTs ?? 0 });
  }, stop.signal);
  const bring = (kind: Kind, event: number) => {
    const quote = kind === 'failed' ? null : ({ basis: { kind }, serverTs: event } as Quote);
    show(POOL, { quote, failure: null });
  };
  return { shown, stop, bring };
}

test('at blocks of a second, each with a live price 400 ms after its start, no committed price is shown', () => {
  const { shown, bring } = startBridge();
  bring('live', 0);
  for (let block = 1; block <= 5; block++) {
    bring('committed', block);
    vi.advanceTimersByTime(400);
    bring('live', block);
    vi.advanceTimersByTime(590);
  }
  expect(shown.map(({ kind }) => kind)).toEqual(Array(6).fill('live'));
  bring('committed', 6);
  vi.advanceTimersByTime(999);
  expect(shown).toHaveLength(6);
  vi.advanceTimersByTime(1);
  expect(shown.at(-1)).toEqual({ at: 5_950, kind: 'committed', event: 6 });
});

test('whatever comes: no committed price within a second of a live one, and the last one is shown in the end', () => {
  const events = fc.array(
    fc.tuple(fc.constantFrom<Kind[]>('live', 'live', 'committed', 'committed', 'failed'), fc.nat(1_200)),
    { maxLength: 12, size: 'max' },
  );
  fc.assert(
    fc.property(events, (sequence) => {
      vi.setSystemTime(0);
      const { shown, bring } = startBridge();
      const brought = sequence.map(([kind, pauseMs], event) => {
        const at = Date.now();
        bring(kind, event);
        vi.advanceTimersByTime(pauseMs);
        return { at, kind, event };
      });
      vi.advanceTimersByTime(1_000);
      for (const { at, kind, event } of shown) {
        const before = brought.findLast((each) => each.kind !== 'committed' && each.event < event);
        if (kind === 'committed' && before?.kind === 'live') expect(at - before.at).toBeGreaterThanOrEqual(1_000);
      }
      const last = brought.at(-1);
      if (last?.kind === 'failed') expect(shown.at(-1)?.kind).toBe('failed');
      else expect(shown.at(-1)?.event).toBe(last?.event);
    }),
  );
});

test('nothing is shown once it ended', () => {
  const { shown, stop, bring } = startBridge();
  bring('live', 0);
  bring('committed', 1);
  stop.abort();
  vi.advanceTimersByTime(5_000);
  expect(shown).toHaveLength(1);
});
