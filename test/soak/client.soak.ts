import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { compareAmounts, worseExecutions } from '../client/compare-amounts.ts';
import { startFillWorld } from '../client/fill-world.ts';
import { installClient } from '../client/install.ts';
import { SOAK_SEED } from './settings.ts';

const AMOUNTS = 1_000_000;
/** Executed amounts, of random ones. */
const EXECUTED = 5_000;

test(`${AMOUNTS} amounts have one result, and are executed at it or better (SOAK_SEED=${SOAK_SEED})`, async () => {
  const world = await startFillWorld();
  try {
    const random = seededRandom(SOAK_SEED);
    const { differences, routes } = await compareAmounts(world, random, AMOUNTS);
    expect(differences).toEqual([]);
    expect(routes).toBeGreaterThan(AMOUNTS / 2);
    expect(await worseExecutions(world, random, EXECUTED)).toEqual([]);
  } finally {
    await world.stop();
  }
}, 1_800_000);

test('are-the-types-wrong finds nothing in the tarball', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'client-types-'));
  const { tarball } = await installClient(parent);
  // ESM alone: that CommonJS cannot load it is meant.
  const args = ['--yes', '@arethetypeswrong/cli@0.18.5', '--profile', 'esm-only', tarball];
  const { exitCode, all } = await execa('npx', args, { cwd: parent, all: true, reject: false });
  await rm(parent, { recursive: true, force: true });
  expect(exitCode, all).toBe(0);
}, 300_000);
