import { toEventSelector } from 'viem';
import { expect, test } from 'vitest';
import { packedFactoryEvents, packedPoolEvents } from './abi.ts';

const topics = new Map(
  [...packedPoolEvents, ...packedFactoryEvents].map((event) => [event.name, toEventSelector(event)]),
);

test.each([
  ['Swap', '0x9734819749a91fc3be03ea83205f924ee08479bd3f0da48efc91d94d050cac1e'],
  ['BinSwapped', '0xcad09799f755048f0fd388c6b2fcc8e0cebefd15756c6903522cc2a95f661f70'],
  ['BinAdditionalFeesUpdated', '0x2a1317b5b5812150d82fa4b2e5ae289f62be0c42a042edbdc69b978673746a47'],
  ['BidAskRefAsymmetryUpdated', '0x0262bdf5ceb29428fdaec304f1872012436cebf3ff5621c19bc17b61892940ea'],
  ['PoolBidAskRefAsymmetryUpdated', '0xd70b5166926425083b37f7edcb01ace694743874f6156a1aea6c087a2d45058e'],
] as const)('%s has the topic that production logs carry', (name, topic) => {
  expect(topics.get(name)).toBe(topic);
});
