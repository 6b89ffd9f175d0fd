import { expect, test } from 'vitest';
import { startAnvil } from '../../devnet/anvil.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { eventually } from './eventually.ts';
import { BSC, ETHEREUM, type PammAnswer, type PammBody, startMocks, startRig } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';

/** Live Ethereum updates are simulated in the background and counted, and a node that hangs delays no update. */

const anvil = startedWorld(() => startAnvil({ chainId: ETHEREUM }));
const redis = startedWorld(createRedisDatabase);
const mocks = startedWorld(startMocks);
const rig = startedWorld(() => {
  const chains = mocks.chains.map((chain) => (chain.chainId === ETHEREUM ? { ...chain, rpcUrls: [anvil.url] } : chain));
  return startRig(redis.url, { ...mocks, chains }, { simulate: true });
});

async function submit(chainId: number, changes: Partial<PammBody> = {}): Promise<PammAnswer> {
  const body = {
    tx: await signedTx(chainId),
    blockNumber: 1,
    replacementUuid: newUuid(),
    replacementSeqNumber: 1,
    ...changes,
  };
  return rig.submit(chainId, body);
}

async function simulated(): Promise<Record<string, number>> {
  const metric = await rig.registry.getSingleMetric('pamm_simulations_total')?.get();
  return Object.fromEntries(
    metric?.values.map(({ labels, value }) => [`${labels.chain} ${labels.outcome}`, value]) ?? [],
  );
}

test('a live update of Ethereum is, a cancel and an update of BSC are not', async () => {
  await submit(BSC);
  await submit(ETHEREUM, { tx: '0x' });
  await submit(ETHEREUM);
  await eventually(async () => Object.keys(await simulated()).length > 0);
  expect(await simulated()).toEqual({ [`${ETHEREUM} success`]: 1 });
});

test('a node that hangs delays no update and loses none', async () => {
  process.kill(anvil.pid, 'SIGSTOP');
  try {
    for (const _ of [1, 2, 3, 4, 5]) {
      const answer = await submit(ETHEREUM);
      expect(answer.providers.every(({ accepted }) => accepted)).toBe(true);
    }
  } finally {
    process.kill(anvil.pid, 'SIGCONT');
  }
});
