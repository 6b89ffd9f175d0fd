import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../processes/progress.ts';
import { type SyncingChain, SyncProgress } from './sync-progress.ts';

const POLL_MS = 1_000;
/** Where lines cannot be drawn over. */
const PRINT_EVERY_MS = 10_000;

interface Readiness {
  readonly ready: boolean;
  readonly failures?: Readonly<Record<string, string>>;
  readonly chains?: readonly SyncingChain[];
}

/** Shows how far the first index has come, or why the service is not ready, until it is. */
export async function showSync(api: string, progress: Progress): Promise<void> {
  const sync = new SyncProgress();
  for (let printedAt = performance.now(); ; ) {
    const { ready, failures = {}, chains = [] } = await readiness(api);
    if (ready) break;
    const now = performance.now();
    const lines = sync.lines(chains, now);
    const shown = lines.length > 0 ? `first sync of ${lines.join('; ')}` : Object.values(failures).join('; ');
    progress.show(shown);
    if (!progress.canDrawOver && now - printedAt >= PRINT_EVERY_MS) {
      progress.print(`  ${shown}`);
      printedAt = now;
    }
    await sleep(POLL_MS);
  }
  progress.show(undefined);
  progress.print('  ready: the index follows its chains.');
}

async function readiness(api: string): Promise<Readiness> {
  try {
    const response = await fetch(`${api}/ready`, { signal: AbortSignal.timeout(5_000) });
    return (await response.json()) as Readiness;
  } catch {
    return { ready: false, failures: { api: 'the API does not answer' } };
  }
}
