import { expect, test } from 'vitest';
import { showPool } from './show-pool.ts';

const swapGas = { token0In: 208_000, token1In: null };
const record = '{"pair":"A/B","extensions":[]}';
const executability = { committedShare: 0.5, liveShare: null, ownLandedShare: null, sealedShare: null };
const trend24h = { changeE6: -12, depthFiat: null };
const persistence24h = { medianBps: -0.5, p95Bps: 3, withdrawnShare: 0, goneShare: null };
const window = { fromTs: 1, toTs: 86_401, generatedAtTs: 86_402, fromBlock: 7, toBlock: 9 };

test('the status follows the stored fields', () => {
  expect(showPool({ record, status: 'unknown', swapGas, prices: [0.5, null], day: null })).toBe(
    '{"pair":"A/B","extensions":[],"token0FiatPrice":0.5,"token1FiatPrice":null,"priceProviderStatus":"unknown","swapGas":{"token0In":208000,"token1In":null}}',
  );
});

test('a pool whose index differs from the chain has no analytics', () => {
  const day = { analytics: 'null', window, tvlFiat: null, executability, trend24h, persistence24h: null };
  const shown = JSON.parse(showPool({ record, status: 'healthy', swapGas, prices: [0.5, null], day }));
  expect(shown).toMatchObject({ analytics24h: null, tvlFiat: null, executability });
});

test.each([
  ['1e+22', '"tvlFiat":1e+22'],
  [null, '"tvlFiat":null'],
])('the 24-hour part begins with the window; TVL %s', (tvlFiat, shown) => {
  expect(
    showPool({
      record,
      status: 'healthy',
      swapGas,
      prices: [0.5, null],
      day: { analytics: '{"transfers":3}', window, tvlFiat, executability, trend24h, persistence24h },
    }),
  ).toBe(
    `{"pair":"A/B","extensions":[],"token0FiatPrice":0.5,"token1FiatPrice":null,"priceProviderStatus":"healthy","swapGas":{"token0In":208000,"token1In":null},${shown},"executability":{"committedShare":0.5,"liveShare":null,"ownLandedShare":null,"sealedShare":null},"trend24h":{"changeE6":-12,"depthFiat":null},"persistence24h":{"medianBps":-0.5,"p95Bps":3,"withdrawnShare":0,"goneShare":null},"analytics24h":` +
      '{"fromTs":1,"toTs":86401,"generatedAtTs":86402,"fromBlock":7,"toBlock":9,"transfers":3}}',
  );
});
