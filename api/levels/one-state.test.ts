import { expect, test } from 'vitest';
import { ApiError } from '../errors.ts';
import { type ChainState, type LevelQuotes, OneState } from './one-state.ts';

type Head = { readonly block: { readonly hash: string; readonly pending?: { readonly digest: string } } };

/** A chain with a new state of the block being built at each look at its head, and what becomes of each. */
function chainOf(lands: (state: string) => boolean = () => false) {
  let looks = 0;
  const committed: Head = { block: { hash: '0x07' } };
  let current = committed;
  const quotes = (head: () => Head) =>
    ({
      heads: {
        caughtUp: async () => false,
        head: async () => {
          looks += 1;
          current = head();
          return current;
        },
        get current() {
          return current;
        },
        isTooOld: ({ pending }: { pending?: { digest: string } }) => lands(pending?.digest ?? ''),
      },
    }) as unknown as LevelQuotes;
  const live = quotes(() => ({ block: { hash: '0x07', pending: { digest: `${looks}` } } }));
  return { ...quotes(() => committed), liveQuotes: live };
}

const stateOf = ({ head }: ChainState) => head.block.pending?.digest ?? 'committed';

test('all answers are of one state', async () => {
  const state = new OneState(chainOf(), 'live');
  const answers = [1, 2, 3].map(() => state.add(async (at) => stateOf(at)));
  expect(await Promise.all(answers.map((answer) => answer()))).toEqual(['1', '1', '1']);
});

test('all answers are read at another state when one cannot be read at the first', async () => {
  const state = new OneState(chainOf(), 'live');
  const seen: string[] = [];
  const first = state.add(async (at) => stateOf(at));
  const second = state.add(async (at) => {
    seen.push(stateOf(at));
    return seen.length < 3 ? null : stateOf(at);
  });
  expect([await first(), await second(), seen]).toEqual(['3', '3', ['1', '2', '3']]);
});

test('all answers are read again when the block being built landed meanwhile', async () => {
  const state = new OneState(
    chainOf((digest) => digest === '1'),
    'live',
  );
  const answers = [1, 2].map(() => state.add(async (at) => stateOf(at)));
  expect(await Promise.all(answers.map((answer) => answer()))).toEqual(['2', '2']);
});

test('answers are of the last block when no block being built holds long enough', async () => {
  const state = new OneState(
    chainOf(() => true),
    'live',
  );
  const answers = [1, 2].map(() => state.add(async (at) => stateOf(at)));
  expect(await Promise.all(answers.map((answer) => answer()))).toEqual(['committed', 'committed']);
});

test('an answer that cannot be read is a 503, and leaves the other ones', async () => {
  const state = new OneState(chainOf(), 'live');
  const whole = state.add(async (at) => stateOf(at));
  const never = state.add(async () => null);
  const failing = state.add(async () => {
    throw new ApiError(429, 'x');
  });
  expect(await whole()).toBe('committed');
  await expect(never()).rejects.toMatchObject({ status: 503 });
  await expect(failing()).rejects.toMatchObject({ status: 429 });
});

test('without a head all answers are a 503', async () => {
  const head = async () => Promise.reject(new Error('no node answers'));
  const heads = { caughtUp: async () => false, head };
  const state = new OneState({ heads } as unknown as LevelQuotes, 'committed');
  const answers = [1, 2].map(() => state.add(async (at) => stateOf(at)));
  for (const answer of answers) await expect(answer()).rejects.toMatchObject({ status: 503 });
});
