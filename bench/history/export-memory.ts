import { formatDay } from '../../cli/arguments.ts';
import { spawnGuarded } from '../../local/services/guarded-process.ts';
import { ownMain } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { peakMemoryOf } from '../process-figures.ts';

const LOOK_MS = 50;

/** Exports candles of some days (Unix seconds). @returns most memory that it held, bytes */
export async function exportMemory(databaseUrl: string, from: number, to: number): Promise<number> {
  const folder = await createTempFolder('bench-export');
  const days = ['--from', formatDay(from), '--to', formatDay(to)];
  const args = ['--view', 'trade_candle', ...days, '--format', 'parquet', '--out', folder.path, '--json'];
  const child = await spawnGuarded({
    name: 'export',
    command: process.execPath,
    args: [...ownMain('export'), ...args],
    cwd: PROJECT_ROOT,
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  let peak = 0;
  const looking = setInterval(() => {
    const held = peakMemoryOf(child.pid);
    // Not a number of one that has just ended.
    if (held > peak) peak = held;
  }, LOOK_MS);
  const how = await child.ended;
  clearInterval(looking);
  await folder.remove();
  if (how !== 'exit code 0') throw new Error(`the export ended with ${how}: ${child.recentOutput()}`);
  return peak;
}
