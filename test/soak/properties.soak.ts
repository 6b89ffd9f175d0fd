import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { splitTests } from '../harness/service-tests.ts';
import { IS_LONG, SOAK_SEED } from './settings.ts';

const ROUNDS = IS_LONG ? 10 : 1;

const { unit, services } = splitTests(PROJECT_ROOT);
const hasProperties = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8').includes('fc.assert(');
const files = (IS_LONG ? [...unit, ...services] : unit).filter(hasProperties);

test.each(Array.from({ length: ROUNDS }, (_, round) => SOAK_SEED + round))(
  'properties hold with seed %i',
  async (seed) => {
    expect(files.length).toBeGreaterThan(20);
    const { exitCode, all } = await execa('npx', ['vitest', 'run', ...files], {
      cwd: PROJECT_ROOT,
      env: { PROPERTY_SEED: String(seed % 2 ** 31), PROPERTY_RUNS: IS_LONG ? '10' : '4' },
      all: true,
      reject: false,
    });
    expect(exitCode, all).toBe(0);
  },
  1_800_000,
);
