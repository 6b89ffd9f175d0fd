import { expect, test } from 'vitest';
import { tokenKey } from './token-key.ts';
import { UnknownTokens } from './unknown-tokens.ts';

const TOKENS = Array.from({ length: 5 }, (_, n) => ({ token: tokenKey(1, `0x${String(n).padStart(40, '5')}`) }));

/** Tokens that the service never knows, by a clock that this test moves. */
function never(perRound: number) {
  const clock = { ms: 0 };
  const unknown = new UnknownTokens({ perRound, firstPauseMs: 40, longestPauseMs: 500 }, () => clock.ms);
  const round = (tokens: typeof TOKENS) => {
    const asked = unknown.due(tokens).map(({ token }) => token);
    for (const token of asked) unknown.pause(token);
    return asked;
  };
  return { clock, round };
}

test('each pause is twice the one before, up to the longest', () => {
  const { clock, round } = never(1);
  const askedAt: number[] = [];
  for (; clock.ms <= 2_000; clock.ms += 1) if (round(TOKENS.slice(0, 1)).length > 0) askedAt.push(clock.ms);
  expect(askedAt).toEqual([0, 40, 120, 280, 600, 1_100, 1_600]);
});

test('the one that is due longest comes first, and new ones come after those that were left over', () => {
  const { clock, round } = never(2);
  const [a, b, c, d, e] = TOKENS.map(({ token }) => token);
  expect(round(TOKENS.slice(0, 3))).toEqual([a, b]);
  clock.ms = 10;
  expect(round([...TOKENS].reverse())).toEqual([c, e]);
  expect(round(TOKENS)).toEqual([d]);
  clock.ms = 100;
  expect(round([...TOKENS].reverse())).toEqual([b, a]);
});
