import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { formatDay } from '../../cli/arguments.ts';
import { ownMain } from '../../devnet/services/own-process.ts';
import { createTempFolder } from '../../devnet/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { peakMemory } from '../hostile/cpu-time.ts';

const LOOK_MS = 50;

/** Exports candles of some days (Unix seconds). @returns most memory that it held, bytes */
export async function exportMemory(databaseUrl: string, from: number, to: number): Promise<number> {
  const folder = await createTempFolder('bench-export');
  const days = ['--from', formatDay(from), '--to', formatDay(to)];
  const args = ['--view', 'trade_candle', ...days, '--format', 'parquet', '--out', folder.path, '--json'];
  const child = spawn(process.execPath, [...ownMain('export'), ...args], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peak = 0;
  const looking = setInterval(() => {
    const held = peakMemory(child.pid ?? 0);
    // Not a number of one that has just ended.
    if (held > peak) peak = held;
  }, LOOK_MS);
  const [code] = await once(child, 'exit');
  clearInterval(looking);
  await folder.remove();
  if (code !== 0) throw new Error(`the export ended with exit code ${code}`);
  return peak;
}
