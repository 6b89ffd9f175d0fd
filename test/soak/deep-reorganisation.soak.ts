import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { FINALITY_BLOCKS } from '../chaos/disturbances.ts';
import { catchUp, compareWithTruth } from '../chaos/final-checks.ts';
import type { SupervisedProcess } from '../chaos/supervised-process.ts';
import { startWorld } from '../chaos/world.ts';
import { openWorld } from '../harness/open-world.ts';

/** An index never keeps more than twice the window undone: this is always beyond it. */
const BEYOND_FINALITY = 2 * FINALITY_BLOCKS + 1;
const START_LIMIT_MS = 180_000;
const NOTICE_LIMIT_MS = 90_000;

const SETTINGS = { INDEXING_MAX_LAG_SECS: '5' };

const world = openWorld(async (ends) => {
  const started = await startWorld({ seed: 7, chainCount: 1, replicas: 1, settings: SETTINGS });
  ends.defer(started.stop);
  const [api] = started.processes.apis;
  const [chain] = started.chains;
  if (api === undefined || chain === undefined) throw new Error('no API or no chain');
  await started.processes.indexer.answers('/ready', START_LIMIT_MS);
  await api.answers('/ready', START_LIMIT_MS);
  return { ...started, api, chainId: chain.plan.chainId };
}, 2 * START_LIMIT_MS);

async function readiness(process: SupervisedProcess) {
  const response = await fetch(`${process.url}/ready`);
  return { status: response.status, text: await response.text() };
}

async function stalledGauge(): Promise<string | undefined> {
  const metrics = await (await fetch(`${world.api.url}/metrics`)).text();
  return new RegExp(`^indexing_stalled\\{.*chain="${world.chainId}".*\\} (\\d)$`, 'm').exec(metrics)?.[1];
}

test('a reorganisation beyond the finality window shows, and a backfill of the chain repairs it', {
  timeout: 4 * START_LIMIT_MS,
}, async () => {
  const [chain] = world.chains;
  if (chain === undefined) throw new Error('no chain');
  expect(await stalledGauge()).toBe('0');
  await chain.advance(BEYOND_FINALITY);
  // Blocks that the index has not met cannot be final to it.
  await catchUp(world, world.processes.indexer, world.databaseUrl);
  await chain.reorganise(BEYOND_FINALITY);

  // The chain advances, its index does not.
  await vi.waitFor(
    async () => {
      await chain.advance(1);
      const { status, text } = await readiness(world.api);
      expect([status, text]).toEqual([503, expect.stringContaining(`chain ${world.chainId} is indexed`)]);
      expect(await stalledGauge()).toBe('1');
    },
    { timeout: NOTICE_LIMIT_MS, interval: 500 },
  );
  expect((await readiness(world.processes.indexer)).status).toBe(200);
  const listing = await fetch(`${world.api.url}/public/v1/evm/${world.chainId}/metadata`);
  expect(listing.status).toBe(200);
  await listing.body?.cancel();

  // What the operator does: rebuild the index from the chain's nodes, next to the one that serves.
  await chain.advance(2 * FINALITY_BLOCKS);
  const backfill = await execa('node', [...ownMain('backfill'), '--chains', String(world.chainId)], {
    env: ownEnvironment('backfill', world.env),
    reject: false,
  });
  expect(backfill, backfill.stderr).toMatchObject({ exitCode: 0 });
  const reference = await world.startReferenceRun();
  try {
    await world.api.answers('/ready', START_LIMIT_MS);
    expect(await stalledGauge()).toBe('0');
    const { comparison, pools, violations } = await compareWithTruth(world, reference);
    expect([...comparison.differences, ...violations]).toEqual([]);
    expect(pools).toBeGreaterThan(20);
    // The indexer of the old schema ended by itself, and continued with the new one when it was started again.
    expect(world.processes.indexer.ownEnds).toEqual(['exit code 75']);
  } finally {
    await reference.stop();
  }
});
