import { EXAMPLE } from '../declaration/example-market.ts';

const UNKNOWN = '0x0000000000000000000000000000000000000001';

/** A pool of WETH and USDC around 3000 USDC. */
export const QUOTE_EXAMPLE = {
  pair: 'WETH/USDC',
  poolAddress: EXAMPLE.pool,
  priceProviderStatus: 'healthy',
  bidAdj: '55329108845520254429809',
  askAdj: '55351355618928499510261',
  totalToken0Available: '4000000000000000000',
  totalToken1Available: '12000000000',
  serverTs: 1795000002,
  depth: {
    bids: [
      {
        binIdx: 0,
        price: '55273779736674734175379',
        cumulativeVolume: '11999988000',
        cumulativeInputVolume: '4002802562514505441',
        priceImpactE6: '1000',
      },
    ],
    asks: [
      {
        binIdx: 0,
        price: '55406706974547428009772',
        cumulativeVolume: '3999996000000000000',
        cumulativeInputVolume: '12008401201',
        priceImpactE6: '1000',
      },
    ],
  },
};

export const BATCH_REQUEST_EXAMPLE = { pools: [EXAMPLE.pool, UNKNOWN], depth: false };

export const BATCH_RESPONSE_EXAMPLE = {
  results: [
    { poolAddress: EXAMPLE.pool, quote: { ...QUOTE_EXAMPLE, depth: null } },
    { poolAddress: UNKNOWN, error: { status: 404, error: `Pair metadata not found for ${UNKNOWN}` } },
  ],
};
