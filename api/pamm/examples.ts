import { EXAMPLE } from '../declaration/example-market.ts';

/** A quote update for a WETH/USDC pool on Ethereum; its transaction is signed with a key that everybody knows. */
export const UPDATE_EXAMPLE = {
  tx: '0x02f86b010780847735940083015f90947a3f0f2a6b3c5d8e9f10a1b2c3d4e5f607182930808412345678c080a0a961da05ce2f267357e9f76e45d08282c0d1766ee08707c44d540caf75e5aef9a02a57fac2203cd68b1be7c4ba4bda8679916fe6f0cab9ff118e81e66eb9e73195',
  blockNumber: 23456789,
  replacementUuid: '0x6f1c2d3e4a5b46978091a2b3c4d5e6f7',
  replacementSeqNumber: 1,
  quoteAddress: EXAMPLE.pool,
  poolAddresses: [EXAMPLE.pool],
  assetPairs: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
};

export const ANSWER_EXAMPLE = {
  accepted: true,
  providers: [
    { provider: 'titan:wss://builder.example/ws/sendquoteupdate', accepted: true, timestampNs: 1795000000123 },
    { provider: 'quasar:wss://builder.example/quotes', accepted: false, pending: true },
  ],
};
